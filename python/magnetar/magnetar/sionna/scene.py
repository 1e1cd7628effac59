"""Scenes of magnetar as other ray tracers want them: faces with corners, and what they are made of."""

import math
import typing

import magnetar

FACES = ["-x", "+x", "-y", "+y", "-z", "+z"]
ROOM_LABELS = ["wall:-x", "wall:+x", "wall:-y", "wall:+y", "floor", "ceiling"]


class InputError(Exception):
    """A file or flag that cannot be used."""


def layer_at(name, thickness_m, materials, frequency_hz):
    """A layer of a material at a frequency."""
    if name not in materials:
        raise InputError(f"unknown material {name}; known are {', '.join(sorted(materials))}; see --materials")
    try:
        return Layer(name, *materials[name].at(frequency_hz), thickness_m)
    except magnetar.MagnetarError as error:
        raise InputError(str(error)) from error


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
        try:
            scene = magnetar.Scene(str(name_or_path))
            slabs = scene.slabs(frequency_hz, [str(path) for path in material_files])
        except magnetar.MagnetarError as error:
            raise InputError(str(error)) from error
        names = [name for name, _ in scene.surfaces] + [box["material"] for box in scene.boxes]
        layers = [Layer(name, *slab) for name, slab in zip(names, slabs)]
        shapes = [Box(box["center_m"], box["size_m"], math.degrees(box["yaw_rad"])) for box in scene.boxes]
        return cls(scene.name, scene.room, layers[:6], shapes, layers[6:])

    @classmethod
    def of_row(cls, row, materials_known, frequency_hz, wall_thickness_m):
        """From a row of a dataset; the board's slab is as thick as the board."""
        materials, board = row["materials"], row["board"]
        by_label = {"floor": materials["floor"], "ceiling": materials["ceiling"]}
        names = [by_label.get(label, materials["wall"]) for label in ROOM_LABELS]
        layers = [layer_at(name, wall_thickness_m, materials_known, frequency_hz) for name in names]
        boxes, box_layers = [], []
        if board is not None:
            size = [board["width"], board["thickness"], board["height"]]
            boxes = [Box([board["x"], board["y"], board["z"]], size, math.degrees(board["yaw"]))]
            box_layers = [layer_at(materials["board"], board["thickness"], materials_known, frequency_hz)]
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
