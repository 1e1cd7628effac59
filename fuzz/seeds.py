"""Valid inputs for every fuzz target, made from the shipped files and by the command line: python3 seeds.py MAGNETAR OUT"""

import gzip
import json
import math
import pathlib
import shutil
import struct
import subprocess
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
SWEEP = """name = "seed"
split = "test"
rows = 4
[[axis]]
key = "link.reference_snr_db"
values = [30.0, 40.0]
"""
RECIPE = """extends = "paper"
name = "seed"
inherit_splits = false
[link]
reference_snr_db = 40.0
[splits.mine]
no_board = 3
board = 2
views = 1
translation_min_m = 0.1
translation_max_m = 0.2
materials = [{ wall = "wood", ceiling = "concrete", floor = "marble" }]
"""
SETS = 'link.reference_snr_db=40\nstore.csi=false\nname="a b"\nsplits.test.no_board=3\n'


def npy(descr, shape, data, version=1):
    """An npy file."""
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    preamble = 10 if version == 1 else 12
    text += b" " * (63 - (preamble + len(text)) % 64) + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


def room(side=24):
    """A map of a small room: rows of grey values."""
    def grey(x, y):
        edge = min(x, y, side - 1 - x, side - 1 - y)
        return 205 if edge < 2 else 0 if edge < 4 else 254
    return [bytes(grey(x, y) for x in range(side)) for y in range(side)]


def png(rows):
    """A grey PNG."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def pattern_files():
    """Cuts as CSV and as MSI Planet."""
    gain = {a: 8 - 9 * (1 - math.cos(math.radians(a))) for a in range(-180, 180, 30)}
    cuts = "# name: two cuts\ncut,angle_deg,gain_db\n"
    cuts += "".join(f"azimuth,{a},{g:.2f}\n" for a, g in gain.items())
    cuts += "".join(f"elevation,{a},{g:.2f}\n" for a, g in gain.items())
    loss = "".join(f"{a} {10 - 10 * math.cos(math.radians(a)):.2f}\n" for a in range(0, 360, 30))
    msi = f"NAME a\nMAKE b\nFREQUENCY 10000\nGAIN 6 dBi\nTILT ELECTRICAL\nHORIZONTAL 12\n{loss}VERTICAL 12\n{loss}"
    return cuts.encode(), msi.encode()


def far_fields():
    """A small field of HFSS and a small table of CST."""
    ffd = "0 180 4\n-180 180 5\nFrequencies 1\nFrequency 1e10\n"
    ffd += "".join(f"{1 + t} 0 0 {0.1 * p}\n" for t in range(4) for p in range(5))
    cst = "Theta [deg.]  Phi   [deg.]  Abs(Gain)[dBi   ]\n-------------\n"
    cst += "".join(f"{60 * t} {90 * p} {5 - t}\n" for p in range(4) for t in range(4))
    return ffd.encode(), cst.encode()


CAMPAIGN = """name = "a"
scene = "lab"
[receiver]
noise_variance = "auto"
exclude_bins = "255-257"
[board.left]
center_m = [0.2, 1.0, 1.0]
size_m = [1.0, 0.03, 1.7]
[[recording]]
observations = "a.npy"
rows = "a.csv"
"""


def request(path, body):
    """A request of the view's page."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nOrigin: http://127.0.0.1:8080\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


def main(magnetar, out):
    """Writes all seeds."""
    shutil.rmtree(out, ignore_errors=True)

    def seed(target, name, data):
        folder = out / target
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)

    def run(*arguments):
        subprocess.run([magnetar, *arguments], check=True, cwd=out)

    out.mkdir(parents=True)
    for target, folder in [("scene", "scenes"), ("recipe", "recipes"), ("sweep", "sweeps")]:
        for file in (ROOT / folder).glob("*.toml"):
            seed(target, file.name, file.read_bytes())
    seed("scene", "boxes.toml", (ROOT / "tests/data/boxes.toml").read_bytes())
    for file in (ROOT / "materials").glob("*.toml"):
        # A few of its tables show as much as all, much faster.
        tables = file.read_text().split("\n[")[1:4]
        seed("material", file.name, ("[" + "\n[".join(tables)).encode())
    for file in (ROOT / "crates").glob("*/*.twin.toml"):
        seed("twin_parameters", file.name, file.read_bytes())

    cuts, msi = pattern_files()
    seed("pattern_csv", "grid.csv", (ROOT / "antenna_patterns/isotropic.csv").read_bytes())
    seed("pattern_csv", "cuts.csv", cuts)
    seed("pattern_msi", "cuts.msi", msi)
    for name, data in zip(("field.ffd", "table.txt"), far_fields()):
        seed("pattern_far_field", name, data)
    seed("campaign", "campaign.toml", CAMPAIGN.encode())
    seed("campaign", "rows.csv", b"x,y,heading_deg,tx_x,tx_y,tx_heading_deg,placement,site\n1,-1,90,1.2,1.9,-80,left,3\n")
    seed("campaign", "rows.jsonl", b'{"x":1,"y":2,"heading_deg":3,"protocol":"track"}\n')
    meta = {"core:datatype": "cf32_le", "core:sample_rate": 491.52e6, "core:num_channels": 2}
    seed("campaign", "iq.sigmf-meta", json.dumps({"global": meta, "captures": []}).encode())
    seed("campaign", "phases.csv", b"aoa_deg,phase_deg\n-30,5\n10,-5\n")

    seed("poses", "poses.csv", b"x,y,z,note,heading_deg\n1,-2.5,1.1,a,90\n\n0,3,1e0,b,-10\n")
    seed("poses", "poses.jsonl", b'{"x":1,"y":-2.5,"heading_deg":90}\n{"x":0,"y":3.0,"z":1.1,"heading_deg":-10}\n')

    for number, (descr, size) in enumerate([("<f4", 4), ("<f8", 8), ("<c8", 8), (">c16", 16)]):
        seed("npy", f"{number}.npy", npy(descr, "(2, 2)", bytes(range(4 * size)), 1 + number // 3))
    seed("estimate", "64_bins", b"".join(
        struct.pack("<4f", math.cos(0.3 * k), math.sin(0.3 * k), math.cos(0.3 * k + 1), math.sin(0.3 * k + 1))
        for k in range(64)))

    seed("estimate_line", "20_bins", b"".join(
        struct.pack("<2f", 9 * math.cos(0.3 * k + 0.4 * m), 9 * math.sin(0.3 * k + 0.4 * m))
        for k in range(20) for m in range(3)))

    rows = room()
    yaml = b"image: map.image\nresolution: 0.05\norigin: [-1.0, -1.0, 0.1]\nnegate: 0\n\0"
    seed("occupancy_map", "pgm", yaml + b"P5\n%d %d\n255\n" % (len(rows[0]), len(rows)) + b"".join(rows))
    seed("occupancy_map", "png", yaml + png(rows))

    for file in (ROOT / "tests/data").glob("sionna*.json.gz"):
        export = json.loads(gzip.decompress(file.read_bytes()))
        for case in export["cases"][:40]:
            case["id"] = case["id"][:20]
        for first in (0, 5):
            small = json.dumps({**export, "cases": export["cases"][first:first + 1]}, separators=(",", ":")).encode()
            seed("sionna_export", f"{file.stem}-{first}", small)
            seed("sionna_export", f"{file.stem}-{first}.gz", gzip.compress(small, mtime=0))
    for file in (ROOT / "tests/data").glob("sionna*.npz"):
        seed("sionna_export", file.name, file.read_bytes())

    run("generate", "--split", "test", "--limit", "2", "--out", "dataset")
    run("generate", "--split", "test", "--limit", "2", "--set", "store.compression=none", "--out", "plain_dataset")
    seed("manifest", "manifest.json", (out / "dataset/manifest.json").read_bytes())
    support = ["--headings", "2", "--rows", "3", "--columns", "3"]
    run("posterior", "dataset", "--split", "test", "--all", *support, "--out", "volumes.parquet")
    for target in ("shard", "csi", "volumes"):
        seed(target, "whole", b"")
        seed(target, "footer", bytes([9, 0, 0x80, 1]))
        seed(target, "page", bytes([40, 1, 0, 255]))
    # What is read depends on the bytes after the edits.
    for following in (1, 2, 3):
        seed("shard", f"whole_{following}", bytes(following))
        seed("shard", f"page_{following}", bytes([40, 1, 0, 255, *bytes(following)]))
    seed("csi", "shard", bytes(1))
    mass = struct.pack("<18f", *[1 / 18] * 18)
    volume = npy("<f4", "(2, 2, 3, 3)", 2 * mass)
    seed("volumes", "array", volume + bytes(len(volume) % 4 == 0))
    twin = (ROOT / "crates/magnetar-posterior/paper.twin.toml").read_text()
    parameters = twin.split("[parameters]", 1)[1]
    count = sum("=" in line.split("#")[0] for line in parameters.splitlines())
    origin = 'recipe_hash = ""\nseed = 0\nsplit = ""\nrows = 0\nheld_back = ""\nheld_back_rows = 0\ncells = 0\nbegun_with = ""'
    state = f"passes = 1\nconverged = false\nfitted_nll = 6.5\nheld_back_nll = 6.25\nsteps = {[1.5] * count}"
    chosen = f"[state.parameters]{parameters}\n[state.chosen]{parameters}"
    seed("fit_checkpoint", "fit.checkpoint", f"[origin]\n{origin}\n[state]\n{state}\n{chosen}".encode())
    # Networks of a few hundred weights: what is in a file matters, not how much.
    small = ["--exposures", "4", "--batch", "1", "--stages", "3", "--validation-rows", "1", "--hidden", "2", "--attention", "2"]
    for design in ("np1", "sa3", "np6"):
        model = f"{design}.safetensors"
        run("train", design, "--preset", "cpu", *small, "--levels", "1,1", "--out", model)
        seed("model", model, (out / model).read_bytes())
    (out / "seed.toml").write_text(SWEEP)
    seed("sweep", "seed.toml", SWEEP.encode())
    run("sweep", "seed.toml", "--out", "sweep_folder")
    # Which of the two it is depends on its length; a name of an even number of letters changes nothing else.
    manifest = (out / "sweep_folder/sweep.json").read_bytes()
    seed("sweep_manifest", "sweep.json", manifest if len(manifest) % 2 == 0 else manifest.replace(b'"seed"', b'"seeds"', 1))
    for result in sorted((out / "sweep_folder/points").glob("*.json"))[:1]:
        text = result.read_bytes()
        seed("sweep_manifest", "result.json", text + b"\n" * (len(text) % 2 == 0))
    seed("recipe", "extends.toml", RECIPE.encode())
    seed("recipe_set", "sets", SETS.encode())

    run("view", "--export", "view.html")
    page = (out / "view.html").read_text()
    start = page.index(">", page.index('id="start"')) + 1
    state = json.loads(page[start:page.index("</script>", start)])["state"]
    state["posterior"] = False
    body = json.dumps(state, separators=(",", ":"))
    seed("view_message", "state", body.encode())
    seed("view_request", "page", b"GET / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n")
    seed("view_request", "row", request("/api/row", '{"split":"test","index":0}'))
    seed("view_request", "link", request("/api/link", body))


if __name__ == "__main__":
    main(str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve())
