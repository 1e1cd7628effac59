"""What the tests share: the command line of the installed package, and a small dataset that it made."""

import json
import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def command_line():
    """Runs the command line in a process of its own; gives what it prints, parsed with ``parse=True``."""

    def run(*arguments, parse=False, code=0):
        done = subprocess.run(
            [sys.executable, "-m", "magnetar", *map(str, arguments)], capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout) if parse else done

    return run


@pytest.fixture(scope="session")
def small(command_line, tmp_path_factory):
    """The folder of a dataset of recipe paper, seed 7: 70 samples of train and test, 6 sets of fusion, in small shards."""
    folder = tmp_path_factory.mktemp("small") / "data"
    for split, limit in (("train", 70), ("test", 70), ("fusion", 6)):
        command_line("generate", "--seed", 7, "--split", split, "--limit", limit, "--shard-size", 32, "--out", folder)
    return folder
