#!/usr/bin/env bash
# Makes every figure and table of README.md and docs/ from nothing, and says what was made where and how long each took.
#
#   reproduce/run.sh                  the short ones: Rust is enough, minutes
#   reproduce/run.sh --long           all of them: hours; some need a network (Sionna RT, Chromium), as the list says
#   reproduce/run.sh --list           what there is
#   reproduce/run.sh NAME...          only these
#   OUT=DIR MAGNETAR=FILE ...         where to (target/reproduced if not given); a program that is built already
#
# Every item leaves OUT/NAME.txt, or a folder OUT/NAME of pictures; OUT/times.txt has the seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
out=${OUT:-target/reproduced}
data=$out/data

# name | short or long | what it makes
items='
figures|short|the figures of docs/pictures.md, and docs/img/posterior.png
validate|short|README, docs/sionna.md: the tracer against the public cases of Sionna RT
posterior|short|README, docs/posterior.md: the twin on recipe paper, seeds 201 and 202
ablation|short|docs/posterior.md: what each term of the likelihood is worth
fusion|short|README, docs/posterior.md: five views fused, recipe paper, seed 402
audit|short|docs/realism.md: what a corpus gives away, both recipes, seed 203
limits|short|docs/limits.md: how much is left out (needs python3 with pip)
corpus|short|README, docs/performance.md: the 115,000 rows of the paper, their time and size
view|long|docs/img/view.png (needs Chromium)
field|long|README, docs/realism.md: the twin on recipe field, seed 401, with both sets of parameters
field_fusion|long|README, docs/realism.md: five views fused, recipe field, seed 402
realism|long|docs/realism.md: each kind of error alone, with both sets of parameters
sensitivity|long|docs/sweeps.md: which keys move the NLL most
replay|long|docs/sweeps.md: the replayed measurements, scored
scorers|long|docs/scorers.md: the table of the shipped models, seed 405
estimator|long|README, docs/estimator.md: bounds, false alarms and pairs of the SRE
benchmarks|long|README, docs/performance.md: all benchmarks
roofline|long|docs/cuda.md: what the kernels could reach
sionna|long|docs/sionna.md: new cases, blocks and corpora against live Sionna RT (network)
sionna_speed|long|README, docs/performance.md: the speed beside Sionna RT (network)
faults|long|docs/reliability.md: kills and failures at every file operation
fuzzing|long|docs/fuzzing.md: 3,000,000 executions of every target
'

generate() { "$magnetar" generate --quiet "$@"; }

# Rows are made once: `rows FOLDER FLAGS...`
rows() {
  local folder=$data/$1
  shift
  generate --out "$folder" "$@" > /dev/null
  echo "$folder"
}

make_figures() {
  local d; d=$(rows paper_1 --split test,fusion --limit 500)
  local f=$out/figures; mkdir -p "$f"
  "$magnetar" plot room lab_middle --tx 0.98,2.28,1.08,-90 --rx 1,-1,1.08,90 -o "$f/room.svg" -o "$f/room.png"
  "$magnetar" plot room lab_middle --tx 0.98,2.28 --rx 1,-1 --max-order 2 --transmission -o "$f/order2.svg"
  "$magnetar" plot pattern synthetic_vivaldi -o "$f/pattern.png" --theme dark
  "$magnetar" plot marginal "$d" --split test --row 5 --scale 1.4 -o "$f/posterior.png"
  "$magnetar" plot marginal "$d" --split test --row 3 -o "$f/marginal.svg"
  "$magnetar" plot slices "$d" --split test --row 3 -o "$f/slices.svg"
  "$magnetar" plot volume "$d" --split test --row 3 -o "$f/volume.svg"
  "$magnetar" plot cone "$d" --split test --limit 500 -o "$f/cone.svg"
  "$magnetar" plot fusion "$d" --split fusion --set 0 -o "$f/fusion.svg"
}
make_validate() {
  "$magnetar" validate tests/data/sionna_public_cases.json.gz tests/data/sionna_public_cases_v2.json.gz
}
make_posterior() {
  local seed
  for seed in 201 202; do
    echo "seed $seed"
    "$magnetar" evaluate "$(rows "paper_$seed" --seed "$seed" --split test --limit 2000 --csi none)" --split test
  done
}
make_ablation() { "$magnetar" ablation "$(rows paper_1 --split test,fusion --limit 500)" --limit 500; }
make_fusion() { "$magnetar" fuse "$(rows paper_402 --seed 402 --split fusion --csi none)"; }
make_audit() {
  local recipe
  for recipe in paper field; do
    echo "recipe $recipe"
    "$magnetar" audit "$(rows "audit_$recipe" --recipe "$recipe" --seed 203 --split train,val --limit 4000 --csi none)"
  done
}
make_limits() {
  local d
  d=$(rows limits --split test --limit 3000 --csi none --set propagation.max_order=3 --set propagation.transmission=true)
  [ -x .venv/bin/python ] || python3 -m venv .venv
  .venv/bin/pip install --quiet --disable-pip-version-check --requirement python/requirements.txt
  .venv/bin/python reproduce/limits.py "$d"
}
make_corpus() {
  rm -rf "$data/corpus"
  "$magnetar" generate --verbose --out "$data/corpus"
  du -sh "$data/corpus"
  rm -rf "$data/corpus"
}
make_view() {
  command -v chromium > /dev/null || { echo "chromium is missing: apt-get install chromium"; return 1; }
  mkdir -p "$out/view"
  "$magnetar" view lab_middle --export "$out/view/view.html"
  chromium --headless --no-sandbox --hide-scrollbars --virtual-time-budget=10000 --window-size=1440,900 \
    --screenshot="$out/view/view.png" "file://$(realpath "$out/view/view.html")"
}
make_field() {
  local d; d=$(rows field_401 --recipe field --seed 401 --split test --limit 1200 --csi none)
  "$magnetar" evaluate "$d" --split test
  "$magnetar" evaluate "$d" --split test --parameters paper
}
make_field_fusion() { "$magnetar" fuse "$(rows field_402 --recipe field --seed 402 --split fusion --csi none)"; }
make_realism() {
  "$magnetar" sweep realism --parameters paper --out "$data/realism"
  "$magnetar" sweep realism --parameters field --out "$data/realism_refit"
}
make_sensitivity() { "$magnetar" sweep sensitivity --out "$data/sensitivity"; }
make_replay() {
  "$magnetar" replay all --csi none --out "$data/replay"
  "$magnetar" evaluate "$data/replay"
}
make_scorers() { "$magnetar" benchmark --seed 405 --limit 1000 --replay-limit 250; }
make_estimator() { cargo test --release --workspace sre -- --nocapture; }
make_benchmarks() {
  local bench
  for bench in tracer synthesis pattern sre pipeline posterior; do cargo bench --bench "$bench"; done
  cargo bench --bench sweep -- 2000
}
make_roofline() { cargo run --release -p magnetar-cuda --example roofline; }
make_sionna() { bash python/check_sionna.sh; }
make_sionna_speed() {
  [ -x .venv/bin/python ] || python3 -m venv .venv
  .venv/bin/pip install --quiet ./python/magnetar -r python/requirements.txt -r python/requirements-sionna.txt
  .venv/bin/python python/bench_sionna.py
}
make_faults() {
  MAGNETAR_FAULTS=full cargo test --release --workspace --features magnetar/fault-injection --test integration faults -- --nocapture
}
make_fuzzing() { LONG=1 RUNS=3000000 fuzz/run.sh 0; }

listed() { sed '/^$/d' <<< "$items"; }
wanted=() long=no
for word in "$@"; do
  case $word in
    --long) long=yes ;;
    --list) listed | awk -F'|' '{ printf "%-14s %-6s %s\n", $1, $2, $3 }'; exit ;;
    -*) echo "$word: expected --long, --list or names of that list" >&2; exit 2 ;;
    *) listed | cut -d'|' -f1 | grep -qx "$word" || { echo "$word: not in reproduce/run.sh --list" >&2; exit 2; }
       wanted+=("$word") ;;
  esac
done
if [ ${#wanted[@]} -eq 0 ]; then
  mapfile -t wanted < <(listed | awk -F'|' -v long=$long '$2 == "short" || long == "yes" { print $1 }')
fi

mkdir -p "$out" "$data"
started=$SECONDS
if [ -z "${MAGNETAR:-}" ]; then
  cargo build --release --workspace
  echo "built in $((SECONDS - started)) s"
fi
magnetar=$(realpath "${MAGNETAR:-target/release/magnetar}")
"$magnetar" --version | tee "$out/times.txt"

failed=0
for name in "${wanted[@]}"; do
  begun=$(date +%s.%N)
  state=made
  # Not in a condition: there, a failure in the middle of a function would go unseen.
  set +e
  (set -e; "make_$name") > "$out/$name.txt" 2> "$out/$name.log"
  [ $? -eq 0 ] || { state="FAILED, see $out/$name.log"; failed=1; }
  set -e
  cd "$root"
  seconds=$(awk -v a="$begun" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')
  printf '%-14s %9s s  %s: %s\n' "$name" "$seconds" "$state" "$out/$name.txt" | tee -a "$out/times.txt"
done
echo "$((SECONDS - started)) s in all; $out/times.txt has them"
exit $failed
