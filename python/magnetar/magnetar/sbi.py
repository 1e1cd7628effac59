"""Simulation-based inference: a scene as prior and simulator, an embedding net for arrivals, and our posterior as one of theirs.

``pip install magnetar[sbi]`` (PyTorch and the package ``sbi``). Everything here is made for ``sbi``: ``PosePrior`` is a PyTorch
distribution over TX poses (x, y in metres, heading in radians), ``Simulator`` maps a batch of them to float32 observations,
``ArrivalEmbedding`` reads sets of arrivals, and ``VolumePosterior`` draws from posteriors of ours, so that ``sbi.diagnostics``
can judge them (``calibration``). Random numbers are PyTorch's: ``torch.manual_seed`` decides all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.distributions import Distribution, biject_to, constraints

from magnetar._native import Recipe, Rows, Scene
from magnetar._settings import settings
from magnetar.errors import InputError
from magnetar.inference import Posterior
from magnetar.links import Components, estimate, observe

__all__ = [
    "ARRIVAL_FIELDS",
    "ArrivalEmbedding",
    "Calibration",
    "PosePrior",
    "Simulator",
    "VolumePosterior",
    "arrivals_of_rows",
    "calibration",
]

ARRIVAL_FIELDS = ("valid", "aoa_rad", "snr_db", "delay_ns")
"""What is known of an arrival, in the order of the last axis; all zero where it is missing."""

_GRID = 1024
"""Cells a side with which the free area of a room is measured."""

_CHUNK = 1024
"""Links that are simulated at once."""


class _FreePoses(constraints.Constraint):
    """Poses of a box (x, y, heading) that are free."""

    is_discrete = False
    event_dim = 1

    def __init__(self, prior: PosePrior) -> None:
        self.prior = prior
        self.box = constraints.independent(constraints.interval(prior.low, prior.high), 1)

    def check(self, value: Tensor) -> Tensor:
        return self.prior.free(value)


@biject_to.register(_FreePoses)
def _box_of(constraint: _FreePoses) -> Any:
    return biject_to(constraint.box)


class PosePrior(Distribution):
    """Where a TX may be in a scene: uniform over the room, as recipes draw it.

    At least ``devices.wall_margin_m`` from walls and boxes, ``devices.separation_min_m`` from the RX, heading anywhere.
    A sample is x, y (metres) and heading (radians in [-pi, pi)); the area of the free places is known to 1e-3.
    """

    arg_constraints: dict[str, Any] = {}
    has_rsample = False

    def __init__(
        self,
        scene: Scene | str | PathLike[str],
        rx: ArrayLike,
        recipe: Recipe | None = None,
        *,
        validate_args: bool | None = None,
    ) -> None:
        self.scene = scene if isinstance(scene, Scene) else Scene(str(scene))
        self.rx = np.asarray(rx, dtype=np.float64)
        if self.rx.ndim != 1 or len(self.rx) < 2 or not np.isfinite(self.rx).all():
            raise InputError(f"rx: an array of shape {self.rx.shape}; expected one pose x, y[, z[, heading]]")
        keys = ("devices.wall_margin_m", "devices.separation_min_m")
        self.margin, self.separation = settings(recipe or Recipe("paper"), *keys)
        x0, x1, y0, y1, *_ = self.scene.room
        low = [x0 + self.margin, y0 + self.margin, -math.pi]
        high = [x1 - self.margin, y1 - self.margin, math.pi]
        if low[0] >= high[0] or low[1] >= high[1]:
            raise InputError(f"a room of {x1 - x0:.2f} x {y1 - y0:.2f} m has no place {self.margin} m from its walls")
        self.low, self.high = torch.tensor(low, dtype=torch.float32), torch.tensor(high, dtype=torch.float32)
        super().__init__(torch.Size(), torch.Size([3]), validate_args=False)
        xs, ys = (a + (b - a) * (np.arange(_GRID) + 0.5) / _GRID for a, b in zip(low[:2], high[:2], strict=True))
        places = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
        places = places[self._free_places(places)]
        if not len(places):
            raise InputError("the scene leaves no place for a TX")
        area = len(places) / _GRID**2 * (high[0] - low[0]) * (high[1] - low[1])
        self._log_density = -math.log(area * 2 * math.pi)
        moments = [*places.mean(axis=0), 0.0], [*places.var(axis=0), math.pi**2 / 3]
        self._mean, self._variance = (torch.tensor(values, dtype=torch.float32) for values in moments)

    def _free_places(self, places: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which x, y (metres) are far enough from boxes and from the RX."""
        height = self.scene.device_height
        rx_height = self.rx[2] if len(self.rx) > 2 else height
        offset = places - self.rx[:2]
        free: NDArray[np.bool_] = np.hypot(np.hypot(offset[:, 0], offset[:, 1]), height - rx_height) >= self.separation
        for box in self.scene.boxes:
            (cx, cy, cz), size, yaw = box["center_m"], np.array(box["size_m"]), box["yaw_rad"]
            x, y = places[:, 0] - cx, places[:, 1] - cy
            along = np.stack([x * np.cos(yaw) + y * np.sin(yaw), y * np.cos(yaw) - x * np.sin(yaw)], axis=1)
            beyond = np.maximum(np.abs(np.column_stack([along, np.full(len(x), height - cz)])) - size / 2, 0.0)
            free &= np.linalg.norm(beyond, axis=1) >= max(self.margin, 1e-6)
        return free

    @property
    def support(self) -> Any:
        return _FreePoses(self)

    @property
    def mean(self) -> Tensor:
        return self._mean

    @property
    def variance(self) -> Tensor:
        return self._variance

    def free(self, theta: Tensor) -> Tensor:
        """Whether a TX may have these poses (..., 3)."""
        inside = ((theta >= self.low) & (theta <= self.high)).all(dim=-1)
        places = theta.detach().reshape(-1, 3)[:, :2].numpy().astype(np.float64)
        return inside & torch.from_numpy(self._free_places(places)).reshape(inside.shape)

    def sample(self, sample_shape: Any = torch.Size()) -> Tensor:
        """Poses of shape (*sample_shape, 3)."""
        shape = torch.Size(sample_shape)
        count = math.prod(shape)
        found: list[Tensor] = []
        have = 0
        while have < count:
            drawn = self.low + (self.high - self.low) * torch.rand(2 * (count - have) + 16, 3)
            found.append(drawn[self.free(drawn)])
            have += len(found[-1])
        return torch.cat([*found, torch.empty(0, 3)])[:count].reshape(*shape, 3)

    def log_prob(self, value: Tensor) -> Tensor:
        density = torch.full(value.shape[:-1], self._log_density)
        return density.masked_fill(~self.free(value), -math.inf)


class Simulator:
    """What a receiver in a scene observes of TX poses: a batched simulator for ``sbi``.

    ``simulator(theta)`` takes poses (n, 3: x, y, heading) and gives float32: ``"arrivals"`` (n, K, 4), see
    ``ARRIVAL_FIELDS``, or ``"csi"`` (n, 4, bins): real and imaginary part of channel 0, then of channel 1, in units of the
    noise's deviation. Every link has its own TX power, RF chain and noise, as in a row of the recipe.
    """

    def __init__(
        self,
        scene: Scene | str | PathLike[str],
        rx: ArrayLike,
        recipe: Recipe | None = None,
        *,
        observation: str = "arrivals",
        max_order: int = 1,
        transmission: bool = False,
    ) -> None:
        if observation not in ("arrivals", "csi"):
            raise InputError(f"observation {observation!r}: expected 'arrivals' or 'csi'")
        self.scene = scene if isinstance(scene, Scene) else Scene(str(scene))
        self.rx, self.observation = np.asarray(rx, dtype=np.float64), observation
        self.recipe = recipe or Recipe("paper")
        self.options: dict[str, Any] = {"max_order": max_order, "transmission": transmission}
        (self.power_offset_max_db,) = settings(self.recipe, "link.tx_power_offset_max_db")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "scene": self.scene.to_toml(), "recipe": self.recipe.to_json()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        scene, recipe = Scene.from_toml(state["scene"]), Recipe.from_json(state["recipe"])
        self.__dict__.update({**state, "scene": scene, "recipe": recipe})

    def __call__(self, theta: Tensor) -> Tensor:
        poses = np.atleast_2d(theta.detach().numpy()).astype(np.float64)
        if poses.ndim != 2 or poses.shape[1] != 3:
            raise InputError(f"theta: an array of shape {poses.shape}; expected (n, 3): x, y, heading")
        parts = [self._simulate(poses[start : start + _CHUNK]) for start in range(0, len(poses), _CHUNK)]
        return torch.from_numpy(np.concatenate(parts))

    def _simulate(self, poses: NDArray[np.float64]) -> NDArray[np.float32]:
        count = len(poses)
        tx = np.column_stack([poses[:, :2], np.full(count, self.scene.device_height), poses[:, 2]])
        seed = int(torch.randint(0, 2**63 - 1, ()))
        offset = (2 * torch.rand(count, dtype=torch.float64) - 1).numpy() * self.power_offset_max_db
        made = observe(
            self.scene, tx, self.rx, seed=seed, recipe=self.recipe, tx_power_offset_db=offset, **self.options
        )
        blocks = made[:, 0]
        if self.observation == "csi":
            parts = [part for channel in (0, 1) for part in (blocks[..., channel].real, blocks[..., channel].imag)]
            return np.stack(parts, axis=1)
        return _arrivals(estimate(blocks, recipe=self.recipe))


def _arrivals(found: Components) -> NDArray[np.float32]:
    """Arrivals (observations, K, 4) of components, zero where missing."""
    arrivals = np.zeros((found.observations, found.keep, len(ARRIVAL_FIELDS)), dtype=np.float32)
    kept = found.rank < found.keep
    place = found.observation[kept], found.rank[kept]
    columns = (np.ones(len(found)), found.aoa_rad, found.snr_db, 1e9 * found.delay_s)
    for field, values in enumerate(columns):
        arrivals[(*place, field)] = values[kept]
    return arrivals


def arrivals_of_rows(rows: Rows) -> Tensor:
    """The arrivals of rows as ``Simulator`` gives them: float32 (rows, K, 4)."""
    valid = rows.numpy("valid")
    columns = (valid, rows.numpy("aoa"), rows.numpy("snr_db"), 1e9 * rows.numpy("delay_s"))
    stacked = np.stack([np.where(valid, column, 0.0) for column in columns], axis=-1)
    return torch.from_numpy(stacked.astype(np.float32))


def _layers(*widths: int) -> nn.Sequential:
    steps: list[nn.Module] = []
    for inputs, outputs in zip(widths, widths[1:], strict=False):
        steps += [nn.Linear(inputs, outputs), nn.SiLU()]
    return nn.Sequential(*steps[:-1])


class ArrivalEmbedding(nn.Module):
    """Features (n, output_dim) of arrival sets (n, K, 4), the same in any order; missing arrivals are not seen.

    Each arrival (direction as cosine and sine, SNR, delay after the first) goes through one network; sum and maximum over
    those that are there, and their number, through another. For ``posterior_nn(..., embedding_net=ArrivalEmbedding())``
    with ``z_score_x="none"``: it scales its inputs itself.
    """

    def __init__(self, output_dim: int = 32, hidden_dim: int = 64) -> None:
        super().__init__()
        self.output_dim = output_dim
        self.each = _layers(4, hidden_dim, hidden_dim, hidden_dim)
        self.together = _layers(2 * hidden_dim + 1, hidden_dim, output_dim)

    def forward(self, arrivals: Tensor) -> Tensor:
        there = arrivals[..., 0] > 0.5
        known = torch.where(there[..., None], arrivals, torch.zeros_like(arrivals))
        _, aoa, snr_db, delay_ns = known.unbind(dim=-1)
        first = delay_ns.masked_fill(~there, math.inf).amin(dim=-1, keepdim=True)
        after = torch.where(there, delay_ns - first, torch.zeros_like(delay_ns))
        each = self.each(torch.stack([aoa.cos(), aoa.sin(), (snr_db - 30) / 10, after / 10], dim=-1))
        total = each.masked_fill(~there[..., None], 0.0).sum(dim=-2)
        most = each.masked_fill(~there[..., None], -math.inf).amax(dim=-2)
        count = there.sum(dim=-1, keepdim=True)
        most = torch.where(count > 0, most, torch.zeros_like(most))
        return self.together(torch.cat([total, most, count.to(total.dtype)], dim=-1))


class VolumePosterior:
    """Posteriors of ours as ``sbi``'s diagnostics take them: ``x`` is the place of a row, (n, 1).

    Parameters are x, y and heading in units of the row's room and of the full turn, from 0 to 1: so that rows of
    different rooms are comparable. Within a cell the density is flat.
    """

    def __init__(self, posterior: Posterior) -> None:
        if len(posterior) == 0:
            raise InputError("posterior: no row")
        self.posterior = posterior
        self.shape = posterior.mass.shape[1:]
        rows = posterior.rows
        self.places = torch.arange(len(posterior), dtype=torch.float32)[:, None]
        truth = np.stack([self._unit(rows.numpy(f"tx.{name}"), axis) for axis, name in enumerate(("x", "y"))], axis=1)
        turn = 2 * math.pi / self.shape[0]
        heading = np.mod(rows.numpy("tx.heading") - posterior.headings[0] + turn / 2, 2 * math.pi) / (2 * math.pi)
        self.thetas = torch.from_numpy(np.column_stack([truth, heading]).astype(np.float32))
        """(rows, 3): the true poses."""

    def _unit(self, values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        """Coordinates in units of every row's room."""
        centres = (self.posterior.xs, self.posterior.ys)[axis]
        count = centres.shape[1]
        step = (centres[:, -1] - centres[:, 0]) / max(count - 1, 1)
        unit: NDArray[np.float64] = (values - centres[:, 0] + step / 2) / (count * step)
        return unit

    def _rows(self, x: Tensor) -> NDArray[np.int64]:
        places: NDArray[np.int64] = x.reshape(-1).numpy().astype(np.int64)
        if len(places) and not 0 <= places.min() <= places.max() < len(self.posterior):
            raise InputError(f"x: places {places.min()} to {places.max()}; there are rows 0 to {len(self.posterior)}")
        return places

    def sample_batched(self, sample_shape: Any, x: Tensor, **_: Any) -> Tensor:
        """(*sample_shape, rows, 3)."""
        count = math.prod(torch.Size(sample_shape))
        rng = np.random.default_rng(int(torch.randint(0, 2**63 - 1, ())))
        drawn = []
        for row in self._rows(x):
            mass = np.cumsum(self.posterior.mass[row].ravel(), dtype=np.float64)
            flat = np.searchsorted(mass, rng.random(count) * mass[-1], side="right")
            heading, y, x_cell = np.unravel_index(np.minimum(flat, len(mass) - 1), self.shape)
            cell = np.stack([x_cell, y, heading], axis=1) + rng.random((count, 3))
            drawn.append(cell / [self.shape[2], self.shape[1], self.shape[0]])
        samples = np.stack(drawn, axis=1).astype(np.float32)
        return torch.from_numpy(samples).reshape(*torch.Size(sample_shape), len(drawn), 3)

    def sample(self, sample_shape: Any = torch.Size(), x: Tensor | None = None, **_: Any) -> Tensor:
        """(*sample_shape, 3), of one row."""
        if x is None or x.numel() != 1:
            raise InputError("x: expected the place of one row")
        return self.sample_batched(sample_shape, x)[..., 0, :]

    def log_prob(self, theta: Tensor, x: Tensor, **_: Any) -> Tensor:
        """(n,): the log density of parameters (n, 3) in one row."""
        (row,) = self._rows(x)
        counts = np.array([self.shape[2], self.shape[1], self.shape[0]])
        cells = np.floor(theta.numpy().reshape(-1, 3) * counts).astype(np.int64)
        inside = ((cells >= 0) & (cells < counts)).all(axis=1)
        x_cell, y, heading = np.clip(cells, 0, counts - 1).T
        with np.errstate(divide="ignore"):
            density = np.log(self.posterior.mass[row][heading, y, x_cell].astype(np.float64) * counts.prod())
        return torch.from_numpy(np.where(inside, density, -np.inf))


@dataclass(frozen=True)
class Calibration:
    """What ``sbi``'s diagnostics say of posteriors on rows whose truth is known."""

    ranks: Tensor
    """(rows, 3): how many of the samples lie below the true x, y, heading: uniform if calibrated."""
    samples: int
    """Samples per row."""
    ks_p: list[float]
    """Per parameter, the probability of ranks as uneven as these if calibrated (Kolmogorov-Smirnov)."""
    alpha: Tensor
    """Credibility levels of TARP."""
    coverage: Tensor
    """How often the truth was within them: alpha itself if calibrated."""
    tarp_p: float
    """The probability of a coverage as far from alpha as this if calibrated."""
    area_to_curve: float
    """TARP's ATC: negative where posteriors are too narrow."""


def calibration(posterior: Posterior, samples: int = 1000) -> Calibration:
    """SBC ranks and TARP coverage of posteriors by ``sbi``; rows are the simulations."""
    from sbi.diagnostics import check_tarp, run_sbc, run_tarp
    from scipy.stats import kstest

    ours = VolumePosterior(posterior)
    options: dict[str, Any] = {"num_posterior_samples": samples, "show_progress_bar": False}
    ranks, _ = run_sbc(ours.thetas, ours.places, ours, **options)
    # Ranks are whole numbers from 0 to the number of samples: spread evenly between neighbours before the test.
    spread = (ranks + torch.rand(ranks.shape)).numpy() / (samples + 1)
    ks_p = [float(kstest(column, "uniform").pvalue) for column in spread.T]
    references = torch.rand(ours.thetas.shape)
    coverage, alpha = run_tarp(ours.thetas, ours.places, ours, references, z_score_theta=False, num_bins=20, **options)
    area_to_curve, _ = check_tarp(coverage, alpha)
    tarp_p = _coverage_p(coverage.numpy(), alpha.numpy(), len(posterior))
    return Calibration(ranks, samples, ks_p, alpha, coverage, tarp_p, float(area_to_curve))


def _coverage_p(coverage: NDArray[np.float64], alpha: NDArray[np.float64], rows: int) -> float:
    """Kolmogorov-Smirnov on the coverage curve of so many rows: ``check_tarp`` compares the two curves as if they were samples."""
    from scipy.stats import kstwo

    return float(kstwo.sf(np.abs(coverage - alpha).max(), rows))
