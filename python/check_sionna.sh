#!/usr/bin/env bash
# Draws new links in several scenes, traces them with Sionna RT and validates the tracer against the result; then holds
# noise-free observations and the rows of a corpus to Sionna RT's paths.
#
#   python/check_sionna.sh [SEED]
#
# Without a seed, the day's date is one: new links every day, the same ones for a second look. The virtual environment
# lives in the target folder and is made once for each state of the requirements file.
set -euo pipefail
cd "$(dirname "$0")/.."

seed=${1:-$(date -u +%Y%m%d)}
target=${CARGO_TARGET_DIR:-target}
magnetar=${MAGNETAR:-$target/release/magnetar}
venv=$target/venv-sionna
python=$venv/bin/python
requirements=python/requirements-sionna.txt

[ -x "$magnetar" ] || cargo build --release -p magnetar

if ! cmp -s "$requirements" "$venv/installed.txt"; then
    bash python/environment.sh "$venv" --requirement "$requirements"
    cp "$requirements" "$venv/installed.txt"
fi
# The package itself, as it is now: the exporters are part of it.
CARGO_TARGET_DIR=$(realpath "$target") "$python" -m pip install --quiet --disable-pip-version-check --no-deps \
    --force-reinstall ./python/magnetar

llvm_works() {
    ("$python" -c 'from magnetar.sionna.tracer import check_llvm; check_llvm()') >/dev/null 2>&1
}

# Dr.Jit 1.5 needs LLVM 17 or newer on x86. If the one it finds is older, look for another, and where apt is at hand
# unpack one beside the virtual environment: no rights needed, nothing installed.
find_llvm() {
    local library
    for library in "$target"/llvm/usr/lib/*/libLLVM.so.* /usr/lib/*/libLLVM.so.* /usr/lib/llvm-*/lib/libLLVM.so*; do
        [ -e "$library" ] || continue
        export DRJIT_LIBLLVM_PATH=$library
        if llvm_works; then return 0; fi
    done
    return 1
}

if ! llvm_works && ! find_llvm; then
    echo "no usable LLVM library found; unpacking libllvm19 into $target/llvm" >&2
    mkdir -p "$target/llvm"
    (cd "$target/llvm" && apt-get download --quiet=2 libllvm19 2>/dev/null && dpkg -x libllvm19_*.deb .) || true
    find_llvm || {
        echo "error: Dr.Jit needs LLVM 17 or newer; install libllvm19 or set DRJIT_LIBLLVM_PATH" >&2
        exit 1
    }
fi

export=$target/sionna-fresh.json.gz
echo "Sionna RT: fresh links with seed $seed"
"$venv/bin/magnetar-sionna-export" lab lab_left lab_middle lab_right tests/data/boxes.toml \
    --random 6 --seed "$seed" --out "$export"
"$magnetar" validate "$export"
arrays=$target/sionna-arrays
rm -rf "$arrays"
"$venv/bin/magnetar-sionna-arrays" lab_middle --random 2 --seed "$seed" --max-order 2 --out "$arrays/opaque"
"$venv/bin/magnetar-sionna-arrays" lab_middle --random 2 --seed "$seed" --max-order 2 --transmission --out "$arrays/through"
"$magnetar" validate "$arrays"/opaque/*.npz "$arrays"/through/*.npz
echo "the Mitsuba export, and Paths without a file"
"$python" python/check_mitsuba.py --seed "$seed"
echo "observations against Sionna RT"
"$python" python/check_observe.py --magnetar "$magnetar" --links 5 --seed "$seed"
echo "rows of a corpus against Sionna RT"
"$python" python/check_corpus.py --magnetar "$magnetar" --rows 200 --seed "$seed"
