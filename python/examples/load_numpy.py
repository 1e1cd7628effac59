"""Read a split with pyarrow and numpy: observations as complex64 [n, 512, 2], estimates as [n, K].

    python load_numpy.py DATASET [SPLIT]
"""

import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq


def load(dataset, split, columns=None):
    """The split as one Arrow table; `columns=[...]` reads only those."""
    return pq.read_table(Path(dataset) / split, columns=columns)


def observations(table):
    """The `csi` column as complex numbers [rows, bins, channels], without a copy for f32."""
    tensor = table["csi"].combine_chunks()
    values = tensor.to_numpy_ndarray()
    if values.dtype == np.float16:
        values = values.astype(np.float32)
    return values.view(np.complex64)[..., 0]


def estimates(table, name):
    """A per-arrival column (`aoa`, `snr_db`, `valid`, ...) as [rows, K]."""
    column = table[name].combine_chunks()
    return column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)


def main():
    dataset, split = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "test"
    table = load(dataset, split)
    csi, aoa, valid = observations(table), estimates(table, "aoa"), estimates(table, "valid")
    tx = np.stack([table["tx"].combine_chunks().field(name).to_numpy() for name in ("x", "y", "heading")], axis=1)
    assert csi.shape[0] == aoa.shape[0] == valid.shape[0] == tx.shape[0] == table.num_rows
    assert csi.dtype == np.complex64 and np.isfinite(csi).all() and np.isfinite(tx).all()
    print(f"{split}: csi {csi.shape} {csi.dtype}, aoa {aoa.shape}, tx {tx.shape}")
    print(f"  mean power per bin {np.mean(np.abs(csi) ** 2):.2f}, arrivals found {valid.mean():.3f}")
    field = table.schema.field("aoa")
    print(f"  aoa: unit {field.metadata[b'unit'].decode()}, frame {field.metadata[b'frame'].decode()}")


if __name__ == "__main__":
    main()
