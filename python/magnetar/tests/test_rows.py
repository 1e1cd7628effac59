"""Recipes, rows, datasets: the bits of `magnetar generate`, through Arrow and numpy."""

import pickle
import subprocess
import sys

import magnetar
import numpy as np
import polars
import pyarrow
import pyarrow.parquet
import pytest


def test_a_sample_is_what_generate_writes(small):
    written = pyarrow.parquet.read_table(small / "train", partitioning=None)
    rows = magnetar.Recipe("paper").sample("train", start=0, count=70, seed=7)
    table = pyarrow.table(rows)
    assert table.num_rows == written.num_rows == 70
    assert table.schema.names == written.schema.names
    for name in table.schema.names:
        assert table[name].combine_chunks().equals(written[name].combine_chunks()), name


def test_rows_by_index_do_not_depend_on_the_call():
    recipe = magnetar.Recipe("paper")
    all_rows = pyarrow.table(recipe.sample("val", start=100, count=40, seed=3))
    for start, count in ((100, 1), (117, 23), (139, 1)):
        part = pyarrow.table(recipe.sample("val", start=start, count=count, seed=3))
        assert part.equals(all_rows.slice(start - 100, count).combine_chunks()) or part.to_pylist() == all_rows.slice(
            start - 100, count
        ).to_pylist()


def test_consumers_take_rows_without_a_copy():
    rows = magnetar.Recipe("paper").sample("train", count=16)
    first, second = pyarrow.table(rows), pyarrow.table(rows)

    def address(table):
        return table["tx_power_offset_db"].chunk(0).buffers()[1].address

    assert address(first) == address(second)
    assert polars.DataFrame(pyarrow.table(rows).select(["index", "los"]))["index"].to_list() == list(range(16))
    assert polars.DataFrame(magnetar.Rows.from_arrow(first, "train")).height == 16


def test_columns_as_numpy():
    rows = magnetar.Recipe("paper").sample("train", count=20, seed=7)
    table = pyarrow.table(rows)
    assert rows.numpy("index").tolist() == list(range(20))
    assert rows.numpy("room").shape == (20, 6)
    assert rows.numpy("tx.x").tolist() == [tx["x"] for tx in table["tx"].to_pylist()]
    assert rows.numpy("los").dtype == bool
    assert rows.numpy("materials.wall") == [names["wall"] for names in table["materials"].to_pylist()]
    boards = [board is not None for board in table["board"].to_pylist()]
    assert (~np.isnan(rows.numpy("board.yaw"))).tolist() == boards
    csi = rows.numpy("csi")
    assert csi.dtype == np.complex64
    assert csi.shape == (20, 512, 2)
    raw = np.array(table["csi"][3].as_py(), dtype=np.float32).reshape(512, 2, 2)
    assert (csi[3] == raw[..., 0] + 1j * raw[..., 1]).all()
    taken = rows.take([3, 3, 0])
    assert taken.numpy("index").tolist() == [3, 3, 0]
    assert (taken.numpy("csi")[0] == csi[3]).all()


def test_overrides_are_those_of_set(command_line):
    shown = command_line("recipe", "show", "--set", "link.reference_snr_db=40", "--set", "store.csi=\"f16\"", "--json", parse=True)
    recipe = magnetar.Recipe("paper", {"link.reference_snr_db": 40, "store.csi": "f16"})
    assert recipe.hash == shown["hash"]
    assert recipe.entries() == shown["values"]
    assert pickle.loads(pickle.dumps(recipe)).hash == recipe.hash
    assert magnetar.Recipe("field").hash != magnetar.Recipe("paper").hash
    said = command_line("recipe", "show", "--set", "link.no_such_key=1", code=1).stderr
    with pytest.raises(magnetar.RecipeError) as raised:
        magnetar.Recipe("paper", {"link.no_such_key": 1})
    assert said == f"error: {raised.value}\n"


def test_a_dataset_is_read_and_verified(small, command_line):
    dataset = magnetar.Dataset(small)
    assert dataset.splits == {"train": 70, "test": 70, "fusion": 30}
    assert dataset.seed == 7
    assert dataset.recipe.hash == magnetar.Recipe("paper").hash
    whole = dataset.rows("train")
    assert (whole.numpy("csi") == magnetar.Recipe("paper").sample("train", count=70, seed=7).numpy("csi")).all()
    assert dataset.rows("train", 30, 10).numpy("index").tolist() == list(range(30, 40))
    assert "csi" not in dataset.rows("train", csi=False).columns
    batches = list(dataset.batches("train", csi=False))
    assert [int(i) for rows in batches for i in rows.numpy("index")] == list(range(70))
    assert pickle.loads(pickle.dumps(dataset)).splits == dataset.splits
    found = dataset.verify(sample=5, seed=1)
    shown = command_line("verify", small, "--sample", 5, "--seed", 1, "--json", parse=True)
    assert found == shown["verification"]
    assert not found["problems"]


def test_a_damaged_dataset_is_told(small, tmp_path, command_line):
    command_line("generate", "--limit", 8, "--split", "test", "--out", tmp_path / "d")
    shard = tmp_path / "d" / "test" / "part-00000.parquet"
    dataset = magnetar.Dataset(tmp_path / "d")
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 255
    shard.write_bytes(data)
    assert dataset.verify()["problems"]
    shard.write_bytes(data[: len(data) // 2])
    with pytest.raises(magnetar.DatasetError):
        dataset.rows("test")
    shard.unlink()
    with pytest.raises(magnetar.DatasetError):
        list(dataset.batches("test"))


def read_already():
    """A stream of rows that somebody has read to its end and closed."""
    reader = pyarrow.RecordBatchReader.from_stream(magnetar.Recipe().sample("train", 0, 4))
    reader.read_all()
    reader.close()
    return reader


BAD = [
    (lambda small: magnetar.Dataset("/no/such/folder"), magnetar.DatasetError),
    (lambda small: magnetar.Dataset(small).rows("no_such_split"), magnetar.DatasetError),
    (lambda small: magnetar.Recipe("no_such_recipe"), magnetar.RecipeError),
    (lambda small: magnetar.Recipe("paper", {"sre.keep": object()}), magnetar.InputError),
    (lambda small: magnetar.Recipe("paper", {3: 3}), magnetar.InputError),
    (lambda small: magnetar.Recipe().sample("no_such_split"), magnetar.RecipeError),
    (lambda small: magnetar.Recipe().sample("train", 79_999, 2), magnetar.InputError),
    (lambda small: magnetar.Recipe().sample("train", 1 << 63, 1 << 63), magnetar.InputError),
    (lambda small: magnetar.Recipe().sample("train", -1, 1), OverflowError),
    (lambda small: magnetar.Recipe().sample("train", 0, 4).numpy("no_such_column"), magnetar.InputError),
    (lambda small: magnetar.Recipe().sample("train", 0, 4).numpy("paths"), magnetar.InputError),
    (lambda small: magnetar.Recipe().sample("train", 0, 4).take([4]), magnetar.InputError),
    (lambda small: magnetar.Rows.from_arrow(3), magnetar.InputError),
    (lambda small: magnetar.Rows.from_arrow(pyarrow.table({"a": [1]})), magnetar.DatasetError),
    (lambda small: magnetar.Recipe.from_json("{}"), magnetar.RecipeError),
    (lambda small: magnetar.Recipe("paper", {"splits.train.rows": 1 << 62}).sample("train", 0, 1 << 61), magnetar.MagnetarError),
    (lambda small: magnetar.Rows.from_arrow(read_already()), magnetar.MagnetarError),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_input_raises_a_named_exception(small, number):
    call, error = BAD[number]
    with pytest.raises(error):
        call(small)


IN_A_STORE = """
import pickle, sys
import magnetar, magnetar._native, pyarrow

# A store in the memory of this process stands for any other.
place = "memory://tests/merged"
assert magnetar._native.run_cli(["magnetar", "merge", sys.argv[1], "--out", place]) == 0
stored, small = magnetar.Dataset(place), magnetar.Dataset(sys.argv[1])
assert stored.folder == place and pickle.loads(pickle.dumps(stored)).splits == stored.splits == small.splits
assert pyarrow.table(stored.rows("train")).equals(pyarrow.table(small.rows("train")))
assert not stored.verify(sample=4)["problems"]
"""


def test_a_dataset_in_a_store_is_read_like_one_on_disk(small):
    subprocess.run([sys.executable, "-c", IN_A_STORE, str(small)], check=True)
