"""Scene files of magnetar, read for other tools: the room, its boxes and what they are made of."""

import math
import pathlib
import tomllib
import typing

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
FACES = ["-x", "+x", "-y", "+y", "-z", "+z"]
ROOM_LABELS = ["wall:-x", "wall:+x", "wall:-y", "wall:+y", "floor", "ceiling"]


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
    measured = {"a": table.get("eps_r"), "b": 0.0, "c": table.get("sigma"), "d": 0.0}
    bounds = {"min_ghz": table.get("min_ghz", 0.0), "max_ghz": table.get("max_ghz", math.inf)}
    ranges = table.get("ranges", [{**measured, **bounds}])
    for part in ranges:
        if part["min_ghz"] <= f <= part["max_ghz"]:
            return part["a"] * f ** part["b"], part["c"] * f ** part["d"]
    known = ", ".join(f"{part['min_ghz']}-{part['max_ghz']}" for part in ranges)
    raise InputError(f"material {name} is not defined at {f} GHz; its ranges are {known} GHz")


def shipped_materials(more=()):
    """The `[material.NAME]` tables of the shipped files and of others."""
    return read_materials([*sorted((REPOSITORY / "materials").glob("*.toml")), *more])


def layer_at(name, thickness_m, tables, frequency_hz):
    """A layer of a material at a frequency."""
    eps_r, sigma = material_at(name, tables, frequency_hz)
    return Layer(name, eps_r, sigma, thickness_m)


class Scene:
    """A room with boxes: bounds, and a layer for each surface in the order of ROOM_LABELS and for each box."""

    def __init__(self, name, bounds, surfaces, boxes, box_layers):
        self.name, self.bounds, self.surfaces = name, list(bounds), list(surfaces)
        self.boxes, self.box_layers = list(boxes), list(box_layers)
        low, high = self.bounds[0::2], self.bounds[1::2]
        self.room = Box([(a + b) / 2 for a, b in zip(low, high)], [b - a for a, b in zip(low, high)], 0.0)

    @classmethod
    def read(cls, name_or_path, material_files, frequency_hz):
        """From a scene file, or a shipped scene's name."""
        path = pathlib.Path(name_or_path)
        shipped = REPOSITORY / "scenes" / f"{name_or_path}.toml"
        path = shipped if path.suffix != ".toml" and shipped.exists() else path
        document = read_toml(path)
        tables = shipped_materials(material_files)
        tables.update(document.get("material", {}))

        def layer(item):
            return layer_at(item["material"], item["thickness_m"], tables, frequency_hz)

        try:
            bounds = [value for axis in "xyz" for value in document["room"][f"{axis}_m"]]
            surfaces = document["surfaces"]
            layers = [layer(surfaces.get(label) or surfaces[label.split(":")[0]]) for label in ROOM_LABELS]
            boxes = document.get("box", [])
            shapes = [Box(box["center_m"], box["size_m"], box.get("yaw_deg", 0.0)) for box in boxes]
            return cls(document["name"], bounds, layers, shapes, [layer(box) for box in boxes])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{path}: {error!r}; `magnetar scene check` reports line and key") from error

    @classmethod
    def of_row(cls, row, tables, frequency_hz, wall_thickness_m):
        """From a row of a dataset; the board's slab is as thick as the board."""
        materials, board = row["materials"], row["board"]
        by_label = {"floor": materials["floor"], "ceiling": materials["ceiling"]}
        names = [by_label.get(label, materials["wall"]) for label in ROOM_LABELS]
        layers = [layer_at(name, wall_thickness_m, tables, frequency_hz) for name in names]
        boxes, box_layers = [], []
        if board is not None:
            size = [board["width"], board["thickness"], board["height"]]
            boxes = [Box([board["x"], board["y"], board["z"]], size, math.degrees(board["yaw"]))]
            box_layers = [layer_at(materials["board"], board["thickness"], tables, frequency_hz)]
        return cls(f"row {row['index']}", row["room"], layers, boxes, box_layers)

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

    def sheets(self):
        """(label, corners, layer) of every face of the room, and of each box the sheet at its mid-plane."""
        for face, (label, layer) in enumerate(zip(ROOM_LABELS, self.surfaces)):
            yield label, self.room.face_corners(face), layer
        for index, (box, layer) in enumerate(zip(self.boxes, self.box_layers)):
            sheet = Box(box.center, [box.size[0], 0.0, box.size[2]], box.yaw_deg)
            yield self.box_label(index), sheet.face_corners(2), layer


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
