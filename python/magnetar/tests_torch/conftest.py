"""A small corpus for the tools that need PyTorch's Python."""

import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """The folder of a dataset of recipe paper, seed 7: 50 rows of train, 12 of test, 4 sets of fusion."""
    folder = tmp_path_factory.mktemp("small") / "data"
    for split, limit in (("train", 50), ("test", 12), ("fusion", 4)):
        command = [sys.executable, "-m", "magnetar", "generate", "--seed", "7", "--split", split, "--limit", str(limit)]
        subprocess.run([*command, "--out", str(folder)], check=True, capture_output=True)
    return folder
