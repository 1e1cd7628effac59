"""The PyTorch side: loaders with workers, expansion on the device, the loss."""

import magnetar
import numpy as np
import pytest
import torch
from magnetar.streams import ExposureStream, expand
from magnetar.torch import Expand, IterableDataset, MapDataset, Stream, uniform_referenced_loss
from torch.utils.data import DataLoader


def stream(**options):
    return Stream(magnetar.Recipe(), **{"batch_size": 4, "seed": 3, **options})


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_a_loader_gives_the_plain_sequence(workers):
    plain = ExposureStream(magnetar.Recipe(), batch_size=4, seed=3)
    loader = DataLoader(stream(), batch_size=None, num_workers=workers)
    for batch, _ in zip(loader, range(6), strict=False):
        expected = next(plain)
        assert batch["step"] == expected["step"]
        assert (batch["spatial"].numpy() == expected["spatial"]).all()
        assert (batch["target_index"].numpy() == expected["target_index"]).all()


def test_two_ranks_of_two_workers_share_nothing():
    plain = ExposureStream(magnetar.Recipe(), batch_size=4, seed=3)
    expected = [next(plain)["spatial"] for _ in range(8)]
    seen = []
    for rank in range(2):
        loader = DataLoader(stream(rank=rank, ranks=2), batch_size=None, num_workers=2)
        for batch, _ in zip(loader, range(4), strict=False):
            number = 2 * batch["step"] + rank
            seen.append(number)
            assert (batch["spatial"].numpy() == expected[number]).all()
    assert sorted(seen) == list(range(8))


def test_a_stopped_loader_goes_on():
    first = stream()
    batches = []
    for batch, _ in zip(DataLoader(first, batch_size=None, num_workers=2), range(5), strict=False):
        batches.append(batch)
    again = stream()
    again.load_state_dict(first.state_dict(batches[1]["step"]))
    for batch, expected in zip(DataLoader(again, batch_size=None, num_workers=2), batches[2:], strict=False):
        assert batch["step"] == expected["step"]
        assert (batch["spatial"] == expected["spatial"]).all()


def test_expansion_is_that_of_numpy():
    batch = next(iter(stream()))
    dense = Expand()(batch["spatial"], batch["heading"])
    expected = expand(batch["spatial"].numpy(), batch["heading"].numpy())
    assert dense.shape == (4, 24, 18, 33, 33)
    assert np.abs(dense.numpy() - expected).max() < 1e-7


def test_the_loss_of_the_uniform_posterior_is_zero():
    batch = next(iter(stream()))
    logits = torch.zeros(4, 18, 33, 33, requires_grad=True)
    loss = uniform_referenced_loss(logits, batch)
    assert abs(float(loss)) < 1e-5
    loss.backward()
    assert torch.isfinite(logits.grad).all()
    better = torch.zeros(4, 18 * 33 * 33)
    better.scatter_(1, batch["target_index"], 3.0)
    assert float(uniform_referenced_loss(better.reshape(4, 18, 33, 33), batch)) < -2


def test_stored_rows(small):
    rows = MapDataset(small, "train")
    assert len(rows) == 50
    item = rows[7]
    assert int(item["index"]) == 7
    assert item["spatial"].shape == (16, 33, 33)
    assert item["room"].shape == (6,)
    assert len(item["materials"]) == 3
    with pytest.raises(IndexError):
        rows[50]
    batches = IterableDataset(small, "train", batch_size=8)
    assert len(batches) == 7
    orders = []
    for epoch in (0, 1):
        batches.set_epoch(epoch)
        index = [int(i) for batch in DataLoader(batches, batch_size=None, num_workers=2) for i in batch["index"]]
        assert sorted(index) == list(range(50))
        orders.append(index)
    assert orders[0] != orders[1]
