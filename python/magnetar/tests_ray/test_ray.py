"""A real Ray cluster of three nodes; nodes are lost on the way, and results stay those of one process."""

import contextlib
import filecmp
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import boto3
import magnetar
import magnetar.ray
import numpy as np
import pytest
import ray
from ray.cluster_utils import Cluster

STORE = 100 << 20
ROOT = Path(os.environ.get("MAGNETAR_ROOT", Path(__file__).parents[3]))


def command(*arguments):
    done = subprocess.run([sys.executable, "-m", "magnetar", *map(str, arguments)], capture_output=True, text=True, check=True)
    return done.stdout


def same_files(first, second):
    """Whether two folders hold the same files, to the byte."""
    names = [sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file()) for folder in (first, second)]
    assert names[0] == names[1]
    assert names[0]
    _, differing, missing = filecmp.cmpfiles(first, second, list(map(str, names[0])), shallow=False)
    assert not differing and not missing


class Nodes:
    """A cluster of three nodes, two of which can be lost."""

    def __init__(self):
        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": STORE})
        self.others = []
        self.lost = 0
        self.fill()
        ray.init(address=self.cluster.address, log_to_driver=False)

    def fill(self):
        while len(self.others) < 2:
            self.others.append(self.cluster.add_node(num_cpus=1, object_store_memory=STORE))

    def lose_one_after(self, tasks):
        """A progress function that kills a node, not gently, once so many tasks are done."""

        def progress(done, of):
            if done == tasks:
                assert done < of, "nothing is left to do"
                self.cluster.remove_node(self.others.pop(), allow_graceful=False)
                self.lost += 1

        return progress


@pytest.fixture(scope="module")
def bucket():
    """A bucket of an S3 server on loopback, known to all processes that are started from here on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    server = subprocess.Popen([sys.executable, ROOT / "tests/stores/server.py", str(port)], stderr=subprocess.DEVNULL)
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            break
        assert server.poll() is None, "the store does not start"
        time.sleep(0.1)
    keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (keys | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}).items():
            patch.setenv(name, value)
        bucket = boto3.resource("s3").Bucket("lab")
        bucket.create()
        yield bucket
    server.kill()
    server.wait()


def same_objects(bucket, prefix, folder):
    """Whether a store holds the files of a folder, to the byte, and nothing else."""
    found = {one.key.removeprefix(prefix + "/"): one.get()["Body"].read() for one in bucket.objects.filter(Prefix=prefix + "/")}
    expected = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert sorted(found) == sorted(expected)
    assert [name for name in expected if found[name] != expected[name]] == []


@pytest.fixture(scope="module")
def nodes(bucket):
    made = Nodes()
    yield made
    ray.shutdown()
    made.cluster.shutdown()


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A dataset that one process made."""
    folder = tmp_path_factory.mktemp("alone") / "data"
    command("generate", "--seed", 5, "--split", "train,val,fusion", "--limit", 120, "--shard-size", 60, "--out", folder)
    return folder


# What makes the rows of `alone`.
ROWS = {"splits": ["train", "val", "fusion"], "limit": 120, "seed": 5, "shard_rows": 60, "rows_per_task": 120}


@pytest.mark.parametrize("seen", [True, False])
def test_generate_survives_the_loss_of_a_node(nodes, alone, tmp_path, monkeypatch, seen):
    out = tmp_path / "data"
    nodes.fill()
    lost = nodes.lost
    if not seen:
        # Nodes look for another name: they do not know the folder again, as if it were on another machine.
        monkeypatch.setattr(magnetar.ray, "SIGN", "elsewhere")
    magnetar.ray.generate(out, **ROWS, progress=nodes.lose_one_after(2))
    assert nodes.lost == lost + 1
    same_files(alone, out)
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_nodes_write_where_they_see_the_folder_and_send_where_they_do_not(nodes, tmp_path, monkeypatch):
    came = []
    gather = magnetar._native.gather_parts
    monkeypatch.setattr(magnetar._native, "gather_parts", lambda out, **of: [came.append(of), gather(out, **of)])
    magnetar.ray.generate(tmp_path / "seen", splits=["val"], limit=2)
    magnetar.ray.generate(f"file://{tmp_path}/url", splits=["val"], limit=2)
    monkeypatch.setattr(magnetar.ray, "SIGN", "elsewhere")
    magnetar.ray.generate(tmp_path / "sent", splits=["val"], limit=2)
    assert [(len(of["copied"]), len(of["moved"])) for of in came] == [(0, 1), (0, 1), (1, 0)]
    same_files(tmp_path / "seen", tmp_path / "sent")
    same_files(tmp_path / "seen", tmp_path / "url")


def test_generate_into_a_store_survives_the_loss_of_a_node(nodes, bucket, alone):
    nodes.fill()
    lost = nodes.lost
    assert magnetar.ray.generate("s3://lab/data", **ROWS, progress=nodes.lose_one_after(2)) == "s3://lab/data"
    assert nodes.lost == lost + 1
    same_objects(bucket, "data", alone)
    # What is missing is made by the same call; what is there may be read from there.
    bucket.Object("data/val/part-00001.parquet").delete()
    magnetar.ray.generate("s3://lab/data", **ROWS)
    same_objects(bucket, "data", alone)
    local, stored = (magnetar.ray.evaluate(magnetar.Dataset(of), split="val", limit=20) for of in (alone, "s3://lab/data"))
    assert local == stored
    with pytest.raises(magnetar.DatasetError, match="seed"):
        magnetar.ray.generate("s3://lab/data", **(ROWS | {"seed": 6}))
    same_objects(bucket, "data", alone)


def test_what_is_stopped_leaves_nothing(nodes, tmp_path):
    class Enough(Exception):
        pass

    def stop(done, of):
        raise Enough

    with pytest.raises(Enough):
        magnetar.ray.generate(tmp_path / "data", splits=["train"], limit=60_000, progress=stop)
    assert not list(tmp_path.iterdir())


def test_tasks_that_nobody_wants_are_stopped(nodes):
    def wait(turns):
        # Ray stops a task between two steps of Python.
        for _ in range(turns):
            time.sleep(0.05)

    tasks = magnetar._cluster.each(wait, [(turns,) for turns in (0, 20_000, 20_000, 20_000, 20_000)], 1, None)
    assert next(tasks) == (0, None)
    tasks.close()
    # All nodes are free for others.
    ray.get([ray.remote(wait).remote(0) for _ in range(6)], timeout=300)


def test_evaluate_survives_the_loss_of_a_node(nodes, alone):
    dataset = magnetar.Dataset(alone)
    nodes.fill()
    lost = nodes.lost
    found = magnetar.ray.evaluate(dataset, split="val", limit=80, rows_per_task=10, progress=nodes.lose_one_after(2))
    assert nodes.lost == lost + 1
    scorers = [magnetar.Scorer(name, dataset.recipe) for name in ("twin", "uniform")]
    assert found == magnetar.evaluate(dataset, scorers, split="val", limit=80)
    # The same rows, drawn where they are scored.
    drawn = magnetar.ray.evaluate(dataset.recipe, split="val", seed=5, limit=80, rows_per_task=50)
    assert drawn == found


SWEEP = """name = "snr"
split = "test"
rows = 40
posterior = "own"
[[axis]]
key = "link.reference_snr_db"
values = [30, 40, 50]
"""


def test_a_sweep_is_that_of_one_process(nodes, bucket, tmp_path):
    file, one, several = tmp_path / "snr.toml", tmp_path / "one", tmp_path / "several"
    file.write_text(SWEEP)
    command("sweep", file, "--out", one)
    magnetar.ray.sweep(file, several)
    same_files(one, several)
    # Points that are there are kept.
    done = []
    magnetar.ray.sweep(file, several, progress=lambda *at: done.append(at))
    assert done == []
    with pytest.raises(magnetar.InputError, match="points_per_task"):
        magnetar.ray.sweep(file, several, points_per_task=0)
    # Into a store, twice: the second time everything is there.
    for _ in range(2):
        assert magnetar.ray.sweep(file, "s3://lab/snr") == "s3://lab/snr"
        same_objects(bucket, "snr", one)


def test_audits_are_those_of_the_command_line(nodes, alone):
    found = magnetar.ray.audit([alone, alone], limit=100)
    assert found == [json.loads(command("audit", alone, "--limit", 100, "--json"))] * 2


def test_rows_for_ray_data(nodes, alone):
    recipe = magnetar.Recipe("paper")
    expected = recipe.sample("train", 0, 120, seed=5).numpy("csi")
    for data in (recipe, magnetar.Dataset(alone)):
        rows = magnetar.ray.read(data, "train", limit=120, seed=5, rows_per_task=50)
        assert rows.count() == 120
        index = []
        for batch in rows.iter_batches(batch_size=40, batch_format="numpy"):
            index += batch["index"].tolist()
            csi = np.stack([np.asarray(one, dtype=np.float32).reshape(-1, 2, 2) for one in batch["csi"]])
            assert (csi[..., 0] + 1j * csi[..., 1] == expected[batch["index"]]).all()
        assert sorted(index) == list(range(120))
    lean = magnetar.ray.read(recipe, "train", limit=4, csi=False)
    assert "csi" not in lean.schema().names


def test_errors_are_those_of_one_process(nodes, tmp_path):
    recipe = magnetar.Recipe()
    bad = [
        (lambda: magnetar.ray.evaluate(recipe, split="none"), magnetar.InputError),
        (lambda: magnetar.ray.evaluate(recipe, ["no_such_scorer"]), magnetar.PosteriorError),
        (lambda: magnetar.ray.evaluate(recipe, rows_per_task=0), magnetar.InputError),
        (lambda: magnetar.ray.evaluate(recipe, limit=0), magnetar.InputError),
        (lambda: magnetar.ray.read(recipe, "none"), magnetar.InputError),
        (lambda: magnetar.ray.generate(tmp_path), magnetar.InputError),
        (lambda: magnetar.ray.generate(tmp_path / "x", splits=["none"]), magnetar.MagnetarError),
        (lambda: magnetar.ray.audit([tmp_path / "none"]), magnetar.MagnetarError),
    ]
    for call, error in bad:
        with pytest.raises(error):
            call()
    assert not list(Path(tmp_path).iterdir())
