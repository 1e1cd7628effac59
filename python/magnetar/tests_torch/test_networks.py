"""Networks from outside: the snippets of docs/python.md, run as they stand."""

import os
import re
import textwrap
from pathlib import Path

import magnetar
import numpy as np
import pytest
import torch
from magnetar.inference import softmax

PAGE = Path(os.environ["MAGNETAR_DOCS"], "python.md")


class Peak(torch.nn.Module):
    """A small network that looks at every channel."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.layers = torch.nn.Sequential(torch.nn.Conv3d(24, 8, 1), torch.nn.SiLU(), torch.nn.Conv3d(8, 1, 3, padding=1))

    def forward(self, dense):
        return self.layers(dense).squeeze(1)


def snippet(word):
    """The one block of code of the page that has this word."""
    section = PAGE.read_text().split("## Networks from outside")[1].split("\n## ")[0]
    blocks = re.findall(r"(?:^    .*\n|^\n)+", section, flags=re.MULTILINE)
    (found,) = [textwrap.dedent(block) for block in blocks if word in block]
    return found.strip().splitlines()


def run(lines):
    """Runs lines of code; gives what the last one evaluates to."""
    names = {}
    exec("\n".join(lines[:-1]), names)
    return eval(lines[-1], names)


@pytest.fixture
def folder(small, tmp_path, monkeypatch):
    network = Peak().eval()
    example = torch.zeros(2, 24, 18, 33, 33)
    torch.jit.trace(network, example).save(str(tmp_path / "mine.pt"))
    names = {"input_names": ["dense"], "output_names": ["logits"], "dynamic_axes": {"dense": {0: "rows"}}}
    torch.onnx.export(network, example, str(tmp_path / "mine.onnx"), **names)
    (tmp_path / "data").symlink_to(small)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_module_and_an_onnx_file_are_scored_by_our_metrics(folder):
    lines = snippet("torch.jit.load")
    assert len([line for line in lines if not line.startswith("import")]) == 5
    by_torch = run(lines)
    assert by_torch["samples"] == 12
    lines = snippet("onnxruntime.InferenceSession")
    assert len([line for line in lines if not line.startswith("import")]) <= 5
    by_onnx = run(lines)
    assert by_onnx["nll"] == pytest.approx(by_torch["nll"], abs=1e-3)
    # The same through a file of volumes, as the command line scores it.
    rows = magnetar.Dataset("data").rows("test", csi=False)
    features = magnetar.features(rows)
    with torch.no_grad():
        logits = Peak()(torch.from_numpy(features.dense())).numpy()
    np.save("mine.npy", softmax(logits, features.mask))
    file = magnetar.evaluate(rows, magnetar.Scorer("mine.npy", magnetar.Recipe("paper")))["mine.npy"]
    assert file["nll"] == pytest.approx(by_torch["nll"], abs=1e-5)
