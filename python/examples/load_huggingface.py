"""Load a dataset with Hugging Face `datasets`; the splits come from the card's head.

    python load_huggingface.py DATASET [SPLIT]
"""

import sys
import tempfile

import numpy as np
from datasets import load_dataset


def main():
    dataset, split = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "test"
    with tempfile.TemporaryDirectory() as cache:
        rows = load_dataset(dataset, split=split, cache_dir=cache)
        print(rows)
        row = rows.with_format("numpy")[0]
        csi = np.asarray(row["csi"], dtype=np.float32).reshape(-1, 2, 2)
        assert csi.shape[0] > 1 and np.isfinite(csi).all()
        print(f"first row: csi {csi.shape}, tx {row['tx']}, aoa {row['aoa']}")
        # The same without loading anything into a cache:
        streamed = next(iter(load_dataset(dataset, split=split, streaming=True)))
        assert streamed["index"] == 0


if __name__ == "__main__":
    main()
