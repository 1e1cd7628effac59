"""What must hold of datasets in an object store, S3's kind; called by check.sh with the program and a folder to work in."""

import json
import time

import boto3

from harness import (
    ROWS, SECRET, assert_same, everything_printed, finish, kill_when, on_disk, run, server, start, without_times, work,
)
from written import features, imports, sweeps


class Store:
    """What the test itself sees of the store."""

    def __init__(self, port):
        self.port = port
        self.client = boto3.client(
            "s3", endpoint_url=f"http://127.0.0.1:{port}", aws_access_key_id="x", aws_secret_access_key="x",
            region_name="us-east-1",
        )
        self.client.create_bucket(Bucket="bucket")

    def names(self, prefix):
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket="bucket", Prefix=prefix + "/")
        return [found["Key"] for page in pages for found in page.get("Contents", [])]

    def content(self, prefix):
        read = lambda name: self.client.get_object(Bucket="bucket", Key=name)["Body"].read()
        return {name.removeprefix(prefix + "/"): read(name) for name in self.names(prefix)}


def a_run_and_all_that_reads(store):
    run(store.port, "generate", *ROWS, "--out", "s3://bucket/run")
    assert_same(store.content("run"), on_disk("local"), "generate")
    run(store.port, "generate", *ROWS, "--out", "s3://bucket/run/")
    assert_same(store.content("run"), on_disk("local"), "generate again")
    commands = [
        ["verify", "DATA", "--seed", "1", "--json"],
        ["stats", "DATA", "--json"],
        ["audit", "DATA", "--limit", "300", "--json"],
        ["evaluate", "DATA", "--split", "test", "--limit", "20", "--json"],
        ["posterior", "DATA", "--split", "test", "--row", "7", "--json"],
        ["report", "DATA", "--out", "OUT.html", "--limit", "20"],
        ["features", "DATA", "--split", "val", "--limit", "20", "--out", "OUT"],
    ]
    for command in commands:
        printed = {}
        for place, data in [("disk", "local"), ("store", "s3://bucket/run")]:
            out = f"{command[0]}-{place}"
            arguments = [word.replace("DATA", data).replace("OUT", out) for word in command]
            text = run(store.port, *arguments).replace(out, "OUT").replace(data, "DATA")
            printed[place] = without_times(text)
        assert printed["disk"] == printed["store"], (command, printed)
    pages = [(work / f"report-{place}.html").read_text() for place in ("disk", "store")]
    assert pages[0].replace("local", "DATA") == pages[1].replace("s3://bucket/run", "DATA") or pages[0] == pages[1]
    assert_same(on_disk("features-store"), on_disk("features-disk"), "features")
    run(store.port, "report", "s3://bucket/run", "--limit", "20", "--out", "s3://bucket/page/report.html")
    assert store.names("page") == ["page/report.html"]


def two_writers_at_once(store):
    out = ["--out", "s3://bucket/twice"]
    parts = [["--part", "1/2"], ["--part", "2/2"]]
    writers = [start(store.port, "generate", *ROWS, *out, *more) for more in [[], [], *parts]]
    for writer in writers:
        finish(writer)
    assert_same(store.content("twice"), on_disk("local"), "writers at once")
    # Another seed is another dataset, and is not mixed in.
    problem = run(store.port, "generate", *ROWS[:-1], "6", *out, code=1)
    assert "seed: 6, 5" in problem, problem
    assert_same(store.content("twice"), on_disk("local"), "after another seed")


def killed_and_finished(store):
    killed = 0
    for wanted in (3, 10, 17):
        out = ["--out", f"s3://bucket/killed{wanted}"]
        writer = start(store.port, "generate", *ROWS, *out, "--threads", "1")
        there = lambda: len(store.names(f"killed{wanted}/test")) + len(store.names(f"killed{wanted}/val"))
        killed += kill_when(writer, lambda: there() >= wanted)
        assert json.loads(run(store.port, "verify", out[1], "--partial", "--json"))["valid"]
        run(store.port, "generate", *ROWS, *out)
        assert_same(store.content(f"killed{wanted}"), on_disk("local"), f"killed after {wanted} shards")
    assert killed, "no run was killed in time"


def a_line_that_fails(store):
    with server(store.port, 0.25) as line:
        run(line, "generate", *ROWS, "--out", "s3://bucket/line")
        assert_same(store.content("line"), on_disk("local"), "generate over a bad line")
        assert json.loads(run(line, "verify", "s3://bucket/line", "--json"))["valid"]
        for part in (1, 2):
            run(line, "generate", *ROWS, "--part", f"{part}/2", "--out", f"s3://bucket/line-part{part}")
        run(line, "merge", "s3://bucket/line-part1", "s3://bucket/line-part2", "--complete", "--out", "s3://bucket/line-merged")
        assert_same(store.content("line-merged"), on_disk("local"), "merge over a bad line")
        # Two at once, over it.
        writers = [start(line, "generate", *ROWS, "--out", "s3://bucket/line-twice") for _ in range(2)]
        for writer in writers:
            finish(writer)
        assert_same(store.content("line-twice"), on_disk("local"), "writers at once over a bad line")
    # A store that never answers well: an error in bounded time, and nothing torn.
    with server(store.port, 1.0) as dead:
        started = time.monotonic()
        problem = run(dead, "verify", "s3://bucket/line", code=1)
        assert "the store" in problem and "s3://bucket/line" in problem, problem
        problem = run(dead, "generate", *ROWS, "--out", "s3://bucket/dead", code=1)
        assert "the store" in problem and "s3://bucket/dead" in problem, problem
        took = time.monotonic() - started
        assert took < 150, took
        print(f"two commands gave up after {took:.0f} s: {problem.strip().splitlines()[-1]}")
    assert not any(name.endswith(".parquet") for name in store.names("dead"))


def merged_from_disk_and_store(store):
    run(store.port, "generate", *ROWS, "--part", "1/2", "--out", "s3://bucket/part1")
    run(store.port, "generate", *ROWS, "--part", "2/2", "--out", "part2")
    run(store.port, "merge", "s3://bucket/part1", "part2", "--complete", "--out", "s3://bucket/merged")
    assert_same(store.content("merged"), on_disk("local"), "merge into the store")
    run(store.port, "merge", "s3://bucket/merged", "--complete", "--out", f"file://{work}/back")
    assert_same(on_disk("back"), on_disk("local"), "merge from the store")


def large_shards(store):
    rows = ["--split", "train", "--limit", "10000", "--shard-size", "10000", "--csi", "f32"]
    run(store.port, "generate", *rows, "--out", "large")
    run(store.port, "generate", *rows, "--out", "s3://bucket/large")
    found = store.content("large")
    assert len(found["train/part-00000.parquet"]) > 64 << 20
    assert_same(found, on_disk("large"), "a shard in parts")


def clear_errors(store):
    problem = run(store.port, "verify", "s3://nobodys/data", code=1)
    assert "s3://nobodys/data" in problem and "404 Not Found" in problem, problem
    problem = run(store.port, "verify", "s3://bucket/nothing", code=1)
    assert "s3://bucket/nothing" in problem and "no manifest.json" in problem, problem
    problem = run(store.port, "stats", f"s3://{SECRET}@bucket/run", code=1)
    assert "no credentials in a URL" in problem, problem
    problem = run(store.port, "stats", "ftp://bucket/run", code=1)
    assert "ftp://" in problem, problem


with server() as port:
    run(port, "generate", *ROWS, "--out", "local")
    store = Store(port)
    checks = [
        a_run_and_all_that_reads, two_writers_at_once, killed_and_finished, merged_from_disk_and_store, large_shards,
        imports, features, sweeps, clear_errors, a_line_that_fails,
    ]
    for check in checks:
        started = time.monotonic()
        check(store)
        print(f"{check.__name__}: {time.monotonic() - started:.1f} s", flush=True)
    written = [content for name in ("run", "twice", "merged", "line", "imported", "sweep") for content in store.content(name).values()]
    assert not any(SECRET in text for text in everything_printed), "a secret was printed"
    assert not any(SECRET.encode() in content for content in written), "a secret was written"
print("stores: all checks passed")
