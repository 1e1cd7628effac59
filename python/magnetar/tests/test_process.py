"""The package as a guest in a Python process: threads, signals, forks, memory, the command line inside."""

import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading
import time

import magnetar
import numpy as np
import pytest
from magnetar import _native


def interrupted_after(seconds, call):
    """How long a call takes that Ctrl-C interrupts after a while."""
    # A shell's background job starts with Ctrl-C ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    started = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        call()
    return time.monotonic() - started


def test_ctrl_c_interrupts_long_calls():
    recipe = magnetar.Recipe()
    rows = recipe.sample("test", 0, 1000)
    twin = magnetar.Scorer("twin", recipe)
    assert interrupted_after(0.3, lambda: recipe.sample("train", 0, 80_000)) < 5
    assert interrupted_after(0.3, lambda: twin.score(rows)) < 20
    tx = np.random.default_rng(1).uniform([-1, -5, 0.5], [4, 2.5, 2.5], (400_000, 3))
    assert interrupted_after(0.3, lambda: magnetar.trace("lab", tx, (1, -1), max_order=3)) < 5
    assert interrupted_after(0.3, lambda: magnetar.evaluate(rows, twin)) < 20
    blocks = np.repeat(magnetar.observe("lab", (0.98, 2.28), (1, -1), seed=1)[0], 30_000, axis=0)
    assert interrupted_after(0.2, lambda: magnetar.estimate(blocks)) < 5
    source = _native.ExposureSource(recipe, "train", 1, 1)
    assert interrupted_after(0.3, lambda: source.exposures(range(60_000), (2, 3, 3))) < 5
    # And the next call works.
    assert len(recipe.sample("train", 0, 10)) == 10


def test_other_threads_run_meanwhile():
    ticks = 0
    stop = threading.Event()

    def tick():
        nonlocal ticks
        while not stop.wait(0.001):
            ticks += 1

    thread = threading.Thread(target=tick)
    thread.start()
    magnetar.Recipe().sample("train", 0, 4000)
    stop.set()
    thread.join()
    assert ticks > 20


def sample_sum(start):
    return float(magnetar.Recipe().sample("train", start, 8).numpy("tx.x").sum())


def test_a_forked_child_has_threads_of_its_own():
    before = [sample_sum(start) for start in (0, 8)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(sample_sum, (0, 8)) == before


def test_results_do_not_depend_on_the_number_of_threads():
    found = []
    for threads in (1, 3, 0):
        magnetar.set_threads(threads)
        found.append(magnetar.Recipe().sample("train", 0, 50).numpy("csi"))
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()
    assert magnetar.threads() == os.cpu_count()


def test_nothing_leaks_in_many_calls():
    recipe = magnetar.Recipe()
    scene = magnetar.Scene("lab_middle")
    rows = recipe.sample("train", 0, 1)

    pattern = magnetar.Pattern("synthetic_vivaldi")
    support = magnetar.Support([0, 4, 0, 3, 0, 3])
    uniform = magnetar.Scorer("uniform")
    source = _native.ExposureSource(recipe, "train", 1, 1)

    def calls(count):
        for n in range(count):
            rows.numpy("csi")
            rows.__arrow_c_stream__()
            rows.take([0, 0])
            support.mask((1, 1))
            pattern.gain_db([0.1, 0.2], [0.3, 0.4])
            if n % 20 == 0:
                magnetar.trace(scene, (0.98, 2.28), (1.0, -1.0))
                with pytest.raises(magnetar.InputError):
                    magnetar.trace(scene, (np.nan, 0), (1, 1))
            if n % 200 == 0:
                recipe.sample("train", n, 4)
                magnetar.estimate(magnetar.observe(scene, (0.98, 2.28), (1, -1), tx_pattern=pattern))
                magnetar.evaluate(rows, uniform, size=(2, 3, 3))
                magnetar.features(rows, (2, 3, 3))
                source.exposures([n], (2, 3, 3))

    calls(1_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    calls(20_000)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    # Over 100,000 calls: 100 bytes each would show.
    assert grown < 8_000, f"{grown} kB more after 20,000 rounds"


def test_the_command_line_is_inside(command_line, tmp_path):
    shown = command_line("version").stdout
    assert magnetar.__version__ in shown
    script = os.path.join(os.path.dirname(sys.executable), "magnetar")
    done = subprocess.run([script, "version"], capture_output=True, text=True, check=True)
    assert done.stdout == shown
    done = command_line("generate", "--no-such-flag", code=2)
    assert "--no-such-flag" in done.stderr
    done = subprocess.run([script, "trace", "--help"], capture_output=True, text=True, check=True)
    assert "Examples:" in done.stdout


def test_the_command_line_dies_of_ctrl_c(tmp_path):
    script = [sys.executable, "-m", "magnetar", "generate", "--out", str(tmp_path / "d")]
    running = subprocess.Popen(script, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    # By the signal itself, or as the command line leaves after telling how to go on.
    assert running.wait(20) in (-signal.SIGINT, 128 + signal.SIGINT)
