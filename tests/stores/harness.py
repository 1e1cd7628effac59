"""What the checks of stores share: the program, servers on loopback, and what lies on the disk."""

import contextlib
import os
import pathlib
import re
import socket
import subprocess
import sys
import time

program, work = sys.argv[1], pathlib.Path(sys.argv[2])
here = pathlib.Path(__file__).parent
SECRET = "a-secret-that-nobody-prints"
ROWS = ["--split", "test,val", "--limit", "600", "--shard-size", "50", "--csi", "f16", "--seed", "5"]
everything_printed = []


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextlib.contextmanager
def listening(port, command):
    """A process, once it listens at a port."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            assert process.poll() is None, command
            time.sleep(0.1)
        yield
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def server(*arguments):
    """A process of server.py; its port."""
    port = free_port()
    with listening(port, [sys.executable, here / "server.py", str(port), *map(str, arguments)]):
        yield port


def s3(port):
    """What the program is told of an S3 server on loopback."""
    return {
        "AWS_ACCESS_KEY_ID": "key-" + SECRET, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
    }


def start(keys, *arguments):
    """Starts the program with the environment of a store: that of an S3 server, if a port is given."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "AZURE_", "GOOGLE_"))}
    environment = own | (s3(keys) if isinstance(keys, int) else keys)
    command = [program, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=work)


def finish(process, code=0):
    out, problem = process.communicate(timeout=170)
    everything_printed.extend([out, problem])
    assert process.returncode == code, (process.args, process.returncode, out, problem)
    return out if code == 0 else problem


def run(keys, *arguments, code=0):
    return finish(start(keys, *arguments), code)


def kill_when(writer, condition):
    """Kills a process as soon as a condition holds; whether it still ran."""
    while not condition():
        assert writer.poll() is None, writer.communicate()
    writer.kill()
    writer.communicate()
    return writer.returncode < 0


def on_disk(folder):
    files = [path for path in (work / folder).rglob("*") if path.is_file()]
    return {str(path.relative_to(work / folder)): path.read_bytes() for path in files}


def assert_same(found, expected, what):
    assert sorted(found) == sorted(expected), (what, sorted(found), sorted(expected))
    different = [name for name in expected if found[name] != expected[name]]
    assert not different, (what, different)


def without_times(text):
    """What a command printed as JSON; how long it took is nobody's promise."""
    return re.sub(r'"[a-z_]*(seconds|_ms|per_second)[a-z_]*": ?[-0-9.e]+', "", text)
