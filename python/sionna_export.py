#!/usr/bin/env python3
"""Trace links of a magnetar scene with Sionna RT and write them as an export for `magnetar validate`.

Sionna RT gets a mesh for every face of the room and of every box, so that the object a path meets is known by name.
Materials that Sionna RT knows by the same name and values are its own, all others are given by permittivity and
conductivity. The schema of the export is described in docs/sionna.md.

Examples:
  python sionna_export.py lab lab_middle --random 20 --seed 7 --out lab.json.gz
  python sionna_export.py my_room.toml --pairs pairs.csv --out my_room.json
"""

import argparse
import gzip
import importlib.metadata
import json
import math
import os
import pathlib
import subprocess
import sys

from links import draw_pairs, is_clear_cut, read_pairs
from scene_file import ROOM_LABELS, InputError, Scene

SCHEMA = "sionna-box-v1"
SPEED_OF_LIGHT = 299_792_458.0
PACKAGES = {"sionna_rt": "sionna-rt", "mitsuba": "mitsuba", "drjit": "drjit"}
SOLVER = {
    "max_depth": 1,
    "samples_per_src": 1_000_000,
    "los": True,
    "specular_reflection": True,
    "diffuse_reflection": False,
    "refraction": False,
    "diffraction": False,
    "seed": 42,
}


# --- Sionna RT ------------------------------------------------------------------------------------------------------


class Tracer:
    """A scene in Sionna RT with one transmitter and one receiver that can be moved."""

    def __init__(self, scene, frequency_hz):
        # Imported here so that mistakes in files and flags are told at once.
        import mitsuba as mi
        import sionna.rt as rt

        self.mi, self.rt, self.variant = mi, rt, mi.variant()
        self.scene = rt.load_scene()
        self.scene.frequency = frequency_hz
        self.radio_materials = {}
        self.scene.edit(
            add=[
                rt.SceneObject(mi_mesh=self.mesh(label, corners), name=label, radio_material=self.radio_material(layer))
                for label, corners, layer in scene.faces()
            ]
        )
        self.label_of = {int(item.object_id): name for name, item in self.scene.objects.items()}
        array = {"num_rows": 1, "num_cols": 1, "pattern": "iso", "polarization": "V"}
        self.scene.tx_array = rt.PlanarArray(**array)
        self.scene.rx_array = rt.PlanarArray(**array)
        self.tx = rt.Transmitter("tx", position=[0.0, 0.0, 0.0])
        self.rx = rt.Receiver("rx", position=[0.0, 0.0, 0.0])
        self.scene.add([self.tx, self.rx])
        self.solver = rt.PathSolver(deterministic=True)

    def mesh(self, label, corners):
        properties = self.mi.Properties()
        properties["face_normals"] = True
        mesh = self.mi.Mesh(label, vertex_count=4, face_count=2, props=properties)
        parameters = self.mi.traverse(mesh)
        parameters["vertex_positions"] = [value for corner in corners for value in corner]
        parameters["faces"] = [0, 1, 2, 0, 2, 3]
        parameters.update()
        return mesh

    def radio_material(self, layer):
        """Sionna RT's own material of this name where its values are the same, otherwise one with our values."""
        if layer not in self.radio_materials:
            name = f"material-{len(self.radio_materials)}"
            if self.is_itu(layer):
                radio = self.rt.ITURadioMaterial(name, layer.material, thickness=layer.thickness)
            else:
                radio = self.rt.RadioMaterial(name, layer.thickness, layer.eps_r, layer.sigma)
            self.radio_materials[layer] = radio
        return self.radio_materials[layer]

    def is_itu(self, layer):
        from sionna.rt.radio_materials.itu import itu_material

        try:
            theirs = [float(value[0]) for value in itu_material(layer.material, self.scene.frequency)]
        except (ValueError, KeyError):
            return False
        ours = (layer.eps_r, layer.sigma)
        same = all(math.isclose(t, o, rel_tol=1e-5, abs_tol=1e-9) for t, o in zip(theirs, ours))
        if not same:
            print(f"note: {layer.material} here is {ours}, in Sionna RT {theirs}; using the former", file=sys.stderr)
        return same

    def material(self, layer):
        """A material for the export, its values as Sionna RT uses them."""
        radio = self.radio_material(layer)
        values = (radio.relative_permittivity, radio.conductivity, radio.thickness)
        eps_r, sigma, thickness = (digits(value[0]) for value in values)
        kind = "itu" if isinstance(radio, self.rt.ITURadioMaterial) else "name"
        return {kind: layer.material, "eps_r": eps_r, "sigma": sigma, "thickness": thickness}

    def trace(self, tx, rx):
        """The paths of a link for the export, LOS first, then by delay."""
        self.tx.position, self.rx.position = tx, rx
        found = self.solver(self.scene, **SOLVER)
        real, imaginary = (part.numpy().ravel() for part in found.a)
        names = ("tau", "theta_t", "phi_t", "theta_r", "phi_r")
        columns = {name: getattr(found, name).numpy().ravel() for name in names}
        valid = found.valid.numpy().ravel()
        kinds, objects = found.interactions.numpy().ravel(), found.objects.numpy().ravel()
        vertices = found.vertices.numpy().reshape(-1, 3)
        paths = []
        for i in range(len(real)):
            if not valid[i]:
                continue
            is_los = int(kinds[i]) == int(self.rt.InteractionType.NONE)
            path = {
                "type": "LOS" if is_los else "specular",
                "object": "LOS" if is_los else self.label_of[int(objects[i])],
                "vertices": [] if is_los else [[digits(value) for value in vertices[i]]],
                "tau": digits(columns["tau"][i]),
                "a": [digits(real[i]), digits(imaginary[i])],
            }
            path.update({name: digits(columns[name][i]) for name in names[1:]})
            paths.append(path)
        return sorted(paths, key=lambda path: (path["type"] != "LOS", path["tau"]))


def digits(value):
    """A float32 with the nine digits that identify it."""
    return float(f"{float(value):.9g}")


def check_llvm():
    """Dr.Jit aborts the process if its LLVM lacks an instruction, so it is tried in another one."""
    code = "import drjit as dr; from drjit.llvm import Float; print(dr.maximum(dr.arange(Float, 4), 1))"
    if subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode != 0:
        raise InputError(
            "Dr.Jit cannot compile with the LLVM library it finds; install LLVM 17 or newer (Debian: libllvm19) "
            "and point DRJIT_LIBLLVM_PATH at its libLLVM.so"
        )


# --- the export -----------------------------------------------------------------------------------------------------


def export_case(name, scene, tracer, tx, rx):
    materials = {label: tracer.material(layer) for label, layer in zip(ROOM_LABELS, scene.surfaces)}
    walls = ROOM_LABELS[:4]
    if all(materials[wall] == materials[walls[0]] for wall in walls):
        materials = {"wall": materials[walls[0]], "ceiling": materials["ceiling"], "floor": materials["floor"]}
    boxes = [{"center": box.center, "size": box.size, "yaw_deg": box.yaw_deg} for box in scene.boxes]
    layers = [tracer.material(layer) for layer in scene.box_layers]
    case = {"id": name, "scene": scene.name, "room": scene.bounds, "materials": materials, "board": None}
    if len(boxes) == 1:
        case["board"], materials["board"] = boxes[0], layers[0]
    elif boxes:
        case["boxes"] = [{**box, "material": material} for box, material in zip(boxes, layers)]
    return {**case, "tx": tx, "rx": rx, "paths": tracer.trace(tx, rx)}


def write_export(path, cases, name, frequency_hz, variant):
    """Writes to a temporary name first: a file of the final name is whole."""
    versions = {key: importlib.metadata.version(package) for key, package in PACKAGES.items()}
    document = {
        "schema": SCHEMA,
        "set": name,
        "frequency_hz": frequency_hz,
        "wavelength_m": SPEED_OF_LIGHT / frequency_hz,
        **versions,
        "variant": variant,
        "antenna": "iso, V, single element, orientation (0,0,0)",
        "solver": {"deterministic": True, **SOLVER},
        "cases": cases,
    }
    text = json.dumps(document, allow_nan=False).encode()
    part = path.with_name(path.name + ".part")
    part.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
    os.replace(part, path)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="+", metavar="SCENE", help="a shipped scene's name or a scene file")
    links = parser.add_mutually_exclusive_group(required=True)
    links.add_argument("--random", type=int, metavar="N", help="draw N links a scene, clear of visibility decisions")
    links.add_argument("--pairs", metavar="FILE", help="links as CSV (tx_x,tx_y,tx_z,rx_x,rx_y,rx_z[,id]) or JSON")
    parser.add_argument("--seed", type=int, default=0, help="seed of --random")
    parser.add_argument("--frequency-ghz", type=float, default=10.0)
    parser.add_argument("--materials", action="append", default=[], metavar="FILE", help="more material files")
    parser.add_argument("--out", required=True, type=pathlib.Path, metavar="FILE", help=".json or .json.gz")
    arguments = parser.parse_args()
    if arguments.random is not None and arguments.random < 1:
        parser.error("--random needs a number above 0")
    if not 0.001 <= arguments.frequency_ghz <= 1000:
        parser.error("--frequency-ghz needs a number from 0.001 to 1000")
    return arguments


def choose_pairs(scene, arguments):
    if arguments.random:
        return draw_pairs(scene.room, scene.boxes, arguments.random, f"{arguments.seed} {scene.name}")
    pairs = read_pairs(arguments.pairs)
    for name, tx, rx in pairs:
        if not is_clear_cut(scene.room, scene.boxes, tx, rx):
            print(f"note: link {name} is within 2 mm of a visibility decision; path sets may differ", file=sys.stderr)
    return pairs


def run(arguments):
    frequency_hz = arguments.frequency_ghz * 1e9
    scenes = [Scene(name, arguments.materials, frequency_hz) for name in arguments.scenes]
    links = [(scene, choose_pairs(scene, arguments)) for scene in scenes]
    check_llvm()
    cases = []
    for scene, pairs in links:
        tracer = Tracer(scene, frequency_hz)
        cases += [export_case(f"{scene.name}-{name}", scene, tracer, tx, rx) for name, tx, rx in pairs]
    write_export(arguments.out, cases, ", ".join(scene.name for scene in scenes), frequency_hz, tracer.variant)
    print(f"{arguments.out}: {len(cases)} cases, {sum(len(case['paths']) for case in cases)} paths")


def main():
    try:
        run(parse_arguments())
    except (InputError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
