"""A PyTorch dataset over shards: each worker reads its own shards, one in memory at a time.

    python load_torch.py DATASET [SPLIT]
"""

import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from load_numpy import estimates, observations


class Corpus(IterableDataset):
    """Rows of one split: observation, estimates, and the TX pose to be found."""

    COLUMNS = ["csi", "aoa", "snr_db", "valid", "tx", "rx"]

    def __init__(self, dataset, split, seed=0):
        self.shards = sorted((Path(dataset) / split).glob("*.parquet"))
        self.seed = seed

    def __iter__(self):
        worker = get_worker_info()
        shards = self.shards if worker is None else self.shards[worker.id :: worker.num_workers]
        rng = np.random.default_rng(self.seed)
        for number in rng.permutation(len(shards)):
            table = pq.read_table(shards[number], columns=self.COLUMNS)
            csi = observations(table)
            arrivals = np.stack([estimates(table, name) for name in ("aoa", "snr_db", "valid")], axis=-1)
            pose = {
                device: np.stack([table[device].combine_chunks().field(n).to_numpy() for n in ("x", "y", "heading")], 1)
                for device in ("tx", "rx")
            }
            for row in rng.permutation(table.num_rows):
                yield {
                    "csi": torch.from_numpy(csi[row].copy()),
                    "arrivals": torch.from_numpy(arrivals[row].astype(np.float32)),
                    "rx": torch.from_numpy(pose["rx"][row].astype(np.float32)),
                    "tx": torch.from_numpy(pose["tx"][row].astype(np.float32)),
                }


def main():
    dataset, split = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "test"
    for batch in DataLoader(Corpus(dataset, split), batch_size=32, num_workers=2):
        print({name: (tuple(tensor.shape), tensor.dtype) for name, tensor in batch.items()})
        break


if __name__ == "__main__":
    main()
