"""A corpus in DeepMIMO's layout (version 4): a scenario that ``deepmimo.load`` reads.

Every set of rows that share TX and layout is a scene with one TX and as many RX points as the set has views; a corpus of many
rooms is a dynamic scenario of as many scenes. Positions are metres and angles degrees in the global frame, elevations from
the zenith, powers dB, delays seconds; phases hold the propagation phase at the carrier, as DeepMIMO's subcarriers count from
there. ``magnetar.json`` beside the scenes says which rows they are, and has the headings, which DeepMIMO has no place for.

    magnetar-deepmimo data --split fusion --out deepmimo_scenarios/fusion      # then deepmimo.load("fusion")
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from magnetar import _native
from magnetar._native import Dataset, Pattern, Recipe, Rows, Scene
from magnetar._settings import settings
from magnetar.errors import InputError, MagnetarError

__all__ = ["LAYOUT_VERSION", "export"]

LAYOUT_VERSION = "4.0.5"
"""The DeepMIMO release whose layout is written."""

_CODES = {"reflection": 1, "transmission": 4}
_TX_SET, _RX_SET = 0, 1


def export(
    data: Dataset | Rows,
    out: str | os.PathLike[str],
    *,
    recipe: Recipe | None = None,
    split: str = "test",
    limit: int | None = None,
    antennas: bool = True,
    materials: Sequence[str | os.PathLike[str]] = (),
) -> Path:
    """Writes rows as a DeepMIMO scenario, into a folder that is not there yet; gives its path.

    ``data`` is a dataset (with ``split`` and ``limit``, in rows) or ``Rows`` of ``recipe``. Powers and phases are those at RX
    element 0, with the recipe's antenna patterns; with ``antennas=False`` the patterns are divided out, which is refused
    where a recipe makes them wrong on purpose. ``materials`` are material files besides the shipped ones.
    """
    out = Path(out)
    if out.name != out.name.lower():
        raise InputError(f"{out.name}: DeepMIMO reads scenarios by names in lower case")
    if out.exists():
        raise InputError(f"{out} is there already; give another name, or remove it")
    if isinstance(data, Dataset):
        recipe, rows = data.recipe, data.rows(split, 0, limit, csi=False)
    elif recipe is None:
        raise InputError("recipe: rows alone do not say their carrier; give their recipe")
    else:
        rows = data
    if not len(rows):
        raise InputError("no row to export; give another split")
    scenario = _Scenario(rows, recipe, antennas, [os.fspath(path) for path in materials])
    out.parent.mkdir(parents=True, exist_ok=True)
    # Whole or not at all.
    unfinished = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        scenario.write(unfinished)
        unfinished.chmod(0o755)
        unfinished.rename(out)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return out


class _Paths:
    """The true paths of rows, one entry per path."""

    def __init__(self, rows: Rows) -> None:
        import pyarrow

        lists = pyarrow.table(rows).column("paths").to_pylist()
        listed = [(row, path) for row, paths in enumerate(lists) for path in paths]
        self.row = np.array([row for row, _ in listed], dtype=np.int64)
        self.kind: list[str] = [path["kind"] for _, path in listed]
        values = {name: np.array([path[name] for _, path in listed], dtype=np.float64) for name in _PATH_FIELDS}
        self.delay_s = values["delay_s"]
        self.coefficient: NDArray[np.complex128] = values["coefficient0_re"] + 1j * values["coefficient0_im"]
        """At RX element 0, antennas applied, without the propagation phase."""
        self.aoa_azimuth, self.aoa_elevation = values["aoa_azimuth"], values["aoa_elevation"]
        self.aod_azimuth, self.aod_elevation = values["aod_azimuth"], values["aod_elevation"]
        self.interactions: list[list[tuple[str, tuple[float, float, float]]] | None] = [
            None
            if path.get("interactions") is None
            else [(met["kind"], (met["x"], met["y"], met["z"])) for met in path["interactions"]]
            for _, path in listed
        ]
        """Kind and place, from TX to RX; None where the dataset does not say (schema 1.0)."""


def _boxes(rows: Rows) -> list[list[list[float]]]:
    """Of every row, a scene's boxes and then the board: centre, width, thickness, height (metres), yaw (radians)."""
    import pyarrow

    table = pyarrow.table(rows)
    count = table.num_rows
    boxes = table.column("boxes").to_pylist() if "boxes" in table.column_names else [[]] * count
    boards = table.column("board").to_pylist()
    found = ([*(boxes[row] or []), *([boards[row]] if boards[row] else [])] for row in range(count))
    return [[[float(box[name]) for name in _BOX_FIELDS] for box in row] for row in found]


_PATH_FIELDS = (
    "delay_s", "coefficient0_re", "coefficient0_im", "aoa_azimuth", "aoa_elevation", "aod_azimuth", "aod_elevation"
)
_BOX_FIELDS = ("x", "y", "z", "width", "thickness", "height", "yaw")


class _Scenario:
    """Rows on their way to DeepMIMO's files."""

    def __init__(self, rows: Rows, recipe: Recipe, antennas: bool, files: list[str]) -> None:
        self.rows, self.recipe = rows, recipe
        (self.carrier_hz,) = settings(recipe, "band.carrier_hz")
        self.tx, self.rx = (
            np.stack([rows.numpy(f"{device}.{name}") for name in ("x", "y", "z", "heading")], axis=1)
            for device in ("tx", "rx")
        )
        self.paths = _Paths(rows)
        self.gain = self._gain(antennas)
        self.boxes = _boxes(rows)
        self.room: NDArray[np.float64] = rows.numpy("room")
        self.surfaces = self._surface_materials()
        known = _native.materials(files)
        names = sorted({name for surfaces in self.surfaces for name in surfaces})
        missing = [name for name in names if name not in known]
        if missing:
            raise InputError(f"materials {', '.join(missing)} are not shipped; give their files")
        self.materials = {name: known[name].at(self.carrier_hz) for name in names}
        self.scenes = self._scenes()

    def _scenes(self) -> list[NDArray[np.int64]]:
        """The places of every scene's rows: those of a set, or one row each where sets differ in length."""
        sets = self.rows.numpy("set")
        bounds = [0, *(np.flatnonzero(sets[1:] != sets[:-1]) + 1), len(sets)]
        lengths = {end - start for start, end in zip(bounds, bounds[1:], strict=False)}
        if len(lengths) > 1:
            bounds = list(range(len(sets) + 1))
        return [np.arange(start, end) for start, end in zip(bounds, bounds[1:], strict=False)]

    def _gain(self, antennas: bool) -> NDArray[np.complex128]:
        """What each path is multiplied with at the carrier."""
        paths = self.paths
        gain: NDArray[np.complex128] = paths.coefficient.copy()
        if not antennas:
            keys = ("model_error.pattern_db_rms", "antennas.tx_pattern", "antennas.rx_patterns")
            wrong, tx_pattern, rx_patterns = settings(self.recipe, *keys)
            if wrong:
                raise InputError("antennas: this recipe draws errors of the patterns, which cannot be divided out")
            ends = (
                (tx_pattern, paths.aod_azimuth, paths.aod_elevation),
                (rx_patterns[0], paths.aoa_azimuth, paths.aoa_elevation),
            )
            for name, azimuth, elevation in ends:
                amplitude = 10 ** (Pattern(name).gain_db(azimuth, elevation) / 20)
                # What an antenna does not see at all stays unseen.
                gain /= np.where(amplitude > 0, amplitude, 1.0)
        gain *= np.exp(-2j * np.pi * np.mod(self.carrier_hz * paths.delay_s, 1.0))
        return gain

    def _surface_materials(self) -> list[list[str]]:
        """Of every row: the walls -x, +x, -y, +y, floor, ceiling, then the boxes."""
        (text,) = settings(self.recipe, "scene_text")
        boxes = [box["material"] for box in Scene.from_toml(text).boxes] if text else []
        wall, ceiling, floor, board = (
            self.rows.numpy(f"materials.{surface}") for surface in ("wall", "ceiling", "floor", "board")
        )
        found = []
        for row in range(len(self.rows)):
            walls = wall[row].split("/")
            walls = walls if len(walls) == 4 else walls[:1] * 4
            boards = [board[row]] if board[row] else []
            found.append([*walls, floor[row], ceiling[row], *boxes, *boards])
        return found

    def write(self, folder: Path) -> None:
        several = len(self.scenes) > 1
        for number, places in enumerate(self.scenes):
            scene = folder / f"scene_{number:07}" if several else folder
            scene.mkdir(exist_ok=True)
            self._write_scene(scene, places)
        (folder / "params.json").write_text(json.dumps(self._params(), indent=2), encoding="utf-8")
        (folder / "magnetar.json").write_text(json.dumps(self._origin(), indent=1), encoding="utf-8")

    def _write_scene(self, folder: Path, places: NDArray[np.int64]) -> None:
        for key, values in self._matrices(places).items():
            file = folder / f"{key}_t{_TX_SET:03}_tx000_r{_RX_SET:03}.npz"
            arrays: dict[str, Any] = {key: values.astype(np.float32)}
            np.savez_compressed(file, **arrays)
        vertices, objects = self._objects(int(places[0]))
        np.savez_compressed(folder / "vertices.npz", vertices=vertices)
        (folder / "objects.json").write_text(json.dumps(objects, indent=1), encoding="utf-8")

    def _matrices(self, places: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        """DeepMIMO's eleven, RX points first; the direct path first, which DeepMIMO tells line of sight by, then by power."""
        paths = self.paths
        lists = []
        for place in places:
            mine = np.flatnonzero((paths.row == place) & (self.gain != 0))
            reflected = np.array([self.paths.kind[path] != "LOS" for path in mine], dtype=bool)
            lists.append(mine[np.lexsort((-np.abs(self.gain[mine]), reflected))])
        longest = max(1, *map(len, lists)) if lists else 1
        met = [paths.interactions[path] or [] for mine in lists for path in mine]
        depth = max(1, *map(len, met)) if met else 1
        shape = (len(places), longest)
        names = ("aoa_az", "aoa_el", "aod_az", "aod_el", "power", "phase", "delay", "inter")
        found = {name: np.full(shape, np.nan) for name in names}
        found["inter_pos"] = np.full((*shape, depth, 3), np.nan)
        for user, (place, mine) in enumerate(zip(places, lists, strict=True)):
            for name, angles, heading in (
                ("aoa_az", paths.aoa_azimuth, self.rx[place, 3]),
                ("aod_az", paths.aod_azimuth, self.tx[place, 3]),
            ):
                found[name][user, : len(mine)] = np.degrees(np.angle(np.exp(1j * (angles[mine] + heading))))
            found["aoa_el"][user, : len(mine)] = 90 - np.degrees(paths.aoa_elevation[mine])
            found["aod_el"][user, : len(mine)] = 90 - np.degrees(paths.aod_elevation[mine])
            found["power"][user, : len(mine)] = 20 * np.log10(np.abs(self.gain[mine]))
            found["phase"][user, : len(mine)] = np.degrees(np.angle(self.gain[mine]))
            found["delay"][user, : len(mine)] = paths.delay_s[mine]
            for column, path in enumerate(mine):
                found["inter"][user, column] = self._code(int(path))
                for step, (_, point) in enumerate(paths.interactions[path] or []):
                    found["inter_pos"][user, column, step] = point
        found["rx_pos"], found["tx_pos"] = self.rx[places, :3], self.tx[places[:1], :3]
        return found

    def _code(self, path: int) -> float:
        """The interactions from TX to RX as decimal digits; 0 for the direct path."""
        met = self.paths.interactions[path]
        if met is None:
            return 0.0 if self.paths.kind[path] == "LOS" else 1.0
        return float("".join(str(_CODES[kind]) for kind, _ in met) or 0)

    def _objects(self, row: int) -> tuple[NDArray[np.float64], list[dict[str, Any]]]:
        """The room and the boxes in it: corners, and objects that name them face by face."""
        x0, x1, y0, y1, z0, z1 = self.room[row]
        room = [(x0 + x1) / 2, (y0 + y1) / 2, (z0 + z1) / 2, x1 - x0, y1 - y0, z1 - z0, 0.0]
        numbers = {name: number for number, name in enumerate(self.materials)}
        names = self.surfaces[row]
        vertices, objects = [], []
        for place, box in enumerate([room, *self.boxes[row]]):
            first = 8 * place
            vertices.append(_corners(box))
            materials = names[:6] if place == 0 else [names[5 + place]] * 6
            objects.append(
                {
                    "name": "room" if place == 0 else f"box{place - 1}",
                    "label": "floorplans" if place == 0 else "objects",
                    "id": place,
                    "face_vertex_idxs": [[first + corner for corner in face] for face in _FACES],
                    "face_material_idxs": [numbers[name] for name in materials],
                }
            )
        return np.concatenate(vertices), objects

    def _params(self) -> dict[str, Any]:
        order, through = settings(self.recipe, "propagation.max_order", "propagation.transmission")
        order = 1 if order is None else order
        most = max((len(met) for met in self.paths.interactions if met), default=order)
        receivers = len(self.scenes[0])
        boxes = len(self.boxes[int(self.scenes[0][0])])
        ray_tracing = {
            "raytracer_name": "magnetar",
            "raytracer_version": _version(),
            "frequency": self.carrier_hz,
            "max_path_depth": max(order, most),
            "max_reflections": order,
            "max_diffractions": 0,
            "max_scattering": 0,
            "max_transmissions": max(0, most) if through else 0,
            "num_rays": 0,
            "ray_casting_method": "images",
            "synthetic_array": True,
            "gps_bbox": [0, 0, 0, 0],
            "raw_params": {},
        }
        sets = {}
        for number, role, points in ((_TX_SET, "tx", 1), (_RX_SET, "rx", receivers)):
            sets[f"txrx_set_{number}"] = {
                "name": role,
                "id_orig": number,
                "id": number,
                "is_tx": role == "tx",
                "is_rx": role == "rx",
                "num_points": points,
                "num_active_points": points,
                "num_ant": 1,
                "dual_pol": False,
                "ant_rel_positions": [[0, 0, 0]],
                "array_orientation": [0, 0, 0],
                "grid_spacing": None,
            }
        materials = {
            f"material_{number}": {
                "id": number,
                "name": name,
                "permittivity": permittivity,
                "conductivity": conductivity,
                "scattering_model": "none",
                "scattering_coefficient": 0.0,
                "cross_polarization_coefficient": 0.0,
            }
            for number, (name, (permittivity, conductivity)) in enumerate(self.materials.items())
        }
        scene = {
            "num_scenes": len(self.scenes),
            "n_objects": 1 + boxes,
            "n_vertices": 8 * (1 + boxes),
            "n_faces": 6 * (1 + boxes),
            "n_triangular_faces": 12 * (1 + boxes),
            "representation": "hull",
        }
        return {
            "version": LAYOUT_VERSION,
            "rt_params": ray_tracing,
            "txrx_sets": sets,
            "materials": materials,
            "scene": scene,
        }

    def _origin(self) -> dict[str, Any]:
        index = self.rows.numpy("index")
        return {
            "recipe": self.recipe.name,
            "recipe_hash": self.recipe.hash,
            "split": self.rows.split,
            "scenes": [
                {
                    "rows": [int(index[place]) for place in places],
                    "tx_heading_rad": float(self.tx[places[0], 3]),
                    "rx_heading_rad": self.rx[places, 3].tolist(),
                }
                for places in self.scenes
            ],
        }


_FACES = ((0, 2, 6, 4), (1, 3, 7, 5), (0, 1, 5, 4), (2, 3, 7, 6), (0, 1, 3, 2), (4, 5, 7, 6))
"""Corners of the faces -x, +x, -y, +y, -z, +z; bits of a corner's number say which end of x, y and z it is at."""


def _corners(box: Sequence[float]) -> NDArray[np.float64]:
    x, y, z, width, thickness, height, yaw = box
    corners = np.array([[(n & 1) - 0.5, (n >> 1 & 1) - 0.5, (n >> 2 & 1) - 0.5] for n in range(8)])
    corners *= [width, thickness, height]
    turned = corners.copy()
    turned[:, 0] = corners[:, 0] * np.cos(yaw) - corners[:, 1] * np.sin(yaw)
    turned[:, 1] = corners[:, 0] * np.sin(yaw) + corners[:, 1] * np.cos(yaw)
    return turned + [x, y, z]


def _version() -> str:
    from importlib.metadata import version

    return version("magnetar")


def main() -> None:
    """The command ``magnetar-deepmimo``."""
    description = "Writes a dataset as a scenario in DeepMIMO's layout (version 4)."
    parser = argparse.ArgumentParser(prog="magnetar-deepmimo", description=description)
    parser.add_argument("dataset", metavar="DATASET", help="a dataset's folder")
    parser.add_argument("--split", default="test", help="the split (test)")
    parser.add_argument("--limit", type=int, metavar="ROWS", help="its first rows only")
    parser.add_argument("--no-antennas", action="store_true", help="divide the antenna patterns out")
    parser.add_argument("--materials", action="append", default=[], metavar="FILE", help="more material files")
    parser.add_argument("-o", "--out", required=True, metavar="FOLDER", help="deepmimo_scenarios/NAME, in lower case")
    given = parser.parse_args()
    try:
        options = {"split": given.split, "limit": given.limit, "materials": given.materials}
        print(export(Dataset(given.dataset), given.out, antennas=not given.no_antennas, **options))
    except (MagnetarError, OSError) as error:
        parser.exit(1, f"error: {error}\n")


if __name__ == "__main__":
    main()
