"""Query a dataset with polars, lazily: the observations are not read unless they are asked for.

    python load_polars.py DATASET [SPLIT]
"""

import sys
from pathlib import Path

import polars as pl


def main():
    dataset, split = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "test"
    rows = pl.scan_parquet(Path(dataset) / split / "*.parquet")
    summary = (
        rows.with_columns(board=pl.col("board").is_not_null())
        .group_by("board")
        .agg(
            rows=pl.len(),
            los_share=pl.col("los").mean(),
            # Where no arrival was found, its numbers are 0 and `valid` is false: they do not count.
            first_snr_db=pl.col("snr_db").arr.get(0).filter(pl.col("valid").arr.get(0)).median(),
            paths=pl.col("paths").list.len().mean(),
        )
        .sort("board")
        .collect()
    )
    assert summary["rows"].sum() > 0
    print(summary)
    print(rows.select("index", pl.col("tx").struct.unnest()).head(3).collect())


if __name__ == "__main__":
    main()
