"""PyTorch: endless streams, stored corpora, and the module that expands factored fields on the device.

``pip install magnetar[torch]``. Batches are dicts of tensors; see ``magnetar.streams`` for what they hold and how ranks
and workers share them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils import data

from magnetar.streams import PAPER_STAGE_EXPOSURES, PAPER_STAGES, ExposureStream, StoredExposures

__all__ = [
    "PAPER_STAGES",
    "PAPER_STAGE_EXPOSURES",
    "Expand",
    "IterableDataset",
    "MapDataset",
    "Stream",
    "uniform_referenced_loss",
]


def _tensors(batch: dict[str, Any]) -> dict[str, Any]:
    """Arrays as tensors of the same memory; row numbers as int64, as older PyTorch knows no uint64."""

    def convert(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        return torch.from_numpy(value.astype(np.int64) if value.dtype == np.uint64 else value)

    return {key: convert(value) for key, value in batch.items()}


class Stream(data.IterableDataset[dict[str, Any]]):
    """Endless batches of a recipe, for ``DataLoader(stream, batch_size=None, num_workers=...)``.

    Takes the arguments of ``magnetar.streams.ExposureStream``. Every batch has its ``step``; to go on after it, load
    ``state_dict(step)`` into a stream of the same arguments.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__()
        self.exposures = ExposureStream(*args, **options)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        info = data.get_worker_info()
        if info is None:
            return map(_tensors, self.exposures)
        return map(_tensors, self.exposures.worker(info.id, info.num_workers))

    def state_dict(self, step: int | None = None) -> dict[str, Any]:
        """As ``ExposureStream.state_dict``. With worker processes give the step of the last batch taken."""
        return self.exposures.state_dict(step)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on where a stream of the same rows stopped."""
        self.exposures.load_state_dict(state)


class MapDataset(data.Dataset[dict[str, Any]]):
    """A stored split by place: exposure tensors, row index, room, board and materials of one row.

    Takes the arguments of ``magnetar.streams.StoredExposures``; ``set_epoch`` draws other supports.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        self.stored = StoredExposures(*args, **options)
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """The epoch whose supports are drawn from now on."""
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.stored)

    def __getitem__(self, place: int) -> dict[str, Any]:
        if not -len(self) <= place < len(self):
            raise IndexError(f"row {place} of {len(self)}")
        batch = self.stored.take(np.array([place % len(self)], dtype=np.int64), self.epoch)
        return {key: value[0] for key, value in _tensors(batch).items()}


class IterableDataset(data.IterableDataset[dict[str, Any]]):
    """A stored split in batches, in an order of its own in every epoch; for ``DataLoader(..., batch_size=None)``.

    Takes the arguments of ``magnetar.streams.StoredExposures``. ``set_epoch`` chooses the order and the supports.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__()
        self.stored = StoredExposures(*args, **options)
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """The epoch of the next iteration."""
        self.epoch = epoch

    def __len__(self) -> int:
        """Batches of this rank."""
        return self.stored.steps()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        info = data.get_worker_info()
        worker, workers = (0, 1) if info is None else (info.id, info.num_workers)
        return map(_tensors, self.stored.batches(self.epoch, worker, workers))


class Expand(nn.Module):
    """The dense channels (B, 12 + 6K, D, H, W) of ``spatial`` (B, 8 + 4K, H, W) and ``heading`` (B, 2 + 2K, D)."""

    def forward(self, spatial: Tensor, heading: Tensor) -> Tensor:
        height, width = spatial.shape[2:]
        tall = spatial[:, :, None].expand(-1, -1, heading.shape[2], -1, -1)
        wide = heading[..., None, None].expand(-1, -1, -1, height, width)
        cos_a, sin_a = wide[:, 0:1], wide[:, 1:2]
        cos_l, sin_l = tall[:, 3:4], tall[:, 4:5]
        towards = torch.cat([-(cos_a * cos_l + sin_a * sin_l), -(sin_a * cos_l - cos_a * sin_l)], dim=1)
        return torch.cat([tall, wide[:, :2], towards, wide[:, 2:]], dim=1)


def uniform_referenced_loss(logits: Tensor, batch: dict[str, Tensor]) -> Tensor:
    """The paper's loss, mean over the batch: cross-entropy minus ln N_valid, zero for the uniform posterior.

    ``logits`` is (B, D, H, W); ``batch`` has the mask and the target.
    """
    mask = batch["mask"][:, None].expand_as(logits)
    flat = logits.masked_fill(~mask, -torch.inf).flatten(1)
    valid = mask.flatten(1).sum(dim=1).to(flat.dtype)
    expected = (flat.gather(1, batch["target_index"]) * batch["target_weight"]).sum(dim=1)
    return (torch.logsumexp(flat, dim=1) - torch.log(valid) - expected).mean()
