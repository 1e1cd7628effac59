"""From rows to posteriors over the transmitter's pose, and what they are worth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from magnetar import _native
from magnetar._native import Dataset, Figure, Metrics, Recipe, Rows, Scorer
from magnetar.errors import InputError

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Size = tuple[int, int, int]

EVALUATION: Size = (18, 33, 33)
"""D, H and W of the paper's evaluation support."""


@dataclass(frozen=True)
class Features:
    """What a network sees of rows, as ``magnetar features`` writes it."""

    spatial: Singles
    """(rows, 8 + 4K, H, W): displacement, log range, bearing, b_LOS, spacing; per arrival SNR, mismatch, validity."""
    query: Singles
    """(rows, 4 + 2K, D, H, W): candidate heading against RX heading, direction to the RX and each arrival."""
    target_index: NDArray[np.int64]
    """(rows, 8): flat candidate indices of the truth."""
    target_weight: Singles
    """(rows, 8): their weights; 0 where unused."""
    mask: NDArray[np.bool_]
    """(rows, H, W): false where a candidate coincides with the RX."""
    ys: Floats
    """(rows, H), metres."""
    xs: Floats
    """(rows, W), metres."""

    def dense(self) -> Singles:
        """(rows, 12 + 6K, D, H, W): the spatial field repeated for every heading, then the query."""
        rows, channels, height, width = self.spatial.shape
        wide = np.broadcast_to(self.spatial[:, :, None], (rows, channels, self.query.shape[2], height, width))
        return np.concatenate([wide, self.query], axis=1)


def features(rows: Rows, size: Size = EVALUATION, *, training_seed: int | None = None) -> Features:
    """Candidate features and targets of rows: at cell centres, or on training supports drawn by a seed."""
    return Features(**_native.features(rows, size, training_seed))


@dataclass(frozen=True)
class Posterior:
    """One posterior per row over D headings by H x W positions."""

    rows: Rows
    scorer: Scorer
    mass: Singles
    """(rows, D, H, W), each summing to one."""
    xs: Floats
    """(rows, W), metres."""
    ys: Floats
    """(rows, H), metres."""
    headings: Floats
    """(D,), radians in [-pi, pi)."""

    def __len__(self) -> int:
        return len(self.mass)

    def mode(self) -> Floats:
        """(rows, 4): x, y (metres), heading (radians) and mass of the most probable candidate."""
        count, _, height, width = self.mass.shape
        flat = self.mass.reshape(count, -1)
        best = flat.argmax(axis=1)
        rows = np.arange(count)
        heading, cell = best // (height * width), best % (height * width)
        columns = [self.xs[rows, cell % width], self.ys[rows, cell // width], self.headings[heading], flat[rows, best]]
        return np.stack(columns, axis=1).astype(np.float64)

    def position_marginal(self) -> Floats:
        """(rows, H, W)."""
        marginal: Floats = self.mass.astype(np.float64).sum(axis=1)
        return marginal

    def heading_marginal(self) -> Floats:
        """(rows, D)."""
        marginal: Floats = self.mass.astype(np.float64).sum(axis=(2, 3))
        return marginal

    def figure(self, row: int = 0, *, kind: str = "marginal", theme: str = "light") -> Figure:
        """A picture of one row's posterior: its ``"marginal"`` over positions, or the HPD sets of its ``"volume"``."""
        caption = f"Row {row}; {self.scorer.name}: {self.scorer.knowledge}."
        return _native.posterior_figure(self.rows, row, self.mass[row : row + 1], kind, caption, theme)


def posterior(rows: Rows, scorer: Scorer, size: Size = EVALUATION) -> Posterior:
    """The posteriors of rows, as ``magnetar posterior`` computes them."""
    return Posterior(rows=rows, scorer=scorer, **scorer.score(rows, size))


def evaluate(
    data: Dataset | Rows,
    scorers: Scorer | Sequence[Scorer],
    *,
    split: str | None = None,
    limit: int | None = None,
    size: Size = EVALUATION,
) -> dict[str, Any]:
    """The balanced metrics of scorers on the same rows: what ``magnetar evaluate --json`` prints, by scorer's name.

    I_post ranks the scorers given; the command line's ranking has the uniform posterior as one of them.
    """
    several = [scorers] if isinstance(scorers, Scorer) else list(scorers)
    found: dict[str, Any] = _native.evaluate(data, split, several, limit, size)
    return found


def evaluate_network(
    batches: Iterable[Rows],
    network: Callable[[Features], Any],
    *,
    size: Size = EVALUATION,
    logits: bool = True,
    batch_size: int = 32,
) -> dict[str, Any]:
    """The metrics of a network from anywhere: ``network`` maps features to scores (rows, D, H, W).

    The network sees ``batch_size`` rows at once at most (dense features of one take 1.9 MB at the paper's size).
    Scores are logits, made posteriors by a softmax over the candidates that count, or masses with ``logits=False``.
    Anything that numpy can take is welcome, such as a PyTorch tensor on the CPU.
    """
    if batch_size < 1:
        raise InputError(f"batch_size {batch_size}: expected at least 1")
    metrics = Metrics()
    for rows in batches:
        for start in range(0, len(rows), batch_size):
            part = rows.take(range(start, min(start + batch_size, len(rows))))
            fields = features(part, size)
            scores = np.asarray(network(fields), dtype=np.float32)
            if scores.shape != (len(part), *size):
                expected = (len(part), *size)
                raise InputError(f"the network gave scores of shape {scores.shape}; expected {expected}")
            metrics.add(part, softmax(scores, fields.mask) if logits else scores)
    found: dict[str, Any] = metrics.summary()
    return found


def softmax(scores: Singles, mask: NDArray[np.bool_]) -> Singles:
    """Posteriors (rows, D, H, W) of logits over the candidates that a mask (rows, H, W) leaves."""
    open_scores = np.where(mask[:, None], scores.astype(np.float64), -np.inf)
    mass = np.exp(open_scores - open_scores.max(axis=(1, 2, 3), keepdims=True))
    posterior: Singles = (mass / mass.sum(axis=(1, 2, 3), keepdims=True)).astype(np.float32)
    return posterior


@dataclass(frozen=True)
class Fused:
    """What several views of one transmitter say together."""

    early: Floats
    """(H, W): product of the position marginals."""
    late: Floats
    """(H, W): one heading explains all views."""
    kappa: Floats
    """(H, W): common-heading compatibility, 0 to 1."""
    joint: Floats
    """(D, H, W): product of the joints."""


def fuse(posteriors: Posterior | Singles) -> Fused:
    """Fuses views of one transmitter on one grid: a ``Posterior`` whose rows are the views, or masses (views, D, H, W)."""
    return Fused(**_native.fuse(posteriors.mass if isinstance(posteriors, Posterior) else posteriors))


__all__ = [
    "EVALUATION",
    "Features",
    "Fused",
    "Posterior",
    "Recipe",
    "evaluate",
    "evaluate_network",
    "features",
    "fuse",
    "posterior",
    "softmax",
]
