"""The noise-free observation that follows from traced paths, in double precision: what `magnetar observe` is held to."""

import numpy as np

SPEED_OF_LIGHT = 299_792_458.0
CARRIER_HZ, BANDWIDTH_HZ, BINS, ELEMENT_SPACING_M = 10e9, 491.52e6, 512, 0.026
REFERENCE_SNR_DB, INPUT_POWER_ADJUSTMENT_DB = 50.0, -19.14


def frequencies():
    """The absolute frequency of every bin, Hz."""
    return CARRIER_HZ + (np.arange(BINS) - BINS // 2) * (BANDWIDTH_HZ / BINS)


def link_scale(boresight_amplitude=1.0):
    """The factor of every path coefficient; `boresight_amplitude` is that of both antennas facing each other."""
    free_space_at_one_metre = SPEED_OF_LIGHT / CARRIER_HZ / (4 * np.pi)
    amplitude = 10 ** ((REFERENCE_SNR_DB + INPUT_POWER_ADJUSTMENT_DB) / 20)
    return amplitude / (free_space_at_one_metre * boresight_amplitude)


def block(paths, rx_heading):
    """`[bins, 2]` of paths with `a`, `tau`, `theta_r` and `phi_r`, antennas applied, before the link scale.

    A plane wave over the array: element m, at -d/2 and +d/2 on the RX's y axis, hears a path d_m sin(AoA) cos(elevation)/c
    earlier than the array's centre.
    """
    f = frequencies()[:, None]
    out = np.zeros((BINS, 2), dtype=complex)
    for m, y in enumerate((-ELEMENT_SPACING_M / 2, ELEMENT_SPACING_M / 2)):
        a = np.array([complex(*path["a"]) for path in paths])
        tau = np.array([path["tau"] for path in paths])
        azimuth = np.array([path["phi_r"] for path in paths]) - rx_heading
        across = np.sin(azimuth) * np.sin([path["theta_r"] for path in paths])
        out[:, m] = (a * np.exp(-2j * np.pi * f * (tau - y * across / SPEED_OF_LIGHT))).sum(axis=1)
    return out


def relative_rms(got, reference):
    """The rms of a difference over the rms of the reference."""
    return float(np.linalg.norm(got - reference) / np.linalg.norm(reference))
