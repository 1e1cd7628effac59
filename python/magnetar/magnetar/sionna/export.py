#!/usr/bin/env python3
"""Trace links of a magnetar scene with Sionna RT and write them as an export for `magnetar validate`.

Sionna RT gets a mesh for every face of the room and of every box, so that the object a path meets is known by name.
Materials that Sionna RT knows by the same name and values are its own, all others are given by permittivity and
conductivity. The schemas of the export are described in docs/sionna.md: sionna-box-v1 for line of sight and one
reflection, sionna-box-v2 for more reflections or transmission, where a box is one sheet at its mid-plane.

Examples:
  magnetar-sionna-export lab lab_middle --random 20 --seed 7 --out lab.json.gz
  magnetar-sionna-export my_room.toml --pairs pairs.csv --out my_room.json
  magnetar-sionna-export lab_middle --random 10 --max-order 3 --out order3.json.gz
  magnetar-sionna-export lab_middle --random 10 --max-order 2 --transmission --out through.json.gz
"""

import argparse
import gzip
import importlib.metadata
import json
import os
import pathlib
import sys

from magnetar.sionna.links import draw_pairs, is_clear_cut, read_pairs
from magnetar.sionna.scene import ROOM_LABELS, InputError, Scene
from magnetar.sionna.tracer import Tracer, check_llvm, solver_options

SCHEMAS = {1: "sionna-box-v1", 2: "sionna-box-v2"}
SPEED_OF_LIGHT = 299_792_458.0
PACKAGES = {"sionna_rt": "sionna-rt", "mitsuba": "mitsuba", "drjit": "drjit"}


def schema_version(arguments):
    """The least schema that can hold what is asked for."""
    return 2 if arguments.max_order > 1 or arguments.transmission else 1


def first_order(path):
    """A path of at most one reflection as sionna-box-v1 has it."""
    met = path.pop("interactions")
    label = met[0]["object"] if met else "LOS"
    return {"type": "specular" if met else "LOS", "object": label, "vertices": [i["vertex"] for i in met], **path}


def case_scene(scene, tracer):
    """The room, the materials and the boxes of a case."""
    materials = {label: tracer.material(layer) for label, layer in zip(ROOM_LABELS, scene.surfaces)}
    walls = ROOM_LABELS[:4]
    if all(materials[wall] == materials[walls[0]] for wall in walls):
        materials = {"wall": materials[walls[0]], "ceiling": materials["ceiling"], "floor": materials["floor"]}
    boxes = [{"center": box.center, "size": box.size, "yaw_deg": box.yaw_deg} for box in scene.boxes]
    layers = [tracer.material(layer) for layer in scene.box_layers]
    case = {"room": scene.bounds, "materials": materials, "board": None}
    if len(boxes) == 1:
        case["board"], materials["board"] = boxes[0], layers[0]
    elif boxes:
        case["boxes"] = [{**box, "material": material} for box, material in zip(boxes, layers)]
    return case


def export_case(name, scene, tracer, arguments, tx, rx):
    """One link as the schema has it."""
    case = {"id": name, "scene": scene.name}
    if schema_version(arguments) == 2:
        case.update(mode="through" if arguments.transmission else "opaque", max_depth=arguments.max_order)
    case.update(case_scene(scene, tracer))
    paths = tracer.trace(tx, rx)
    if schema_version(arguments) == 1:
        paths = [first_order(path) for path in paths]
    return {**case, "tx": tx, "rx": rx, "paths": paths}


def write_export(path, cases, name, frequency_hz, variant, arguments):
    """Writes to a temporary name first: a file of the final name is whole."""
    versions = {key: importlib.metadata.version(package) for key, package in PACKAGES.items()}
    document = {
        "schema": SCHEMAS[schema_version(arguments)],
        "set": name,
        "frequency_hz": frequency_hz,
        "wavelength_m": SPEED_OF_LIGHT / frequency_hz,
        **versions,
        "variant": variant,
        "antenna": "iso, V, single element, orientation (0,0,0)",
        "solver": {"deterministic": True, **solver_options(arguments.max_order, arguments.transmission)},
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
    links.add_argument("--random", type=int, metavar="N", help="draw N links per scene, clear of visibility decisions")
    links.add_argument("--pairs", metavar="FILE", help="links as CSV (tx_x,tx_y,tx_z,rx_x,rx_y,rx_z[,id]) or JSON")
    parser.add_argument("--seed", type=int, default=0, help="seed of --random")
    parser.add_argument("--frequency-ghz", type=float, default=10.0)
    parser.add_argument("--materials", action="append", default=[], metavar="FILE", help="more material files")
    parser.add_argument("--max-order", type=int, default=1, choices=[1, 2, 3], help="most interactions of a path")
    parser.add_argument("--transmission", action="store_true", help="waves cross boxes, each a sheet at its mid-plane")
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
    scenes = [Scene.read(name, arguments.materials, frequency_hz) for name in arguments.scenes]
    links = [(scene, choose_pairs(scene, arguments)) for scene in scenes]
    check_llvm()
    cases = []
    for scene, pairs in links:
        tracer = Tracer(scene, frequency_hz, arguments.max_order, arguments.transmission)
        cases += [export_case(f"{scene.name}-{name}", scene, tracer, arguments, tx, rx) for name, tx, rx in pairs]
    names = ", ".join(scene.name for scene in scenes)
    write_export(arguments.out, cases, names, frequency_hz, tracer.variant, arguments)
    print(f"{arguments.out}: {len(cases)} cases, {sum(len(case['paths']) for case in cases)} paths")


def main():
    try:
        run(parse_arguments())
    except (InputError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
