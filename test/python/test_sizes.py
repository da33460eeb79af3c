"""Sizes that are known at run time, in one kernel: bits of a fixed size, numbers of onnxruntime, errors."""

import hashlib
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from graphs import F, I, info, save, weight
from onnx import helper
from pto_mlir import compiler
from pto_mlir.runtime import InferenceSession, InvalidArgument, RuntimeFailure
from pto_mlir.tools import model_transform

RANDOM = np.random.default_rng(5)
GREATEST = 67


def node(*arguments, **attributes):
    return helper.make_node(*arguments, **attributes)


def matrix(*shape):
    return (RANDOM.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)


def perceptron(path, lead=("batch",)):
    """LayerNorm, two layers with bias and Relu, a residual, products and a softmax."""
    save(
        path,
        [
            node("LayerNormalization", ["x", "scale", "shift"], ["normed"], axis=-1),
            node("MatMul", ["normed", "w1"], ["wide"]),
            node("Add", ["wide", "b1"], ["biased"]),
            node("Relu", ["biased"], ["active"]),
            node("MatMul", ["active", "w2"], ["narrow"]),
            node("Add", ["narrow", "b2"], ["moved"]),
            node("Add", ["moved", "x"], ["residual"]),
            node("MatMul", ["residual", "w3"], ["scores"]),
            node("Softmax", ["scores"], ["y"], axis=-1),
        ],
        [info("x", F, [*lead, 48])],
        [info("y", F, [*lead, 21])],
        [
            weight("scale", matrix(48)),
            weight("shift", matrix(48)),
            weight("w1", matrix(48, 130)),
            weight("b1", matrix(130)),
            weight("w2", matrix(130, 48)),
            weight("b2", matrix(48)),
            weight("w3", matrix(48, 21)),
        ],
    )


def convert(path, file, quantize="F32", cores=1, sizes=None, ranges=None, target="a3"):
    summary = compiler.transform(str(path), "m", None, [], str(file) + ".mlir", "", 8, sizes, ranges)
    compiler.deploy(str(file) + ".mlir", str(file), quantize, target, cores, False)
    return summary


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


@pytest.mark.parametrize("cores", [1, 24])
@pytest.mark.parametrize(("quantize", "tolerance"), [("F32", 1e-4), ("F16", 2e-2)])
def test_bits_are_those_of_a_fixed_size(tmp_path, quantize, tolerance, cores):
    """A row has the bits that it has among the rows of the greatest size, compiled as a constant. (Constant sizes may
    cut the sums of a product in other ways each.)"""
    perceptron(tmp_path / "m.onnx")
    convert(tmp_path / "m.onnx", tmp_path / "most.pmodel", quantize, cores, sizes={"batch": [GREATEST]})
    most = InferenceSession(str(tmp_path / "most.pmodel"))
    summary = convert(tmp_path / "m.onnx", tmp_path / "all.pmodel", quantize, cores, ranges={"batch": (1, GREATEST, 1)})
    assert list(summary["bounded"]) == ["batch"] and not summary["remarks"]
    session, reference = InferenceSession(str(tmp_path / "all.pmodel")), ort.InferenceSession(str(tmp_path / "m.onnx"))
    assert session.get_inputs()[0].shape == [None, 48]
    for size in (GREATEST, 1, 16, 31, 2, 64, *RANDOM.integers(1, GREATEST, 3)):
        x = RANDOM.standard_normal((size, 48)).astype(np.float32)
        (ours,) = session.run(None, {"x": x})
        np.testing.assert_allclose(ours, reference.run(None, {"x": x})[0], rtol=tolerance, atol=tolerance)
        padded = np.concatenate([x, RANDOM.standard_normal((GREATEST - size, 48)).astype(np.float32)])
        (fixed,) = most.run(None, {"x": padded})
        assert ours.tobytes() == fixed[:size].tobytes(), size


def test_nothing_is_read_that_is_not_there(tmp_path):
    """Checked mode finds reads of uninitialised bytes, races and accesses out of range; runs go up and down in size."""
    perceptron(tmp_path / "m.onnx", lead=("batch", 5))
    convert(tmp_path / "m.onnx", tmp_path / "m.pmodel", "F16", 2, ranges={"batch": (2, 20, 2)})
    for mode in ("checked", "timing"):
        session = InferenceSession(str(tmp_path / "m.pmodel"), mode=mode)
        reference = ort.InferenceSession(str(tmp_path / "m.onnx"))
        for size in (4, 20, 2, 14):
            x = RANDOM.standard_normal((size, 5, 48)).astype(np.float32)
            (ours,) = session.run(None, {"x": x})
            assert ours.shape == (size, 5, 21)
            np.testing.assert_allclose(ours, reference.run(None, {"x": x})[0], rtol=2e-2, atol=2e-2)


def movements(path):
    """Rows cut, padded and joined along other dimensions than the size, and gathered."""
    save(
        path,
        [
            node("Slice", ["x", "one", "seven", "axis"], ["cut"]),
            node("Pad", ["cut", "pads"], ["padded"]),
            node("Concat", ["x", "padded", "x"], ["joined"], axis=1),
            node("Gather", ["joined", "picked"], ["gathered"], axis=1),
            node("Gather", ["table", "ids"], ["words"]),
            node("Split", ["words"], ["first", "second"], axis=2),
            node("Mul", ["first", "second"], ["product"]),
            node("Concat", ["product", "gathered"], ["y"], axis=2),
            node("Identity", ["x"], ["same"]),
        ],
        [info("x", F, ["batch", 9, 5]), info("ids", I, ["batch", 3])],
        [info("y", F, ["batch", 3, 12]), info("same", F, ["batch", 9, 5])],
        [
            weight("one", np.array([1])),
            weight("seven", np.array([7])),
            weight("axis", np.array([1])),
            weight("pads", np.array([0, 2, 0, 0, 1, 0])),
            weight("picked", np.array([20, 0, 13])),
            weight("table", matrix(11, 14)),
        ],
    )


@pytest.mark.parametrize("cores", [1, 5])
@pytest.mark.parametrize("mode", ["functional", "checked"])
def test_movements_of_rows(tmp_path, mode, cores):
    movements(tmp_path / "m.onnx")
    summary = convert(tmp_path / "m.onnx", tmp_path / "m.pmodel", "F32", cores, ranges={"batch": (1, 9, 1)})
    assert list(summary["bounded"]) == ["batch"] and not summary["remarks"]
    session = InferenceSession(str(tmp_path / "m.pmodel"), mode=mode)
    reference = ort.InferenceSession(str(tmp_path / "m.onnx"))
    for batch in (9, 1, 4, 7):
        feed = {
            "x": RANDOM.standard_normal((batch, 9, 5)).astype(np.float32),
            "ids": RANDOM.integers(-11, 11, (batch, 3)),
        }
        for ours, expected in zip(session.run(None, feed), reference.run(None, feed), strict=True):
            np.testing.assert_allclose(ours, expected, rtol=1e-6)


@pytest.mark.parametrize(("quantize", "tolerance"), [("F32", 1e-4), ("F16", 2e-2)])
def test_two_sizes_are_one_number_of_rows(tmp_path, quantize, tolerance):
    """Bits of the greatest sizes, at 40 of them."""
    perceptron(tmp_path / "m.onnx", lead=("batch", "length"))
    convert(tmp_path / "m.onnx", tmp_path / "most.pmodel", quantize, 24, sizes={"batch": [4], "length": [30]})
    ranges = {"batch": (1, 4, 1), "length": (1, 30, 1)}
    summary = convert(tmp_path / "m.onnx", tmp_path / "all.pmodel", quantize, 24, ranges=ranges)
    assert list(summary["bounded"]) == ["batch", "length"] and not summary["remarks"]
    session, most = (InferenceSession(str(tmp_path / f"{name}.pmodel")) for name in ("all", "most"))
    whole = RANDOM.standard_normal((4, 30, 48)).astype(np.float32)
    (fixed,), reference = most.run(None, {"x": whole}), ort.InferenceSession(str(tmp_path / "m.onnx"))
    for batch in (4, 1, 3, 2):
        for length in (1, 2, 5, 9, 15, 16, 17, 23, 29, 30):
            x = whole[:batch, :length]
            (ours,) = session.run(None, {"x": x})
            np.testing.assert_allclose(ours, reference.run(None, {"x": x})[0], rtol=tolerance, atol=tolerance)
            assert ours.tobytes() == fixed[:batch, :length].tobytes(), (batch, length)


def positioned(path):
    """Words with positions, a LayerNorm, two layers whose sums are cut, a residual."""
    save(
        path,
        [
            node("Gather", ["words", "ids"], ["word"]),
            node("Gather", ["kinds", "types"], ["kind"]),
            node("Shape", ["ids"], ["shape"]),
            node("Slice", ["shape", "one", "two"], ["length"]),
            node("Slice", ["places", "zero", "length", "one"], ["place"]),
            node("Add", ["word", "kind"], ["sum"]),
            node("Add", ["sum", "place"], ["placed"]),
            node("LayerNormalization", ["placed", "scale", "shift"], ["normed"], axis=-1),
            node("MatMul", ["normed", "w1"], ["wide"]),
            node("Relu", ["wide"], ["active"]),
            node("MatMul", ["active", "w2"], ["narrow"]),
            node("Add", ["narrow", "normed"], ["y"]),
        ],
        [info("ids", I, ["batch", "length"]), info("types", I, ["batch", "length"])],
        [info("y", F, ["batch", "length", 96])],
        [
            *(weight(name, matrix(*shape)) for name, shape in {"words": (11, 96), "kinds": (2, 96)}.items()),
            weight("places", matrix(90, 96)[None]),
            *(weight(name, np.array([value], np.int64)) for name, value in {"zero": 0, "one": 1, "two": 2}.items()),
            *(weight(name, matrix(96)) for name in ("scale", "shift")),
            weight("w1", matrix(96, 1500)),
            weight("w2", matrix(1500, 96)),
        ],
    )


@pytest.mark.parametrize("quantize", ["F32", "F16", "BF16"])
def test_each_size_has_the_bits_of_its_own_file(tmp_path, quantize):
    """Files of fixed sizes cut sums and tile in other ways, a batch of one has fewer dimensions: the same bits."""
    positioned(tmp_path / "m.onnx")
    ranges = {"batch": (1, 4, 1), "length": (1, 90, 1)}
    summary = convert(tmp_path / "m.onnx", tmp_path / "all.pmodel", quantize, 24, ranges=ranges)
    assert list(summary["bounded"]) == ["batch", "length"] and not summary["remarks"]
    session, reference = InferenceSession(str(tmp_path / "all.pmodel")), ort.InferenceSession(str(tmp_path / "m.onnx"))
    tolerance = {"F32": 1e-4, "F16": 2e-2, "BF16": 2e-1}[quantize]
    for batch, length in ((1, 1), (1, 17), (1, 90), (4, 1), (3, 33), (2, 64), (4, 90)):
        sizes = {"batch": [batch], "length": [length]}
        convert(tmp_path / "m.onnx", tmp_path / "one.pmodel", quantize, 24, sizes=sizes)
        feed = {
            "ids": RANDOM.integers(-11, 11, (batch, length)),
            "types": RANDOM.integers(0, 2, (batch, length)),
        }
        (ours,), (fixed,) = session.run(None, feed), InferenceSession(str(tmp_path / "one.pmodel")).run(None, feed)
        np.testing.assert_allclose(ours, reference.run(None, feed)[0], rtol=tolerance, atol=tolerance)
        assert ours.tobytes() == fixed.tobytes(), (batch, length)


def test_words_of_two_sizes(tmp_path):
    save(
        tmp_path / "m.onnx",
        [node("Gather", ["table", "ids"], ["words"]), node("Softmax", ["words"], ["y"], axis=-1)],
        [info("ids", I, ["batch", "length"])],
        [info("y", F, ["batch", "length", 14])],
        [weight("table", matrix(11, 14))],
    )
    summary = convert(
        tmp_path / "m.onnx", tmp_path / "m.pmodel", "F32", 3, ranges={"batch": (1, 3, 1), "length": (1, 6, 1)}
    )
    assert list(summary["bounded"]) == ["batch", "length"]
    session = InferenceSession(str(tmp_path / "m.pmodel"), mode="checked")
    reference = ort.InferenceSession(str(tmp_path / "m.onnx"))
    for batch, length in ((3, 6), (1, 1), (2, 5)):
        feed = {"ids": RANDOM.integers(-11, 11, (batch, length))}
        np.testing.assert_allclose(session.run(None, feed)[0], reference.run(None, feed)[0], rtol=1e-5)


def test_sizes_that_do_not_fit_are_one_line(tmp_path):
    save(
        tmp_path / "m.onnx",
        [node("Add", ["a", "b"], ["y"])],
        [info("a", F, ["n", 3]), info("b", F, ["n", 3])],
        [info("y", F, ["n", 3])],
        [],
    )
    convert(tmp_path / "m.onnx", tmp_path / "m.pmodel", ranges={"n": (4, 12, 4)})
    session = InferenceSession(str(tmp_path / "m.pmodel"))
    for a, b, message in (
        (16, 16, r"dimension 0 of input 'a' is 16, it must be 'n', 4 to 12 in multiples of 4$"),
        (6, 6, r"dimension 0 of input 'a' is 6, it must be 'n', 4 to 12 in multiples of 4$"),
        (4, 8, r"dimension 0 of input 'b' is 8, expects 4: dimension 0 of input 'a' has 'n' = 4$"),
    ):
        with pytest.raises(InvalidArgument, match=message):
            session.run(None, {"a": np.zeros((a, 3), np.float32), "b": np.zeros((b, 3), np.float32)})
    assert session.run(None, {"a": np.ones((8, 3), np.float32), "b": np.ones((8, 3), np.float32)})[0].sum() == 48


def transform(tmp_path, dynamic):
    names = ["--model_name", "m", "--model_def", str(tmp_path / "m.onnx"), "--mlir", str(tmp_path / "m.mlir")]
    return model_transform.main([*names, "--dynamic", dynamic])


@pytest.mark.parametrize(
    ("dynamic", "message"),
    [
        ("batch=5:1", "the range of 'batch=5:1' is empty"),
        ("batch=0:4", "the range of 'batch=0:4' is empty"),
        ("batch=1:8:4", "the bounds of 'batch=1:8:4' are no multiples of 4"),
        ("batch=4:8:0", "the bounds of 'batch=4:8:0' are no multiples of 0"),
        ("batch=1:2:3:4", "expects names with sizes"),
        ("batch=a:4", "expects names with sizes"),
        ("batch=1:4,batch=2", "expects names with sizes"),
        ("batch=1:4,depth=1:4", "no input has a dimension 'depth'"),
    ],
)
def test_bad_ranges(tmp_path, capfd, dynamic, message):
    perceptron(tmp_path / "m.onnx")
    assert transform(tmp_path, dynamic) == 1
    error = capfd.readouterr().err
    assert message in error and len(error.strip().splitlines()) == 1
    assert not (tmp_path / "m.mlir").exists()


@pytest.mark.parametrize(
    "dynamic, said",
    [
        ("batch=4|8", "size 'batch': 4, 8, each in kernels of its own"),
        ("batch=2..11", "size 'batch': 2, 3, .. 11 (10 sizes), each in kernels of its own"),
        ("batch=4", None),
    ],
)
def test_what_is_enumerated_is_said(tmp_path, capfd, dynamic, said):
    perceptron(tmp_path / "m.onnx")
    assert transform(tmp_path, dynamic) == 0
    out = capfd.readouterr().out
    assert said in out if said else "size '" not in out


def test_what_is_bounded_is_said(tmp_path, capfd):
    perceptron(tmp_path / "m.onnx")
    assert transform(tmp_path, "batch=4:64:4") == 0
    assert "size 'batch': 4 to 64 in multiples of 4, known at run time" in capfd.readouterr().out
    compiler.deploy(str(tmp_path / "m.mlir"), str(tmp_path / "m.pmodel"), "F32", "a3", 1, False)
    assert InferenceSession(str(tmp_path / "m.pmodel")).get_inputs()[0].shape == [None, 48]


@pytest.mark.parametrize(
    ("listed", "bounded"),
    [
        (range(3, 54, 3), {"batch": (3, 51, 3)}),
        (range(3, 51, 3), {}),  # 16 versions
        (range(4, 55, 3), {}),  # no multiples of their step
        ([*range(3, 51, 3), 54], {}),  # a gap
    ],
)
def test_many_listed_sizes_are_one_net(tmp_path, listed, bounded):
    """The listed sizes and no others run, whichever way."""
    perceptron(tmp_path / "m.onnx")
    summary = convert(tmp_path / "m.onnx", tmp_path / "m.pmodel", sizes={"batch": list(listed)})
    assert summary["bounded"] == bounded and not summary["remarks"]
    session, reference = InferenceSession(str(tmp_path / "m.pmodel")), ort.InferenceSession(str(tmp_path / "m.onnx"))
    for size in (listed[0], listed[1], listed[-1]):
        x = matrix(size, 48)
        np.testing.assert_allclose(
            session.run(None, {"x": x})[0], reference.run(None, {"x": x})[0], rtol=1e-3, atol=1e-5
        )
    for size in (listed[0] + 1, listed[-1] + 3):
        with pytest.raises((InvalidArgument, RuntimeFailure), match="batch|shape"):
            session.run(None, {"x": matrix(size, 48)})


def test_many_listed_sizes_without_a_rule_are_versions(tmp_path):
    """Without a remark: a list asks for nothing else."""
    save(
        tmp_path / "m.onnx",
        [node("Transpose", ["x"], ["t"], perm=[1, 0]), node("Relu", ["t"], ["y"])],
        [info("x", F, ["n", 6])],
        [info("y", F, [6, "n"])],
    )
    summary = convert(tmp_path / "m.onnx", tmp_path / "m.pmodel", sizes={"n": list(range(1, 19))})
    assert summary["bounded"] == {} and not summary["remarks"]
    x = matrix(17, 6)
    given = InferenceSession(str(tmp_path / "m.pmodel")).run(None, {"x": x})[0]
    np.testing.assert_array_equal(given, np.maximum(x.T, 0))


HALVES = [node("Shape", ["x"], ["s"]), node("Div", ["s", "two"], ["half"]), node("Mul", ["half", "two"], ["whole"])]


@pytest.mark.parametrize(
    ("nodes", "shape", "reason"),
    [
        ([node("Transpose", ["x"], ["t"], perm=[1, 0]), node("Relu", ["t"], ["y"])], [6, "n"], "outermost"),
        ([node("Softmax", ["x"], ["y"], axis=0)], ["n", 6], "reduces over a size"),
        ([*HALVES, node("Reshape", ["x", "whole"], ["y"])], ["m", 6], "computes with an extent"),
        (
            [node("Slice", ["x", "zero", "two", "zero"], ["t"]), node("Relu", ["t"], ["y"])],
            [2, 6],
            "the graph is another one",
        ),
        ([node("Add", ["x", "rows"], ["y"])], ["n", 6], "not every size gives a valid model"),
    ],
)
def test_what_has_no_rule_becomes_versions(tmp_path, nodes, shape, reason):
    """With a remark that says why, and the right numbers."""
    rows = [8, 6] if "rows" in nodes[0].input else [1, 6]
    save(
        tmp_path / "m.onnx",
        nodes,
        [info("x", F, ["n", 6])],
        [info("y", F, shape)],
        [weight("zero", np.array([0])), weight("two", np.array([2])), weight("rows", np.ones(rows, np.float32))],
    )
    ranges = {"n": (2, 8, 2)}
    summary = convert(tmp_path / "m.onnx", tmp_path / "m.pmodel", ranges=ranges)
    assert list(summary["bounded"]) == []
    assert "a version is compiled for each size of 'n', since " in summary["remarks"][0]
    assert reason in summary["remarks"][0]
    session, reference = InferenceSession(str(tmp_path / "m.pmodel")), ort.InferenceSession(str(tmp_path / "m.onnx"))
    for size in (8,) if rows[0] == 8 else (2, 4, 8):
        x = RANDOM.standard_normal((size, 6)).astype(np.float32)
        np.testing.assert_allclose(session.run(None, {"x": x})[0], reference.run(None, {"x": x})[0], rtol=1e-5)


def test_a_range_of_one_size_and_no_range_give_the_same_file(tmp_path):
    perceptron(tmp_path / "m.onnx")
    digests = set()
    for dynamic in ("batch=8", "batch=8..8", "batch=8:8", "batch=8:8:4"):
        assert transform(tmp_path, dynamic) == 0
        compiler.deploy(str(tmp_path / "m.mlir"), str(tmp_path / "m.pmodel"), "F32", "a3", 1, False)
        digests.add(digest(tmp_path / "m.pmodel"))
    assert len(digests) == 1
