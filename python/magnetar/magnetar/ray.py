"""The long jobs over a Ray cluster: generate, sweep, evaluate, audit, and rows for Ray Data.

``pip install magnetar[ray]``, and ``ray.init(...)`` before. A task is a slice of rows and a pure function
of it: a node that is lost costs a retry, and results are those of one process, byte for byte and number for number. What tasks
make is written where the caller wants it by nodes that see that folder, comes back through Ray from the others, or goes to an
object store; stored datasets that are read have to be at a place that every node sees: a shared path, or an object store.
"""

from __future__ import annotations

import json
import secrets
import tempfile
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import ray
from ray.data import Datasource, ReadTask
from ray.data.block import BlockMetadata

from magnetar import _native
from magnetar._cluster import (
    SIGN,
    Files,
    Progress,
    command,
    each,
    files_in,
    folder_beside,
    machine,
    make_durable,
    place,
    sees,
    write_files,
)
from magnetar._native import Dataset, Recipe, Rows, Scorer
from magnetar.errors import InputError, RecipeError
from magnetar.inference import EVALUATION, Size

__all__ = ["RowSource", "audit", "evaluate", "generate", "read", "sweep"]

WRITERS = 4
"""Parts that are written to the caller's disk at the same time, while others are made."""


def _make_shards(
    recipe: Recipe,
    split: str,
    shards: tuple[int, int],
    limit: int | None,
    seed: int,
    out: str,
    sign: str | None,
    caller: str | None,
) -> Files | str | None:
    """A task: some shards of a split, and the manifest of these alone.

    Without a sign ``out`` is in a store, and they go there. Else they go into a new folder within ``out``, whose name is given
    back, or, if this node does not see ``out``, to the caller. On the caller's machine the caller has them written to the disk.
    """

    # In the worker's own process: a new one would take longer to start than many rows take to make.
    def make(place: str | Path, durable: bool) -> None:
        _native.make_shards(recipe, split, shards, place, limit=limit, seed=seed, durable=durable)

    if sign is None:
        make(out, durable=True)
        return None
    if sees(out, sign):
        # Every attempt has a folder of its own: the one before may still be writing.
        name = f"part-{secrets.token_hex(8)}"
        make(Path(out, name), durable=caller is None or caller != machine())
        return name
    with tempfile.TemporaryDirectory() as work:
        part = Path(work, "part")
        make(part, durable=False)
        return files_in(part)


def generate(
    out: str | PathLike[str],
    *,
    recipe: Recipe | None = None,
    splits: Sequence[str] | None = None,
    limit: int | None = None,
    seed: int = 1,
    shard_rows: int | None = None,
    rows_per_task: int = 10_000,
    cpus_per_task: float = 1,
    progress: Progress | None = None,
) -> Path | str:
    """Makes a dataset as ``magnetar generate`` does, to the byte, in a folder of the caller's machine or in an object store.

    ``limit`` counts samples (sets, in the fusion split) of each split, ``shard_rows`` rows of a Parquet file. Into a store,
    and into a folder that they see (a shared path, or on the caller's machine), the nodes write themselves. In a store the
    same call finishes what was stopped.
    """
    recipe = recipe or Recipe("paper")
    if rows_per_task < 1:
        raise InputError(f"rows_per_task {rows_per_task}: expected at least 1")
    out = place(out)
    if isinstance(out, str):
        with tempfile.TemporaryDirectory() as scratch:
            calls = _tasks(Path(scratch), recipe, splits, limit, seed, shard_rows, rows_per_task, in_store=True)
        for _ in each(_make_shards, [(*call, out, None, None) for call in calls], cpus_per_task, progress):
            pass
        _native.audit_card(out)
        return out
    if out.exists():
        raise InputError(f"{out} is there already; give another name, or remove it")
    with folder_beside(out.absolute()) as work, ThreadPoolExecutor(WRITERS) as writers:
        calls = _tasks(work, recipe, splits, limit, seed, shard_rows, rows_per_task, in_store=False)
        sign = secrets.token_hex(16)
        Path(work, SIGN).write_text(sign, encoding="utf-8")
        here: list[Path] = []
        sent: list[Path] = []
        written: list[Future[None]] = []
        calls = [(*call, fspath(work), sign, machine()) for call in calls]
        for number, made in each(_make_shards, calls, cpus_per_task, progress):
            if isinstance(made, str):
                here.append(work / made)
                written.append(writers.submit(make_durable, here[-1]))
            else:
                sent.append(work / f"sent-{number}")
                write_files(sent[-1], made)
        for one in written:
            one.result()
        _native.gather_parts(work / "whole", copied=sent, moved=here)
        (work / "whole").rename(out)
    return out


def _tasks(
    work: Path,
    recipe: Recipe,
    splits: Sequence[str] | None,
    limit: int | None,
    seed: int,
    shard_rows: int | None,
    rows_per_task: int,
    *,
    in_store: bool,
) -> list[tuple[Any, ...]]:
    """What each task of ``generate`` makes: recipe, split, shards, limit and seed; after the checks of the command line."""
    file = work / "recipe.toml"
    file.write_text(recipe.to_toml(), encoding="utf-8")
    if Recipe(fspath(file)).hash != recipe.hash:
        raise RecipeError(f"recipe {recipe.name} names files; save it as a file and load it on every node")
    flags = ["--recipe", file, "--seed", seed, "--out", work / "plan"]
    flags += [] if limit is None else ["--limit", limit]
    flags += [] if shard_rows is None else ["--shard-size", shard_rows]
    flags += ["--ignore-free-space"] if in_store else []
    loaded = Recipe(fspath(file), None if shard_rows is None else {"store.shard_rows": shard_rows})
    tasks: list[tuple[Any, ...]] = []
    for split in recipe.splits if splits is None else splits:
        plan = json.loads(command("generate", "--split", split, *flags, "--dry-run", "--json"))
        shards, rows = plan["shards"], plan["rows_to_make"]
        step = max(1, rows_per_task * shards // max(rows, 1))
        slices = [(start, min(start + step, shards)) for start in range(0, shards, step)]
        tasks += [(loaded, split, slice_, limit, seed) for slice_ in slices]
    return tasks


def _measure_points(name: str, text: str | None, points: tuple[int, int], flags: list[str], store: str | None) -> Files:
    """A task: the results of some points of a sweep; nothing, if they go to a store."""
    with tempfile.TemporaryDirectory() as work:
        out = Path(work, "part")
        # A file where it is, if this node sees it: what it names stands beside it.
        if text is not None and not Path(name).is_file():
            name = fspath(Path(work, "sweep.toml"))
            Path(name).write_text(text, encoding="utf-8")
        which = ["--points", f"{points[0]}..{points[1]}", "--threads", 1]
        command("sweep", name, *which, *flags, "--out", store or out)
        return {} if store else {path: data for path, data in files_in(out).items() if path.startswith("points/")}


def sweep(
    sweep: str | PathLike[str],
    out: str | PathLike[str],
    *,
    flags: Sequence[str] = (),
    points_per_task: int = 1,
    cpus_per_task: float = 1,
    progress: Progress | None = None,
) -> Path | str:
    """Runs a sweep as ``magnetar sweep`` does, into a folder of the caller's machine, its points shared among the nodes.

    ``sweep`` is a shipped sweep's name or a file; recipe files it names have to be on a path that every node sees.
    ``flags`` are those of the command line that say what scores (``--scorer`` and its kind). Points that the folder holds
    are kept: a stopped sweep goes on. Where ``out`` is an address in an object store, the nodes write there themselves.
    """
    if points_per_task < 1:
        raise InputError(f"points_per_task {points_per_task}: expected at least 1")
    out, file = place(out), Path(sweep)
    store = out if isinstance(out, str) else None
    name = fspath(file.resolve()) if file.is_file() else fspath(sweep)
    text = file.read_text(encoding="utf-8") if file.is_file() else None
    plan = json.loads(command("sweep", name, *flags, "--dry-run", "--json"))
    count = len(plan["points"])
    calls = [
        (name, text, (start, min(start + points_per_task, count)), list(flags), store)
        for start in range(0, count, points_per_task)
        if not _measured(out, plan["points"][start : start + points_per_task])
    ]
    for _, files in each(_measure_points, calls, cpus_per_task, progress):
        if isinstance(out, Path):
            write_files(out, files)
    # Finds all points there and makes the table; what a node measured otherwise than asked is measured again.
    command("sweep", name, *flags, "--out", out)
    return out


def _measured(out: Path | str, points: list[dict[str, Any]]) -> bool:
    """Whether a folder holds points. In a store the tasks find out."""
    return isinstance(out, Path) and all((out / point["result"]).is_file() for point in points)


def _slices(data: Dataset | Recipe, split: str, limit: int | None, rows_per_task: int) -> list[tuple[int, int]]:
    """Start and length of the slices of a split."""
    if rows_per_task < 1:
        raise InputError(f"rows_per_task {rows_per_task}: expected at least 1")
    if split not in data.splits:
        raise InputError(f"no split {split}; there are {', '.join(data.splits)}")
    rows = data.splits[split] if limit is None else min(limit, data.splits[split])
    return [(start, min(rows_per_task, rows - start)) for start in range(0, rows, rows_per_task)]


def _rows(data: Dataset | Recipe, split: str, start: int, count: int, seed: int, csi: bool) -> Rows:
    if isinstance(data, Recipe):
        return data.sample(split, start, count, seed)
    return data.rows(split, start, count, csi)


def _score(
    data: Dataset | Recipe,
    split: str,
    place: tuple[int, int],
    seed: int,
    scorers: Sequence[str],
    parameters: str | None,
    size: Size,
) -> dict[str, Any]:
    """A task: what scorers reach on every row of a slice."""
    _native.set_threads(1)
    recipe = data if isinstance(data, Recipe) else data.recipe
    opened = [Scorer(name, recipe, parameters) for name in scorers]
    return _native.score_rows(_rows(data, split, *place, seed, False), opened, size)


def evaluate(
    data: Dataset | Recipe,
    scorers: Sequence[str] = ("twin", "uniform"),
    *,
    split: str = "test",
    limit: int | None = None,
    seed: int = 1,
    parameters: str | None = None,
    size: Size = EVALUATION,
    rows_per_task: int = 512,
    cpus_per_task: float = 1,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """What ``magnetar.evaluate`` gives, of a dataset that every node sees, or of rows of a recipe, drawn on the fly.

    Scorers are given by name, as each node makes its own; models and parameters are files that every node sees.
    """
    slices = _slices(data, split, limit, rows_per_task)
    recipe = data if isinstance(data, Recipe) else data.recipe
    opened = [Scorer(name, recipe, parameters) for name in scorers]
    calls = [(data, split, place, seed, list(scorers), parameters, size) for place in slices]
    parts: list[dict[str, Any]] = [{}] * len(calls)
    for number, part in each(_score, calls, cpus_per_task, progress):
        parts[number] = part
    if not parts:
        raise InputError("no row to score; give a larger limit, or another split")
    values = np.concatenate([part["values"] for part in parts])
    board, groups = ([one for part in parts for one in part[key]] for key in ("board", "groups"))
    return _native.evaluation_of(opened, values, board, groups)


def _audit(folder: str, limit: int) -> dict[str, Any]:
    """A task: the audit of one dataset."""
    found: dict[str, Any] = json.loads(command("audit", folder, "--limit", limit, "--json"))
    return found


def audit(
    folders: Sequence[str | PathLike[str]],
    *,
    limit: int = 4000,
    cpus_per_task: float = 1,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """What ``magnetar audit --json`` prints of each of several datasets that every node sees, one task per dataset."""
    calls = [(fspath(folder), limit) for folder in folders]
    found: list[dict[str, Any]] = [{}] * len(calls)
    for number, one in each(_audit, calls, cpus_per_task, progress):
        found[number] = one
    return found


class RowSource(Datasource):
    """Rows for Ray Data: of a dataset that every node sees, or of a recipe, drawn on the fly. Blocks are Arrow tables."""

    def __init__(
        self,
        data: Dataset | Recipe,
        split: str = "train",
        *,
        limit: int | None = None,
        seed: int = 1,
        rows_per_task: int = 1000,
        csi: bool = True,
    ) -> None:
        super().__init__()
        self.data, self.split, self.seed, self.csi = data, split, seed, csi
        self.slices = _slices(data, split, limit, rows_per_task)

    def get_name(self) -> str:
        """Its name in Ray's tables."""
        return "magnetar"

    def estimate_inmemory_data_size(self) -> int:
        """Bytes of all rows, about."""
        return sum(count for _, count in self.slices) * self._row_bytes()

    def _row_bytes(self) -> int:
        return 10_000 if self.csi else 2_000

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None
    ) -> list[ReadTask]:
        """A task per slice."""
        tasks = []
        for start, count in self.slices:
            count = count if per_task_row_limit is None else min(count, per_task_row_limit)
            about = BlockMetadata(num_rows=count, size_bytes=count * self._row_bytes(), exec_stats=None)
            read = _Read(self.data, self.split, start, count, self.seed, self.csi)
            tasks.append(ReadTask(read, about, per_task_row_limit=per_task_row_limit))
        return tasks


class _Read:
    """Reads one slice."""

    def __init__(self, data: Dataset | Recipe, split: str, start: int, count: int, seed: int, csi: bool) -> None:
        self.place = (data, split, start, count, seed, csi)

    def __call__(self) -> list[Any]:
        import pyarrow

        _native.set_threads(1)
        table = pyarrow.table(_rows(*self.place))
        return [table if self.place[-1] or "csi" not in table.column_names else table.drop_columns(["csi"])]


def read(data: Dataset | Recipe, split: str = "train", **options: Any) -> Any:
    """A ``ray.data.Dataset`` of rows; takes the arguments of ``RowSource``. Feeds Ray Train by ``iter_batches``."""
    return ray.data.read_datasource(RowSource(data, split, **options))
