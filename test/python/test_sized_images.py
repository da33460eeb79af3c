"""Networks on images of any height or width: one net for a range, with onnxruntime's numbers, also where an image has
fewer rows than a window."""

import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto
from pto_mlir import compiler
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools import model_transform
from test_sizes import convert
from test_transformer import Graph

HEIGHT, WIDTH = "height", "width"


def residual(g):
    """img2col at strides 1 and 2, a pool, an addition behind a convolution."""
    a = g.op("Relu", g.op("Conv", "x", g.weight(8, 3, 3, 3), pads=[1, 1, 1, 1], strides=[2, 2]))
    b = g.op("Relu", g.op("Conv", a, g.weight(16, 8, 3, 3), pads=[1, 1, 1, 1]))
    c = g.op("MaxPool", b, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    d = g.op("Relu", g.op("Add", c, g.op("Conv", c, g.weight(16, 16, 3, 3), g.weight(16), pads=[1, 1, 1, 1])))
    g.op("Conv", d, g.weight(5, 16, 1, 1), name="y")


def gated(g):
    """Oblong kernels and strides, depthwise, squeeze and excitation, concatenation of channels."""
    a = g.op("Relu", g.op("Conv", "x", g.weight(8, 3, 3, 5), pads=[1, 2, 1, 2], strides=[2, 1]))
    b = g.op("Conv", a, g.weight(8, 1, 5, 3), g.weight(8), group=8, pads=[2, 1, 2, 1], strides=[1, 2])
    b = g.op("MaxPool", b, kernel_shape=[2, 3], strides=[2, 1], pads=[0, 1, 0, 1])
    gate = g.op("Sigmoid", g.op("Conv", g.op("GlobalAveragePool", b), g.weight(8, 8, 1, 1)))
    b = g.op("Mul", b, gate)
    b = g.op("Concat", b, g.op("HardSwish", g.op("Add", b, g.weight(8, 1, 1))), axis=1)
    g.op("Conv", b, g.weight(5, 16, 1, 1), name="y")


def depthwise(g):
    """A window over what is computed for it, at several strides; patches."""
    a = g.op("Clip", g.op("Conv", "x", g.weight(12, 3, 1, 1)), g.constant(0), g.constant(6))
    b = g.op("HardSwish", g.op("Conv", a, g.weight(12, 1, 5, 5), group=12, pads=[2, 2, 2, 2], strides=[2, 2]))
    c = g.op("AveragePool", b, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
    g.op("Conv", c, g.weight(7, 12, 2, 2), strides=[2, 2], name="y")


def upsampled(g):
    """Back to the size of the image: repetition and a transposed convolution."""
    a = g.op("Relu", g.op("Conv", "x", g.weight(6, 3, 3, 3), pads=[1, 1, 1, 1], strides=[4, 4]))
    b = g.op("Resize", a, "", g.constant([1, 1, 2, 2]), mode="nearest")
    c = g.op("ConvTranspose", b, g.weight(6, 4, 2, 2), g.weight(4), strides=[2, 2])
    g.op("Sigmoid", c, name="y")


def grouped(g):
    a = g.op("Conv", "x", g.weight(8, 3, 1, 1))
    b = g.op("Conv", a, g.weight(8, 4, 3, 3), group=2, pads=[1, 1, 1, 1], dilations=[1, 1])
    g.op("Conv", b, g.weight(4, 8, 3, 3), pads=[2, 2, 2, 2], dilations=[2, 2], name="y")


NETS = {"residual": residual, "gated": gated, "depthwise": depthwise, "upsampled": upsampled, "grouped": grouped}


def check(path, build, shape, quantize, cores, tolerance, sizes=(96, 4, 8, 12, 52, 76, 92)):
    g = Graph(3)
    build(g)
    g.save(path / "m.onnx", [("x", TensorProto.FLOAT, shape)], ["y"])
    name = next(dim for dim in shape if isinstance(dim, str))
    summary = convert(path / "m.onnx", path / "m.pmodel", quantize, cores, ranges={name: (4, 96, 4)})
    assert list(summary["bounded"]) == [name], summary["remarks"]
    session = InferenceSession(str(path / "m.pmodel"), mode="checked")
    reference = ort.InferenceSession(str(path / "m.onnx"))
    for size in sizes:
        x = g.rng.standard_normal([size if dim == name else dim for dim in shape]).astype(np.float32)
        (ours,), (expected,) = session.run(None, {"x": x}), reference.run(None, {"x": x})
        np.testing.assert_allclose(ours, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())
    return session


@pytest.mark.parametrize(("quantize", "cores", "tolerance"), [("F32", 1, 1e-5), ("F16", 24, 1e-2), ("BF16", 3, 6e-2)])
@pytest.mark.parametrize("shape", [[1, 3, HEIGHT, 12], [1, 3, 12, WIDTH]], ids=[HEIGHT, WIDTH])
@pytest.mark.parametrize("name", NETS)
def test_against_onnxruntime(tmp_path, name, shape, quantize, cores, tolerance):
    check(tmp_path, NETS[name], shape, quantize, cores, tolerance)


def speech(g):
    """Windows over a length: as at the front of a speech model, then as in its blocks."""
    a = g.op("Relu", g.op("Conv", "x", g.weight(16, 3, 3), g.weight(16), pads=[1, 1]))
    a = g.op("Relu", g.op("Conv", a, g.weight(16, 16, 3), pads=[1, 1], strides=[2]))
    b = g.op("Conv", a, g.weight(16, 1, 7), group=16, pads=[3, 3])
    b = g.op("Conv", g.op("Sigmoid", b), g.weight(16, 4, 3), group=4, pads=[2, 2], dilations=[2])
    g.op("Transpose", g.op("Add", a, g.op("Conv", b, g.weight(16, 16, 1))), perm=[0, 2, 1], name="y")


def pools(g):
    a = g.op("MaxPool", g.op("Conv", "x", g.weight(1, 3, 5), pads=[2, 2]), kernel_shape=[3], pads=[1, 1], strides=[2])
    b = g.op("ConvTranspose", g.op("AveragePool", a, kernel_shape=[2], strides=[2]), g.weight(1, 4, 2), strides=[2])
    g.op("AveragePool", b, kernel_shape=[3], pads=[1, 1], count_include_pad=1, name="y")


@pytest.mark.parametrize(("quantize", "cores", "tolerance"), [("F32", 1, 1e-5), ("F16", 24, 1e-2), ("BF16", 3, 6e-2)])
@pytest.mark.parametrize("build", [speech, pools])
def test_a_length(tmp_path, build, quantize, cores, tolerance):
    check(tmp_path, build, [1, 3, "length"], quantize, cores, tolerance)


def text_line(g):
    """As in text recognition: the width becomes the length of a sequence."""
    a = g.op("Relu", g.op("Conv", "x", g.weight(8, 3, 3, 3), pads=[1, 1, 1, 1], strides=[4, 2]))
    b = g.op("AveragePool", a, kernel_shape=[3, 2], strides=[3, 2])
    tokens = g.op("Transpose", g.op("Squeeze", b, g.constant([2], np.int64)), perm=[0, 2, 1])
    scores = g.op("MatMul", tokens, g.op("Transpose", tokens, perm=[0, 2, 1]))
    tokens = g.op("Add", tokens, g.op("MatMul", g.op("Softmax", scores, axis=2), tokens))
    g.op("Softmax", g.op("MatMul", tokens, g.weight(8, 11)), axis=2, name="y")


@pytest.mark.parametrize(("quantize", "cores", "tolerance"), [("F32", 24, 1e-5), ("F16", 1, 1e-2)])
def test_text_line(tmp_path, quantize, cores, tolerance):
    check(tmp_path, text_line, [1, 3, 12, WIDTH], quantize, cores, tolerance)


@pytest.mark.parametrize("target", ["a3", "a5"])
def test_random_windows(tmp_path, target):
    """Kernels, strides, dilations and pads at random, as many windows as strides."""
    rng = np.random.default_rng(11)
    for _ in range(12):
        kernel, stride, dilation = (int(rng.integers(1, n)) for n in (6, 4, 3))
        reach = dilation * (kernel - 1) + 1
        before = int(rng.integers(0, max(reach - stride, 0) + 1))
        after = max(reach - stride - before, 0)
        group = int(rng.choice([1, 4]))
        kind = rng.choice(["Conv", "MaxPool"]) if max(before, after) < kernel else "Conv"
        window = dict(strides=[stride, 1], dilations=[dilation, 1], pads=[before, 1, after, 1])

        def build(g, kind=kind, kernel=kernel, group=group, window=window):
            if kind == "Conv":
                g.op("Conv", "x", g.weight(8, 4 // group, kernel, 3), group=group, name="y", **window)
            else:
                g.op("MaxPool", "x", kernel_shape=[kernel, 3], name="y", **window)

        g = Graph(5)
        build(g)
        g.save(tmp_path / "m.onnx", [("x", TensorProto.FLOAT, [1, 4, HEIGHT, 9])], ["y"])
        extents = {HEIGHT: (2 * stride, 30 * stride, stride)}
        summary = convert(tmp_path / "m.onnx", tmp_path / "m.pmodel", "F32", 2, ranges=extents, target=target)
        assert list(summary["bounded"]) == [HEIGHT], (summary["remarks"], kind, kernel, window)
        session = InferenceSession(str(tmp_path / "m.pmodel"), mode="checked")
        reference = ort.InferenceSession(str(tmp_path / "m.onnx"))
        for rows in (30, 2, 3, 17):
            x = rng.standard_normal([1, 4, rows * stride, 9]).astype(np.float32)
            (ours,), (expected,) = session.run(None, {"x": x}), reference.run(None, {"x": x})
            np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-5, err_msg=f"{kind} {kernel} {window}")


@pytest.mark.parametrize(("quantize", "target", "tolerance"), [("F32", "a3", 2e-5), ("F16", "a5", 1e-2)])
@pytest.mark.parametrize(
    ("kernel", "window"),
    [([7, 1], dict(dilations=[3, 3], pads=[9, 0, 9, 0])), ([9, 9], dict(pads=[6, 4, 1, 4], strides=[2, 1]))],
)
def test_windows_above_the_greatest_image(tmp_path, kernel, window, quantize, target, tolerance):
    """The slab of img2col has more rows than any image."""
    stride = window.get("strides", [1])[0]
    g = Graph(5)
    g.op("Conv", "x", g.weight(8, 3, *kernel), name="y", **window)
    g.save(tmp_path / "m.onnx", [("x", TensorProto.FLOAT, [1, 3, HEIGHT, 8])], ["y"])
    extents = {HEIGHT: (stride, 4 * stride, stride)}
    summary = convert(tmp_path / "m.onnx", tmp_path / "m.pmodel", quantize, 24, ranges=extents, target=target)
    assert list(summary["bounded"]) == [HEIGHT], summary["remarks"]
    session = InferenceSession(str(tmp_path / "m.pmodel"), mode="checked")
    reference = ort.InferenceSession(str(tmp_path / "m.onnx"))
    for rows in (4, 1, 3):
        x = g.rng.standard_normal([1, 3, rows * stride, 8]).astype(np.float32)
        (ours,), (expected,) = session.run(None, {"x": x}), reference.run(None, {"x": x})
        np.testing.assert_allclose(ours, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())


def test_many_rows_are_summed_in_parts(tmp_path):
    """Sums, extrema and means over more rows than one core takes, of few columns."""
    g = Graph(3)
    a = g.op("Relu", g.op("Conv", "x", g.weight(8, 3, 3, 3), pads=[1, 1, 1, 1]))
    means = g.op("GlobalAveragePool", a)
    spans = g.op("Sub", g.op("ReduceMax", a, axes=[2, 3]), g.op("ReduceMin", a, axes=[2, 3]))
    g.op("Add", g.op("Sum", means, spans), g.op("ReduceSum", a, g.constant([2, 3], np.int64)), name="y")
    g.save(tmp_path / "m.onnx", [("x", TensorProto.FLOAT, [1, 3, HEIGHT, 40])], ["y"])
    reference, answers = ort.InferenceSession(str(tmp_path / "m.onnx")), set()
    for cores in (1, 24):
        summary = convert(tmp_path / "m.onnx", tmp_path / "m.pmodel", "F32", cores, ranges={HEIGHT: (1, 200, 1)})
        assert list(summary["bounded"]) == [HEIGHT], summary["remarks"]
        session = InferenceSession(str(tmp_path / "m.pmodel"), mode="checked")
        for height in (200, 1, 3, 131):
            x = np.random.default_rng(height).standard_normal([1, 3, height, 40]).astype(np.float32)
            (ours,), (expected,) = session.run(None, {"x": x}), reference.run(None, {"x": x})
            np.testing.assert_allclose(ours, expected, rtol=2e-5)
            answers.add((height, ours.tobytes()))
    assert len(answers) == 4  # the same bits on 1 and 24 blocks


def test_same_bits_on_any_number_of_cores(tmp_path):
    answers = []
    for cores in (1, 2, 24):
        session = check(tmp_path, residual, [1, 3, 12, WIDTH], "F16", cores, 1e-2, sizes=(96,))
        x = np.linspace(-2, 2, 3 * 12 * 44, dtype=np.float32).reshape(1, 3, 12, 44)
        answers.append(session.run(None, {"x": x})[0].tobytes())
    assert len(set(answers)) == 1


def test_a_width_that_is_no_multiple_is_refused(tmp_path):
    session = check(tmp_path, residual, [1, 3, 12, WIDTH], "F32", 1, 1e-5, sizes=(96,))
    for width in (6, 100, 0):
        with pytest.raises(UserError, match=r"dimension 3 of input 'x' is \d+, it must be 4 times 'width/4', 1 to 24"):
            session.run(None, {"x": np.zeros([1, 3, 12, width], np.float32)})


def test_a_dimension_is_named_on_the_command_line(tmp_path, command):
    """Of a model that leaves its height and width without names."""
    g = Graph(3)
    residual(g)
    g.save(tmp_path / "m.onnx", [("x", TensorProto.FLOAT, [1, 3, None, None])], ["y"])
    transform = ["--model_name", "m", "--model_def", tmp_path / "m.onnx", "--mlir", tmp_path / "m.mlir"]

    def run(shapes, sizes="width=4:96:4"):
        return command(model_transform, *transform, "--input_shapes", shapes, "--dynamic", sizes)

    code, out, err = run("[[1, 3, 12, width]]")
    assert code == 0, err
    assert "size 'width': 4 to 96 in multiples of 4, known at run time" in out
    compiler.deploy(str(tmp_path / "m.mlir"), str(tmp_path / "m.pmodel"), "F32", "a3", 1, False)
    session = InferenceSession(str(tmp_path / "m.pmodel"))
    reference = ort.InferenceSession(str(tmp_path / "m.onnx"))
    x = np.random.default_rng(1).standard_normal([1, 3, 12, 44]).astype(np.float32)
    (ours,), (expected,) = session.run(None, {"x": x}), reference.run(None, {"x": x})
    np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-5)
    for shapes, sizes, message in [
        (
            "[[1,channels,12,width]]",
            "channels=1:3,width=4:96:4",
            "dimension 1 is 3 in the model, it cannot be 'channels'",
        ),
        ("[[1,3,12,wdth]]", "width=4:96:4", "dimension 3 is given as 'wdth', of which --dynamic gives no sizes"),
        ("[[1,3,12,96]]", "width=4:96:4", "no input has a dimension 'width', of which --dynamic gives sizes"),
        ("[[1,3,12,-1]]", "width=4:96:4", "--input_shapes: expects a list of lists of positive integers"),
        ("[[1,3,12,__import__('os')]]", "width=4:96:4", "--input_shapes: expects a list of lists of positive integers"),
    ]:
        code, _, err = run(shapes, sizes)
        assert code == 1 and message in err, err


def valid_windows(g):
    g.op("Conv", "x", g.weight(4, 3, 3, 3), name="y")


def test_windows_that_are_no_multiple_become_versions(tmp_path):
    g = Graph(3)
    valid_windows(g)
    g.save(tmp_path / "m.onnx", [("x", TensorProto.FLOAT, [1, 3, HEIGHT, 12])], ["y"])
    summary = convert(tmp_path / "m.onnx", tmp_path / "m.pmodel", "F32", 1, ranges={HEIGHT: (4, 12, 4)})
    assert list(summary["bounded"]) == [] and "no product of the sizes" in summary["remarks"][0]
    (y,) = InferenceSession(str(tmp_path / "m.pmodel")).run(None, {"x": np.zeros([1, 3, 8, 12], np.float32)})
    assert y.shape == (1, 4, 6, 10)


def test_listed_sizes_of_images_are_versions(tmp_path):
    """However many: a kernel for each is faster."""
    g = Graph(3)
    g.op("Conv", "x", g.weight(6, 3, 3, 3), pads=[1, 1, 1, 1], name="y")
    g.save(tmp_path / "m.onnx", [("x", TensorProto.FLOAT, [1, 3, 8, "width"])], ["y"])
    summary = convert(tmp_path / "m.onnx", tmp_path / "m.pmodel", "F32", 1, sizes={"width": list(range(4, 22))})
    assert summary["bounded"] == {} and not summary["remarks"]
