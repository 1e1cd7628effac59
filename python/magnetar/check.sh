#!/usr/bin/env bash
# Builds the wheel as `pip install` does, installs it in a fresh virtual environment without Rust on the path, and runs what
# checks it: pytest, mypy on the package and its stubs, doctests, the snippets of docs/python.md, and the notebooks. What
# needs PyTorch (sbi, networks from outside) runs with Debian's (CPU only, 150 MB), where apt is at hand: the one on PyPI
# brings gigabytes of CUDA. DeepMIMO, which needs an older numpy than the rest, runs there, too.
#
#   python/magnetar/check.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
# The main build's folder: what does not depend on features is not compiled again.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$here"
# Not --locked: a new dependency of the main crates is not an error of this package.
cargo clippy --release -- -D warnings
python3 -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$work/wheel" .
wheel=$(echo "$work"/wheel/magnetar-*-abi3-*.whl)
ls -l "$wheel"

# Without Rust: neither cargo nor rustc is on this path.
bare() { env PATH="$1/bin:/usr/bin:/bin" HF_HUB_OFFLINE=1 HF_DATASETS_DISABLE_PROGRESS_BARS=1 "${@:2}"; }

bash "$root/python/environment.sh" "$work/venv" --requirement requirements-check.txt
venv=$work/venv
if bare "$venv" sh -c 'command -v cargo || command -v rustc'; then
    echo "error: Rust is on the path of the check" >&2
    exit 1
fi
bare "$venv" pip install --quiet --disable-pip-version-check "$wheel"
# Away from the sources, so that the installed package is what is tested.
mkdir "$work/run"
cp -r tests tests_ray pyproject.toml "$work/run"
cd "$work/run"
bare "$venv" python -m pytest
MAGNETAR_ROOT=$root RAY_USAGE_STATS_ENABLED=0 bare "$venv" python -m pytest tests_ray
bare "$venv" python -m mypy --config-file pyproject.toml -p magnetar
bare "$venv" python -m mypy.stubtest magnetar._native --mypy-config-file pyproject.toml
bare "$venv" python -m pytest --doctest-modules --pyargs magnetar.{links,inference,streams}
bare "$venv" python -m doctest "$root/docs/python.md" -o NORMALIZE_WHITESPACE -o ELLIPSIS

# Notebooks, headless; what they print stays here.
run_notebooks() {
    bare "$1" python - "${@:2}" <<'END'
import sys
import nbclient
import nbformat

for path in sys.argv[1:]:
    nbclient.NotebookClient(nbformat.read(path, as_version=4), timeout=300, kernel_name="python3").execute()
    print(f"{path} runs")
END
}
notebooks=$root/python/notebooks
run_notebooks "$venv" "$notebooks"/{quick_start,your_own_room,twin_and_fusion}.ipynb

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! /usr/bin/python3 -c "import torch, venv" 2>/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends python3-torch python3-venv >/dev/null
fi
if /usr/bin/python3 -c "import torch" 2>/dev/null; then
    PYTHON=/usr/bin/python3 VENV_ARGUMENTS=--system-site-packages bash "$root/python/environment.sh" "$work/torch" \
        --requirement "$here/requirements-torch.txt"
    bare "$work/torch" pip install --quiet --disable-pip-version-check --no-deps --requirement "$here/requirements-sbi.txt"
    bare "$work/torch" pip install --quiet --disable-pip-version-check "$wheel"
    export MAGNETAR_DOCS=$root/docs
    bare "$work/torch" python -m pytest -q "$here/tests_torch"
    # The figure of docs/python.md, of fewer rows.
    bare "$work/torch" python "$root/python/calibration.py" --rows 200 --samples 200 --out "$work/calibration.svg"
    run_notebooks "$work/torch" "$notebooks/train_on_a_stream.ipynb"
else
    echo "no PyTorch for /usr/bin/python3: its part was not checked"
fi
echo "the Python package passes in $SECONDS s"
