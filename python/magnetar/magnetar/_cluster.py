"""Tasks on the nodes of a Ray cluster, and how what they make comes to the caller."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import numpy as np
import numpy.typing as npt
import ray

from magnetar.errors import MagnetarError

RETRIES = 20
"""How often a task is tried again on another node."""

PATIENCE = 10.0
"""Seconds that are waited for tasks that were told to stop, and for a folder to be given up by whoever writes there."""

SIGN = "sign"
"""A file in a folder of the caller's, by whose text a node knows that it sees that folder."""

Progress = Callable[[int, int], None]
"""Called with the number of tasks done and of all tasks."""

Files = dict[str, npt.NDArray[np.uint8]]
"""Files of a folder by their path within it; arrays, which Ray hands on without another copy."""


def command(*arguments: object) -> str:
    """Runs the command line in a process of its own; gives what it prints."""
    words = [sys.executable, "-m", "magnetar", *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MagnetarError(done.stderr.strip().removeprefix("error: ") or f"magnetar ended with {done.returncode}")
    return done.stdout


def files_in(folder: Path) -> Files:
    """What a folder holds, which may be removed afterwards."""
    return {path.relative_to(folder).as_posix(): _content(path) for path in folder.rglob("*") if path.is_file()}


def _content(path: Path) -> npt.NDArray[np.uint8]:
    # Ray copies the pages of a mapped file, which stay when its name is gone; not so on Windows.
    mapped = os.name != "nt" and path.stat().st_size > 0
    return np.asarray(np.memmap(path, np.uint8, "r")) if mapped else np.fromfile(path, np.uint8)


def write_files(folder: Path, files: Files) -> None:
    """Writes files into a folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.data)


def each(
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
    try:
        while waiting or running:
            while waiting and len(running) < most:
                number = waiting.pop()
                running[task.remote(*calls[number])] = number
            (ready,), _ = ray.wait(list(running), num_returns=1)
            number = running.pop(ready)
            try:
                result = ray.get(ready)
            except ray.exceptions.RayTaskError as error:
                # The error of the work itself, as it would be here.
                raise error.cause or error from None
            yield number, result
            done += 1
            if progress is not None:
                progress(done, len(calls))
    finally:
        # After an error, or Ctrl-C, nobody wants the rest.
        for left in running:
            ray.cancel(left)
        if running:
            ray.wait(list(running), num_returns=len(running), timeout=PATIENCE)


def place(out: str | PathLike[str]) -> str | Path:
    """The address of something in an object store, where every node writes, or a path of this machine."""
    text = fspath(out)
    if text.startswith(("s3://", "gs://", "az://")):
        return text
    return Path(url2pathname(urlsplit(text).path) if text.startswith("file://") else text)


@contextlib.contextmanager
def folder_beside(out: Path) -> Iterator[Path]:
    """A folder for what is not whole yet, on the file system of ``out``; gone in the end."""
    out.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        yield work
    finally:
        # A node that counts as lost may go on writing for a moment.
        until = time.monotonic() + PATIENCE
        while work.exists() and time.monotonic() < until:
            shutil.rmtree(work, ignore_errors=True)
            if work.exists():
                time.sleep(0.1)


def sees(folder: str, sign: str) -> bool:
    """Whether this node sees a folder of the caller's, and not one of its own with the same name, and may write there."""
    try:
        return Path(folder, SIGN).read_text(encoding="utf-8") == sign and os.access(folder, os.W_OK)
    except OSError:
        return False


def machine() -> str | None:
    """What tells this machine from others, as long as it runs: processes on the same one see what others wrote at once, and
    any of them can have it written to the disk."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    except OSError:
        return None


def make_durable(folder: Path) -> None:
    """Has the Parquet files of a folder written to the disk."""
    for path in folder.rglob("*.parquet"):
        with path.open("rb+") as file:
            os.fsync(file)
