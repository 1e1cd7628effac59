"""How much power the paper's simulator leaves out: the table of docs/limits.md.

    python limits.py DATASET

DATASET is a test split with paths to the third order and through boxes (propagation.max_order=3, propagation.transmission=true).
"""

import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq


def power(path):
    """Power at the two elements together."""
    parts = [path[f"coefficient{element}_{part}"] for element in (0, 1) for part in ("re", "im")]
    return sum(part**2 for part in parts)


def order(path):
    return sum(interaction["kind"] == "reflection" for interaction in path["interactions"])


def crosses(path):
    return any(interaction["kind"] != "reflection" for interaction in path["interactions"])


def shown(name, ratios):
    ratios = np.array(ratios)
    found = 10 * np.log10(ratios[ratios > 0])
    p50, p90 = np.percentile(found, [50, 90])
    print(f"{name}: {len(found)} rows, median {p50:+.1f} dB, 90th percentile {p90:+.1f} dB")
    return found


def main():
    files = sorted((Path(sys.argv[1]) / "test").glob("*.parquet"))
    rows = [row for file in files for row in pq.read_table(file, columns=["paths", "los", "left_out"]).to_pylist()]
    beyond_first, beyond_second, through, strongest, left_out = [], [], [], 0, 0
    for row in rows:
        by_order, direct, opaque = [0.0] * 4, 0.0, 0.0
        for path in row["paths"]:
            if crosses(path):
                direct += power(path) if order(path) == 0 else 0.0
                continue
            by_order[order(path)] += power(path)
            opaque = max(opaque, power(path)) if order(path) <= 1 else opaque
        kept = by_order[0] + by_order[1]
        if kept > 0:
            beyond_first.append((by_order[2] + by_order[3]) / kept)
            beyond_second.append(by_order[3] / (kept + by_order[2]))
            if direct > 0:
                through.append(direct / kept)
                strongest += direct > opaque
        left_out += row["left_out"]["other_faces"] > 0
    print(f"{len(rows)} rows")
    shown("orders 2 and 3 over all that order 1 keeps", beyond_first)
    shown("order 3 over all that order 2 keeps", beyond_second)
    blocked = shown("the direct wave through the board over all that is kept", through)
    print(f"  the strongest path in {strongest} of {len(blocked)}")
    print(f"a path is left out for a crossing of faces that are not opposite: {left_out} rows")


if __name__ == "__main__":
    main()
