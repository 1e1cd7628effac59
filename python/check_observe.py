#!/usr/bin/env python3
"""Hold `magnetar observe` to Sionna RT: the noise-free 512 x 2 block against what follows from Sionna RT's paths.

The reference takes Sionna RT's coefficients, delays and angles of one antenna at the array's centre and adds the two
elements as a plane wave in double precision, with isotropic antennas and with a directional pattern that Sionna RT
applies itself and magnetar reads from a file. Also printed: how far Sionna RT's own `cfr` of a two-element array is
from that block, which is not an error of either.

    python check_observe.py --magnetar ../target/release/magnetar [--links 5] [--seed 0] [--json]

Exit code 1 if a median of the relative rms is 1e-4 or more.
"""

import argparse
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np

import reference_block as reference
from magnetar.sionna.links import draw_pairs
from magnetar.sionna.scene import InputError, Scene
from magnetar.sionna.tracer import Tracer, check_llvm

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent

SCENES = ["lab", "lab_left", "lab_middle", "lab_right", str(REPOSITORY / "tests/data/boxes.toml")]
TOLERANCE = 1e-4
PATTERN_STEP_DEG = 0.25
PEAK_AMPLITUDE = 10 ** (8 / 20)


def amplitude(cosine):
    """The directional pattern: a smooth lobe of 8 dBi with a back 14 dB lower, by the cosine from boresight."""
    return PEAK_AMPLITUDE * (0.2 + 0.8 * ((1 + cosine) / 2) ** 2)


def register_pattern(name):
    """Makes the pattern known to Sionna RT, vertically polarised."""
    import drjit as dr
    import mitsuba as mi
    import sionna.rt as rt
    from sionna.rt.antenna_pattern import PolarizedAntennaPattern

    def v_pattern(theta, phi):
        return mi.Complex2f(amplitude(dr.sin(theta) * dr.cos(phi)), 0)

    def factory(*, polarization, polarization_model="tr38901_2"):
        return PolarizedAntennaPattern(
            v_pattern=v_pattern, polarization=polarization, polarization_model=polarization_model
        )

    rt.register_antenna_pattern(name, factory)


def write_pattern(path):
    """Writes the pattern as magnetar reads it."""
    azimuths = np.arange(-180, 180, PATTERN_STEP_DEG)
    with open(path, "w", encoding="utf-8") as file:
        file.write("# name: smooth_lobe\n# synthetic: true\nazimuth_deg,elevation_deg,gain_db\n")
        for elevation in np.arange(-90, 90 + PATTERN_STEP_DEG / 2, PATTERN_STEP_DEG):
            cosines = np.cos(np.radians(elevation)) * np.cos(np.radians(azimuths))
            gains = 20 * np.log10(amplitude(cosines))
            file.writelines(f"{a:g},{elevation:g},{g:.9f}\n" for a, g in zip(azimuths, gains))


def observe(magnetar, scene, tx, rx, pattern, out):
    """magnetar's noise-free block; poses are x, y, z and heading in radians."""
    pose = lambda p: ",".join(repr(v) for v in (*p[:3], math.degrees(p[3])))
    command = [magnetar, "observe", scene, "--tx", pose(tx), "--rx", pose(rx), "--stage", "clean", "--out", str(out)]
    command += ["--tx-pattern", pattern, "--rx-pattern", pattern]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return np.load(out)[0].astype(complex)


def two_element_cfr(tracer, tx, rx, pattern, synthetic):
    """Sionna RT's own frequency response of a two-element array, absolute delays."""
    rt, one = tracer.rt, tracer.scene.rx_array
    spacing = reference.ELEMENT_SPACING_M * reference.CARRIER_HZ / reference.SPEED_OF_LIGHT
    tracer.scene.rx_array = rt.PlanarArray(
        num_rows=1, num_cols=2, horizontal_spacing=spacing, pattern=pattern, polarization="V"
    )
    tracer.tx.position, tracer.rx.position = tx[:3], rx[:3]
    paths = tracer.solver(tracer.scene, **tracer.options, synthetic_array=synthetic)
    relative = (np.arange(reference.BINS) - reference.BINS // 2) * (reference.BANDWIDTH_HZ / reference.BINS)
    response = paths.cfr(frequencies=relative.tolist(), normalize_delays=False, out_type="numpy")
    tracer.scene.rx_array = one
    return response.reshape(2, reference.BINS).T


def draw_links(scene, count, seed):
    """Random links with random headings."""
    rng = random.Random(f"{seed} {scene.name} headings")
    for _, tx, rx in draw_pairs(scene.room, scene.boxes, count, f"{seed} {scene.name} observe"):
        yield [*tx, rng.uniform(-math.pi, math.pi)], [*rx, rng.uniform(-math.pi, math.pi)]


def compare(arguments, folder):
    """Relative rms by what was compared, one value per link."""
    register_pattern("smooth_lobe")
    lobe = folder / "smooth_lobe.csv"
    write_pattern(lobe)
    rms = {"isotropic": [], "directional": [], "cfr, synthetic array": [], "cfr, an antenna per element": []}
    for name in SCENES:
        scene = Scene.read(name, [], reference.CARRIER_HZ)
        links = list(draw_links(scene, arguments.links, arguments.seed))
        for kind, theirs, ours, boresight in [
            ("isotropic", "iso", "isotropic", 1.0),
            ("directional", "smooth_lobe", str(lobe), PEAK_AMPLITUDE**2),
        ]:
            tracer = Tracer(scene, reference.CARRIER_HZ, pattern=theirs)
            for tx, rx in links:
                tracer.tx.orientation, tracer.rx.orientation = [tx[3], 0.0, 0.0], [rx[3], 0.0, 0.0]
                expected = reference.block(tracer.trace(tx[:3], rx[:3]), rx[3])
                got = observe(arguments.magnetar, name, tx, rx, ours, folder / "block.npy")
                rms[kind].append(reference.relative_rms(got, expected * reference.link_scale(boresight)))
                if kind == "isotropic":
                    for label, synthetic in list(zip(list(rms)[2:], (True, False))):
                        response = two_element_cfr(tracer, tx, rx, theirs, synthetic)
                        rms[label].append(reference.relative_rms(response, expected))
    return rms


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--magnetar", default=str(REPOSITORY / "target/release/magnetar"))
    parser.add_argument("--links", type=int, default=5, help="links per scene; there are five scenes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    try:
        check_llvm()
        with tempfile.TemporaryDirectory() as folder:
            rms = compare(arguments, pathlib.Path(folder))
    except (InputError, OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"error: {error}")
    held = {"isotropic", "directional"}
    ok = all(np.median(rms[kind]) < TOLERANCE for kind in held)
    if arguments.json:
        figures = {kind: {"median": float(np.median(v)), "largest": max(v), "links": len(v)} for kind, v in rms.items()}
        print(json.dumps({"relative_rms": figures, "tolerance": TOLERANCE, "ok": ok}))
    else:
        print(f"{'relative rms against plane waves over the array':<50}{'median':>10}{'largest':>10}")
        for kind, values in rms.items():
            note = "" if kind in held else "   (for information)"
            print(f"  {kind:<48}{np.median(values):>10.1e}{max(values):>10.1e}{note}")
        print(f"{len(rms['isotropic'])} links: {'ok' if ok else 'FAILED'}")
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
