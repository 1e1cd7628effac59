"""Measured files: MATLAB before and after 7.3, HDF5, real and imaginary parts, axes in any order."""

import sys

import h5py
import numpy as np
import pytest
import scipy.io
from magnetar import to_npy

BLOCKS = (np.arange(3 * 8 * 2) + 1j * np.arange(48)[::-1]).reshape(3, 8, 2).astype(np.complex64)


def convert(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["magnetar-to-npy", *map(str, arguments)])
    to_npy.main()


def test_matlab(monkeypatch, tmp_path, capsys):
    file, out = tmp_path / "old.mat", tmp_path / "out.npy"
    scipy.io.savemat(file, {"csi": BLOCKS.transpose(1, 2, 0), "re": BLOCKS.real, "im": BLOCKS.imag})
    convert(monkeypatch, file, "--list")
    assert "csi  complex" in capsys.readouterr().out
    convert(monkeypatch, file, "csi", "--axes", "bins,channels,n", "--out", out)
    assert (np.load(out) == BLOCKS).all()
    convert(monkeypatch, file, "re", "im", "--out", out)
    assert (np.load(out) == BLOCKS).all()


def test_hdf5(monkeypatch, tmp_path):
    file, out = tmp_path / "new.h5", tmp_path / "out.npy"
    pairs = np.zeros((3, 8, 2), dtype=[("real", "f8"), ("imag", "f8")])
    pairs["real"], pairs["imag"] = BLOCKS.real, BLOCKS.imag
    with h5py.File(file, "w", userblock_size=512) as written:
        written["run1/csi"] = pairs
        written["run1/one"] = pairs[:1]
    convert(monkeypatch, file, "run1/csi", "--out", out)
    assert (np.load(out) == BLOCKS).all()
    convert(monkeypatch, file, "run1/one", "--axes", "1,bins,channels", "--out", out)
    assert np.load(out).shape == (1, 8, 2)
    assert np.load(out).dtype == np.complex64


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["none"], "no array"),
        (["csi", "--axes", "n,bins"], "names 2 axes"),
        (["csi", "--axes", "n,bins,bins"], "each once"),
        (["csi", "--axes", "1,bins,channels"], "length 1"),
        (["csi", "text"], "expected numbers"),
        (["csi", "other"], "has the shape"),
        (["csi"], "--out"),
    ],
)
def test_what_cannot_be_converted_is_told(monkeypatch, tmp_path, arguments, reason):
    file = tmp_path / "old.mat"
    scipy.io.savemat(file, {"csi": BLOCKS, "text": "abc", "other": BLOCKS[:1]})
    with pytest.raises(SystemExit) as raised:
        convert(monkeypatch, file, *arguments)
    assert reason in str(raised.value)
    assert not list(tmp_path.glob("*.npy"))
