"""Hugging Face ``datasets`` over a stored corpus: one split, streamed, nothing converted."""

import datasets
import magnetar
import magnetar.huggingface
import numpy as np
import pytest




@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Nothing is looked for on the network, and what is converted is seen."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    return tmp_path / "cache"


def test_a_split_is_streamed_and_nothing_is_converted(small, own_cache):
    found = magnetar.huggingface.load(small, "train")
    assert isinstance(found, datasets.IterableDataset)
    rows = list(found)
    assert [row["index"] for row in rows] == list(range(70))
    expected = magnetar.Dataset(small).rows("train")
    csi = np.asarray(rows[40]["csi"], dtype=np.float32).reshape(-1, 2, 2)
    assert (csi[..., 0] + 1j * csi[..., 1] == expected.numpy("csi")[40]).all()
    assert rows[3]["tx"]["x"] == expected.numpy("tx.x")[3]
    assert not list(own_cache.glob("**/*.arrow"))


def test_other_splits_and_columns_stay_unread(small, tmp_path, own_cache, command_line):
    # Another split is damaged: whoever reads it fails.
    command_line("generate", "--seed", 7, "--split", "train,test", "--limit", 20, "--out", tmp_path / "d")
    (tmp_path / "d/test/part-00000.parquet").write_bytes(b"no Parquet")
    streamed = magnetar.huggingface.load(tmp_path / "d", "train", columns=["index", "aoa"])
    assert [sorted(row) for row in streamed.take(2)] == [["aoa", "index"]] * 2
    stored = magnetar.huggingface.load(tmp_path / "d", "train", streaming=False, cache_dir=str(own_cache))
    assert len(stored) == 20
    assert [path.stem for path in own_cache.glob("**/*.arrow")] == ["parquet-train"]


def test_shards_are_shared_between_ranks(small):
    from datasets.distributed import split_dataset_by_node

    parts = [split_dataset_by_node(magnetar.huggingface.load(small, "train", columns=["index"]), r, 2) for r in (0, 1)]
    index = [[row["index"] for row in part] for part in parts]
    assert sorted(index[0] + index[1]) == list(range(70))
    assert index[0] and index[1]


def test_unknown_splits_are_told(small):
    with pytest.raises(magnetar.DatasetError, match="no split val"):
        magnetar.huggingface.load(small, "val")
    with pytest.raises(magnetar.DatasetError):
        magnetar.huggingface.shards("/no/such/folder", "train")
    with pytest.raises(magnetar.InputError, match="no column 'none'"):
        magnetar.huggingface.load(small, "train", columns=["none"])
