"""Training batches by arithmetic: which exposures a rank's worker gets, and how a stopped stream goes on.

Exposures are numbered 0, 1, 2 ... without end. Exposure n is row n of a recipe's split on a support of its own, both pure
functions of their seeds and n. Batch b holds exposures b B to (b + 1) B. Step t of rank r (of R) is batch t R + r, and with
W workers worker w makes the steps t = k W + w: so ranks and workers share no row, together they give the plain sequence,
and a rank's batches are the same for any number of workers. Nothing here needs PyTorch; ``magnetar.torch`` wraps it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from magnetar._native import Dataset, ExposureSource, Recipe, Rows, expose_rows
from magnetar.errors import InputError

PAPER_STAGES = (33, 25, 33, 41)
"""Cells a side of the paper's four training stages."""

PAPER_STAGE_EXPOSURES = 409_600
"""Exposures of each of them."""


@dataclass(frozen=True)
class Share:
    """One worker's part of the steps of one rank."""

    rank: int = 0
    ranks: int = 1
    worker: int = 0
    workers: int = 1

    def __post_init__(self) -> None:
        if not (0 <= self.rank < self.ranks and 0 <= self.worker < self.workers):
            raise InputError(f"{self}: expected 0 <= rank < ranks and 0 <= worker < workers")

    def steps(self, start: int = 0) -> Iterator[int]:
        """The rank's steps, from ``start`` on, that this worker makes."""
        step = start + self.worker
        while True:
            yield step
            step += self.workers

    def batch(self, step: int) -> int:
        """The number of the batch that is this step of the rank."""
        return step * self.ranks + self.rank


def expand(spatial: NDArray[np.float32], heading: NDArray[np.float32]) -> NDArray[np.float32]:
    """The dense (rows, 12 + 6K, D, H, W) channels of factored fields (rows, 8 + 4K, H, W) and (rows, 2 + 2K, D)."""
    rows, _, height, width = spatial.shape
    count = heading.shape[2]
    over = (rows, -1, count, height, width)
    wide = np.broadcast_to(heading[..., None, None], (*heading.shape, height, width))
    tall = np.broadcast_to(spatial[:, :, None], (rows, spatial.shape[1], count, height, width))
    cos_a, sin_a = wide[:, 0:1], wide[:, 1:2]
    cos_l, sin_l = tall[:, 3:4], tall[:, 4:5]
    towards = np.concatenate([-(cos_a * cos_l + sin_a * sin_l), -(sin_a * cos_l - cos_a * sin_l)], axis=1)
    return np.concatenate([tall, wide[:, :2], towards, wide[:, 2:]], axis=1).reshape(over)


class ExposureStream:
    """Endless batches of a recipe's split, drawn on the fly.

    A batch is a dict of arrays: ``spatial`` (B, 8 + 4K, H, W), ``heading`` (B, 2 + 2K, D), ``target_index`` and
    ``target_weight`` (B, 2), ``mask`` (B, H, W), ``spacing_m`` (B, 2), and the int ``step``. Stages follow one another
    every ``stage_exposures`` and begin anew after the last.

    >>> from magnetar import Recipe
    >>> stream = ExposureStream(Recipe("paper"), batch_size=4, stages=(33, 25), stage_exposures=8)
    >>> [next(stream)["spatial"].shape for _ in range(3)]
    [(4, 16, 33, 33), (4, 16, 33, 33), (4, 16, 25, 25)]
    >>> stream.state_dict()["step"]
    3
    """

    def __init__(
        self,
        recipe: Recipe,
        split: str = "train",
        *,
        seed: int = 1,
        batch_size: int = 64,
        stages: Sequence[int] = (33,),
        stage_exposures: int = PAPER_STAGE_EXPOSURES,
        headings: int = 18,
        support_seed: int | None = None,
        rank: int = 0,
        ranks: int = 1,
    ) -> None:
        if batch_size < 1 or stage_exposures < 1 or stage_exposures % batch_size:
            raise InputError(f"stages of {stage_exposures} exposures do not hold whole batches of {batch_size}")
        if not stages or min(stages) < 1 or headings < 1:
            raise InputError(f"stages {tuple(stages)} of {headings} headings: expected at least one cell and heading")
        self.recipe, self.split, self.seed = recipe, split, seed
        self.batch_size, self.stages, self.stage_exposures = batch_size, tuple(stages), stage_exposures
        self.headings = headings
        self.support_seed = seed if support_seed is None else support_seed
        self.share = Share(rank, ranks)
        self.step = 0
        self._source: ExposureSource | None = None

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state["_source"] = None
        return state

    def size(self, batch: int) -> tuple[int, int, int]:
        """D, H and W of a batch."""
        stage = batch * self.batch_size // self.stage_exposures
        side = self.stages[stage % len(self.stages)]
        return self.headings, side, side

    def make(self, step: int) -> dict[str, Any]:
        """The batch that is this step of the rank."""
        if self._source is None:
            self._source = ExposureSource(self.recipe, self.split, self.seed, self.support_seed)
        batch = self.share.batch(step)
        numbers = range(batch * self.batch_size, (batch + 1) * self.batch_size)
        return {**self._source.exposures(list(numbers), self.size(batch)), "step": step}

    def worker(self, worker: int, workers: int) -> Iterator[dict[str, Any]]:
        """The batches that one of several workers makes, from the stream's step on."""
        share = Share(self.share.rank, self.share.ranks, worker, workers)
        return map(self.make, share.steps(self.step))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self

    def __next__(self) -> dict[str, Any]:
        made = self.make(self.step)
        self.step += 1
        return made

    def state_dict(self, step: int | None = None) -> dict[str, Any]:
        """What is needed to go on: after the batch of ``step``, or after those this object gave."""
        return {
            "step": self.step if step is None else step + 1,
            "recipe_hash": self.recipe.hash,
            "split": self.split,
            "seed": self.seed,
            "support_seed": self.support_seed,
            "batch_size": self.batch_size,
            "stages": list(self.stages),
            "stage_exposures": self.stage_exposures,
            "headings": self.headings,
            "ranks": self.share.ranks,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on where a stream of the same rows stopped."""
        own = self.state_dict()
        differing = [key for key in own if key != "step" and own[key] != state.get(key)]
        if differing:
            was = ", ".join(f"{key} {state.get(key)!r} (here {own[key]!r})" for key in differing)
            raise InputError(f"the state of another stream: {was}")
        self.step = int(state["step"])


class StoredExposures:
    """A stored split for training: every epoch in an order of its own, supports drawn anew.

    Rows are held in memory, without their observations. ``batches(epoch)`` gives the batches of one rank and worker as
    ``ExposureStream`` does, with ``index`` (B,), ``room`` (B, 6), ``board`` (B, 7: centre, width, thickness, height,
    yaw; not-a-number without one), and ``materials`` (wall, ceiling, floor of every row) besides.
    """

    def __init__(
        self,
        dataset: Dataset | str | PathLike[str],
        split: str = "train",
        *,
        seed: int = 1,
        batch_size: int = 64,
        side: int = 33,
        headings: int = 18,
        shuffle: bool = True,
        limit: int | None = None,
        rank: int = 0,
        ranks: int = 1,
    ) -> None:
        if batch_size < 1 or side < 1 or headings < 1:
            raise InputError(f"batches of {batch_size} on {headings} x {side} x {side}: expected at least one each")
        self.dataset = dataset if isinstance(dataset, Dataset) else Dataset(dataset)
        self.split, self.seed, self.batch_size, self.shuffle = split, seed, batch_size, shuffle
        self.size = (headings, side, side)
        self.share = Share(rank, ranks)
        self.limit = limit
        self._load()

    def _load(self) -> None:
        self.rows: Rows = self.dataset.rows(self.split, 0, self.limit, csi=False).combined()
        self.room: NDArray[np.float64] = self.rows.numpy("room")
        self.board = _boards(self.rows)
        names = [self.rows.numpy(f"materials.{surface}") for surface in ("wall", "ceiling", "floor")]
        self.materials: list[tuple[str, str, str]] = list(zip(*names, strict=True))

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("rows", "room", "board", "materials")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._load()

    def __len__(self) -> int:
        """Rows."""
        return len(self.rows)

    def steps(self) -> int:
        """Batches of one rank in an epoch: the last may be short, and ranks may differ by one."""
        batches = -(-len(self.rows) // self.batch_size)
        return len(range(self.share.rank, batches, self.share.ranks))

    def order(self, epoch: int) -> NDArray[np.int64]:
        """The places of all rows in the order of an epoch: the same on every rank."""
        places = np.arange(len(self.rows), dtype=np.int64)
        if self.shuffle:
            np.random.default_rng([self.seed, epoch]).shuffle(places)
        return places

    def take(self, places: NDArray[np.int64], epoch: int = 0) -> dict[str, Any]:
        """The exposures of rows by place; supports are drawn by (seed, epoch, place)."""
        rows = self.rows.take([int(place) for place in places])
        numbers = [epoch * len(self.rows) + int(place) for place in places]
        return {
            **expose_rows(rows, numbers, self.size, self.seed),
            "index": rows.numpy("index"),
            "room": self.room[places],
            "board": self.board[places],
            "materials": [self.materials[place] for place in places],
        }

    def batches(self, epoch: int = 0, worker: int = 0, workers: int = 1) -> Iterator[dict[str, Any]]:
        """The batches of an epoch that one worker of this rank makes."""
        order = self.order(epoch)
        share = Share(self.share.rank, self.share.ranks, worker, workers)
        for step in share.steps():
            start = share.batch(step) * self.batch_size
            if start >= len(order):
                return
            yield {**self.take(order[start : start + self.batch_size], epoch), "step": step}


def _boards(rows: Rows) -> NDArray[np.float64]:
    """The board of every row; not-a-number without one."""
    members = ("x", "y", "z", "width", "thickness", "height", "yaw")
    return np.stack([rows.numpy(f"board.{member}") for member in members], axis=1)
