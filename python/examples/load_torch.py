"""A PyTorch dataset over shards: each worker reads its own shards, one in memory at a time, in another order in every epoch.

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
        self.seed, self.epoch = seed, 0

    def set_epoch(self, epoch):
        """Another epoch, another order: call it before every pass, as workers are copies of this."""
        self.epoch = epoch

    def __iter__(self):
        worker = get_worker_info()
        # All workers shuffle alike and take turns: none has the same shards in every epoch.
        shards = np.random.default_rng([self.seed, self.epoch]).permutation(self.shards)
        number = 0 if worker is None else worker.id
        rng = np.random.default_rng([self.seed, self.epoch, number])
        for shard in shards[number :: 1 if worker is None else worker.num_workers]:
            table = pq.read_table(shard, columns=self.COLUMNS)
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
    corpus = Corpus(dataset, split)
    first_rows = []
    for epoch in range(3):
        corpus.set_epoch(epoch)
        batches = list(DataLoader(corpus, batch_size=32, num_workers=2))
        first_rows.append(batches[0]["tx"][0])
    print({name: (tuple(tensor.shape), tensor.dtype) for name, tensor in batches[0].items()})
    assert any(not torch.equal(first_rows[0], row) for row in first_rows[1:]), "every epoch begins with the same row"


if __name__ == "__main__":
    main()
