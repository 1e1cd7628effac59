"""Query a dataset with SQL.

    python load_duckdb.py DATASET [SPLIT]
"""

import sys
from pathlib import Path

import duckdb


def main():
    dataset, split = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "test"
    files = str(Path(dataset) / split / "*.parquet")
    # Where no arrival was found, its numbers are 0 and `valid` is false: they do not count.
    query = """
        SELECT materials.wall AS wall, board IS NOT NULL AS board, count(*) AS rows, avg(los::INT) AS los_share,
               median(raw_snr_db[1]) FILTER (valid[1]) AS raw_snr_db, avg(len(paths)) AS paths
        FROM read_parquet(?) GROUP BY ALL ORDER BY ALL
    """
    result = duckdb.execute(query, [files]).fetchall()
    assert result
    for row in result:
        print(row)


if __name__ == "__main__":
    main()
