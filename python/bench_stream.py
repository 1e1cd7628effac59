"""What an exposure of a training stream costs: CPU time and rate, and the part of it that is the row itself.

    python bench_stream.py        # after pip install ./python/magnetar
"""

import time

import magnetar
from magnetar.streams import ExposureStream

BATCH, BATCHES = 64, 60


def timed(work, count):
    """CPU microseconds each, and how many per second of the clock."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return 1e6 * (time.process_time() - cpu) / count, count / (time.perf_counter() - wall)


def main():
    """Times exposures on 33 x 33 cells, factored, and rows alone."""
    recipe = magnetar.Recipe("paper")
    stream = ExposureStream(recipe, batch_size=BATCH)
    next(stream)
    cpu, rate = timed(lambda: [next(stream) for _ in range(BATCHES)], BATCH * BATCHES)
    rows, _ = timed(lambda: recipe.sample("train", 0, BATCH * BATCHES), BATCH * BATCHES)
    cores = magnetar.threads()
    print(f"{cpu:.0f} us of CPU per exposure, {rows:.0f} of them for the row: {1e6 * cores / cpu:.0f} per second on {cores} cores")
    print(f"{rate:.0f} per second of the clock, as busy as the machine is now")


if __name__ == "__main__":
    main()
