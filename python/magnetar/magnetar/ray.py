"""The long jobs over a Ray cluster: generate, sweep, evaluate, audit, and rows for Ray Data.

``pip install magnetar[ray]``, and ``ray.init(...)`` before. A task is a slice of rows and a pure function
of it: a node that is lost costs a retry, and results are those of one process, byte for byte and number for number. What tasks
make comes back through Ray; only stored datasets that are read have to be on a path that every node sees.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import ray
from ray.data import Datasource, ReadTask
from ray.data.block import BlockMetadata

from magnetar import _native
from magnetar._native import Dataset, Recipe, Rows, Scorer
from magnetar.errors import InputError, MagnetarError, RecipeError
from magnetar.inference import EVALUATION, Size

__all__ = ["RowSource", "audit", "evaluate", "generate", "read", "sweep"]

RETRIES = 20
"""How often a task is tried again on another node."""

Progress = Callable[[int, int], None]
"""Called with the number of tasks done and of all tasks."""

Files = dict[str, bytes]
"""Files of a folder by their path within it."""


def _command(*arguments: object) -> str:
    """Runs the command line in a process of its own; gives what it prints."""
    command = [sys.executable, "-m", "magnetar", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MagnetarError(done.stderr.strip().removeprefix("error: ") or f"magnetar ended with {done.returncode}")
    return done.stdout


def _files(folder: Path) -> Files:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _write(folder: Path, files: Files) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _each(
    work: Callable[..., Any],
    calls: Sequence[tuple[Any, ...]],
    cpus: float,
    progress: Progress | None,
) -> Iterator[tuple[int, Any]]:
    """Runs work on all calls; gives numbers and results as they are done, a few of them in memory at a time."""
    task = ray.remote(work).options(num_cpus=cpus, max_retries=RETRIES)
    # Twice as many as can run: nobody waits, and finished results do not pile up.
    most = max(4, 2 * int(ray.cluster_resources().get("CPU", 1) / cpus))
    waiting, done = list(range(len(calls)))[::-1], 0
    running: dict[Any, int] = {}
    while waiting or running:
        while waiting and len(running) < most:
            number = waiting.pop()
            running[task.remote(*calls[number])] = number
        (ready,), _ = ray.wait(list(running), num_returns=1)
        try:
            result = ray.get(ready)
        except ray.exceptions.RayTaskError as error:
            # The error of the work itself, as it would be here.
            raise error.cause or error from None
        yield running.pop(ready), result
        done += 1
        if progress is not None:
            progress(done, len(calls))


def _make_shards(recipe: str, split: str, shards: tuple[int, int], flags: list[str]) -> Files:
    """A task: some shards of a split, and the manifest of these alone."""
    with tempfile.TemporaryDirectory() as work:
        file, out = Path(work, "recipe.toml"), Path(work, "part")
        file.write_text(recipe, encoding="utf-8")
        slice_ = ["--split", split, "--shards", f"{shards[0]}..{shards[1]}"]
        _command("generate", "--recipe", file, *slice_, *flags, "--threads", 1, "--out", out)
        return _files(out)


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
) -> Path:
    """Makes a dataset as ``magnetar generate`` does, to the byte, into a folder of the caller's machine.

    ``limit`` counts samples (sets, in the fusion split) of each split, ``shard_rows`` rows of a Parquet file.
    """
    recipe, out = recipe or Recipe("paper"), Path(out)
    if rows_per_task < 1:
        raise InputError(f"rows_per_task {rows_per_task}: expected at least 1")
    if out.exists():
        raise InputError(f"{out} is there already; give another name, or remove it")
    text = recipe.to_toml()
    flags = ["--seed", str(seed)]
    flags += [] if limit is None else ["--limit", str(limit)]
    flags += [] if shard_rows is None else ["--shard-size", str(shard_rows)]
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as work:
        file = Path(work, "recipe.toml")
        file.write_text(text, encoding="utf-8")
        if Recipe(str(file)).hash != recipe.hash:
            raise RecipeError(f"recipe {recipe.name} names files; save it as a file and load it on every node")
        calls = []
        for split in recipe.splits if splits is None else splits:
            plan = ["generate", "--recipe", file, "--split", split, *flags, "--dry-run", "--json", "--out", Path(work, "plan")]
            shards, rows = (json.loads(_command(*plan))[key] for key in ("shards", "rows_to_make"))
            step = max(1, rows_per_task * shards // max(rows, 1))
            calls += [(text, split, (start, min(start + step, shards)), flags) for start in range(0, shards, step)]
        parts = [Path(work, f"part-{number}") for number in range(len(calls))]
        for number, files in _each(_make_shards, calls, cpus_per_task, progress):
            _write(parts[number], files)
        whole = Path(work, "whole")
        _command("merge", *parts, "--out", whole)
        whole.rename(out)
    return out


def _measure_points(name: str, text: str | None, points: tuple[int, int], flags: list[str]) -> Files:
    """A task: the results of some points of a sweep."""
    with tempfile.TemporaryDirectory() as work:
        out = Path(work, "part")
        # A file where it is, if this node sees it: what it names stands beside it.
        if text is not None and not Path(name).is_file():
            name = fspath(Path(work, "sweep.toml"))
            Path(name).write_text(text, encoding="utf-8")
        which = ["--points", f"{points[0]}..{points[1]}", "--threads", 1]
        _command("sweep", name, *which, *flags, "--out", out)
        return {path: data for path, data in _files(out).items() if path.startswith("points/")}


def sweep(
    sweep: str | PathLike[str],
    out: str | PathLike[str],
    *,
    flags: Sequence[str] = (),
    points_per_task: int = 1,
    cpus_per_task: float = 1,
    progress: Progress | None = None,
) -> Path:
    """Runs a sweep as ``magnetar sweep`` does, into a folder of the caller's machine, its points shared among the nodes.

    ``sweep`` is a shipped sweep's name or a file; recipe files it names have to be on a path that every node sees.
    ``flags`` are those of the command line that say what scores (``--scorer`` and its kind). Points that the folder holds
    are kept: a stopped sweep goes on.
    """
    if points_per_task < 1:
        raise InputError(f"points_per_task {points_per_task}: expected at least 1")
    out, file = Path(out), Path(sweep)
    name = fspath(file.resolve()) if file.is_file() else fspath(sweep)
    text = file.read_text(encoding="utf-8") if file.is_file() else None
    plan = json.loads(_command("sweep", name, *flags, "--dry-run", "--json"))
    count = len(plan["points"])
    calls = [
        (name, text, (start, min(start + points_per_task, count)), list(flags))
        for start in range(0, count, points_per_task)
        if not _measured(out, plan["points"][start : start + points_per_task])
    ]
    for _, files in _each(_measure_points, calls, cpus_per_task, progress):
        _write(out, files)
    # Finds all points there and makes the table; what a node measured otherwise than asked is measured again.
    _command("sweep", name, *flags, "--out", out)
    return out


def _measured(out: Path, points: list[dict[str, Any]]) -> bool:
    return all((out / point["result"]).is_file() for point in points)


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
    for number, part in _each(_score, calls, cpus_per_task, progress):
        parts[number] = part
    if not parts:
        raise InputError("no row to score; give a larger limit, or another split")
    values = np.concatenate([part["values"] for part in parts])
    board, groups = ([one for part in parts for one in part[key]] for key in ("board", "groups"))
    return _native.evaluation_of(opened, values, board, groups)


def _audit(folder: str, limit: int) -> dict[str, Any]:
    """A task: the audit of one dataset."""
    found: dict[str, Any] = json.loads(_command("audit", folder, "--limit", limit, "--json"))
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
    for number, one in _each(_audit, calls, cpus_per_task, progress):
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
