"""What must hold of every other kind of store: a run that is killed and finished, writers at once, large shards, imports."""

import json
import time

from harness import ROWS, assert_same, everything_printed, finish, kill_when, on_disk, run, start, without_times
from written import write_campaign


def a_run_killed_and_finished(store):
    run({}, "generate", *ROWS, "--out", f"{store.kind}-local")
    out = ["--out", store.address("run")]
    writer = start(store.keys, "generate", *ROWS, *out, "--threads", "1")
    assert kill_when(writer, lambda: len(store.names("run/test")) >= 3), "it was finished too soon"
    run(store.keys, "verify", out[1], "--partial")
    run(store.keys, "generate", *ROWS, *out)
    assert_same(store.content("run"), on_disk(f"{store.kind}-local"), "killed")
    assert json.loads(run(store.keys, "verify", out[1], "--json"))["valid"]
    evaluate = ["evaluate", "--split", "test", "--limit", "20", "--json"]
    shown = [without_times(run(store.keys, *evaluate, data)).replace(data, "DATA") for data in (f"{store.kind}-local", out[1])]
    assert shown[0] == shown[1], shown


def writers_at_once(store):
    out = ["--out", store.address("twice")]
    parts = [["--part", "1/2"], ["--part", "2/2"]]
    for writer in [start(store.keys, "generate", *ROWS, *out, *more) for more in [[], [], *parts]]:
        finish(writer)
    assert_same(store.content("twice"), on_disk(f"{store.kind}-local"), "writers at once")


def a_shard_in_parts(store):
    rows = ["--split", "train", "--limit", "10000", "--shard-size", "10000", "--csi", "f32"]
    run(store.keys, "generate", *rows, "--out", f"{store.kind}-large")
    writers = [start(store.keys, "generate", *rows, "--out", store.address("large")) for _ in range(2)]
    for writer in writers:
        finish(writer)
    found = store.content("large")
    assert len(found["train/part-00000.parquet"]) > 64 << 20
    assert_same(found, on_disk(f"{store.kind}-large"), "a shard in parts")


def merged_and_imported(store):
    run(store.keys, "merge", store.address("run"), "--complete", "--out", f"{store.kind}-back")
    assert_same(on_disk(f"{store.kind}-back"), on_disk(f"{store.kind}-local"), "merge from the store")
    write_campaign(rows=200)
    run({}, "import", "campaign.toml", "--out", f"{store.kind}-imported")
    run(store.keys, "import", "campaign.toml", "--out", store.address("imported"))
    assert_same(store.content("imported"), on_disk(f"{store.kind}-imported"), "import")
    nothing = store.address("nothing")
    problem = run(store.keys, "verify", nothing, code=1)
    assert nothing in problem and "no manifest.json" in problem, problem


def check_all(store, secrets):
    """Runs all of them; what was printed and written must not hold the secrets."""
    for check in [a_run_killed_and_finished, writers_at_once, a_shard_in_parts, merged_and_imported]:
        started = time.monotonic()
        check(store)
        print(f"{store.kind}, {check.__name__}: {time.monotonic() - started:.1f} s", flush=True)
    written = [content for name in ("run", "twice") for content in store.content(name).values()]
    for secret in secrets:
        assert not any(secret in text for text in everything_printed), "a secret was printed"
        assert not any(secret.encode() in content for content in written), "a secret was written"
    print(f"{store.kind}: all checks passed")
