"""Rows per second into a store on loopback and onto the disk, in turns.

    cargo build --release --features full
    python3 tests/stores/throughput.py target/release/magnetar [ROWS] [TURNS]

The store runs on the same processors as the program and does next to nothing with what it is given (light_store.py): what is
measured is the program's own way into a store.
"""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

program = os.path.abspath(sys.argv[1])
rows = sys.argv[2] if len(sys.argv) > 2 else "20000"
turns = int(sys.argv[3]) if len(sys.argv) > 3 else 5
with socket.socket() as found:
    found.bind(("127.0.0.1", 0))
    port = found.getsockname()[1]
address = f"http://127.0.0.1:{port}"
keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1", "AWS_ENDPOINT_URL": address}
work = pathlib.Path(tempfile.mkdtemp())


def rate(out):
    command = [program, "--quiet", "generate", "--split", "train", "--limit", rows, "--out", str(out), "--json"]
    printed = subprocess.run(command, env=os.environ | keys, check=True, stdout=subprocess.PIPE, cwd=work).stdout
    return json.loads(printed)["rows_per_second"]


def one_turn():
    """Rates onto the disk and into a store that is empty."""
    disk = rate(work / "disk")
    shutil.rmtree(work / "disk")
    store = subprocess.Popen([sys.executable, pathlib.Path(__file__).with_name("light_store.py"), str(port)])
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        return disk, rate("s3://bench/data")
    finally:
        store.kill()
        store.wait()


try:
    pairs = [one_turn() for _ in range(turns)]
    disk, store = (statistics.median(rates) for rates in zip(*pairs))
    share = statistics.median(store / disk for disk, store in pairs)
    shares = ", ".join(f"{store / disk:.2f}" for disk, store in pairs)
    print(f"{rows} rows, {turns} turns: {disk:.0f} rows/s onto the disk, {store:.0f} rows/s into the store")
    print(f"share {share:.2f}, the median of {shares}")
finally:
    shutil.rmtree(work)
