"""Links: their paths, what a receiver observes of them, and the arrivals in observations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from magnetar import _native
from magnetar._native import Pattern, Recipe, Scene
from magnetar.errors import InputError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Path = str | PathLike[str]


def _scene(scene: Scene | Path) -> Scene:
    return scene if isinstance(scene, Scene) else Scene(fspath(scene))


def _pattern(pattern: Pattern | Path | None) -> Pattern | str | None:
    return pattern if pattern is None or isinstance(pattern, Pattern) else fspath(pattern)


@dataclass(frozen=True)
class Paths:
    """The paths of one link or many, one entry per path: the direct one first, then by delay."""

    link: Integers
    """Number of the link."""
    kind: list[str]
    """``LOS``, ``specular`` or ``transmitted``."""
    surface: list[str]
    """What the path meets, from TX to RX."""
    length_m: Floats
    delay_s: Floats
    coefficient: NDArray[np.complex128]
    """Between vertically polarised isotropic antennas, without the propagation phase."""
    aoa_azimuth_rad: Floats
    """Towards the source, from the RX heading, counter-clockwise, in [-pi, pi)."""
    aoa_elevation_rad: Floats
    aod_azimuth_rad: Floats
    """From the TX heading."""
    aod_elevation_rad: Floats
    vertices_m: list[list[tuple[float, float, float]]]
    """Points of interaction, global frame."""
    left_out: NDArray[np.uint64]
    """Per link: paths found and left out (waves through boxes)."""

    def __len__(self) -> int:
        return len(self.link)

    @property
    def gain_db(self) -> Floats:
        """20 log10 |coefficient|, dB."""
        gain: Floats = 20.0 * np.log10(np.abs(self.coefficient))
        return gain


def trace(
    scene: Scene | Path,
    tx: ArrayLike,
    rx: ArrayLike,
    *,
    frequency_hz: float = 10e9,
    max_order: int = 1,
    transmission: bool = False,
    materials: Sequence[Path] = (),
) -> Paths:
    """The exact paths between devices.

    ``tx`` and ``rx`` are poses ``x, y[, z[, heading]]`` in metres and radians (counter-clockwise from +x): one, or one
    per row. Without z a device is at its scene's device height. One pose serves all of the other side.

    >>> paths = trace("lab", (0.98, 2.28), (1.0, -1.0))
    >>> paths.surface[0], round(float(paths.length_m[0]), 4)
    ('LOS', 3.2801)
    """
    files = [fspath(path) for path in materials]
    return Paths(**_native.trace(_scene(scene), tx, rx, frequency_hz, max_order, transmission, files))


def observe(
    scene: Scene | Path,
    tx: ArrayLike,
    rx: ArrayLike,
    *,
    count: int = 1,
    seed: int = 0,
    stage: str = "noisy",
    recipe: Recipe | None = None,
    tx_pattern: Pattern | Path | None = None,
    rx_pattern: Pattern | Path | tuple[Pattern | Path, Pattern | Path] | None = None,
    rf_chain: bool = True,
    redraw_rf_chain: bool = False,
    tx_power_offset_db: ArrayLike = 0.0,
    max_order: int = 1,
    transmission: bool = False,
    materials: Sequence[Path] = (),
) -> NDArray[np.complex64]:
    """What the receiver measures: complex64 of shape (links, count, bins, 2), in units of the noise's deviation.

    The radio (band, array, antennas, level) is that of ``recipe``, or the paper's. ``stage`` is the last one run:
    ``"clean"``, ``"perturbed"`` (with the RF chain) or ``"noisy"``. A pattern is a ``Pattern``, a shipped name or a file;
    ``tx_power_offset_db`` is one for all links, or one per link. One link gives the bits of ``magnetar observe``.

    >>> observe("lab", (0.98, 2.28), (1.0, -1.0), count=3, seed=1).shape
    (1, 3, 512, 2)
    """
    pair = rx_pattern if isinstance(rx_pattern, tuple) else (rx_pattern, rx_pattern)
    if len(pair) != 2:
        raise InputError(f"rx_pattern: {len(pair)} patterns; expected one for both elements, or two")
    offsets = np.atleast_1d(np.asarray(tx_power_offset_db, dtype=np.float64))
    options = {
        "count": count,
        "seed": seed,
        "stage": stage,
        "max_order": max_order,
        "transmission": transmission,
        "materials": [fspath(path) for path in materials],
        "tx_pattern": _pattern(tx_pattern),
        "rx_pattern": None if rx_pattern is None else (_pattern(pair[0]), _pattern(pair[1])),
        "rf_chain": rf_chain,
        "redraw_rf_chain": redraw_rf_chain,
        "tx_power_offset_db": offsets.ravel().tolist(),
    }
    return _native.observe(_scene(scene), tx, rx, recipe, options)


@dataclass(frozen=True)
class Components:
    """The components found in observations, one entry per component, strongest first."""

    observation: Integers
    rank: Integers
    aoa_rad: Floats
    """Towards the source, principal branch."""
    phase_rad: Floats
    """Element 1 against element 0 at the band's centre."""
    delay_s: Floats
    raw_snr_db: Floats
    snr_db: Floats
    """Raw SNR and the processing gain."""
    alias_confidence: Floats
    observations: int
    """How many observations there were."""
    keep: int
    """K: the most components kept of one."""

    def __len__(self) -> int:
        return len(self.observation)

    def padded(self, name: str) -> Floats:
        """A quantity as (observations, K), absent components not-a-number: the shape that networks want."""
        values: Floats = np.full((self.observations, self.keep), np.nan)
        kept = self.rank < self.keep
        values[self.observation[kept], self.rank[kept]] = getattr(self, name)[kept]
        return values


def estimate(
    blocks: ArrayLike,
    *,
    recipe: Recipe | None = None,
    keep: int | None = None,
    all: bool = False,
    p_fa: float | None = None,
    max_paths: int | None = None,
    method: str = "refined",
    aoa_mode: str = "narrowband",
    noise_variance: float | Sequence[float] | str | None = None,
    inactive_bins: Sequence[int] = (),
    excluded_bins: Sequence[int] = (),
    carrier_hz: float | None = None,
    bandwidth_hz: float | None = None,
    spacing_m: float | None = None,
    positions_m: Sequence[float] | None = None,
) -> Components:
    """The arrivals in observations of shape (..., bins, channels), as ``magnetar estimate`` finds them.

    ``noise_variance`` is a number, one per channel, or ``"auto"`` for the data's own floor; by default it is that of
    ``inactive_bins``, or 1. ``keep`` (K) and what else is left out is that of ``recipe``, or the paper's.

    >>> found = estimate(observe("lab", (0.98, 2.28, 1.08, -1.57), (1.0, -1.0, 1.08, 1.57), seed=1))
    >>> found.observations, found.keep, len(found)
    (1, 2, 2)
    """
    auto = noise_variance == "auto"
    if isinstance(noise_variance, str) and not auto:
        raise InputError(f"noise_variance {noise_variance!r}: expected a number, one per channel, or 'auto'")
    known: list[float] | None = None
    if noise_variance is not None and not isinstance(noise_variance, str):
        known = [float(value) for value in np.atleast_1d(np.asarray(noise_variance, dtype=np.float64))]
    options: dict[str, Any] = {
        "keep": keep,
        "p_fa": p_fa,
        "max_paths": max_paths,
        "method": method,
        "aoa_mode": aoa_mode,
        "noise_variance": known,
        "noise_floor": auto,
        "inactive_bins": list(inactive_bins),
        "excluded_bins": list(excluded_bins),
        "carrier_hz": carrier_hz,
        "bandwidth_hz": bandwidth_hz,
        "spacing_m": spacing_m,
        "positions_m": None if positions_m is None else list(positions_m),
        "all": all,
    }
    return Components(**_native.estimate(blocks, recipe, options))

