"""Bad input: one clear line, the right exit code, no output file."""

import json

import numpy as np
import onnx
import pytest
from conftest import one_line, save_model, weight
from onnx import helper
from pto_mlir import npz
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools import model_deploy, model_runner, model_transform
from pto_mlir.tools.native import program_output


@pytest.fixture
def transform(command, tmp_path):
    def run(model, *more, shapes="[[1,3,8,8]]"):
        mlir = tmp_path / "out.mlir"
        code, out, err = command(
            model_transform, "--model_name", "m", "--model_def", model, "--input_shapes", shapes, "--mlir", mlir, *more
        )
        left = [p.name for p in tmp_path.iterdir() if p.name.startswith("out") or p.suffix in (".tmp", ".safetensors")]
        assert code == 0 or not left, left
        return code, err

    return run


def test_good_input_passes(transform, small):
    assert transform(small)[0] == 0


@pytest.mark.parametrize("part", [0.3, 0.9])
def test_truncated_onnx(transform, small, tmp_path, part):
    data = small.read_bytes()
    cut = tmp_path / "cut.onnx"
    cut.write_bytes(data[: int(len(data) * part)])
    code, err = transform(cut)
    assert code == 1
    one_line(err, "cut.onnx")


@pytest.mark.parametrize("content", [b"", b"this is a text file\n" * 50, bytes(range(256)) * 16])
def test_no_onnx_at_all(transform, tmp_path, content):
    file = tmp_path / "text.onnx"
    file.write_bytes(content)
    code, err = transform(file)
    assert code == 1
    one_line(err, "text.onnx")


def test_missing_file(transform, tmp_path):
    code, err = transform(tmp_path / "absent.onnx")
    assert code == 1
    one_line(err, "absent.onnx", "no such file")


def test_custom_domain_and_unknown_op_in_one_list(transform, tmp_path):
    nodes = [
        helper.make_node("Mystery", ["x"], ["a"], name="one", domain="com.example"),
        helper.make_node("NoSuchOp", ["a"], ["y"], name="two"),
    ]
    file = save_model(tmp_path / "custom.onnx", nodes, [("x", [1, 3, 8, 8])], [("y", [1, 3, 8, 8])], [])
    model = onnx.load(str(file))
    model.opset_import.append(helper.make_opsetid("com.example", 1))
    onnx.save(model, str(file))
    code, err = transform(file)
    assert code == 1
    for word in ("Mystery", "com.example", "one", "NoSuchOp", "two"):
        assert word in err, err


@pytest.mark.parametrize("shapes", ["[[1,5,8,8]]", "[[1,3,8]]", "[[1,3,8,8],[1]]"])
def test_wrong_shapes(transform, small, shapes):
    code, err = transform(small, shapes=shapes)
    assert code == 1
    one_line(err)


@pytest.mark.parametrize(
    "shapes",
    [
        "[[1,3,8",
        "1,3,8,8",
        "[[1,3,-8,8]]",
        "[[1,0,8,8]]",
        "[[1,3.5,8,8]]",
        "[]",
        "[1,3]",
        "__import__('os').system('touch evaluated')",
        "[[True,3,8,8]]",
    ],
)
def test_shapes_are_parsed_not_evaluated(transform, small, shapes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, err = transform(small, shapes=shapes)
    assert code == 1
    one_line(err, "--input_shapes")
    assert not (tmp_path / "evaluated").exists()


def test_misspelt_option_is_usage(transform, small):
    code, err = transform(small, "--test_inputs", "x.npz")
    assert code == 2
    assert "--test_input" in err


def test_abbreviated_option_is_usage(transform, small):
    assert transform(small, "--toleranc", "0.9,0.9")[0] == 2


def test_mismatched_channels(transform, tmp_path):
    rng = np.random.default_rng(0)
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], name="odd_one")]
    file = save_model(
        tmp_path / "odd.onnx", nodes, [("x", [1, 3, 8, 8])], [("y", None)], [weight(rng, "w", 4, 5, 3, 3)]
    )
    code, err = transform(file)
    assert code == 1
    one_line(err, "odd_one", "3", "5")


def test_dynamic_model_without_shapes(command, tmp_path):
    file = save_model(
        tmp_path / "dynamic.onnx",
        [helper.make_node("Relu", ["x"], ["y"])],
        [("x", ["n", 3, None, 8])],
        [("y", None)],
        [],
    )
    code, _, err = command(model_transform, "--model_name", "m", "--model_def", file, "--mlir", tmp_path / "out.mlir")
    assert code == 1
    one_line(err, "'x'", "[?, 3, ?, 8]", "--input_shapes")


def test_division_by_a_constant_zero(transform, tmp_path):
    zero = onnx.numpy_helper.from_array(np.array([2, 0], np.int64), "zero")
    nodes = [
        helper.make_node("Cast", ["x"], ["i"], to=onnx.TensorProto.INT64),
        helper.make_node("Div", ["i", "zero"], ["y"], name="quotient"),
    ]
    file = save_model(tmp_path / "div.onnx", nodes, [("x", [1, 2])], [("y", None)], [zero])
    code, err = transform(file, shapes="[[1,2]]")
    assert code == 1
    one_line(err, "quotient", "0")


def test_every_problem_at_once(transform, tmp_path):
    rng = np.random.default_rng(0)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="odd_channels"),
        helper.make_node("ConvTranspose", ["x", "w"], ["b"], name="odd_transposed"),
        helper.make_node("Resize", ["x"], ["c"], name="no_sizes"),
        helper.make_node("MaxPool", ["x"], ["d"], name="large_kernel", kernel_shape=[11, 2]),
        helper.make_node("NoSuchOp", ["a"], ["e"], name="unknown"),
        helper.make_node("Sum", ["a", "b", "c", "d", "e"], ["y"], name="innocent"),
    ]
    file = save_model(
        tmp_path / "many.onnx", nodes, [("x", [1, 3, 8, 8])], [("y", None)], [weight(rng, "w", 4, 5, 3, 3)], opset=13
    )
    code, err = transform(file)
    assert code == 1 and "Traceback" not in err
    lines = [line for line in err.splitlines() if "node '" in line]
    assert len(lines) == 5, err
    for name, reason in (
        ("odd_channels", "3 channels"),
        ("odd_transposed", "3 channels"),
        ("no_sizes", "needs scales or sizes"),
        ("large_kernel", "does not fit"),
        ("unknown", "not supported"),
    ):
        assert any(name in line and reason in line for line in lines), (name, err)


def test_zero_channels(transform, tmp_path):
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], name="empty_one")]
    file = save_model(
        tmp_path / "empty.onnx",
        nodes,
        [("x", [1, 3, 8, 8])],
        [("y", None)],
        [weight(np.random.default_rng(0), "w", 4, 0, 3, 3)],
    )
    code, err = transform(file)
    assert code == 1
    one_line(err, "empty_one")


def runner(command, model, tmp_path, feed):
    npz.save(tmp_path / "feed.npz", feed)
    output = tmp_path / "result.npz"
    code, _, err = command(model_runner, "--model", model, "--input", tmp_path / "feed.npz", "--output", output)
    assert code == 0 or not output.exists()
    return code, err


def test_runner_inputs(command, deployed, tmp_path):
    good = np.zeros((1, 3, 8, 8), np.float32)
    assert runner(command, deployed, tmp_path, {"x": good})[0] == 0
    (tmp_path / "result.npz").unlink()
    for feed, word in (({"z": good}, "'x'"), ({"x": good[:, :, :4]}, "[1, 3, 8, 8]")):
        code, err = runner(command, deployed, tmp_path, feed)
        assert code == 1
        one_line(err, word)


def test_session_checks_its_feed(deployed):
    session = InferenceSession(str(deployed))
    for feed in (
        {},
        {"x": np.zeros((1, 3, 8, 7), np.float32)},
        {"x": np.zeros((1, 3, 8, 8), np.float64)},
        {"x": np.zeros((1, 3, 8, 8), np.float32), "more": np.zeros(1)},
    ):
        with pytest.raises(ValueError):
            session.run(None, feed)


def test_truncated_pmodel(command, deployed, tmp_path):
    data = deployed.read_bytes()
    for i in range(20):
        bad = tmp_path / "bad.pmodel"
        bad.write_bytes(data[: len(data) * i // 20])
        code, err = runner(command, bad, tmp_path, {"x": np.zeros((1, 3, 8, 8), np.float32)})
        assert code == 1
        one_line(err, "bad.pmodel")


def test_flipped_bytes_never_change_a_result(deployed, tmp_path):
    data = bytearray(deployed.read_bytes())
    feed = {"x": np.random.default_rng(5).standard_normal((1, 3, 8, 8)).astype(np.float32)}
    expected = InferenceSession(str(deployed)).run(None, feed)[0]
    rng = np.random.default_rng(6)
    refused = 0
    for position in rng.integers(0, len(data), 500):
        data[position] ^= 1 << int(rng.integers(8))
        bad = tmp_path / "flipped.pmodel"
        bad.write_bytes(data)
        try:
            assert np.array_equal(InferenceSession(str(bad)).run(None, feed)[0], expected), position
        except (ValueError, RuntimeError):
            refused += 1
        data[:] = deployed.read_bytes()
    assert refused > 0


@pytest.mark.parametrize("where", ["weights", "header"])
def test_64_flipped_bytes(command, deployed, tmp_path, where):
    region = (
        {"begin": 0}
        if where == "header"
        else json.loads(program_output("pmodel_tool", ["--print", str(deployed)]))["weight_data"]
    )
    data = bytearray(deployed.read_bytes())
    for i in range(region["begin"], region["begin"] + 64):
        data[i] ^= 0xFF
    bad = tmp_path / "flipped.pmodel"
    bad.write_bytes(data)
    code, err = runner(command, bad, tmp_path, {"x": np.ones((1, 3, 8, 8), np.float32)})
    assert code == 1
    one_line(err, "flipped.pmodel")
    with pytest.raises(UserError, match="flipped.pmodel"):
        program_output("pmodel_tool", ["--verify", str(bad)])


def test_empty_pmodel(command, tmp_path):
    (tmp_path / "empty.pmodel").touch()
    code, err = runner(command, tmp_path / "empty.pmodel", tmp_path, {"x": np.ones(1, np.float32)})
    assert code == 1
    one_line(err, "empty.pmodel")


def test_runner_with_an_input_of_the_wrong_type(command, deployed, tmp_path):
    code, err = runner(command, deployed, tmp_path, {"x": np.zeros((1, 3, 8, 8), np.int64)})
    assert code == 1
    one_line(err, "'x'", "int64", "float32")


def test_outputs_are_not_renamed(command, tmp_path):
    """A net that ends in Gemm, and one whose output name needs escaping in text formats."""
    rng = np.random.default_rng(0)
    for number, name in enumerate(("output", 'a/b:0 "%{c}"\\n')):
        onnx_file = save_model(
            tmp_path / f"net{number}.onnx",
            [helper.make_node("Gemm", ["x", "w", "b"], [name])],
            [("x", [2, 5])],
            [(name, [2, 3])],
            [weight(rng, "w", 5, 3), weight(rng, "b", 3)],
        )
        mlir, model, output = (
            tmp_path / f"net{number}.mlir",
            tmp_path / f"net{number}.pmodel",
            tmp_path / f"out{number}.npz",
        )
        assert command(model_transform, "--model_name", "m", "--model_def", onnx_file, "--mlir", mlir)[0] == 0
        code, _, err = command(model_deploy, "--mlir", mlir, "--model", model)
        assert code == 0, err
        npz.save(tmp_path / "in.npz", {"x": np.ones((2, 5), np.float32)})
        code, _, err = command(model_runner, "--model", model, "--input", tmp_path / "in.npz", "--output", output)
        assert code == 0, err
        session = InferenceSession(str(model))
        assert [o.name for o in session.get_outputs()] == [name]
        result = npz.load(output)
        assert list(result) == [name]


def test_deploy_of_garbage(command, tmp_path):
    mlir = tmp_path / "bad.mlir"
    for text in ("", "not mlir at all", "module { func.func @main() { return } }"):
        mlir.write_text(text)
        code, _, err = command(model_deploy, "--mlir", mlir, "--model", tmp_path / "bad.pmodel")
        assert code == 1, text
        one_line(err, "bad.mlir")
        assert not (tmp_path / "bad.pmodel").exists()


def test_windows_beyond_the_unified_buffer_are_taken_in_parts(command, tmp_path):
    """One pixel of the result reads more than the buffer holds. (unittests/Kernels/PlanTest.cpp: what no plan builds is
    one list.)"""
    nodes = [
        helper.make_node("MaxPool", ["x"], ["first"], name="p", kernel_shape=[8999]),
        helper.make_node("AveragePool", ["x"], ["second"], name="q", kernel_shape=[8998]),
        helper.make_node("Relu", ["x"], ["third"]),
    ]
    file = save_model(
        tmp_path / "windows.onnx",
        nodes,
        [("x", [1, 8, 9000])],
        [("first", None), ("second", None), ("third", None)],
        [],
    )
    mlir, model = tmp_path / "m.mlir", tmp_path / "m.pmodel"
    assert command(model_transform, "--model_name", "m", "--model_def", file, "--mlir", mlir)[0] == 0
    code, _, err = command(model_deploy, "--mlir", mlir, "--model", model)
    assert code == 0, err
    x = np.random.default_rng(5).standard_normal([1, 8, 9000]).astype(np.float32)
    first, second, third = InferenceSession(str(model)).run(None, {"x": x})
    np.testing.assert_array_equal(first, np.stack([x[..., :-1].max(2), x[..., 1:].max(2)], 2))
    means = [x[..., i : 8998 + i].astype(np.float64).mean(2) for i in range(3)]
    np.testing.assert_allclose(second, np.stack(means, 2), atol=1e-6)
    np.testing.assert_array_equal(third, np.maximum(x, 0))


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.float64])
@pytest.mark.parametrize("count", [3, 300])
def test_weights_that_hold_nan_are_remarked(command, kind, count, tmp_path):
    """A large weight and one that is inline; infinities are masks."""
    numbers = np.ones(count, kind)
    numbers[0] = -np.inf
    for value, expected in ((-1, False), (np.nan, True)):
        numbers[1] = value
        model = save_model(
            tmp_path / "w.onnx",
            [
                helper.make_node("Cast", ["w"], ["c"], to=onnx.TensorProto.FLOAT),
                helper.make_node("Add", ["x", "c"], ["y"]),
            ],
            [("x", [count])],
            [("y", [count])],
            [onnx.numpy_helper.from_array(numbers, "w")],
        )
        code, out, _ = command(
            model_transform, "--model_name", "m", "--model_def", model, "--mlir", tmp_path / "w.mlir"
        )
        assert code == 0 and ("holds NaN" in out) == expected, out


def _names(model, place: str, name: str):
    """Renames one tensor of the model."""
    graph = model.graph
    if place == "graph":
        graph.name = name
    elif place == "node":
        graph.node[0].name = name
    elif place == "inner tensor":
        graph.node[0].output[0] = graph.node[1].input[0] = name
    elif place == "input":
        graph.input[0].name = graph.node[0].input[0] = name
    elif place == "weight":
        graph.initializer[0].name = graph.node[0].input[1] = name
    else:
        graph.output[0].name = graph.node[1].output[0] = name


@pytest.mark.parametrize("place", ["graph", "node", "inner tensor", "input", "weight", "output"])
def test_onnx_names_that_are_not_utf8(transform, small, place, tmp_path):
    model = onnx.load(str(small))
    _names(model, place, "ab@@")
    bad = tmp_path / "name.onnx"
    bad.write_bytes(model.SerializeToString().replace(b"ab@@", b"ab\xff\xfe"))
    code, err = transform(bad)
    assert code == 1
    one_line(err, "name.onnx", r"ab\xff\xfe", "not UTF-8")


def test_control_characters_of_names_are_escaped(transform, small, tmp_path):
    """A name cannot move the terminal's cursor, colour it, or begin a line of the error."""
    model = onnx.load(str(small))
    model.graph.node[0].name = "a\x1b[31m\nb\x9bc\x7f"
    model.graph.node[0].op_type = "Frobnicate"
    bad = tmp_path / "name.onnx"
    onnx.save(model, bad)
    code, err = transform(bad)
    assert code == 1
    one_line(err, r"a\x1b[31m\x0ab\x9bc\x7f", "Frobnicate")
    assert not set(err) & {"\x1b", "\x9b", "\x7f"}


@pytest.mark.parametrize("kind", [np.float32, np.int64])
@pytest.mark.parametrize("limit", [9, 0, -9])
def test_a_range_without_a_step(command, kind, limit, tmp_path):
    numbers = [onnx.numpy_helper.from_array(np.array(v, kind), n) for n, v in (("a", 0), ("b", limit), ("c", 0))]
    element = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    graph = helper.make_graph(
        [helper.make_node("Range", ["a", "b", "c"], ["y"], name="r")],
        "g",
        [],
        [helper.make_tensor_value_info("y", element, None)],
        numbers,
    )
    bad = tmp_path / "range.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), bad)
    code, _, err = command(model_transform, "--model_name", "m", "--model_def", bad, "--mlir", tmp_path / "m.mlir")
    assert code == 1
    one_line(err, "'r' (Range, opset 17): delta must not be 0")


def test_mlir_names_that_are_not_utf8(small, command, tmp_path):
    mlir = tmp_path / "good.mlir"
    assert command(model_transform, "--model_name", "m", "--model_def", small, "--mlir", mlir)[0] == 0
    mlir.write_text(mlir.read_text().replace('"c"', '"c\\FF"'))
    feed = tmp_path / "in.npz"
    npz.save(feed, {"x": np.zeros((1, 3, 8, 8), np.float32)})
    code, _, err = command(
        model_deploy, "--mlir", mlir, "--model", tmp_path / "out.pmodel", "--test_input", feed, "--debug"
    )
    assert code == 1
    one_line(err, "not")
