#!/usr/bin/env bash
# A virtual environment with what a check needs. uv installs, from PyPI as pip does and in a tenth of its time; it stays in the
# target folder.
#
#   python/environment.sh VENV [ARGUMENT ...]             makes it; the arguments are those of `pip install`
#   PYTHON="/usr/bin/python3" VENV_ARGUMENTS="..."        another Python; arguments of `python -m venv`
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
VERSION=0.13.8
venv=$1
shift
tools=${CARGO_TARGET_DIR:-$root/target}/uv-$VERSION
if [ ! -x "$tools/bin/uv" ]; then
    # Under another name until it is whole: several checks may be at it.
    new=$(mktemp -d "${TMPDIR:-/tmp}/magnetar-uv.XXXXXX")
    mkdir -p "$(dirname "$tools")"
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --target "$new" "uv==$VERSION" &&
        mv -T "$new" "$tools" 2>/dev/null || rm -rf "$new"
fi
# shellcheck disable=SC2086 # several arguments
"${PYTHON:-python3}" -m venv --clear ${VENV_ARGUMENTS:-} "$venv"
[ $# -gt 0 ] || exit 0
# What is set for pip holds for uv; where it does not (a pip.conf), pip installs.
[ -z "${PIP_CERT:-}" ] || export SSL_CERT_FILE=$PIP_CERT
[ -z "${PIP_INDEX_URL:-}" ] || export UV_DEFAULT_INDEX=$PIP_INDEX_URL
"$tools/bin/uv" pip install --quiet --python "$venv/bin/python" "$@" || {
    echo "uv could not install it; pip tries" >&2
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
}
