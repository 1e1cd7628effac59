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
import csv
import gzip
import importlib.metadata
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tomllib
import typing

SCHEMA = "sionna-box-v1"
SPEED_OF_LIGHT = 299_792_458.0
FACES = ["-x", "+x", "-y", "+y", "-z", "+z"]
ROOM_LABELS = ["wall:-x", "wall:+x", "wall:-y", "wall:+y", "floor", "ceiling"]
PACKAGES = {"sionna_rt": "sionna-rt", "mitsuba": "mitsuba", "drjit": "drjit"}
REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
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

# Random links keep this far from every decision on whether a path exists: Sionna RT computes in float32.
DECISION_MARGIN_M = 2e-3
# Sionna RT drops paths with a leg of 1 cm or less; keep well away.
SHORTEST_LEG_M = 2e-2
# Random devices keep this far from walls and boxes (less in a small room), and from each other.
SURFACE_MARGIN_M = 0.4
DEVICE_DISTANCE_M = 0.5
# Sionna RT moves the image point by this many metres, times 1 + its largest coordinate, before it finds the vertex.
# In random links that may turn directions and move vertices by at most this much; the tolerances are 1e-4 and 2e-4.
IMAGE_NUDGE = 5.96e-6
LARGEST_NUDGE_RAD = 3e-5
LARGEST_NUDGE_M = 1e-4


# --- the scene ------------------------------------------------------------------------------------------------------


class InputError(Exception):
    """A file or flag that cannot be used."""


def read_toml(path):
    try:
        return tomllib.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: {error}") from error


def read_materials(paths):
    """The `[material.NAME]` tables of several files; later files win."""
    tables = {}
    for path in paths:
        tables.update(read_toml(path).get("material", {}))
    return tables


def material_at(name, tables, frequency_hz):
    """Relative permittivity and conductivity (S/m) of a material."""
    if name not in tables:
        raise InputError(f"unknown material {name}; known are {', '.join(sorted(tables))}; see --materials")
    table, f = tables[name], frequency_hz / 1e9
    if "eps_r" in table:
        return table["eps_r"], table["sigma"]
    for part in table["ranges"]:
        if part["min_ghz"] <= f <= part["max_ghz"]:
            return part["a"] * f ** part["b"], part["c"] * f ** part["d"]
    ranges = ", ".join(f"{part['min_ghz']}-{part['max_ghz']}" for part in table["ranges"])
    raise InputError(f"material {name} is not defined at {f} GHz; its ranges are {ranges} GHz")


class Scene:
    """A room with boxes, read from a scene file."""

    def __init__(self, name_or_path, material_files, frequency_hz):
        path = pathlib.Path(name_or_path)
        shipped = REPOSITORY / "scenes" / f"{name_or_path}.toml"
        path = shipped if path.suffix != ".toml" and shipped.exists() else path
        document = read_toml(path)
        tables = read_materials([*sorted((REPOSITORY / "materials").glob("*.toml")), *material_files])
        tables.update(document.get("material", {}))

        def layer(item):
            eps_r, sigma = material_at(item["material"], tables, frequency_hz)
            return Layer(item["material"], eps_r, sigma, item["thickness_m"])

        try:
            self.name = document["name"]
            self.bounds = [value for axis in "xyz" for value in document["room"][f"{axis}_m"]]
            surfaces = document["surfaces"]
            self.surfaces = [layer(surfaces.get(label) or surfaces[label.split(":")[0]]) for label in ROOM_LABELS]
            boxes = document.get("box", [])
            self.boxes = [Box(box["center_m"], box["size_m"], box.get("yaw_deg", 0.0)) for box in boxes]
            self.box_layers = [layer(box) for box in boxes]
        except KeyError as error:
            raise InputError(f"{path}: key {error} is missing; `magnetar scene check` tells more") from error
        low, high = self.bounds[0::2], self.bounds[1::2]
        self.room = Box([(a + b) / 2 for a, b in zip(low, high)], [b - a for a, b in zip(low, high)], 0.0)

    def box_label(self, index):
        """A single box is the board of the schema."""
        return "board" if len(self.boxes) == 1 else f"box{index}"

    def faces(self):
        """(label, corners, layer) of every face."""
        for face, (label, layer) in enumerate(zip(ROOM_LABELS, self.surfaces)):
            yield label, self.room.face_corners(face), layer
        for index, (box, layer) in enumerate(zip(self.boxes, self.box_layers)):
            for face, name in enumerate(FACES):
                yield f"{self.box_label(index)}:{name}", box.face_corners(face), layer


class Layer(typing.NamedTuple):
    """What a surface is made of."""

    material: str
    eps_r: float
    sigma: float
    thickness: float


class Box:
    """An upright box, turned about the vertical axis. The room is one too, seen from inside."""

    def __init__(self, center, size, yaw_deg):
        self.center, self.size, self.yaw_deg = list(center), list(size), float(yaw_deg)
        yaw = math.radians(self.yaw_deg)
        self.cos, self.sin = math.cos(yaw), math.sin(yaw)

    def local(self, point):
        dx, dy, dz = (p - c for p, c in zip(point, self.center))
        return [self.cos * dx + self.sin * dy, self.cos * dy - self.sin * dx, dz]

    def to_global(self, point):
        x, y, z = point
        turned = [self.cos * x - self.sin * y, self.sin * x + self.cos * y, z]
        return [t + c for t, c in zip(turned, self.center)]

    def face_corners(self, face):
        """The four corners of a face in the global frame, in order around it."""
        axis, side = face // 2, (-1.0, 1.0)[face % 2]
        others = [a for a in range(3) if a != axis]
        corners = []
        for u, v in [(-1, -1), (1, -1), (1, 1), (-1, 1)]:
            corner = [0.0, 0.0, 0.0]
            corner[axis] = side * self.size[axis] / 2
            corner[others[0]], corner[others[1]] = u * self.size[others[0]] / 2, v * self.size[others[1]] / 2
            corners.append(self.to_global(corner))
        return corners

    def distance(self, point):
        """Distance of a point outside; 0 inside."""
        return math.hypot(*(max(abs(p) - s / 2, 0.0) for p, s in zip(self.local(point), self.size)))

    def is_hit(self, start, end, grow):
        """Whether a segment meets the box grown by `grow` metres on every side."""
        a, b = self.local(start), self.local(end)
        enter, leave = 0.0, 1.0
        for axis in range(3):
            half = self.size[axis] / 2 + grow
            step = b[axis] - a[axis]
            if step == 0.0:
                if abs(a[axis]) >= half:
                    return False
                continue
            t0, t1 = sorted(((-half - a[axis]) / step, (half - a[axis]) / step))
            enter, leave = max(enter, t0), min(leave, t1)
        return enter < leave


# --- links ----------------------------------------------------------------------------------------------------------


class Reflection(typing.NamedTuple):
    """Where a face may reflect a link."""

    box: int  # number of the box; -1 is the room
    vertex: list  # global frame
    gap: float  # how far inside the face's rectangle, metres; negative outside
    tx_distance: float  # from the face's plane, positive on its outer side
    rx_distance: float


def reflections(room, boxes, tx, rx):
    """The mirror point of every face that has both devices on one side of its plane."""
    for index, box in enumerate([room, *boxes], start=-1):
        local_tx, local_rx = box.local(tx), box.local(rx)
        for face in range(6):
            axis, side = face // 2, (-1.0, 1.0)[face % 2]
            plane = side * box.size[axis] / 2
            inward = -side if index < 0 else side
            d_tx, d_rx = inward * (local_tx[axis] - plane), inward * (local_rx[axis] - plane)
            if d_tx * d_rx <= 0:
                continue
            share = d_tx / (d_tx + d_rx)
            vertex = [t + share * (r - t) for t, r in zip(local_tx, local_rx)]
            vertex[axis] = plane
            gap = min(box.size[a] / 2 - abs(vertex[a]) for a in range(3) if a != axis)
            yield Reflection(index, box.to_global(vertex), gap, d_tx, d_rx)


def is_clear_cut(room, boxes, tx, rx, margin=DECISION_MARGIN_M):
    """Whether the set of paths stays the same when things move by `margin` metres."""

    def is_decided(start, end, without=None):
        # A thin box shrunk by the margin must not vanish.
        return all(
            box.is_hit(start, end, margin) == box.is_hit(start, end, -min(margin, min(box.size) / 4))
            for index, box in enumerate(boxes)
            if index != without
        )

    if not is_decided(tx, rx):
        return False
    for box in boxes:
        if any(abs(abs(p) - s / 2) < margin for point in (tx, rx) for p, s in zip(box.local(point), box.size)):
            return False
    for item in reflections(room, boxes, tx, rx):
        if min(item.tx_distance, item.rx_distance) < 0 or item.gap < -margin:
            continue
        legs_decided = is_decided(tx, item.vertex, item.box) and is_decided(item.vertex, rx, item.box)
        shortest = min(math.dist(tx, item.vertex), math.dist(item.vertex, rx))
        if item.gap < margin or not legs_decided or shortest < SHORTEST_LEG_M:
            return False
    return True


def is_precise(room, boxes, tx, rx):
    """Whether Sionna RT's float32 image method stays well inside the tolerance."""
    for item in reflections(room, boxes, tx, rx):
        if min(item.tx_distance, item.rx_distance) < 0 or item.gap < 0:
            continue
        legs = math.dist(tx, item.vertex), math.dist(item.vertex, rx)
        # The image lies beyond the vertex, as far as the TX is on this side.
        image = [v + (v - r) * legs[0] / legs[1] for v, r in zip(item.vertex, rx)]
        nudge = IMAGE_NUDGE * (1 + max(map(abs, image)))
        cosine = item.tx_distance / legs[0]
        sine = math.sqrt(max(0.0, 1 - cosine**2))
        if nudge * sine / min(legs) > LARGEST_NUDGE_RAD or nudge * sine / cosine > LARGEST_NUDGE_M:
            return False
    return True


def draw_pairs(room, boxes, count, seed):
    """Random links whose path sets are beyond doubt."""
    rng = random.Random(seed)
    margins = [min(SURFACE_MARGIN_M, size / 4) for size in room.size]
    spans = [(c - s / 2 + m, c + s / 2 - m) for c, s, m in zip(room.center, room.size, margins)]

    def draw_point():
        for _ in range(10_000):
            point = [round(rng.uniform(low, high), 4) for low, high in spans]
            if all(box.distance(point) > min(margins) for box in boxes):
                return point
        raise InputError("no room for a device between the boxes of this scene; give links with --pairs")

    pairs = []
    for _ in range(1000 * count):
        tx, rx = draw_point(), draw_point()
        link = (room, boxes, tx, rx)
        if math.dist(tx, rx) >= min(DEVICE_DISTANCE_M, min(room.size) / 4) and is_clear_cut(*link) and is_precise(*link):
            pairs.append((f"{len(pairs):04d}", tx, rx))
            if len(pairs) == count:
                return pairs
    raise InputError(f"only {len(pairs)} of {count} random links are {DECISION_MARGIN_M} m clear of every decision")


def read_pairs(path):
    """Links from CSV (`tx_x,tx_y,tx_z,rx_x,rx_y,rx_z[,id]`) or JSON (`[{"tx": [..], "rx": [..], "id": ".."}]`)."""
    pairs = []
    try:
        with open(path, encoding="utf-8", newline="") as file:
            if path.endswith(".json"):
                rows = [(row.get("id"), row["tx"], row["rx"]) for row in json.load(file)]
            else:
                rows = [
                    (row.get("id"), [row[f"tx_{a}"] for a in "xyz"], [row[f"rx_{a}"] for a in "xyz"])
                    for row in csv.DictReader(file)
                ]
        for index, (name, tx, rx) in enumerate(rows):
            tx, rx = [float(v) for v in tx], [float(v) for v in rx]
            if len(tx) != 3 or len(rx) != 3 or not all(map(math.isfinite, tx + rx)):
                raise ValueError(f"link {index}: tx and rx need three finite numbers each")
            pairs.append((str(name) if name else f"{index:04d}", tx, rx))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        columns = "columns tx_x,tx_y,tx_z,rx_x,rx_y,rx_z (CSV) or objects with tx and rx (JSON)"
        raise InputError(f"{path}: {error!r}; expected {columns}") from error
    if not pairs:
        raise InputError(f"{path}: no links in it")
    return pairs


# --- Sionna RT ------------------------------------------------------------------------------------------------------


class Tracer:
    """A scene in Sionna RT with one transmitter and one receiver that can be moved."""

    def __init__(self, scene, frequency_hz):
        # Imported here so that mistakes in files and flags are told at once.
        import mitsuba as mi
        import sionna.rt as rt

        self.mi, self.rt = mi, rt
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
        count = len(real)
        columns = {name: getattr(found, name).numpy().ravel() for name in ("tau", "theta_t", "phi_t", "theta_r", "phi_r")}
        valid = found.valid.numpy().ravel()
        kinds, objects = found.interactions.numpy().ravel(), found.objects.numpy().ravel()
        vertices = found.vertices.numpy().reshape(-1, 3)
        paths = []
        for i in range(count):
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
            path.update({name: digits(columns[name][i]) for name in ("theta_t", "phi_t", "theta_r", "phi_r")})
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


def write_export(path, cases, name, frequency_hz):
    """Writes to a temporary name first: a file of the final name is whole."""
    versions = {key: importlib.metadata.version(package) for key, package in PACKAGES.items()}
    document = {
        "schema": SCHEMA,
        "set": name,
        "frequency_hz": frequency_hz,
        "wavelength_m": SPEED_OF_LIGHT / frequency_hz,
        **versions,
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
    write_export(arguments.out, cases, ", ".join(scene.name for scene in scenes), frequency_hz)
    print(f"{arguments.out}: {len(cases)} cases, {sum(len(case['paths']) for case in cases)} paths")


def main():
    try:
        run(parse_arguments())
    except (InputError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
