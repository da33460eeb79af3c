"""Pixels at computed places (DeformConv, RoiAlign), places of maxima, determinants, n-grams, diagonals: random cases
against onnxruntime, or onnx's reference evaluator where it has no kernel."""

import numpy as np
import one_node
import pytest
from one_node import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from pto_mlir import backend
from pto_mlir.errors import UserError

N = helper.make_node
RANDOM = np.random.default_rng(11)


def rand(*shape):
    return RANDOM.standard_normal(shape, np.float32)


def ours(node, arrays, opset):
    rep = backend.Rep(one_node.model(node, arrays, opset))
    return list(rep.run([np.asarray(array) for array in arrays])), rep


def compare(node, arrays, opset, atol=2e-5, reference=onnxruntime):
    got, rep = ours(node, arrays, opset)
    for own, wanted in zip(got, reference(node, arrays, opset), strict=True):
        assert own.dtype == wanted.dtype and own.shape == wanted.shape
        np.testing.assert_allclose(own, wanted, rtol=1e-4, atol=atol)
    return rep


def by_reference(node, arrays, opset):
    made = one_node.model(node, arrays, opset)
    names = [info.name for info in made.graph.input]
    return ReferenceEvaluator(made).run(None, dict(zip(names, map(np.asarray, arrays), strict=True)))


@pytest.mark.parametrize("seed", range(6))
def test_deform_conv(seed):
    """Groups of channels and of offsets, strides, pads, dilations; places far outside of the image, too."""
    rng = np.random.default_rng(seed)
    group, offsets = rng.choice([1, 2], 2)
    channels, filters = 4, int(group * rng.integers(1, 4))
    kernel, strides, dilations = (rng.integers(1, 4, 2) for _ in range(3))
    size, pads = rng.integers(7, 12, 2), rng.integers(0, 3, 4)
    out = (size + pads[:2] + pads[2:] - dilations * (kernel - 1) - 1) // strides + 1
    batch, taps = 2, int(np.prod(kernel))
    arrays = [
        rand(batch, channels, *size),
        rand(filters, channels // group, *kernel),
        rand(batch, 2 * offsets * taps, *out) * 3,
        rand(filters),
        rand(batch, offsets * taps, *out),
    ]
    node = N(
        "DeformConv",
        ["x", "w", "o", "b", "m"],
        ["y"],
        group=int(group),
        offset_group=int(offsets),
        strides=strides.tolist(),
        dilations=dilations.tolist(),
        pads=pads.tolist(),
    )
    rep = compare(node, arrays, 19, 1e-4)
    assert not rep.host_ops


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("samples", [0, 1, 3])
def test_roi_align(mode, samples):
    """Fixed numbers of samples on the engines, others on the host; regions that leave the image."""
    boxes = RANDOM.uniform(-4, 22, (7, 4)).astype(np.float32)
    boxes[:, 2:] = np.maximum(boxes[:, 2:], boxes[:, :2] + 0.5)
    arrays = [rand(3, 5, 13, 17), boxes, RANDOM.integers(0, 3, 7)]
    for shift in ("half_pixel", "output_half_pixel"):
        node = N(
            "RoiAlign",
            ["x", "r", "b"],
            ["y"],
            mode=mode,
            sampling_ratio=samples,
            output_height=3,
            output_width=4,
            spatial_scale=0.75,
            coordinate_transformation_mode=shift,
        )
        rep = compare(node, arrays, 16)
        assert any("roialign" in op for op in rep.host_ops) == (samples == 0)


def test_roi_of_an_image_that_is_not_there():
    node = N("RoiAlign", ["x", "r", "b"], ["y"])
    with pytest.raises(UserError, match="image 5 of 1"):
        ours(node, [rand(1, 1, 4, 4), np.ones((1, 4), np.float32), np.array([5])], 16)


@pytest.mark.parametrize("pooled", [(1, 1), (2, 4), (5, 3)])
def test_max_roi_pool(pooled):
    """Regions that leave the image, of less than a pixel, and whose ends are before their beginnings."""
    boxes = RANDOM.integers(-6, 22, (9, 5)).astype(np.float32)
    boxes[:, 0] = RANDOM.integers(0, 3, 9)
    boxes[:6, 3:] = np.maximum(boxes[:6, 3:], boxes[:6, 1:3])
    for scale in (1.0, 0.75):
        node = N("MaxRoiPool", ["x", "r"], ["y"], pooled_shape=pooled, spatial_scale=scale)
        assert not compare(node, [rand(3, 5, 13, 17), boxes], 21).host_ops


@pytest.mark.parametrize(
    "shapes, pooled, text",
    [
        (([1, 2, 4], [3, 5]), (1, 1), r"expects images \[N, C, H, W\]"),
        (([1, 2, 4, 4], [3, 4]), (1, 1), "regions"),
        (([1, 2, 4, 4], [3, 5]), (0, 1), "two positive values"),
        (([1, 8, 128, 128], [99, 5]), (99, 99), "looks at more than"),
    ],
)
def test_max_roi_pool_refused(shapes, pooled, text):
    node = N("MaxRoiPool", ["x", "r"], ["y"], pooled_shape=pooled)
    with pytest.raises(UserError, match=text):
        ours(node, [np.ones(shape, np.float32) for shape in shapes], 22)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_places_of_maxima(order, dtype):
    """Equal elements, pads, strides, dilations, ceil_mode, one to three dimensions."""
    for size, kernel, options in [
        ((11,), (3,), {"strides": [2], "pads": [1, 1]}),
        ((9, 8), (3, 2), {"strides": [2, 3], "pads": [1, 0, 0, 1], "ceil_mode": 1}),
        ((9, 10), (2, 3), {"dilations": [2, 2]}),
        ((5, 6, 7), (2, 3, 2), {"strides": [2, 1, 2]}),
    ]:
        x = RANDOM.integers(-9, 9, (2, 3, *size)).astype(dtype)
        node = N("MaxPool", ["x"], ["y", "i"], kernel_shape=kernel, storage_order=order, **options)
        compare(node, [x], 12)


@pytest.mark.parametrize("shape", [None, [2, 3, 9, 12]])
def test_unpooled(shape):
    x = rand(2, 3, 8, 10)
    pooled, places = onnxruntime(N("MaxPool", ["x"], ["y", "i"], kernel_shape=[2, 2], strides=[2, 2]), [x], 12)
    node = N("MaxUnpool", ["y", "i", "s"] if shape else ["y", "i"], ["x"], kernel_shape=[2, 2], strides=[2, 2])
    arrays = [pooled, places, np.array(shape)] if shape else [pooled, places]
    compare(node, arrays, 11, reference=by_reference)


def test_determinants():
    singular = np.array([[0, 1, 2], [0, 3, 4], [0, 5, 6]], np.float32)
    compare(N("Det", ["x"], ["y"]), [np.stack([rand(3, 3), np.eye(3, dtype=np.float32)[[1, 0, 2]], singular])], 11)
    compare(N("Det", ["x"], ["y"]), [rand(6, 6)], 11, 1e-3)


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
def test_ngrams(mode):
    pool = [2, 3, 5, 4, 5, 6, 7, 8, 6, 7, 1, 2, 3]
    options = {"ngram_counts": [0, 4, 10], "ngram_indexes": [0, 1, 2, 3, 4, 5, 6, 7], "pool_int64s": pool}
    for least, most, skips in [(1, 1, 0), (1, 3, 1), (2, 3, 4)]:
        node = N(
            "TfIdfVectorizer",
            ["x"],
            ["y"],
            mode=mode,
            min_gram_length=least,
            max_gram_length=most,
            max_skip_count=skips,
            weights=[0.5, 2.0, 3.0, 1.5, 0.25, 7.0, 1.0, 4.0],
            **options,
        )
        compare(node, [RANDOM.integers(1, 9, (4, 11))], 9)
        compare(node, [RANDOM.integers(1, 9, 23).astype(np.int32)], 9)
    with pytest.raises(UserError, match="not known"):
        ours(N("TfIdfVectorizer", ["x"], ["y"], mode="T", **options), [np.array([1])], 9)


def test_mel_weights():
    numbers = [np.int64(20), np.int64(256), np.int64(8192), np.float32(30), np.float32(4000)]
    compare(N("MelWeightMatrix", list("abcde"), ["y"]), numbers, 17)
    node = N("MelWeightMatrix", list("abcde"), ["y"], output_datatype=TensorProto.DOUBLE)
    compare(node, numbers, 17, reference=by_reference)


@pytest.mark.parametrize(
    "equation, shapes",
    [("...ii->...i", [(3, 4, 4)]), ("ii", [(5, 5)]), ("iij,ji->j", [(3, 3, 4), (4, 3)]), ("iii->i", [(3, 3, 3)])],
)
def test_diagonals(equation, shapes):
    arrays = [rand(*shape) for shape in shapes]
    node = N("Einsum", [f"x{i}" for i in range(len(arrays))], ["y"], equation=equation)
    (got,), _ = ours(node, arrays, 12)
    np.testing.assert_allclose(got, np.einsum(equation, *arrays), rtol=1e-5, atol=1e-5)
    with pytest.raises(UserError, match="stands for 3 and 4"):
        ours(N("Einsum", ["x"], ["y"], equation="ii->i"), [rand(3, 4)], 12)


def test_slopes_of_channels():
    """A PRelu before opset 7, whose slopes are those of the channels."""
    x, slopes = rand(2, 3, 4, 5), rand(3)
    (got,) = backend.run_node(N("PRelu", ["x", "s"], ["y"]), [x, slopes], opset_version=6)
    np.testing.assert_allclose(got, np.where(x < 0, x * slopes[:, None, None], x), rtol=1e-6)


def test_results_of_no_elements():
    """Beside results that have some, and alone; of constants, cuts and reductions."""
    x = rand(4, 3)
    (got,), _ = ours(N("Relu", ["x"], ["y"]), [np.zeros((2, 0), np.float32)], 13)
    assert got.shape == (2, 0)
    (got,), _ = ours(N("Slice", ["x", "b", "e"], ["y"]), [x, np.array([9]), np.array([20])], 13)
    assert got.shape == (0, 3)
    (none, all_), _ = ours(N("Split", ["x", "s"], ["a", "b"]), [x, np.array([0, 4])], 13)
    assert none.shape == (0, 3)
    np.testing.assert_array_equal(all_, x)
    (got,), _ = ours(N("ReduceSum", ["x", "a"], ["y"]), [np.zeros((2, 0, 3), np.float32), np.array([0])], 13)
    assert got.shape == (1, 0, 3)
