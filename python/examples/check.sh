#!/usr/bin/env bash
# Makes a small dataset with the given magnetar binary and runs every loader on it (PyTorch's only if torch is there).
#
#     python/examples/check.sh [MAGNETAR]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
magnetar=${1:-$root/target/release/magnetar}
venv=${VENV:-$root/.venv}

[ -x "$venv/bin/python" ] || bash "$here/../environment.sh" "$venv" --requirement "$here/../requirements.txt"
"$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/../requirements.txt"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for csi in f32 f16; do
    "$magnetar" generate --limit 60 --shard-size 25 --csi "$csi" --out "$work/$csi" > /dev/null 2>&1
    for split in test fusion; do
        "$venv/bin/python" "$here/load_numpy.py" "$work/$csi" "$split"
    done
done
# What reads Parquet finds damage by the pages' own checksums.
"$venv/bin/python" - "$work/f32/test/part-00000.parquet" <<'END'
import sys
import pyarrow.parquet as parquet

path = sys.argv[1]
column = parquet.read_metadata(path).row_group(0).column(0)
parquet.ParquetFile(path, page_checksum_verification=True).read()
data = bytearray(open(path, "rb").read())
data[column.data_page_offset + column.total_compressed_size - 1] ^= 1
open(path + ".damaged", "wb").write(data)
try:
    parquet.ParquetFile(path + ".damaged", page_checksum_verification=True).read(columns=[column.path_in_schema])
except OSError as error:
    print(f"damage is found: {error}")
else:
    sys.exit("damage to a page was not found")
END
# duckdb and polars do not read half precision in every release; the default is f32.
export HF_HUB_OFFLINE=1 HF_DATASETS_DISABLE_PROGRESS_BARS=1
for loader in polars duckdb huggingface; do
    "$venv/bin/python" "$here/load_$loader.py" "$work/f32" test
done
if "$venv/bin/python" -c "import torch" 2> /dev/null; then
    "$venv/bin/python" "$here/load_torch.py" "$work/f32" test
fi
echo "all loaders read the dataset"
