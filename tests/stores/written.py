"""What commands other than generate write into a store: imports, sets of features, sweeps."""

import array
import random

from harness import assert_same, finish, kill_when, on_disk, run, start, work

CAMPAIGN = """
name = "noise, not measured"
scene = "lab"
recipe = "small.toml"
[receiver]
noise_variance = {variance}
[[recording]]
observations = "heard.npy"
rows = "rows.csv"
"""

SWEEP = """
name = "SNR"
description = "A small one"
recipe = "paper"
split = "test"
rows = 400
seed = 3
store = {store}
[[axis]]
key = "link.reference_snr_db"
values = [40, 45, 50, 55, 60, 65]
"""


def write_campaign(rows=2000, shard=50):
    """A campaign of rows of noise, and one whose settings differ."""
    recipe = run({}, "recipe", "show", "paper", "--toml", "--set", f"store.shard_rows={shard}")
    (work / "small.toml").write_text(recipe)
    chance = random.Random(1)
    block = array.array("f", (chance.gauss(0, 1) for _ in range(shard * 512 * 2 * 2))).tobytes()
    header = f"{{'descr': '<c8', 'fortran_order': False, 'shape': ({rows}, 512, 2), }}".ljust(117).encode() + b"\n"
    with open(work / "heard.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
        for _ in range(rows // shard):
            file.write(block)
    poses = [f"{chance.uniform(-1, 1):.3f},{chance.uniform(-1, 1):.3f},{n % 360},1.2,1.9,-80" for n in range(rows)]
    (work / "rows.csv").write_text("\n".join(["x,y,heading_deg,tx_x,tx_y,tx_heading_deg", *poses]))
    (work / "campaign.toml").write_text(CAMPAIGN.format(variance=1.0))
    (work / "changed.toml").write_text(CAMPAIGN.format(variance=2.0))


def imports(store):
    write_campaign()
    run(store.port, "import", "campaign.toml", "--out", "imported")
    expected = on_disk("imported")
    assert len(expected) > 40, sorted(expected)
    out = ["--out", "s3://bucket/imported"]
    writer = start(store.port, "import", "campaign.toml", *out)
    assert kill_when(writer, lambda: len(store.names("imported/test")) >= 3), "it was finished too soon"
    run(store.port, "verify", out[1], "--partial")
    # Two at once finish it; and once more changes nothing.
    writers = [start(store.port, "import", "campaign.toml", *out) for _ in range(2)]
    for writer in writers:
        finish(writer)
    assert_same(store.content("imported"), expected, "import")
    run(store.port, "import", "campaign.toml", *out)
    assert_same(store.content("imported"), expected, "import again")
    run(store.port, "verify", out[1])
    problem = run(store.port, "import", "changed.toml", *out, code=1)
    assert "settings have changed" in problem, problem
    problem = run(store.port, "import", "campaign.toml", "--out", "s3://bucket/run", code=1)
    assert "holds another dataset" in problem, problem
    assert_same(store.content("imported"), expected, "after other imports")


def features(store):
    make = ["features", "s3://bucket/run", "--split", "val", "--limit", "20"]
    for flags in [[], ["--dense"], []]:
        run(store.port, *make, *flags, "--out", "features")
        # What has been killed in the middle lacks its last file.
        if store.names("features"):
            store.client.delete_object(Bucket="bucket", Key="features/features.json")
        run(store.port, *make, *flags, "--out", "s3://bucket/features")
        assert_same(store.content("features"), on_disk("features"), "features")
    problem = run(store.port, *make, "--out", "s3://bucket/run", code=1)
    assert "give a place of its own" in problem, problem


def sweeps(store):
    for name, keep in [("sweep", "false"), ("kept", "true")]:
        (work / f"{name}.toml").write_text(SWEEP.format(store=keep))
        run(store.port, "sweep", f"{name}.toml", "--out", name)
        expected = on_disk(name)
        make = ["sweep", f"{name}.toml", "--out", f"s3://bucket/{name}"]
        writer = start(store.port, *make, "--threads", "1")
        kill_when(writer, lambda: len(store.names(f"{name}/points")) >= 1)
        # Machines measure parts into one place, and the whole is made of them.
        parts = [start(store.port, *make, "--points", points) for points in ("0..4", "2..6")]
        for part in parts:
            finish(part)
        for writer in [start(store.port, *make) for _ in range(2)]:
            finish(writer)
        assert_same(store.content(name), expected, name)
        run(store.port, "verify", make[-1])
    store.client.delete_object(Bucket="bucket", Key="sweep/sweep.json")
    problem = run(store.port, "verify", "s3://bucket/sweep", code=1)
    assert "not finished" in problem, problem
    run(store.port, "sweep", "sweep.toml", "--out", "s3://bucket/sweep")
    assert_same(store.content("sweep"), on_disk("sweep"), "a sweep whose manifest was lost")
