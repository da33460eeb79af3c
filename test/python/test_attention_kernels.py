"""Attention in one kernel: numbers beside float64, in every mode of the simulator and for every number of cores."""

import json

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from attention_reference import attention, module, random_case
from onnx import TensorProto, helper, numpy_helper
from pto_mlir import compiler
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools.native import program_output


def operands(queries, keys, depth, heads=1, shared=1, batch=1, value_depth=0, layout="BNSD", dtype=np.float16, **more):
    """Numbers of a storage type, and the op's attributes: `heads` of `queries` rows share `shared` of `keys` keys."""
    rng = np.random.default_rng(3)

    def tensor(count, rows, columns):
        shape = (batch, count, rows, columns) if layout == "BNSD" else (batch, rows, count * columns)
        return rng.standard_normal(shape).astype(dtype).astype(np.float32)

    feed = {
        "query": tensor(heads, queries, depth),
        "key": tensor(shared, keys, depth),
        "value": tensor(shared, keys, value_depth or depth),
    }
    a = {"scale": depth**-0.5, "q_heads": heads, "kv_heads": shared}
    a |= {f"{name}_layout": layout for name in ("q", "k", "v", "result")}
    for name in ("bias", "lengths", "sinks"):
        if name in more:
            value = np.asarray(more.pop(name))
            feed[name] = value if value.dtype == np.int32 else value.astype(dtype).astype(np.float32)
    return feed, a | more


def noise(*shape):
    """A bias that hides some keys, and all of them from the last row."""
    rng = np.random.default_rng(5)
    bias = np.where(rng.random(shape) < 0.1, -np.inf, rng.standard_normal(shape))
    if len(shape) > 1 and shape[-2] > 1:
        bias[..., -1, :] = -np.inf
    return bias


CASES = {
    "whole tiles": dict(queries=256, keys=512, depth=64),
    "many tiles": dict(queries=128, keys=2048, depth=128),
    "two strips": dict(queries=3700, keys=1100, depth=128, value_depth=72),
    "image": dict(queries=197, keys=197, depth=64, heads=3),
    "shared heads": dict(queries=65, keys=129, depth=64, heads=4, shared=2, batch=2),
    "rows of heads": dict(queries=130, keys=300, depth=80, heads=6, shared=3, layout="BSND"),
    "one row": dict(queries=1, keys=77, depth=64, heads=2, shared=2),
    "a step": dict(queries=1, keys=600, depth=64, heads=12, shared=2, batch=2, layout="BSND", bias=noise(12, 1, 600)),
    "a step of lengths": dict(
        queries=1, keys=300, depth=64, heads=6, shared=3, batch=3, lengths=np.array([300, 0, 77], np.int32), causal=True
    ),
    "some rows": dict(queries=3, keys=600, depth=64, heads=8, shared=2, batch=2, bias=noise(2, 8, 3, 600)),
    "some rows of a mask": dict(queries=4, keys=300, depth=64, heads=6, shared=3, bias=noise(1, 1, 4, 300)),
    "a step in a window": dict(queries=1, keys=300, depth=64, heads=4, shared=2, causal=True, window=(40, -1)),
    "short": dict(queries=3, keys=5, depth=32),
    "wide heads": dict(queries=40, keys=260, depth=256, heads=2),
    "other depth of values": dict(queries=70, keys=300, depth=48, value_depth=96),
    "causal": dict(queries=300, keys=300, depth=64, heads=2, causal=True),
    "causal behind a past": dict(queries=100, keys=700, depth=64, causal=True),
    "first rows without keys": dict(queries=100, keys=60, depth=64, causal=True),
    "window": dict(queries=300, keys=900, depth=32, window=(70, 20)),
    "bias": dict(queries=100, keys=300, depth=64, heads=2, batch=2, bias=noise(2, 1, 100, 300)),
    "bias of keys": dict(queries=100, keys=300, depth=64, heads=2, batch=2, bias=noise(2, 1, 1, 300)),
    "softcap and sinks": dict(queries=40, keys=300, depth=64, heads=2, softcap=5.0, sinks=[0.5, -1.0]),
    "great sinks": dict(queries=200, keys=300, depth=64, heads=2, sinks=[6.0, 5.0]),
    "lengths": dict(
        queries=40, keys=600, depth=64, batch=4, lengths=np.array([600, 0, 257, 31], np.int32), causal=True
    ),
}


def deploy(folder, feed, a, quantize="F16", cores=2, processor="a3", debug=False, way="together"):
    (folder / "m.mlir").write_text(module(feed, a, attention(feed, a).shape, way))
    compiler.deploy(str(folder / "m.mlir"), str(folder / "m.pmodel"), quantize, processor, cores, debug)
    return folder / "m.pmodel"


def run(model, feed, mode="functional"):
    return InferenceSession(str(model), mode=mode).run(["y"], feed)[0]


def mixed_kernels(model):
    """How many kernels have streams of both kinds of core."""
    made = json.loads(program_output("pmodel_tool", ["--print", str(model)]))["kernels"]
    return [{stream["core_kind"] for stream in kernel["streams"]} for kernel in made].count({"AIC", "AIV"})


def has_attention_kernel(model):
    """One launch takes Q, K, V and the slots of three rings."""
    made = json.loads(program_output("pmodel_tool", ["--print", str(model)]))["kernels"]
    return any(kernel["num_args"] == 7 for kernel in made)


@pytest.mark.parametrize("quantize, dtype, most", [("F16", np.float16, 2e-3), ("F32", np.float32, 2e-6)])
@pytest.mark.parametrize("name", CASES)
def test_numbers_and_bits(tmp_path, name, quantize, dtype, most):
    feed, a = operands(**CASES[name], dtype=dtype)
    results = []
    for cores in (1, 2, 24):
        model = deploy(tmp_path, feed, a, quantize, cores)
        assert mixed_kernels(model) == 1
        results.append(run(model, feed))
    np.testing.assert_allclose(results[0], attention(feed, a), atol=most)
    assert all(np.array_equal(results[0], other) for other in results[1:])


@pytest.mark.parametrize("name", CASES)
def test_every_mode_agrees(tmp_path, name):
    feed, a = operands(**CASES[name])
    model = deploy(tmp_path, feed, a)
    expected = run(model, feed)
    for mode in ("checked", "shuffled:5", "timing"):
        assert np.array_equal(run(model, feed, mode), expected), mode


def test_halves_without_rows_read_what_there_is(tmp_path):
    """The second strip of the last unit has 41 rows, fewer than three halves; its block has no other unit, so that
    nothing was written where the fourth half's rows would be."""
    feed, a = operands(queries=3073, keys=300, depth=64)
    model = deploy(tmp_path, feed, a, cores=24)
    np.testing.assert_allclose(run(model, feed, "checked"), attention(feed, a), atol=2e-3)


def test_halves_without_rows_read_no_bias_behind_the_last(tmp_path):
    """As above: the last row of the bias stands at the end of its tensor."""
    feed, a = operands(queries=1025, keys=127, depth=32, heads=3, value_depth=72, bias=noise(3, 1025, 127))
    model = deploy(tmp_path, feed, a, "F32", cores=24)
    np.testing.assert_allclose(run(model, feed, "checked"), attention(feed, a), atol=1e-5)


@pytest.mark.parametrize("quantize, dtype, most", [("F16", np.float16, 5e-3), ("F32", np.float32, 1e-5)])
@pytest.mark.parametrize("processor", ["a3", "a5"])
def test_random_cases(tmp_path, processor, quantize, dtype, most):
    """Any mixture of layouts and options; a bias with one column and a few narrow ones have no kernel."""
    kernels = 0
    for seed in range(100, 130):
        feed, a = random_case(seed)
        feed = {n: v.astype(dtype).astype(np.float32) if v.dtype == np.float32 else v for n, v in feed.items()}
        model = deploy(tmp_path, feed, a, quantize, 3, processor)
        made = mixed_kernels(model)
        kernels += made
        got = run(model, feed, "checked" if made else "functional")
        np.testing.assert_allclose(got, attention(feed, a), atol=most, err_msg=f"seed {seed}: {a}")
    assert kernels >= 20


@pytest.mark.parametrize("processor", ["a3", "a5"])
def test_bf16(tmp_path, processor):
    feed, a = operands(**CASES["shared heads"], dtype=np.float32)
    feed = {name: (x.view(np.uint32) & 0xFFFF0000).view(np.float32) for name, x in feed.items()}
    model = deploy(tmp_path, feed, a, "BF16", processor=processor)
    assert mixed_kernels(model) == 1
    np.testing.assert_allclose(run(model, feed, "checked"), attention(feed, a), atol=8e-3)


def test_great_scores_do_not_overflow(tmp_path):
    """Scores of some hundreds, the greatest of them late: the running maximum rescales what came before."""
    feed, a = operands(**CASES["many tiles"])
    feed["key"] = (feed["key"] * np.linspace(0, 30, 2048)[:, None]).astype(np.float16).astype(np.float32)
    np.testing.assert_allclose(run(deploy(tmp_path, feed, a), feed), attention(feed, a), atol=4e-3)


@pytest.mark.parametrize("name", ["many tiles", "image", "causal", "bias of keys"])
def test_error_is_that_of_separate_kernels(tmp_path, name):
    """The error to float64 is at most 1.2 times that of products and a softmax apart, which a debug build makes."""
    feed, a = operands(**CASES[name])
    wanted = attention(feed, a)
    errors = []
    for debug in (False, True):
        model = deploy(tmp_path, feed, a, debug=debug)
        assert mixed_kernels(model) == (0 if debug else 1)
        errors.append(float(np.sqrt(np.mean((run(model, feed) - wanted) ** 2))))
    print(f"{name}: {errors[0]:.2e} in one kernel, {errors[1]:.2e} apart")
    assert errors[0] <= 1.2 * errors[1]


# The way that timing mode says is faster, and by how much (benchmarks/silicon/decode.py).
CHOICES = {
    "one head of K and V": (dict(queries=1, keys=4096, depth=128, heads=8), "apart"),  # 18.2 us and 7.5 us
    "few heads": (dict(queries=4, keys=2048, depth=64, heads=8), "apart"),
    "many rows": (dict(queries=16, keys=4096, depth=64, heads=32), "together"),  # 15.2 us and 26.4 us
    "an encoder": (dict(queries=128, keys=128, depth=32, heads=12, shared=12), "together"),  # 3.1 us and 4.3 us
}


@pytest.mark.parametrize("name", CHOICES)
def test_the_estimate_chooses(tmp_path, name):
    case, way = CHOICES[name]
    feed, a = operands(**case)
    results = []
    for cores in (1, 2, 24):
        model = deploy(tmp_path, feed, a, cores=cores, way="")
        results.append(run(model, feed))
    assert has_attention_kernel(model) == (way == "together")
    np.testing.assert_allclose(results[0], attention(feed, a), atol=2e-3)
    assert all(np.array_equal(results[0], other) for other in results[1:])


def test_operands_may_be_one_tensor(tmp_path):
    feed, a = operands(197, 197, 64, heads=3, shared=3)
    text = module(feed, a, attention(feed, a).shape).replace("%query, %key, %value {", "%query, %query, %query {", 1)
    (tmp_path / "m.mlir").write_text(text.replace("%query, %key, %value  {", "%query, %query, %query {", 1))
    compiler.deploy(str(tmp_path / "m.mlir"), str(tmp_path / "m.pmodel"), "F16", "a3", 2, False)
    assert mixed_kernels(tmp_path / "m.pmodel") == 1
    same = dict.fromkeys(feed, feed["query"])
    np.testing.assert_allclose(run(tmp_path / "m.pmodel", feed, "checked"), attention(same, a), atol=2e-3)


def test_few_launches(tmp_path):
    """The kernel, and casts of what enters."""
    feed, a = operands(**CASES["image"])
    model = deploy(tmp_path, feed, a)
    made = json.loads(program_output("pmodel_tool", ["--print", str(model)]))["kernels"]
    assert sum(kernel["num_args"] == 7 for kernel in made) == 1 and len(made) <= 4


def projected(batch, length, heads, depth, other_keys=False):
    """An attention whose queries, keys and values three products make of one tensor, or keys and values of another."""
    rng = np.random.default_rng(11)
    width = heads * depth
    values = {f"w{n}": rng.standard_normal((width, width)).astype(np.float32) / width**0.5 for n in "qkv"}
    values |= {f"b{n}": rng.standard_normal(width).astype(np.float32) for n in "qkv"}
    source = {"q": "x", "k": "z" if other_keys else "x", "v": "z" if other_keys else "x"}
    nodes = [helper.make_node("MatMul", [source[n], f"w{n}"], [f"{n}0"]) for n in "qkv"]
    nodes += [helper.make_node("Add", [f"{n}0", f"b{n}"], [n]) for n in "qkv"]
    nodes.append(helper.make_node("Attention", ["q", "k", "v"], ["y"], q_num_heads=heads, kv_num_heads=heads))
    feed = {"x": rng.standard_normal((batch, length, width)).astype(np.float32)}
    if other_keys:
        feed["z"] = rng.standard_normal((batch, length + 7, width)).astype(np.float32)
    info = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)  # noqa: E731
    inputs, output = [info(n, x.shape) for n, x in feed.items()], info("y", feed["x"].shape)
    weights = [numpy_helper.from_array(x, n) for n, x in values.items()]
    graph = helper.make_graph(nodes, "g", inputs, [output], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10), feed


@pytest.mark.parametrize("other_keys, products", [(False, 1), (True, 2)])
@pytest.mark.parametrize("quantize, most", [("F16", 2e-2), ("F32", 1e-5)])
def test_projections_of_one_tensor_are_one_product(tmp_path, quantize, most, other_keys, products):
    model, feed = projected(2, 50, 3, 32, other_keys)
    onnx.save(model, tmp_path / "m.onnx")
    (wanted,) = ort.InferenceSession(str(tmp_path / "m.onnx")).run(None, feed)
    compiler.transform(str(tmp_path / "m.onnx"), "m", None, [], str(tmp_path / "m.mlir"), "")
    results = []
    for cores in (1, 2, 24):
        compiler.deploy(str(tmp_path / "m.mlir"), str(tmp_path / "m.pmodel"), quantize, "a3", cores, False)
        made = json.loads(program_output("pmodel_tool", ["--print", str(tmp_path / "m.pmodel")]))["kernels"]
        cube = [k["name"] for k in made if "AIC" in {stream["core_kind"] for stream in k["streams"]}]
        session = InferenceSession(str(tmp_path / "m.pmodel"), mode="timing", trace=True)
        session.run(["y"], feed)
        # The products, of which some have their operand made by vector cores, and the attention.
        assert sum(k["launches"] for k in session.profile_kernels() if k["name"] in cube) == products + 1
        results.append(run(tmp_path / "m.pmodel", feed, "checked" if cores == 2 else "functional"))
    np.testing.assert_allclose(results[0], wanted, atol=most)
    assert all(np.array_equal(results[0], other) for other in results[1:])


def windows(batch, windows, heads, length, depth):
    """The attention of windows of an image with a learnt bias of each head, whose batch has two dimensions."""
    rng = np.random.default_rng(12)
    width = heads * depth
    values = {"bias": rng.standard_normal((1, heads, length, length)).astype(np.float32)}
    values |= {f"w{n}": rng.standard_normal((width, width)).astype(np.float32) / width**0.5 for n in "qkvo"}
    values |= {"split": np.array([batch, windows, length, heads, depth])}
    values |= {"merged": np.array([batch, windows, length, width])}
    values |= {"scale": np.array(depth**-0.5, np.float32)}
    nodes = []
    for n in "qkv":
        nodes.append(helper.make_node("MatMul", ["x", f"w{n}"], [f"{n}0"]))
        nodes.append(helper.make_node("Reshape", [f"{n}0", "split"], [f"{n}1"]))
        nodes.append(
            helper.make_node("Transpose", [f"{n}1"], [n], perm=[0, 1, 3, 4, 2] if n == "k" else [0, 1, 3, 2, 4])
        )
    nodes += [
        helper.make_node("Mul", ["q", "scale"], ["scaled"]),
        helper.make_node("MatMul", ["scaled", "k"], ["scores"]),
        helper.make_node("Add", ["scores", "bias"], ["biased"]),
        helper.make_node("Softmax", ["biased"], ["weights"], axis=-1),
        helper.make_node("MatMul", ["weights", "v"], ["sums"]),
        helper.make_node("Transpose", ["sums"], ["rows"], perm=[0, 1, 3, 2, 4]),
        helper.make_node("Reshape", ["rows", "merged"], ["joined"]),
        helper.make_node("MatMul", ["joined", "wo"], ["y"]),
    ]
    feed = {"x": rng.standard_normal((batch, windows, length, width)).astype(np.float32)}
    info = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, feed["x"].shape)  # noqa: E731
    weights = [numpy_helper.from_array(x, n) for n, x in values.items()]
    graph = helper.make_graph(nodes, "g", [info("x")], [info("y")], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), feed


@pytest.mark.parametrize("batch, count, heads", [(1, 4, 2), (3, 4, 2), (2, 2, 4)])
@pytest.mark.parametrize("quantize, most", [("F16", 5e-3), ("BF16", 5e-2), ("F32", 1e-5)])
def test_windows_with_a_bias_are_one_kernel(tmp_path, quantize, most, batch, count, heads):
    """Their constant bias is of the type of the scores, and no permute of heads is a launch."""
    model, feed = windows(batch, count, heads, 49, 32)
    onnx.save(model, tmp_path / "m.onnx")
    (wanted,) = ort.InferenceSession(str(tmp_path / "m.onnx")).run(None, feed)
    compiler.transform(str(tmp_path / "m.onnx"), "m", None, [], str(tmp_path / "m.mlir"), "")
    compiler.deploy(str(tmp_path / "m.mlir"), str(tmp_path / "m.pmodel"), quantize, "a3", 24, False)
    made = json.loads(program_output("pmodel_tool", ["--print", str(tmp_path / "m.pmodel")]))["kernels"]
    assert len(made) == 3  # the product of Q, K and V, the attention, and the product behind it
    np.testing.assert_allclose(run(tmp_path / "m.pmodel", feed, "checked"), wanted, atol=most)
