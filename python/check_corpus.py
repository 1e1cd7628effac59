#!/usr/bin/env python3
"""Hold the rows of a corpus to Sionna RT, straight from its Parquet files.

Makes a corpus with isotropic antennas, no RF chain and no noise (a recipe that extends `paper`), reads rows with pyarrow,
builds each row's room and board in Sionna RT and compares the `paths` column and the stored observation with Sionna RT's
paths. Rows within 2 mm of a visibility decision, or where Sionna RT's single precision is not good enough, are counted
and left out.

    python check_corpus.py --magnetar ../target/release/magnetar [--rows 200] [--seed 0]

Exit code 1 if a path set differs, or a figure is outside the tolerance of `magnetar validate`.
"""

import argparse
import math
import pathlib
import subprocess
import sys
import tempfile

import magnetar
import numpy as np

import reference_block as reference
from magnetar.sionna.links import is_clear_cut, is_precise
from magnetar.sionna.scene import InputError, Scene
from magnetar.sionna.tracer import Tracer, check_llvm

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent

SPLITS = ["train", "test"]
WALL_THICKNESS_M = 0.1
TOLERANCES = {"coefficient": 1e-4, "delay": 1e-6, "angle": 1e-4}
BLOCK_TOLERANCE = 1e-4
RECIPE = """\
name = "held_to_sionna"
extends = "paper"
[antennas]
tx_pattern = "isotropic"
rx_patterns = ["isotropic", "isotropic"]
[link]
tx_power_offset_max_db = 0.0
[rf_chain]
enabled = false
[noise]
enabled = false
"""


def make_rows(arguments, folder):
    """More rows than are wanted, the splits in turns, as dictionaries, each with its observation `[bins, 2]`."""
    import pyarrow.parquet as pq

    recipe = folder / "held_to_sionna.toml"
    recipe.write_text(RECIPE, encoding="utf-8")
    # Many rows are left out: devices stand as near as 0.1 m to a wall, where single precision does not suffice.
    each = 2 * arguments.rows // len(SPLITS) + 10
    command = [arguments.magnetar, "generate", "--recipe", str(recipe), "--seed", str(arguments.seed)]
    command += ["--split", ",".join(SPLITS), "--limit", str(each), "--out", str(folder / "corpus")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    read = []
    for split in SPLITS:
        table = pq.read_table(folder / "corpus" / split)
        csi = table.column("csi").combine_chunks()
        blocks = getattr(csi, "storage", csi).flatten().to_numpy().view(np.complex64).reshape(len(table), -1, 2)
        read.append(zip(table.drop_columns(["csi"]).to_pylist(), blocks.astype(complex)))
    for rows in zip(*read):
        yield from rows


def position(pose):
    return [pose["x"], pose["y"], pose["z"]]


def direction(azimuth, elevation):
    flat = math.cos(elevation)
    return np.array([flat * math.cos(azimuth), flat * math.sin(azimuth), math.sin(elevation)])


def surfaces(path):
    """What a path of Sionna RT meets, as the `surface` column has it."""
    return " ".join(met["object"] for met in path["interactions"]) or "LOS"


def errors(row, mine, theirs):
    """Coefficient, delay and angle errors of one path, as `magnetar validate` defines them."""
    free_space = 1 / (4 * math.pi * reference.CARRIER_HZ * theirs["tau"])
    names = [("coefficient0_re", "coefficient0_im"), ("coefficient1_re", "coefficient1_im")]
    expected = complex(*theirs["a"])
    coefficient = max(abs(complex(mine[re], mine[im]) - expected) for re, im in names) / free_space
    angle = 0.0
    for end, pose in (("aoa", row["rx"]), ("aod", row["tx"])):
        suffix = "r" if end == "aoa" else "t"
        own = direction(mine[f"{end}_azimuth"] + pose["heading"], mine[f"{end}_elevation"])
        other = direction(theirs[f"phi_{suffix}"], math.pi / 2 - theirs[f"theta_{suffix}"])
        angle = max(angle, float(np.linalg.norm(own - other)))
    return {"coefficient": coefficient, "delay": abs(mine["delay_s"] - theirs["tau"]) / theirs["tau"], "angle": angle}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--magnetar", default=str(REPOSITORY / "target/release/magnetar"))
    parser.add_argument("--rows", type=int, default=200, help="rows to compare")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    largest = dict.fromkeys(TOLERANCES, 0.0)
    blocks, left_out, paths, wrong = [], 0, 0, []
    materials = magnetar.materials()
    try:
        check_llvm()
        with tempfile.TemporaryDirectory() as folder:
            for row, observed in make_rows(arguments, pathlib.Path(folder)):
                scene = Scene.of_row(row, materials, reference.CARRIER_HZ, WALL_THICKNESS_M)
                tx, rx = position(row["tx"]), position(row["rx"])
                link = (scene.room, scene.boxes, tx, rx)
                if not (is_clear_cut(*link) and is_precise(*link)):
                    left_out += 1
                    continue
                if len(blocks) + len(wrong) == arguments.rows:
                    break
                theirs = {surfaces(path): path for path in Tracer(scene, reference.CARRIER_HZ).trace(tx, rx)}
                mine = {path["surface"]: path for path in row["paths"]}
                if theirs.keys() != mine.keys():
                    wrong.append(f"{scene.name}: {sorted(theirs.keys() ^ mine.keys())}")
                    continue
                paths += len(mine)
                for name, path in mine.items():
                    for kind, error in errors(row, path, theirs[name]).items():
                        largest[kind] = max(largest[kind], error)
                expected = reference.block(list(theirs.values()), row["rx"]["heading"]) * reference.link_scale()
                blocks.append(reference.relative_rms(observed, expected))
    except (InputError, OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"error: {error}")
    print(f"{len(blocks)} rows, {paths} paths compared; {left_out} rows left out near a decision of visibility or precision")
    for kind, error in largest.items():
        print(f"  {kind + ' error, largest':<38}{error:>10.1e}  tolerance {TOLERANCES[kind]:.0e}")
    if blocks:
        print(f"  {'observation, relative rms, median':<38}{np.median(blocks):>10.1e}  tolerance {BLOCK_TOLERANCE:.0e}")
    for line in wrong:
        print(f"  other paths: {line}")
    within = all(largest[kind] <= TOLERANCES[kind] for kind in largest)
    ok = bool(blocks) and not wrong and within and np.median(blocks) < BLOCK_TOLERANCE
    print("ok" if ok else "FAILED")
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
