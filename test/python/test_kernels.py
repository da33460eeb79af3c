"""Kernels of users for operators of a model: model_transform --kernels. Numbers against float64."""
# ruff: noqa: F811 (the fixture convert)

import numpy as np
import pytest
from kernel_models import EVERYWHERE, KERNELS, convert, info, node, save  # noqa: F401
from onnx import TensorProto, helper
from pto_mlir.tools import model_deploy, model_transform
from random_numbers import numbers


def rms_norm(x, g, epsilon):
    x = x.astype(np.float64)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * g


def attend(q, k, v, scale):
    scores = q.astype(np.float64) @ k.astype(np.float64).T * scale
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


@pytest.mark.parametrize(("processor", "blocks"), EVERYWHERE)
@pytest.mark.parametrize("quantize", ["F32", "F16"])
def test_between_operators_of_the_trunk(tmp_path, convert, processor, blocks, quantize):
    """Values around the kernel are narrow in F16; the kernel computes in the type that it is written for."""
    nodes = [
        helper.make_node("Add", ["x", "x"], ["t"]),
        node("RMSNorm", "t g", "y", epsilon=1e-5),
        helper.make_node("Relu", ["y"], ["z"]),
    ]
    gamma = np.linspace(0.5, 2, 64, dtype=np.float32).reshape(1, 64)
    model = save(tmp_path, nodes, [info("x", [40, 64])], [info("z", [40, 64])], {"g": gamma})
    x = numbers(40, 64)
    (got,) = convert(model, processor, blocks, quantize).run(None, {"x": x})
    expected = np.maximum(rms_norm(2 * x, gamma, 1e-5), 0)
    np.testing.assert_allclose(got, expected, rtol=2e-6 if quantize == "F32" else 2e-3, atol=1e-5)


@pytest.mark.parametrize(("processor", "blocks"), EVERYWHERE)
@pytest.mark.parametrize("read", ["sd", "s", "d"])
def test_results_that_nothing_reads(tmp_path, convert, processor, blocks, read):
    nodes = [node("AddSub", "a b", "s d"), helper.make_node("Mul", [read[0], read[-1]], ["z"])]
    model = save(tmp_path, nodes, [info("a", [16, 32]), info("b", [16, 32])], [info("z", [16, 32])])
    a, b = numbers(16, 32), numbers(16, 32, seed=1)
    (got,) = convert(model, processor, blocks).run(None, {"a": a, "b": b})
    parts = {"s": a + b, "d": a - b}
    np.testing.assert_array_equal(got, parts[read[0]] * parts[read[-1]])


@pytest.mark.parametrize(("processor", "blocks"), EVERYWHERE)
def test_several_launches(tmp_path, convert, processor, blocks):
    """Products and a softmax: the scores lie in memory between the launches."""
    model = save(
        tmp_path,
        [node("Attention", "q k v", "z", scale=0.125)],
        [info(name, [32, 64]) for name in "qk"] + [info("v", [32, 16])],
        [info("z", [32, 16])],
    )
    q, k, v = numbers(32, 64), numbers(32, 64, seed=1), numbers(32, 16, seed=2)
    (got,) = convert(model, processor, blocks).run(None, {"q": q, "k": k, "v": v})
    np.testing.assert_allclose(got, attend(q, k, v, 0.125), rtol=1e-4, atol=1e-5)


def rotate(x, cos, sin):
    a, b = np.split(x.astype(np.float64), 2, -1)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


@pytest.mark.parametrize(("processor", "blocks"), EVERYWHERE)
def test_a_decoder_block(tmp_path, convert, processor, blocks):
    """Norm, rotary embedding and attention are PyPTO, products, the gate and residuals the trunk's."""
    length, width = 32, 64
    rng = np.random.default_rng(3)
    weights = {f"w{name}": (rng.standard_normal((width, width)) / 8).astype(np.float32) for name in "qkvo"}
    weights |= {"wg": numbers(width, 128, seed=4) / 8, "wd": numbers(128, width, seed=5) / 11}
    weights |= {"g1": rng.random((1, width), np.float32), "g2": rng.random((1, width), np.float32)}
    angle = np.arange(length)[:, None] / 10 ** np.linspace(0, 2, width // 2)
    weights |= {"cos": np.cos(angle).astype(np.float32), "sin": np.sin(angle).astype(np.float32)}
    product = lambda a, b, c: helper.make_node("MatMul", [a, b], [c])  # noqa: E731
    nodes = [
        node("RMSNorm", "x g1", "n", epsilon=1e-6),
        *(product("n", f"w{name}", name) for name in "qkv"),
        node("Rotary", "q cos sin", "rq"),
        node("Rotary", "k cos sin", "rk"),
        node("Attention", "rq rk v", "a", scale=width**-0.5),
        product("a", "wo", "o"),
        helper.make_node("Add", ["x", "o"], ["h"]),
        node("RMSNorm", "h g2", "m", epsilon=1e-6),
        product("m", "wg", "g"),
        helper.make_node("Sigmoid", ["g"], ["sg"]),
        helper.make_node("Mul", ["g", "sg"], ["u"]),
        product("u", "wd", "e"),
        helper.make_node("Add", ["h", "e"], ["z"]),
    ]
    model = save(tmp_path, nodes, [info("x", [length, width])], [info("z", [length, width])], weights)
    x = numbers(length, width, seed=6)
    (got,) = convert(model, processor, blocks).run(None, {"x": x})
    w = {name: array.astype(np.float64) for name, array in weights.items()}
    n = rms_norm(x, w["g1"], 1e-6)
    q, k = (rotate(n @ w[name], w["cos"], w["sin"]) for name in ("wq", "wk"))
    h = x + attend(q, k, n @ w["wv"], width**-0.5) @ w["wo"]
    g = rms_norm(h, w["g2"], 1e-6) @ w["wg"]
    np.testing.assert_allclose(got, h + g / (1 + np.exp(-g)) @ w["wd"], rtol=1e-4, atol=2e-5)


def test_equal_calls_share_a_kernel(tmp_path, command):
    nodes = [node("Twice", f"t{i}", f"t{i + 1}") for i in range(6)]
    model = save(tmp_path, nodes, [info("t0", [16, 32])], [info("t6", [16, 32])])
    mlir = model.with_suffix(".mlir")
    code, out, err = command(
        model_transform, "--model_name", "m", "--model_def", model, "--mlir", mlir, "--kernels", KERNELS
    )
    assert code == 0, out + err
    code, out, err = command(model_deploy, "--mlir", mlir, "--quantize", "F32", "--model", model.with_suffix(".pmodel"))
    assert code == 0 and "1 kernels (6 launches)" in out, out + err


def test_integers_reach_a_kernel_as_i32(tmp_path, convert):
    model = save(
        tmp_path,
        [node("Twice", "i", "z")],
        [info("i", [8, 16], TensorProto.INT64)],
        [info("z", [8, 16], TensorProto.INT32)],
    )
    i = np.arange(-64, 64).reshape(8, 16)
    (got,) = convert(model).run(None, {"i": i})
    np.testing.assert_array_equal(got, 2 * i)


def test_a_kernel_takes_the_place_of_an_operator_and_of_a_function(tmp_path, convert):
    """A function of the model, as exporters write a module, is a named part of the graph."""
    body = [helper.make_node("Neg", ["i"], ["out"])]
    function = helper.make_function("example", "Twice", ["i"], ["out"], body, [helper.make_opsetid("", 20)])
    model = save(tmp_path, [node("Twice", "x", "z")], [info("x", [8, 16])], [info("z", [8, 16])], functions=[function])
    x = numbers(8, 16)
    np.testing.assert_array_equal(convert(model).run(None, {"x": x})[0], 2 * x)
    mine = tmp_path / "mine.py"
    mine.write_text(KERNELS.read_text().replace('"example::Twice"', '"::Neg"'))
    model = save(tmp_path, [helper.make_node("Neg", ["x"], ["z"])], [info("x", [8, 16])], [info("z", [8, 16])])
    np.testing.assert_array_equal(convert(model, kernels=mine).run(None, {"x": x})[0], 2 * x)


TEXT = """module {
  func.func @scale(%in: !pto.ptr<f32>, %out: !pto.ptr<f32>) attributes {
      pto.op = "example::Scale", pto.op_types = (tensor<16x64xf32>) -> tensor<16x64xf32>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %three = arith.constant 3.0 : f32
    %t = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
    %a = pto.make_tensor_view %in, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %b = pto.make_tensor_view %out, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %pa = pto.partition_view %a, offsets = [%c0, %c0], sizes = [%c16, %c64] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x64xf32>
    %pb = pto.partition_view %b, offsets = [%c0, %c0], sizes = [%c16, %c64] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x64xf32>
    pto.tload ins(%pa : !pto.partition_tensor_view<16x64xf32>) outs(%t : !pto.tile_buf<vec, 16x64xf32>)
    pto.tmuls ins(%t, %three : !pto.tile_buf<vec, 16x64xf32>, f32) outs(%t : !pto.tile_buf<vec, 16x64xf32>)
    pto.tstore ins(%t : !pto.tile_buf<vec, 16x64xf32>) outs(%pb : !pto.partition_tensor_view<16x64xf32>)
    return
  }
}
"""  # noqa: E501


FOR_A5 = 'attributes {pto.target_arch = "a5"}'
IN_PLACE = """t = pl.load(x, [0, 0], [16, 64])
        pl.store(t, [0, 0], x)
        pl.store(t, [0, 0], out)"""


def scaled(folder, shape):
    return save(folder, [node("Scale", "x", "z")], [info("x", shape)], [info("z", shape)])


@pytest.mark.parametrize(("processor", "blocks"), EVERYWHERE)
def test_a_hand_written_kernel(tmp_path, convert, processor, blocks):
    (tmp_path / "k.pto").write_text(TEXT)
    x = numbers(16, 64)
    (got,) = convert(scaled(tmp_path, [16, 64]), processor, blocks, kernels=tmp_path / "k.pto").run(None, {"x": x})
    np.testing.assert_array_equal(got, 3 * x)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text.replace("module {", f"module {FOR_A5} {{"), "written for a5, not for a3"),
        (lambda text: text.replace('pto.op = "example::Scale", ', ""), "has no function with pto.op"),
        (lambda text: text.replace("-> tensor<16x64xf32>}", "-> ()}"), "expects a pointer for each operand and result"),
        (lambda text: text.replace("pto.op_types = (tensor<16x64xf32>)", "pto.op_types = (f32)"), "k.pto:2:"),
        (lambda text: text.replace("pto.tmuls ins(%t", "pto.tmuls ins(%q"), "k.pto:15:19:"),
        (lambda text: text.replace("tensor<16x64xf32>", "tensor<8x64xf32>"), "takes 8x64xf32, not 16x64xf32"),
        (lambda text: text[:-30], "k.pto:"),
        (lambda text: "", "has no function with pto.op"),
    ],
)  # fmt: skip
def test_wrong_texts(tmp_path, convert, change, says):
    (tmp_path / "k.pto").write_text(change(TEXT))
    assert says in convert(scaled(tmp_path, [16, 64]), kernels=tmp_path / "k.pto", session=False)


HEAD = "import pypto.language as pl\nfrom pto_mlir.kernels import TensorSpec, implements\n"
BODY = """@implements("example::Scale"{outputs})
@pl.jit
def scale({parameters}):
    with pl.at(level=pl.Level.CORE_GROUP):
        {body}
    return out
"""


def program(parameters="x: pl.Tensor, out: pl.Out[pl.Tensor]", outputs="", body=None):
    body = body or "out = pl.store(pl.load(x, [0, 0], [16, 64]), [0, 0], out)"
    return HEAD + BODY.format(parameters=parameters, outputs=outputs, body=body)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HEAD, "has no function under @implements"),
        (HEAD + "1 +\n", "SyntaxError"),
        (HEAD + "import nowhere\n", "No module named 'nowhere'"),
        (HEAD + '@implements("Scale")\ndef f(x): pass\n', "expects DOMAIN::OPERATOR"),
        (HEAD + '@implements("example::Scale")\ndef f(x): pass\n', "expects a function of @pl.jit"),
        (program() + program()[len(HEAD) :], "there is a kernel for it already"),
        (program("x: pl.Tensor, y: pl.Tensor, out: pl.Out[pl.Tensor]"), "scale takes x, y, out; the node has 1 inputs"),
        (program(outputs=", outputs=lambda x: [x.shap]"), "AttributeError"),
        (program(outputs=", outputs=lambda x: [3]"), "expects TensorSpec"),
        (program(body="out = pl.store(pl.no_such(x), [0, 0], out)"), "mine.py:7:24:"),
        (program("x: pl.InOut[pl.Tensor], out: pl.Out[pl.Tensor]", body=IN_PLACE), "it reads and writes one tensor"),
    ],
)  # fmt: skip
def test_wrong_programs(tmp_path, convert, text, says):
    (tmp_path / "mine.py").write_text(text)
    assert says in convert(scaled(tmp_path, [16, 64]), kernels=tmp_path / "mine.py", session=False)


def test_what_a_kernel_writes_beyond_its_result_is_refused(tmp_path, convert):
    (tmp_path / "mine.py").write_text(program(outputs=", outputs=lambda x: [TensorSpec((8, 64), x.dtype)]"))
    model = save(tmp_path, [node("Scale", "x", "z")], [info("x", [16, 64])], [info("z", [8, 64])])
    error = convert(model, kernels=tmp_path / "mine.py", session=False)
    assert "mine.py:7:15" in error and "the window is not inside of the tensor: 0 + 16 of 8 on axis 0" in error, error


def test_wrong_files_and_nodes(tmp_path, convert, command):
    model = scaled(tmp_path, [16, 64])
    assert "there is no file" in convert(model, kernels=tmp_path / "none.py", session=False)
    (tmp_path / "k.txt").write_text("")
    assert "expects a .py or a .pto" in convert(model, kernels=tmp_path / "k.txt", session=False)
    assert "node of output 'z' (example.Scale, opset 1): is not supported" in convert(model, session=False)
    mlir = tmp_path / "m.mlir"
    given = ["--model_def", model, "--mlir", mlir, "--kernels", KERNELS, "--test_input", tmp_path / "x.npz"]
    code, _, err = command(model_transform, "--model_name", "m", *given)
    assert code == 1 and "onnxruntime, which has no operators of --kernels" in err
    model = save(tmp_path, [node("Twice", "x", "z", n=3)], [info("x", [8, 16])], [info("z", [8, 16])])
    assert "no parameter for the attribute n" in convert(model, session=False)
    double = info("x", [8, 16], TensorProto.DOUBLE), info("z", [8, 16], TensorProto.DOUBLE)
    model = save(tmp_path, [node("Twice", "x", "z")], [double[0]], [double[1]])
    assert "kernels take f32, f16, bf16, i32 and i16" in convert(model, session=False)
    model = save(tmp_path, [node("Twice", "x", "z y")], [info("x", [8, 16])], [info("z", [8, 16]), info("y", [8, 16])])
    assert "its kernel has 1 results, the node 2" in convert(model, session=False)
