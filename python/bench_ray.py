"""What a Ray task costs beyond its rows: `magnetar.ray.generate` in tasks of 10,000 rows on a cluster of one processor, and
`magnetar generate` on one thread, in turns.

    pip install 'magnetar[ray]'
    python python/bench_ray.py [TASKS] [TURNS]

The speed of a shared machine changes by more from second to second than a task costs. So the cost is taken from one and the same
run: the time from a task's first shard to the next task's first shard, against ten times the time from one shard to the next
within tasks. Times are those at which the shards' files were written, by the task itself, as it sees the caller's folder.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
# Like the one process: otherwise whatever else runs on the machine goes before Ray's workers.
os.environ["RAY_worker_niceness"] = "0"

import magnetar
import magnetar.ray
import ray

ROWS = 10_000
SHARDS = 10
"""Of a task: recipe `paper` has 1,000 rows in a shard."""


def alone(rows, out):
    """One process on one thread."""
    flags = ["--split", "train", "--limit", str(rows), "--threads", "1", "--out", str(out)]
    subprocess.run([sys.executable, "-m", "magnetar", "--quiet", "generate", *flags], check=True, stdout=subprocess.DEVNULL)


def by_tasks(rows, out):
    """Tasks, one at a time."""
    magnetar.ray.generate(out, splits=["train"], limit=rows, rows_per_task=ROWS)


def times(make, rows, folder):
    """Seconds from shard to shard within tasks, mean; and from task to task, mean."""
    out = Path(folder, "data")
    make(rows, out)
    written = [path.stat().st_mtime_ns / 1e9 for path in sorted(out.glob("train/*.parquet"))]
    shutil.rmtree(out)
    within = [later - first for n, (first, later) in enumerate(pairwise(written), 1) if n % SHARDS]
    first = written[::SHARDS]
    return statistics.fmean(within), (first[-1] - first[0]) / (len(first) - 1)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    arguments.add_argument("tasks", type=int, nargs="?", default=8)
    arguments.add_argument("turns", type=int, nargs="?", default=9)
    given = arguments.parse_args()
    if not 2 * ROWS <= given.tasks * ROWS <= magnetar.Recipe("paper").splits["train"]:
        arguments.error("from 2 tasks to as many as split train has rows for")
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=1 << 30)
    shard, task, process = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        # The worker starts and loads the package once.
        by_tasks(ROWS, Path(folder, "first"))
        for _ in range(given.turns):
            process.append(times(alone, given.tasks * ROWS, folder)[1])
            within, period = times(by_tasks, given.tasks * ROWS, folder)
            shard.append(SHARDS * within)
            task.append(period)
            ours, rest = period - shard[-1], 100 * (period / shard[-1] - 1)
            print(f"{ROWS} rows within a task {shard[-1]:.3f} s, a task {period:.3f} s: {1e3 * ours:.0f} ms or {rest:.1f} % more", end="; ")
            print(f"in one process {process[-1]:.3f} s", flush=True)
    ray.shutdown()
    more = [100 * (period / own - 1) for period, own in zip(task, shard, strict=True)]
    print(f"{given.turns} turns of {given.tasks} tasks: a task takes {statistics.median(more):.1f} % longer than its rows (median)", end="; ")
    print(f"medians of all: {statistics.median(task):.3f} s a task, {statistics.median(process):.3f} s in one process")


if __name__ == "__main__":
    main()
