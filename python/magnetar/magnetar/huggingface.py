"""A stored corpus for Hugging Face ``datasets``: one split, streamed from its shards, nothing converted.

``datasets.load_dataset(folder)`` reads a corpus by its card, but converts every split before it gives the first row of one.
``load`` names the shards of one split to it, as the manifest lists them, with the types of the card's head.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from magnetar._native import Dataset
from magnetar.errors import DatasetError, InputError

__all__ = ["load", "shards"]


def shards(dataset: Dataset | str | PathLike[str], split: str) -> list[Path]:
    """The Parquet files of a split, in the order of their rows."""
    folder = (dataset if isinstance(dataset, Dataset) else Dataset(dataset)).folder
    if isinstance(folder, str):
        raise DatasetError(f"{folder}: Hugging Face reads files; copy the dataset to a folder with `magnetar merge`")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    known = manifest["splits"]
    if split not in known:
        raise DatasetError(f"{folder}: no split {split}; there are {', '.join(known)}")
    numbers = sorted(shard["number"] for shard in known[split]["shards"])
    return [folder / split / f"part-{number:05}.parquet" for number in numbers]


def load(
    dataset: Dataset | str | PathLike[str],
    split: str,
    *,
    streaming: bool = True,
    columns: Sequence[str] | None = None,
    **options: Any,
) -> Any:
    """A split as ``datasets.IterableDataset``, read shard by shard; with ``streaming=False`` as ``datasets.Dataset``.

    ``columns`` leaves the others unread. The rest goes to ``datasets.load_dataset``. Shards are what
    ``split_dataset_by_node`` and worker processes share among themselves.
    """
    import datasets
    from datasets.info import DatasetInfosDict

    dataset = dataset if isinstance(dataset, Dataset) else Dataset(dataset)
    files = [str(path) for path in shards(dataset, split)]
    (info,) = DatasetInfosDict.from_directory(str(dataset.folder)).values()
    features = info.features
    if columns is not None:
        unknown = [name for name in columns if name not in features]
        if unknown:
            raise InputError(f"no column {unknown[0]!r}; there are {', '.join(features)}")
        features = datasets.Features({name: features[name] for name in columns})
        options["columns"] = list(columns)
    options = {"features": features, "streaming": streaming, **options}
    return datasets.load_dataset("parquet", data_files={split: files}, split=split, **options)
