"""A model of design np4, np5 or np6 as an ONNX graph, compared with magnetar on rows of a dataset: posteriors and time.

    pip install numpy onnx onnxruntime
    python compare.py MAGNETAR MODEL.safetensors DATASET OUT.onnx [ROWS]

Both score one row at a time on one thread. magnetar's time is that of the whole way from a row to its posterior, features
included; ONNX Runtime's that of the network alone, features given.
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

# Of crates/magnetar-neural/src: layers/image.rs, plain/mod.rs, designs/spatial.rs.
GROUPS, EPSILON, LOG_TWIN_CENTRE, LOG_TWIN_UNIT, LEAST_MASS = 8, 1e-5, -10.0, 5.0, 1e-30


def read_model(path):
    """Record and weights of a model file."""
    data = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    record = json.loads(header.pop("__metadata__")["magnetar"])
    values = data[8 + length:]
    weights = {
        name: np.frombuffer(values[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"])
        for name, entry in header.items()
    }
    return record, weights


class Graph:
    """Nodes and constants of a graph that is being made."""

    def __init__(self, weights):
        self.weights, self.nodes, self.constants, self.count = weights, [], [], 0

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def add(self, kind, *inputs, **attributes):
        self.count += 1
        name = f"t{self.count}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def convolve(self, name, x, stride=1):
        weight = self.weights[f"{name}.weight"]
        margin = weight.shape[2] // 2
        parameters = [self.constant(weight), self.constant(self.weights[f"{name}.bias"])]
        return self.add("Conv", x, *parameters, pads=[margin] * 4, strides=[stride] * 2)

    def silu(self, x):
        return self.add("Mul", x, self.add("Sigmoid", x))

    def norm_act(self, name, x):
        scale, shift = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        groups = next(n for n in range(GROUPS, 0, -1) if len(scale) % n == 0)
        ones = self.constant(np.ones(groups, np.float32)), self.constant(np.zeros(groups, np.float32))
        grouped = self.add("Reshape", x, self.constant(np.array([0, groups, -1], np.int64)))
        normal = self.add("InstanceNormalization", grouped, *ones, epsilon=EPSILON)
        normal = self.add("Reshape", normal, self.add("Shape", x))
        scaled = self.add("Mul", normal, self.constant(scale[:, None, None]))
        return self.silu(self.add("Add", scaled, self.constant(shift[:, None, None])))

    def block(self, name, x):
        y = self.convolve(f"{name}.conv1", self.norm_act(f"{name}.norm1", x))
        y = self.convolve(f"{name}.conv2", self.norm_act(f"{name}.norm2", y))
        kept = self.convolve(f"{name}.project", x) if f"{name}.project.weight" in self.weights else x
        return self.add("Add", y, kept)

    def unet(self, x, widths, blocks):
        x, skips = self.convolve("field.stem", x), []
        for level in range(len(widths)):
            for block in range(blocks):
                x = self.block(f"field.encoder.{level}.{block}", x)
            if level + 1 < len(widths):
                skips.append(x)
                x = self.convolve(f"field.down.{level}", x, 2)
        for level in reversed(range(len(widths) - 1)):
            space = self.constant(np.array([2], np.int64)), self.constant(np.array([4], np.int64))
            rows = self.add("Slice", self.add("Shape", skips[level]), *space)
            own = self.constant(np.array([0], np.int64)), self.constant(np.array([2], np.int64))
            sizes = self.add("Concat", self.add("Slice", self.add("Shape", x), *own), rows, axis=0)
            nearest = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
            x = self.add("Concat", self.add("Resize", x, "", "", sizes, **nearest), skips[level], axis=1)
            for block in range(blocks):
                x = self.block(f"field.decoder.{level}.{block}", x)
        return self.norm_act("field.last", x)


def export(record, weights):
    """The graph of a model: `field` and `query` (np4), or `images` and `log_twin` (np6), to `logits`."""
    graph, widths = Graph(weights), record["widths"]
    inputs = {}
    if record["design"] == "np4":
        inputs = {"field": [1, weights["field.stem.weight"].shape[1], "h", "w"], "query": ["n", "q"], "cells": ["n"]}
        field = graph.unet("field", widths["levels"], widths["blocks"])
        flat = graph.add("Reshape", field, graph.constant(np.array([widths["levels"][0], -1], np.int64)))
        cells = graph.add("Gather", graph.add("Transpose", flat, perm=[1, 0]), "cells", axis=0)
        x = graph.add("Concat", cells, "query", axis=1)
        for layer in range(len(widths["hidden"]) + 1):
            x = graph.silu(x) if layer else x
            parameters = [graph.constant(weights[f"head.{layer}.{part}"]) for part in ("weight", "bias")]
            x = graph.add("Gemm", x, *parameters, transB=1)
        logits = x
    elif record["design"] in ("np5", "np6"):
        inputs = {"images": ["d", "c", "h", "w"]}
        x = "images"
        if record["design"] == "np6":
            inputs["log_twin"] = ["d", 1, "h", "w"]
            centred = graph.add("Sub", "log_twin", graph.constant(np.float32(LOG_TWIN_CENTRE)))
            scaled = graph.add("Div", centred, graph.constant(np.float32(LOG_TWIN_UNIT)))
            x = graph.add("Concat", x, scaled, axis=1)
        logits = graph.convolve("logit", graph.unet(x, widths["levels"], widths["blocks"]))
        if record["design"] == "np6":
            prior = graph.add("Mul", "log_twin", graph.constant(weights["twin.exponent"].reshape(())))
            logits = graph.add("Add", logits, prior)
    else:
        sys.exit(f"np4, np5 and np6 are exported; {record['design']} is not")
    graph.nodes.append(helper.make_node("Identity", [logits], ["logits"]))
    kind = {"cells": TensorProto.INT64}
    given = [helper.make_tensor_value_info(n, kind.get(n, TensorProto.FLOAT), s) for n, s in inputs.items()]
    shape = ["n", 1] if record["design"] == "np4" else ["d", 1, "h", "w"]
    out = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, shape)]
    made = helper.make_graph(graph.nodes, record["design"], given, out, graph.constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    return model


def posterior(logits, calibration, valid):
    """Masked softmax at a temperature, a share spread evenly."""
    scores = np.where(valid, calibration["temperature"] * logits.astype(np.float64), -np.inf)
    mass = np.exp(scores - scores.max())
    mass /= mass.sum()
    return np.where(valid, (1 - calibration["uniform_share"]) * mass + calibration["uniform_share"] / valid.sum(), 0)


def main():
    magnetar, path, dataset, out = sys.argv[1:5]
    rows = int(sys.argv[5]) if len(sys.argv) > 5 else 20
    record, weights = read_model(path)
    onnx.save(export(record, weights), out)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(out, options, providers=["CPUExecutionProvider"])

    def run(*arguments):
        return subprocess.run([magnetar, *arguments], check=True, capture_output=True, text=True).stdout

    with tempfile.TemporaryDirectory() as folder:
        file = lambda name: f"{folder}/{name}"
        limit = ["--split", "test", "--limit", str(rows)]
        run("features", dataset, *limit, "--out", file("features"))
        run("posterior", dataset, *limit, "--all", "--scorer", path, "--out", file("mine.npy"))
        spatial, query = np.load(file("features/spatial.npy")), np.load(file("features/query.npy"))
        mine, twin = np.load(file("mine.npy")), None
        if record["design"] == "np6":
            run("posterior", dataset, *limit, "--all", "--scorer", "twin", "--out", file("twin.npy"))
            twin = np.load(file("twin.npy"))
    times, differences = [], []
    for n in range(len(spatial)):
        headings = query.shape[2]
        plane = mine.shape[2] * mine.shape[3]
        if record["design"] == "np4":
            flat = query[n].reshape(query.shape[1], -1).T
            given = {"field": spatial[n:n + 1], "query": flat.copy(), "cells": np.tile(np.arange(plane), headings)}
        else:
            whole = np.broadcast_to(spatial[n], (headings, *spatial[n].shape))
            given = {"images": np.concatenate([whole, query[n].transpose(1, 0, 2, 3)], 1)}
            if twin is not None:
                given["log_twin"] = np.log(np.maximum(twin[n], LEAST_MASS))[:, None].astype(np.float32)
        begun = time.perf_counter()
        (logits,) = session.run(["logits"], given)
        times.append(1e3 * (time.perf_counter() - begun))
        theirs = posterior(logits.reshape(mine[n].shape), record["calibration"], mine[n] > 0)
        differences.append(0.5 * np.abs(theirs - mine[n]).sum())
    timed = ["--limit", "1", "--replay-limit", "0", "--timed-rows", str(rows), "--threads", "1", "--json"]
    line = json.loads(run("benchmark", "--scorers", path, *timed))["lines"][0]
    print(f"{record['design']}, {len(times)} rows: total variation {max(differences):.2e} at most")
    print(f"  magnetar, row to posterior    {line['time_ms']['mean']:8.2f} ms")
    print(f"  ONNX Runtime, network alone   {np.mean(times):8.2f} ms")
    if max(differences) > 1e-3:
        sys.exit("the posteriors differ")


if __name__ == "__main__":
    main()
