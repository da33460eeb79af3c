"""DFT and STFT against numpy in double precision, BitCast, reversed slices, computed filters of transposed
convolutions, peepholes, reductions of nothing."""

import numpy as np
import pytest
from one_node import onnxruntime
from onnx import TensorProto, helper
from pto_mlir import backend
from pto_mlir.errors import UserError

N = helper.make_node
RANDOM = np.random.default_rng(3)


def rand(*shape):
    return RANDOM.standard_normal(shape, np.float32)


def parts(values):
    return np.stack([values.real, values.imag], -1)


@pytest.mark.parametrize("length", [None, 5, 12])
def test_dft(length):
    """Along any axis, cut or filled with zeros, of real and complex numbers, and back."""
    x = rand(2, 9, 4, 2)
    signal = x.astype(np.float64)[..., 0] + 1j * x[..., 1]
    inputs = [x] + ([np.int64(length)] if length else [])
    names = ["x"] + (["n"] if length else [])
    for axis in (0, 1, 2):
        (got,) = backend.run_node(N("DFT", names, ["y"], axis=axis), inputs, opset_version=17)
        np.testing.assert_allclose(got, parts(np.fft.fft(signal, length, axis)), atol=1e-4)
        back = N("DFT", names, ["y"], axis=axis, inverse=1)
        (got,) = backend.run_node(back, inputs, opset_version=19)
        np.testing.assert_allclose(got, parts(np.fft.ifft(signal, length, axis)), atol=1e-5)
    real = N("DFT", [*names, *([] if length else [""]), "a"], ["y"], onesided=1)
    (got,) = backend.run_node(real, [x[..., :1], *inputs[1:], np.int64(1)], opset_version=20)
    np.testing.assert_allclose(got, parts(np.fft.rfft(x[..., 0].astype(np.float64), length, 1)), atol=1e-4)
    inverse = N("DFT", [*names, *([] if length else [""]), "a"], ["y"], onesided=1, inverse=1)
    (got,) = backend.run_node(inverse, [*inputs, np.int64(1)], opset_version=20)
    np.testing.assert_allclose(got[..., 0], np.fft.irfft(signal, length or 16, 1), atol=1e-5)


def test_dft_in_double_precision():
    x = RANDOM.standard_normal((3, 50, 1))
    (got,) = backend.run_node(N("DFT", ["x"], ["y"]), [x], opset_version=17)
    np.testing.assert_allclose(got, parts(np.fft.fft(x[..., 0])), atol=1e-12)


def test_stft():
    signal, window = rand(2, 100, 1), rand(16)
    node = N("STFT", ["x", "step", "w"], ["y"])
    (got,) = backend.run_node(node, [signal, np.int64(7), window], opset_version=17)
    frames = np.stack([signal[:, i : i + 16, 0] * window for i in range(0, 85, 7)], 1)
    np.testing.assert_allclose(got, parts(np.fft.rfft(frames.astype(np.float64))), atol=1e-4)
    node = N("STFT", ["x", "step", "", "n"], ["y"], onesided=0)
    (got,) = backend.run_node(node, [signal, np.int64(50), np.int64(50)], opset_version=17)
    frames = signal[..., 0].reshape(2, 2, 50)
    np.testing.assert_allclose(got, parts(np.fft.fft(frames.astype(np.float64))), atol=1e-4)
    with pytest.raises(UserError, match="neither a window nor a frame_length"):
        backend.run_node(N("STFT", ["x", "step"], ["y"]), [signal, np.int64(7)], opset_version=17)


def test_bits_of_another_type():
    x = rand(3, 4)
    node = N("BitCast", ["x"], ["y"], to=TensorProto.INT32)
    np.testing.assert_array_equal(backend.run_node(node, [x], opset_version=26)[0], x.view(np.int32))
    with pytest.raises(UserError):
        backend.run_node(N("BitCast", ["x"], ["y"], to=TensorProto.INT64), [x], opset_version=26)


def test_slices_that_run_downward_in_two_dimensions():
    """Both whole, so that the result has the input's shape."""
    x, both = rand(4, 5, 3), np.array([-1, -1])
    starts, ends, axes = both, np.array([-9, -9]), np.array([0, 2])
    (got,) = backend.run_node(
        N("Slice", ["x", "s", "e", "a", "p"], ["y"]), [x, starts, ends, axes, both], opset_version=13
    )
    np.testing.assert_array_equal(got, x[::-1, :, ::-1])


@pytest.mark.parametrize(
    "x, w, attributes",
    [
        ([2, 4, 5, 6], [4, 3, 2, 3], dict(group=2, dilations=[2, 1], strides=[1, 2])),
        ([1, 2, 7], [2, 3, 4], dict(strides=[3], pads=[1, 2], output_padding=[2])),
        ([1, 2, 3, 4, 5], [2, 2, 2, 3, 2], dict(strides=[2, 1, 2])),
        ([1, 2, 3, 4], [2, 2, 3, 3], dict(pads=[2, 2, 2, 2], strides=[2, 2])),
    ],
)
def test_transposed_convolutions_with_computed_filters(x, w, attributes):
    arrays = [rand(*x), rand(*w), rand(w[1] * attributes.get("group", 1))]
    node = N("ConvTranspose", ["x", "w", "b"], ["y"], **attributes)
    (got,) = backend.run_node(node, arrays, opset_version=13)
    np.testing.assert_allclose(got, onnxruntime(node, arrays, 13)[0], atol=1e-4)


def test_peepholes():
    """And outputs that are left out."""
    arrays = [rand(5, 2, 3), rand(2, 16, 3), rand(2, 16, 4), rand(2, 32), rand(2, 2, 4), rand(2, 2, 4), rand(2, 12)]
    node = N("LSTM", ["x", "w", "r", "b", "", "h", "c", "p"], ["", "y", "z"], hidden_size=4, direction="bidirectional")
    for got, wanted in zip(
        backend.run_node(node, arrays, opset_version=14), onnxruntime(node, arrays, 14), strict=True
    ):
        np.testing.assert_allclose(got, wanted, atol=1e-5)


@pytest.mark.parametrize("op", ["Sum", "Prod", "Max", "Min", "L1", "L2", "SumSquare", "LogSum", "LogSumExp"])
def test_reductions_of_nothing(op):
    (got,) = backend.run_node(
        N("Reduce" + op, ["x", "a"], ["y"]), [np.zeros((2, 0, 3), np.float32), np.array([1])], opset_version=20
    )
    infinity = np.float32(np.inf)
    neutral = {"Prod": 1, "Max": -infinity, "Min": infinity, "LogSum": -infinity, "LogSumExp": -infinity}
    np.testing.assert_array_equal(got, np.full((2, 1, 3), neutral.get(op, 0), np.float32))


def test_mask_of_a_dropout():
    _, mask = backend.run_node(N("Dropout", ["x"], ["y", "m"]), [rand(2, 3)], opset_version=13)
    assert mask.dtype == bool and mask.all()


def test_a_dropout_that_drops_is_refused():
    inputs = [rand(2, 3), np.array(0.5, np.float32), np.array(True)]
    with pytest.raises(UserError, match="training mode with a ratio other than 0"):
        backend.run_node(N("Dropout", ["x", "r", "t"], ["y"]), inputs, opset_version=13)
