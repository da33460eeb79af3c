"""Transformers through model_transform and model_deploy to numbers on the cmodel, beside onnxruntime's: the parts that
they are made of, at awkward sizes, in every storage type."""

import numpy as np
import onnx
import pytest
from conftest import save_model, weight
from onnx import TensorProto, helper, numpy_helper
from pto_mlir import compiler, npz
from pto_mlir.compare import compare
from pto_mlir.runtime import InferenceSession, InvalidArgument, RuntimeFailure
from pto_mlir.tools import model_deploy, model_transform
from pto_mlir.tools.native import program_output

# Minimum cosine of every tensor, of the outputs.
BOUNDS = {"F32": (0.99999, 0.99999), "F16": (0.999, 0.9995), "BF16": (0.98, 0.99)}
BATCH, TOKENS, WIDTH, HEADS, WORDS = 2, 21, 48, 3, 50


class Graph:
    """Nodes and weights of a model that is built op by op."""

    def __init__(self, seed=0):
        self.rng, self.nodes, self.weights = np.random.default_rng(seed), [], []

    def constant(self, value, dtype=np.float32) -> str:
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(value, dtype), name))
        return name

    def weight(self, *shape, scale=0.1) -> str:
        self.weights.append(weight(self.rng, f"w{len(self.weights)}", *shape, scale=scale))
        return self.weights[-1].name

    def op(self, kind, *inputs, name=None, **attributes) -> str:
        name = name or f"{kind.lower()}.{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=f"{kind}:{name}", **attributes))
        return name

    def linear(self, x, inside, outside) -> str:
        return self.op("Add", self.op("MatMul", x, self.weight(inside, outside)), self.weight(outside))

    def norm(self, x, spelled) -> str:
        scale, bias = self.constant(1 + 0.1 * self.rng.standard_normal(WIDTH)), self.weight(WIDTH)
        if not spelled:
            return self.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-12)
        centred = self.op("Sub", x, self.op("ReduceMean", x, axes=[-1]))
        variance = self.op("ReduceMean", self.op("Pow", centred, self.constant(2)), axes=[-1])
        deviation = self.op("Sqrt", self.op("Add", variance, self.constant(1e-12)))
        return self.op("Add", self.op("Mul", self.op("Div", centred, deviation), scale), bias)

    def attention(self, x, mask) -> str:
        split = self.constant([0, 0, HEADS, WIDTH // HEADS], np.int64)
        q, k, v = (self.op("Reshape", self.linear(x, WIDTH, WIDTH), split) for _ in range(3))
        q, k, v = (
            self.op("Transpose", t, perm=p) for t, p in ((q, [0, 2, 1, 3]), (k, [0, 2, 3, 1]), (v, [0, 2, 1, 3]))
        )
        scores = self.op("Div", self.op("MatMul", q, k), self.constant(np.sqrt(WIDTH // HEADS)))
        scores = self.op("Where", mask, scores, self.constant(-3.4028235e38)) if mask else scores
        mixed = self.op("Transpose", self.op("MatMul", self.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        return self.linear(self.op("Reshape", mixed, self.constant([0, 0, WIDTH], np.int64)), WIDTH, WIDTH)

    def gelu(self, x) -> str:
        erf = self.op("Erf", self.op("Div", x, self.constant(np.sqrt(2))))
        return self.op("Mul", self.op("Mul", x, self.op("Add", erf, self.constant(1))), self.constant(0.5))

    def save(self, path, inputs, outputs):
        info = [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs]
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "g", info, ends, self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))


def encoder(path, batch=BATCH):
    """A sentence embedding: embeddings, one block with a decomposed and one with a named normalisation, masked mean."""
    g = Graph()
    ids, mask = ("ids", TensorProto.INT64, [batch, TOKENS]), ("mask", TensorProto.INT64, [batch, TOKENS])
    x = g.op("Add", g.op("Gather", g.weight(WORDS, WIDTH, scale=1), "ids"), g.weight(1, TOKENS, WIDTH))
    rows = g.op("Unsqueeze", "mask", g.constant([1, 2], np.int64))
    seen = g.op("Cast", rows, to=TensorProto.BOOL)
    for spelled in (True, False):
        x = g.norm(g.op("Add", x, g.attention(x, seen)), spelled)
        x = g.norm(g.op("Add", x, g.linear(g.gelu(g.linear(x, WIDTH, 4 * WIDTH)), 4 * WIDTH, WIDTH)), spelled)
    g.op("Identity", x, name="hidden")
    shape = g.op("Shape", x)
    wide = g.op(
        "Cast", g.op("Expand", g.op("Unsqueeze", "mask", g.constant([-1], np.int64)), shape), to=TensorProto.FLOAT
    )
    axis = g.constant([1], np.int64)
    total, count = g.op("ReduceSum", g.op("Mul", x, wide), axis, keepdims=0), g.op("ReduceSum", wide, axis, keepdims=0)
    g.op("Div", total, g.op("Clip", count, g.constant(1e-9)), name="sentence")
    first = g.op("Gather", x, g.constant(0, np.int64), axis=1)
    g.op("Tanh", g.linear(first, WIDTH, WIDTH), name="pooled")
    g.save(path, [ids, mask], ["hidden", "sentence", "pooled"])
    return encoder_feed(BATCH)


def encoder_feed(batch):
    rng = np.random.default_rng(1)
    lengths = TOKENS - 6 * np.arange(batch) % TOKENS
    return {
        "ids": rng.integers(-WORDS, WORDS, (batch, TOKENS)),
        "mask": (np.arange(TOKENS) < lengths[:, None]).astype(np.int64),
    }


def patches(path):
    """An image classifier: patches, a class token, one block, the token's row."""
    g = Graph(2)
    x = g.op("Conv", "picture", g.weight(WIDTH, 3, 8, 8), g.weight(WIDTH), strides=[8, 8])
    x = g.op("Transpose", g.op("Reshape", x, g.constant([0, 0, -1], np.int64)), perm=[0, 2, 1])
    token = g.op("Expand", g.weight(1, 1, WIDTH), g.constant([BATCH, 1, 1], np.int64))
    x = g.op("Add", g.op("Concat", token, x, axis=1), g.weight(1, 13, WIDTH))
    x = g.op("Add", x, g.attention(g.norm(x, False), None))
    x = g.op("Add", x, g.linear(g.gelu(g.linear(g.norm(x, False), WIDTH, 2 * WIDTH)), 2 * WIDTH, WIDTH))
    g.op("Softmax", g.linear(g.op("Gather", x, g.constant(0, np.int64), axis=1), WIDTH, 10), name="classes", axis=-1)
    g.save(path, [("picture", TensorProto.FLOAT, [BATCH, 3, 24, 32])], ["classes"])
    return {"picture": np.random.default_rng(1).standard_normal((BATCH, 3, 24, 32)).astype(np.float32)}


def cosine(a, b):
    a, b = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


@pytest.mark.parametrize("mode", ["F32", "F16", "BF16"])
@pytest.mark.parametrize("make", [encoder, patches])
def test_against_onnxruntime(command, tmp_path, make, mode):
    feed = make(tmp_path / "m.onnx")
    npz.save(tmp_path / "in.npz", feed)
    code, out, err = command(
        model_transform,
        "--model_name",
        "m",
        "--model_def",
        tmp_path / "m.onnx",
        "--test_input",
        tmp_path / "in.npz",
        "--test_result",
        tmp_path / "ref.npz",
        "--mlir",
        tmp_path / "m.mlir",
    )
    assert code == 0, out + err
    code, out, err = command(
        model_deploy, "--mlir", tmp_path / "m.mlir", "--quantize", mode, "--debug", "--model", tmp_path / "m.pmodel"
    )
    assert code == 0, out + err
    assert "on the host: none" in out
    if make is encoder:
        assert "converted on the host, range checked: ids (i64 as i32), mask (i64 as i32)" in out
        assert ("cut to the range of F16" in out) == (mode == "F16")
    session = InferenceSession(str(tmp_path / "m.pmodel"))
    reference = npz.load(tmp_path / "ref.npz")
    every, outputs = BOUNDS[mode]
    values = session.run_with_debug(feed)
    assert all(values[name].shape == reference[name].shape for name in values if name in reference)
    rows = compare(values, reference)
    assert len(rows) > 20
    worst = min(rows, key=lambda row: row.cosine)
    assert worst.cosine >= every, worst
    for output, value in zip(session.get_outputs(), session.run(None, feed)):
        assert value.shape == reference[output.name].shape and value.dtype == np.float32
        assert cosine(value, reference[output.name]) >= outputs, output.name


def test_each_function_is_one_kernel(command, tmp_path):
    """An attention with its scale and mask, a normalisation with its residual, a gelu: one vector kernel each."""
    feed = encoder(tmp_path / "m.onnx")
    npz.save(tmp_path / "in.npz", feed)
    code, out, err = command(
        model_transform, "--model_name", "m", "--model_def", tmp_path / "m.onnx", "--mlir", tmp_path / "m.mlir"
    )
    assert code == 0, out + err
    code, out, err = command(
        model_deploy, "--mlir", tmp_path / "m.mlir", "--model", tmp_path / "m.pmodel", "--dump_ir", tmp_path / "ir"
    )
    assert code == 0, out + err
    (kernels,) = (tmp_path / "ir").glob("*-kernels.mlir")
    text = kernels.read_text()
    for function, count in (("top.attention", 1), ("math.erf", 1), ("math.sqrt", 3)):
        with_it = [part for part in text.split("func.func private @")[1:] if function in part]
        assert 1 <= len(with_it) <= count, (function, [part.split("(")[0] for part in with_it])


def test_indices_are_checked(command, tmp_path):
    feed = encoder(tmp_path / "m.onnx")
    assert (
        command(
            model_transform, "--model_name", "m", "--model_def", tmp_path / "m.onnx", "--mlir", tmp_path / "m.mlir"
        )[0]
        == 0
    )
    assert command(model_deploy, "--mlir", tmp_path / "m.mlir", "--model", tmp_path / "m.pmodel")[0] == 0
    session = InferenceSession(str(tmp_path / "m.pmodel"))
    assert [i.type for i in session.get_inputs()] == ["tensor(int64)", "tensor(int64)"]
    session.run(None, feed)
    feed["ids"] = feed["ids"].copy()
    feed["ids"][1, 2] = 2**31
    with pytest.raises((RuntimeFailure, InvalidArgument), match="'ids'.*element 23 has the value 2147483648"):
        session.run(None, feed)


@pytest.mark.parametrize("cores", [1, 3])
def test_indices_of_rows(tmp_path, cores):
    # As in ONNX: [-n, n) with negative ones from the end; onnxruntime refuses the rest, and so does the runtime, with
    # name, place and value.
    words = np.random.default_rng(3).standard_normal((9, 20)).astype(np.float32)
    nodes = [
        helper.make_node("Reshape", ["ids", "flat"], ["line"]),
        helper.make_node("Gather", ["words", "line"], ["rows"]),
        helper.make_node("Relu", ["rows"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, [2, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(words, "words"), numpy_helper.from_array(np.array([6]), "flat")],
    )
    onnx_file, mlir, model = tmp_path / "m.onnx", tmp_path / "m.mlir", tmp_path / "m.pmodel"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(onnx_file))
    compiler.transform(str(onnx_file), "m", [], [], str(mlir), "")
    compiler.deploy(str(mlir), str(model), "F32", "a3", cores, False)
    session = InferenceSession(str(model))
    ids = np.array([[0, 8, -1], [-9, 4, -5]])
    assert np.array_equal(session.run(None, {"ids": ids})[0], np.maximum(words[ids.ravel()], 0))
    for wrong in (9, -10, 2**31 - 1, 2**31):
        bad = ids.copy()
        bad[1, 2] = wrong
        text = (
            "narrower"
            if wrong == 2**31
            else rf"input 'ids': element \[1, 2\] is {wrong}, but it names one of 9 rows \(-9 to 8\)"
        )
        with pytest.raises((InvalidArgument, RuntimeFailure), match=text):
            session.run(None, {"ids": bad})
    assert np.array_equal(session.run(None, {"ids": ids})[0], np.maximum(words[ids.ravel()], 0))
    assert "index of 9 rows" in program_output("pmodel_tool", ["--info", str(model)])


@pytest.mark.parametrize("debug", [False, True])
def test_computed_indices(tmp_path, debug):
    # The index is an input and something more. The gather reads the nearest row, and the runtime says after the run
    # which element named none.
    words = np.random.default_rng(4).standard_normal((9, 20)).astype(np.float32)
    nodes = [
        helper.make_node("Add", ["ids", "shift"], ["moved"]),
        helper.make_node("Reshape", ["moved", "flat"], ["line"]),
        helper.make_node("Gather", ["words", "line"], ["rows"]),
        helper.make_node("Relu", ["rows"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, [2, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [
            numpy_helper.from_array(words, "words"),
            numpy_helper.from_array(np.array([6]), "flat"),
            numpy_helper.from_array(np.array(2), "shift"),
        ],
    )
    onnx_file, mlir, model = tmp_path / "m.onnx", tmp_path / "m.mlir", tmp_path / "m.pmodel"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(onnx_file))
    compiler.transform(str(onnx_file), "m", [], [], str(mlir), "")
    compiler.deploy(str(mlir), str(model), "F32", "a3", 2, debug)
    ids = np.array([[0, 6, -1], [-11, 4, -5]])
    for mode in ("functional", "timing"):
        session = InferenceSession(str(model), mode=mode)
        for wrong in (7, -12, 2**31 - 3):
            assert np.array_equal(session.run(None, {"ids": ids})[0], np.maximum(words[ids.ravel() + 2], 0))
            bad = ids.copy()
            bad[1, 2] = wrong
            text = rf"index 'line': element \[5\] is {wrong + 2}, but it names one of 9 rows \(-9 to 8\)"
            with pytest.raises(RuntimeFailure, match=text):
                session.run(None, {"ids": bad})
    assert "line" in session.info()["debug_tensors"]


@pytest.mark.parametrize("factor, scale", [(1e-6, 1), (5e4, 1e-3)])
def test_factors_beyond_the_range_of_f16(factor, scale, tmp_path):
    """Folded into the weights, a factor would leave nothing of them in f16; of a product with it, too."""
    g = Graph(3)
    x = (scale * g.rng.standard_normal((BATCH, TOKENS, WIDTH))).astype(np.float32)
    turned = g.op("Transpose", g.op("MatMul", "x", g.weight(WIDTH, 7, scale=2.0)), perm=[0, 2, 1])
    g.op("Mul", turned, g.constant(factor), name="scaled")
    g.op("Add", "scaled", "beside", name="y")
    beside = (factor * scale * g.rng.standard_normal((BATCH, 7, TOKENS))).astype(np.float32)
    weights = numpy_helper.to_array(g.weights[0]).astype(np.float64)
    exact = (x.astype(np.float64) @ weights).transpose(0, 2, 1) * factor
    save_model(
        tmp_path / "m.onnx",
        g.nodes,
        [("x", x.shape), ("beside", beside.shape)],
        [("scaled", exact.shape), ("y", exact.shape)],
        g.weights,
    )
    compiler.transform(str(tmp_path / "m.onnx"), "m", None, [], str(tmp_path / "m.mlir"), "")
    compiler.deploy(str(tmp_path / "m.mlir"), str(tmp_path / "m.pmodel"), "F16", "a3", 1, False)
    scaled, _ = InferenceSession(str(tmp_path / "m.pmodel")).run(None, {"x": x, "beside": beside})
    assert np.linalg.norm(scaled - exact) < 2e-3 * np.linalg.norm(exact)
