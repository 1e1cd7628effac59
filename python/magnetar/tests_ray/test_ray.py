"""A real Ray cluster of three nodes; nodes are lost on the way, and results stay those of one process."""

import filecmp
import json
import subprocess
import sys
from pathlib import Path

import magnetar
import magnetar.ray
import numpy as np
import pytest
import ray
from ray.cluster_utils import Cluster

STORE = 100 << 20


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
def nodes():
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


def test_generate_survives_the_loss_of_a_node(nodes, alone, tmp_path):
    out = tmp_path / "data"
    nodes.fill()
    lost = nodes.lost
    options = {"splits": ["train", "val", "fusion"], "limit": 120, "seed": 5, "shard_rows": 60, "rows_per_task": 120}
    magnetar.ray.generate(out, **options, progress=nodes.lose_one_after(2))
    assert nodes.lost == lost + 1
    same_files(alone, out)
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


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


def test_a_sweep_is_that_of_one_process(nodes, tmp_path):
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
