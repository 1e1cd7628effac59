"""Holds the Mitsuba export to the scene built in memory: Sionna RT finds the same paths in both. And `Paths` are validated
without a file.

    python check_mitsuba.py [--seed 7]
"""

import argparse
import sys
import tempfile

import numpy as np
from magnetar.sionna.arrays import validate_paths
from magnetar.sionna.export import case_scene
from magnetar.sionna.links import draw_pairs
from magnetar.sionna.mitsuba import save_mitsuba
from magnetar.sionna.scene import Scene
from magnetar.sionna.tracer import Tracer, check_llvm

FREQUENCY_HZ = 10e9


def sorted_paths(paths):
    """Delays and coefficients of the paths that count, by delay."""
    valid = paths.valid.numpy().ravel()
    real, imaginary = (part.numpy().ravel()[valid] for part in paths.a)
    tau = paths.tau.numpy().ravel()[valid]
    order = np.argsort(tau)
    return tau[order], (real + 1j * imaginary)[order]


def main():
    """Compares one link in the laboratory with its board."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    seed = parser.parse_args().seed
    check_llvm()
    scene = Scene.read("lab_middle", [], FREQUENCY_HZ)
    tracer = Tracer(scene, FREQUENCY_HZ)
    rt = tracer.rt
    with tempfile.TemporaryDirectory() as folder:
        loaded = rt.load_scene(str(save_mitsuba(scene, folder)), merge_shapes=False)
    loaded.frequency = FREQUENCY_HZ
    loaded.tx_array, loaded.rx_array = tracer.scene.tx_array, tracer.scene.rx_array
    for name, tx, rx in draw_pairs(scene.room, scene.boxes, 3, f"{seed} mitsuba"):
        for device in ("tx", "rx"):
            if device in {**loaded.transmitters, **loaded.receivers}:
                loaded.remove(device)
        loaded.add([rt.Transmitter("tx", position=tx), rt.Receiver("rx", position=rx)])
        expected = tracer.solve(tx, rx)
        ours, theirs = sorted_paths(expected), sorted_paths(tracer.solver(loaded, **tracer.options))
        if len(ours[0]) != len(theirs[0]) or not np.allclose(ours[0], theirs[0], rtol=1e-6, atol=0):
            sys.exit(f"link {name}: delays {ours[0]} in memory, {theirs[0]} from the file")
        worst = np.abs(ours[1] - theirs[1]).max() / np.abs(ours[1]).max()
        if worst > 1e-4:
            sys.exit(f"link {name}: coefficients differ by {worst:.1e} of the strongest")
        about = {
            **case_scene(scene, tracer),
            "frequency_hz": FREQUENCY_HZ,
            "mode": "opaque",
            "objects": {str(number): label for number, label in tracer.label_of.items()},
            "tx": [tx],
            "rx": [rx],
        }
        report = validate_paths(expected, about)
        if not report["ok"] or report["paths"] != len(ours[0]):
            sys.exit(f"link {name}: {report}")
        print(f"link {name}: {len(ours[0])} paths, coefficients within {worst:.1e} of the strongest; validated without a file")


if __name__ == "__main__":
    main()
