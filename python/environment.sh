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
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --target "$new" "uv==$VERSION"
    mkdir -p "$(dirname "$tools")"
    mv -T "$new" "$tools" 2>/dev/null || rm -rf "$new"
fi
# shellcheck disable=SC2086 # several arguments
"${PYTHON:-python3}" -m venv --clear ${VENV_ARGUMENTS:-} "$venv"
[ -z "${PIP_CERT:-}" ] || export SSL_CERT_FILE=$PIP_CERT
[ $# = 0 ] || "$tools/bin/uv" pip install --quiet --python "$venv/bin/python" "$@"
