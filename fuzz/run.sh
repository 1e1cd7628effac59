#!/usr/bin/env bash
# Fuzzes every parser with libFuzzer: fuzz/run.sh [SECONDS_PER_TARGET [TARGET ...]]
#
# Needs stable Rust, a C++ compiler and Python 3. Prints a table: executions, covered features, inputs of the corpus, peak
# memory, crashes. A crash leaves its input under fuzz/artifacts/TARGET/ and makes the script fail. Inputs that cover new
# code are gathered under the target folder and used by the next run there.
#
#   SECONDS_PER_TARGET  time of each target (default 4, for CI); 0 for no end but RUNS
#   BUILD=1             build the targets, and run none
#   RUNS=N              end a target after N executions
#   LONG=1              build for long runs: everything optimised, coverage without tracing comparisons; some minutes more to
#                       build, faster to run
#   KEEP=1              take what was found into the kept corpus, fuzz/corpus/, minimised
#   JSON=FILE           write the table there as JSON, too
#   MAGNETAR=FILE       the command line that makes the valid inputs (built if it is not there)
set -euo pipefail
cd "$(dirname "$0")"
seconds=${1:-4}
shift || true
export CARGO_TERM_COLOR=never
product=$(realpath -m "${CARGO_TARGET_DIR:-../target}")
export CARGO_TARGET_DIR=$product/fuzz
work=$CARGO_TARGET_DIR/work
host=$(rustc -vV | sed -n 's/^host: //p')
# Files that parsers read by path lie in memory where the system has a folder for that.
MAGNETAR_FUZZ_SCRATCH=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
export MAGNETAR_FUZZ_SCRATCH
trap 'rm -rf "$MAGNETAR_FUZZ_SCRATCH"' EXIT
mkdir -p "$work"

# What is fuzzed has the dependencies of the product.
cp ../Cargo.lock Cargo.lock
profile=release
schedule=()
if [ -n "${LONG:-}" ]; then
  profile=long
  # Inputs are chosen evenly and kept as they are: the books about rare features take a third of the time.
  schedule=(-entropic=0 -reduce_inputs=0)
  # As .cargo/config.toml, without the calls at every comparison: what they find is in the kept corpus already.
  export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=3 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
fi
cargo build --profile "$profile" --quiet --target "$host"
[ -z "${BUILD:-}" ] || exit 0
unset RUSTFLAGS
binaries=$CARGO_TARGET_DIR/$host/$profile
magnetar=${MAGNETAR:-$product/release/magnetar}
[ -x "$magnetar" ] || (cd .. && CARGO_TARGET_DIR=$product cargo build --release --quiet)
seeds=$work/seeds
python3 seeds.py "$magnetar" "$seeds" >"$work/seeds.log" 2>&1 || { cat "$work/seeds.log"; exit 1; }
export MAGNETAR_FUZZ_DATASET=$seeds/dataset MAGNETAR_FUZZ_SWEEP=$seeds/sweep_folder
export MAGNETAR_FUZZ_PLAIN=$seeds/plain_dataset MAGNETAR_FUZZ_VOLUMES=$seeds/volumes.parquet

# Most bytes of an input: faults show in small ones, and small ones are fast. Of damaged Parquet files an input holds only
# the edits, four bytes each.
max_len() {
  case $1 in
    shard | csi) echo 64 ;;
    volumes) echo 512 ;;
    estimate | estimate_line) echo 576 ;;
    npy | recipe_set) echo 1024 ;;
    *) echo 8192 ;;
  esac
}

# Takes the inputs that cover what the seeds do not into the kept corpus.
keep() {
  local target=$1 fresh=$work/minimised/$1
  shift
  rm -rf "$fresh"
  mkdir -p "$fresh" corpus
  cp "$seeds/$target"/* "$fresh"
  "$binaries/$target" -merge=1 -max_len="$(max_len "$target")" "$fresh" "$@" \
    >"$work/$target.merge.log" 2>&1 </dev/null
  for seed in "$seeds/$target"/*; do rm "$fresh/$(basename "$seed")"; done
  tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$fresh" -c . | gzip -9n >"corpus/$target.tar.gz"
}

targets=("$@")
if [ ${#targets[@]} = 0 ]; then
  mapfile -t targets < <(sed -n 's/^path = "targets\/\(.*\)\.rs"$/\1/p' Cargo.toml)
fi
crashes=0
rows=()
printf '%-16s %10s %7s %8s %6s %7s %7s\n' target executions per_s features inputs peak_MB crashes
for target in "${targets[@]}"; do
  found=$work/found/$target
  kept=$work/kept/$target
  artifacts=$PWD/artifacts/$target
  rm -rf "$kept"
  mkdir -p "$found" "$kept" "$artifacts"
  [ ! -f "corpus/$target.tar.gz" ] || tar -xzf "corpus/$target.tar.gz" -C "$kept"
  before=$(find "$artifacts" -type f | wc -l)
  # The first folder takes what is new; the others are only read.
  status=0
  "$binaries/$target" "$found" "$kept" "$seeds/$target" -max_len="$(max_len "$target")" \
    -max_total_time="$seconds" -runs="${RUNS:--1}" -rss_limit_mb=512 -timeout=60 -report_slow_units=60 -print_final_stats=1 \
    "${schedule[@]}" -artifact_prefix="$artifacts/" >"$work/$target.log" 2>&1 </dev/null || status=$?
  statistic() { sed -n "s/^stat::$1: *//p" "$work/$target.log" | tail -1; }
  progress() { grep -ao " $1: [0-9]*" "$work/$target.log" | tail -1 | grep -o '[0-9]*' || echo 0; }
  executions=$(statistic number_of_executed_units)
  per_s=$(statistic average_exec_per_sec)
  peak=$(statistic peak_rss_mb)
  new=$(($(find "$artifacts" -type f | wc -l) - before))
  # It may fail without an input to blame.
  if [ "$status" != 0 ] && [ "$new" = 0 ]; then new=1; fi
  crashes=$((crashes + new))
  printf '%-16s %10s %7s %8s %6s %7s %7s\n' "$target" "${executions:-?}" "${per_s:-?}" "$(progress ft)" \
    "$(progress corp)" "${peak:-?}" "$new"
  rows+=("{\"target\":\"$target\",\"executions\":${executions:-0},\"features\":$(progress ft),\"peak_mb\":${peak:-0},\"crashes\":$new}")
  if [ "$status" != 0 ]; then grep -aE '^(panic|memory):|ERROR: libFuzzer' "$work/$target.log" | head -5 || true; fi
  [ -z "${KEEP:-}" ] || keep "$target" "$kept" "$found"
done
if [ -n "${JSON:-}" ]; then
  (IFS=, && printf '[%s]\n' "${rows[*]}") >"$JSON"
fi
[ "$crashes" = 0 ] || { echo "$crashes crashes; their inputs are in fuzz/artifacts/"; exit 1; }
