"""Links (a TX and an RX position) for comparing tracers: from files, or drawn where the outcome is beyond doubt."""

import csv
import json
import math
import random
import typing

from magnetar.sionna.scene import InputError

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
        is_apart = math.dist(tx, rx) >= min(DEVICE_DISTANCE_M, min(room.size) / 4)
        if is_apart and is_clear_cut(*link) and is_precise(*link):
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
