"""Rows per second into a store on loopback and onto the disk, in turns.

    python3 -m venv venv && venv/bin/pip install --requirement tests/stores/requirements.txt
    cargo build --release --features full
    venv/bin/python tests/stores/throughput.py target/release/magnetar [ROWS] [TURNS]

The store (moto) runs on the same processors as the program, and hashes and keeps what it is given: both its time and the
program's are taken from the same cores.
"""

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

import boto3

program = os.path.abspath(sys.argv[1])
rows = sys.argv[2] if len(sys.argv) > 2 else "20000"
turns = int(sys.argv[3]) if len(sys.argv) > 3 else 5
with socket.socket() as found:
    found.bind(("127.0.0.1", 0))
    port = found.getsockname()[1]
server = subprocess.Popen([sys.executable, pathlib.Path(__file__).with_name("server.py"), str(port)], stderr=subprocess.DEVNULL)
address = f"http://127.0.0.1:{port}"
keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1"}
environment = os.environ | keys | {"AWS_ENDPOINT_URL": address}
work = pathlib.Path(tempfile.mkdtemp())


def rate(out):
    command = [program, "--quiet", "generate", "--split", "train", "--limit", rows, "--out", str(out), "--json"]
    printed = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, cwd=work).stdout
    return json.loads(printed)["rows_per_second"]


try:
    client = boto3.client("s3", endpoint_url=address, aws_access_key_id="x", aws_secret_access_key="x", region_name="us-east-1")
    for attempt in range(100):
        try:
            client.create_bucket(Bucket="bench")
            break
        except Exception:
            time.sleep(0.1)
    rates = {"disk": [], "store": []}
    for turn in range(turns):
        rates["disk"].append(rate(work / "disk"))
        shutil.rmtree(work / "disk")
        rates["store"].append(rate(f"s3://bench/{turn}"))
        names = [found["Key"] for found in client.list_objects_v2(Bucket="bench").get("Contents", [])]
        for name in names:
            client.delete_object(Bucket="bench", Key=name)
    medians = {place: statistics.median(found) for place, found in rates.items()}
    shares = [store / disk for store, disk in zip(rates["store"], rates["disk"])]
    print(json.dumps({"rows": int(rows), "rows_per_second": rates, "medians": medians, "share": statistics.median(shares)}))
finally:
    server.kill()
    server.wait()
    shutil.rmtree(work)
