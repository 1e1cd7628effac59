#!/usr/bin/env python3
"""Rows per second of `magnetar generate` against Sionna RT on the same scenes, in one run on one machine.

magnetar does the whole pipeline with Parquet on disk (CSI in f32). Sionna RT only solves the paths of a new room per
sample and computes `cfr` for the two-element array: no draw, no patterns, no noise, no estimator, no files. It runs
twice: with stock settings (10^6 rays), and at its best: 10,000 rays, scene kept and its vertices moved, positions made
opaque so that its compiled kernels are used again. The positions and the room are fresh in every call.

    pip install -r requirements.txt -r requirements-sionna.txt
    python bench_sionna.py [--magnetar ../target/release/magnetar] [--samples 60] [--rows 20000] [--json]
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

from magnetar.sionna.scene import InputError
from magnetar.sionna.tracer import check_llvm

ROOT = pathlib.Path(__file__).resolve().parent.parent
CARRIER_HZ, SPACING_HZ, BINS, ELEMENT_SPACING_M = 10e9, 0.96e6, 512, 0.026
SPEED_OF_LIGHT = 299_792_458.0
WALLS = ["x0", "x1", "y0", "y1", "floor", "ceiling"]


def generate(binary, rows, out, threads, split="train"):
    """Makes a dataset and returns magnetar's own JSON summary."""
    command = [binary, "generate", "--json", "--split", split, "--limit", str(rows), "--threads", str(threads)]
    done = subprocess.run([*command, "--out", str(out)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def rate(binary, rows, threads):
    """Rows per second by the wall clock, starting the program included."""
    with tempfile.TemporaryDirectory(dir=ROOT / "target") as out:
        started = time.perf_counter()
        generate(binary, rows, out, threads)
        return rows / (time.perf_counter() - started)


def scenes(binary, count):
    """The first samples of the training split as plain dictionaries."""
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as out:
        generate(binary, count, out, 1)
        columns = ["room", "materials", "board", "tx", "rx"]
        return pq.read_table(pathlib.Path(out) / "train", columns=columns).to_pylist()


def box_faces(bounds):
    """The corners of the six faces of an axis-aligned box."""
    x0, x1, y0, y1, z0, z1 = bounds
    return [
        [(x0, y0, z0), (x0, y1, z0), (x0, y1, z1), (x0, y0, z1)],
        [(x1, y0, z0), (x1, y1, z0), (x1, y1, z1), (x1, y0, z1)],
        [(x0, y0, z0), (x1, y0, z0), (x1, y0, z1), (x0, y0, z1)],
        [(x0, y1, z0), (x1, y1, z0), (x1, y1, z1), (x0, y1, z1)],
        [(x0, y0, z0), (x1, y0, z0), (x1, y1, z0), (x0, y1, z0)],
        [(x0, y0, z1), (x1, y0, z1), (x1, y1, z1), (x0, y1, z1)],
    ]


def faces(sample):
    """Corners of the faces of the room and of the board; a missing board lies far below the floor."""
    room = box_faces(sample["room"])
    board = sample["board"]
    if board is None:
        return room + [[(x, y, z - 100.0) for x, y, z in face] for face in room]
    half = (board["width"] / 2, board["thickness"] / 2, board["height"] / 2)
    cos, sin = math.cos(board["yaw"]), math.sin(board["yaw"])
    local = box_faces([-half[0], half[0], -half[1], half[1], -half[2], half[2]])
    place = lambda x, y, z: (board["x"] + cos * x - sin * y, board["y"] + sin * x + cos * y, board["z"] + z)
    return room + [[place(*corner) for corner in face] for face in local]


def material_names(sample):
    """Materials of the twelve faces, as Sionna RT names them."""
    material = sample["materials"]
    return [material["wall"]] * 4 + [material["floor"], material["ceiling"]] + ["glass"] * 6


class Sionna:
    """Solves one sample after another."""

    def __init__(self, samples_per_src, reuse):
        import drjit as dr
        import mitsuba as mi
        import numpy as np
        import sionna.rt as rt

        self.dr, self.mi, self.np, self.rt = dr, mi, np, rt
        self.samples_per_src, self.reuse, self.scene = samples_per_src, reuse, None
        self.solver = rt.PathSolver()
        self.frequencies = mi.Float([(k - BINS // 2) * SPACING_HZ for k in range(BINS)])

    def build(self, sample):
        mi, rt = self.mi, self.rt
        scene = rt.load_scene()
        scene.frequency = CARRIER_HZ
        self.materials, objects, self.meshes = {}, [], []
        for number, (corners, name) in enumerate(zip(faces(sample), material_names(sample))):
            properties = mi.Properties()
            properties["face_normals"] = True
            mesh = mi.Mesh(f"face{number}", vertex_count=4, face_count=2, props=properties)
            parameters = mi.traverse(mesh)
            parameters["vertex_positions"] = [value for corner in corners for value in corner]
            parameters["faces"] = [0, 1, 2, 0, 2, 3]
            parameters.update()
            material = self.material(name, number >= 6)
            objects.append(rt.SceneObject(mi_mesh=mesh, name=f"face{number}", radio_material=material))
        scene.edit(add=objects)
        array = {"num_rows": 1, "vertical_spacing": 0.5, "pattern": "iso", "polarization": "V"}
        wavelength = SPEED_OF_LIGHT / CARRIER_HZ
        scene.tx_array = rt.PlanarArray(num_cols=1, **array)
        scene.rx_array = rt.PlanarArray(num_cols=2, horizontal_spacing=ELEMENT_SPACING_M / wavelength, **array)
        self.tx = rt.Transmitter("tx", position=[0.0, 0.0, 0.0])
        self.rx = rt.Receiver("rx", position=[0.0, 0.0, 0.0])
        scene.add([self.tx, self.rx])
        self.scene = scene

    def material(self, name, is_board):
        key = (name, is_board)
        if key not in self.materials:
            thickness = 0.033 if is_board else 0.1
            label = f"{name}-{'board' if is_board else 'wall'}"
            self.materials[key] = self.rt.ITURadioMaterial(label, name, thickness=thickness)
        return self.materials[key]

    def move(self, sample):
        """Moves the vertices of the scene that is there, and changes materials where they differ."""
        parameters = self.mi.traverse(self.scene.mi_scene)
        for number, (corners, name) in enumerate(zip(faces(sample), material_names(sample))):
            item = self.scene.objects[f"face{number}"]
            key = next(key for key in parameters.keys() if key.endswith("vertex_positions") and f"face{number}." in f"{key}.")
            parameters[key] = self.mi.Float([value for corner in corners for value in corner])
            wanted = self.material(name, number >= 6)
            if item.radio_material.name != wanted.name:
                item.radio_material = wanted
        parameters.update()

    def place(self, device, pose):
        position = self.mi.Point3f(pose["x"], pose["y"], pose["z"])
        orientation = self.mi.Point3f(pose["heading"], 0.0, 0.0)
        if self.reuse:
            self.dr.make_opaque(position, orientation)
        device.position, device.orientation = position, orientation

    def solve(self, sample):
        """The 512 x 2 frequency response of one sample, as numpy."""
        if self.scene is None or not self.reuse:
            self.build(sample)
        else:
            self.move(sample)
        self.place(self.tx, sample["tx"])
        self.place(self.rx, sample["rx"])
        paths = self.solver(
            self.scene,
            max_depth=1,
            samples_per_src=self.samples_per_src,
            los=True,
            specular_reflection=True,
            diffuse_reflection=False,
            refraction=False,
        )
        return paths.cfr(frequencies=self.frequencies, normalize_delays=False, out_type="numpy")

    def rate(self, samples, warm_up):
        """Samples per second after a warm-up that compiles its kernels."""
        for sample in samples[:warm_up]:
            self.solve(sample)
        started = time.perf_counter()
        for sample in samples[warm_up:]:
            response = self.solve(sample)
            assert response.size == 2 * BINS and self.np.isfinite(response).all()
        return (len(samples) - warm_up) / (time.perf_counter() - started)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--magnetar", default=str(ROOT / "target/release/magnetar"))
    parser.add_argument("--samples", type=int, default=60, help="samples of Sionna RT at its best; a quarter for stock")
    parser.add_argument("--rows", type=int, default=20_000, help="rows of magnetar")
    parser.add_argument("--threads", type=int, default=0, help="threads of magnetar; 0 for one per core, as Sionna RT")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    try:
        check_llvm()
    except InputError as error:
        sys.exit(f"error: {error}")
    warm_up = 5
    stock_samples = max(args.samples // 4, 5)
    samples = scenes(args.magnetar, args.samples + stock_samples + 2 * warm_up)
    # magnetar before, between and after: a machine that slows down in the middle does not favour either.
    ours = [rate(args.magnetar, args.rows, args.threads)]
    best = Sionna(10_000, reuse=True).rate(samples[: args.samples + warm_up], warm_up)
    ours.append(rate(args.magnetar, args.rows, args.threads))
    stock = Sionna(1_000_000, reuse=False).rate(samples[args.samples + warm_up :], warm_up)
    ours.append(rate(args.magnetar, args.rows, args.threads))
    median = sorted(ours)[1]
    found = {
        "magnetar_rows_per_second": median,
        "magnetar_runs": ours,
        "sionna_best_per_second": best,
        "sionna_stock_per_second": stock,
        "ratio_to_best": median / best,
        "ratio_to_stock": median / stock,
    }
    if args.json:
        print(json.dumps(found))
        return
    print(f"magnetar generate, whole pipeline: {median:.0f} rows/s (runs: {', '.join(f'{r:.0f}' for r in ours)})")
    print(f"Sionna RT, best settings:  {best:.1f} samples/s; magnetar is {median / best:.0f} times as fast")
    print(f"Sionna RT, stock settings: {stock:.1f} samples/s; magnetar is {median / stock:.0f} times as fast")


if __name__ == "__main__":
    main()
