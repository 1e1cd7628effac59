"""Plain arrays of Sionna RT's `Paths`, for `magnetar validate`.

`save_paths` is all that a program of your own needs; run as a script, it traces links in a scene file and writes a file
for each.

  magnetar-sionna-arrays lab_middle --random 3 --max-order 2 --out links
  magnetar validate links/*.npz
"""

import argparse
import io
import json
import pathlib

import numpy as np

from magnetar import _native

ARRAYS = ["tau", "theta_t", "phi_t", "theta_r", "phi_r", "valid", "interactions", "objects", "vertices"]


def save_paths(file, paths, scene):
    """Writes the arrays of `paths` as they are, and `scene`: a dictionary as docs/sionna.md describes it."""
    real, imaginary = (part.numpy() for part in paths.a)
    text = np.frombuffer(json.dumps(scene, allow_nan=False).encode(), np.uint8)
    arrays = {name: getattr(paths, name).numpy() for name in ARRAYS}
    np.savez_compressed(file, a=real + 1j * imaginary, scene=text, **arrays)


def validate_paths(paths, scene):
    """What `magnetar validate --json` says of `paths`, without a file; `scene` as in `save_paths`."""
    buffer = io.BytesIO()
    save_paths(buffer, paths, scene)
    return _native.validate_export(buffer.getvalue(), "paths")


def main():
    from magnetar.sionna.links import draw_pairs
    from magnetar.sionna.scene import Scene
    from magnetar.sionna.export import case_scene
    from magnetar.sionna.tracer import Tracer, check_llvm

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scene", metavar="SCENE", help="a shipped scene's name or a scene file")
    parser.add_argument("--random", type=int, default=1, metavar="N", help="links to draw")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-order", type=int, default=1, choices=[1, 2, 3], help="most interactions of a path")
    parser.add_argument("--transmission", action="store_true", help="waves cross boxes, each a sheet at its mid-plane")
    parser.add_argument("--out", required=True, type=pathlib.Path, metavar="FOLDER")
    arguments = parser.parse_args()
    check_llvm()
    scene = Scene.read(arguments.scene, [], 10e9)
    tracer = Tracer(scene, 10e9, arguments.max_order, arguments.transmission)
    arguments.out.mkdir(parents=True, exist_ok=True)
    pairs = draw_pairs(scene.room, scene.boxes, arguments.random, f"{arguments.seed} {scene.name}")
    for name, tx, rx in pairs:
        about = {
            **case_scene(scene, tracer),
            "id": f"{scene.name}-{name}",
            "frequency_hz": 10e9,
            "mode": "through" if arguments.transmission else "opaque",
            "objects": {str(number): label for number, label in tracer.label_of.items()},
        }
        paths = tracer.solve(tx, rx)
        save_paths(arguments.out / f"{name}.npz", paths, {**about, "tx": [tx], "rx": [rx]})
    print(f"{arguments.out}: {len(pairs)} links")


if __name__ == "__main__":
    main()
