"""Numbers of rows that values decide, beyond what versions serve: the host program computes on them, against
onnxruntime."""

import numpy as np
import onnx
import pytest
from graphs import F, I, info, save, weight
from onnx import helper
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession, RuntimeFailure
from pto_mlir.tools import model_deploy, model_transform
from test_dynamic_shapes import check, convert

N = 40
RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((N, 3), np.float32)


def op(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs.split(), outputs.split(), **attributes)


# The rows of x whose first number exceeds t: `i` are their numbers, `rows` the rows.
ROWS = [
    op("Gather", "x zero", "first", axis=1),
    op("Greater", "first t", "kept"),
    op("NonZero", "kept", "places"),
    op("Transpose", "places", "turned"),
    op("Squeeze", "turned axis1", "i"),
    op("Gather", "x i", "rows"),
]
WEIGHTS = {
    "zero": np.int64(0),
    "one": np.int64(1),
    "axis0": np.array([0]),
    "axis1": np.array([1]),
    "axis2": np.array([2]),
    "minus": np.array([-1]),
    "back": np.array([-2]),
    "far": np.array([np.iinfo(np.int64).max]),
    "three": np.array([3]),
    "four": np.array([4]),
    "axis01": np.array([0, 1]),
    "axis02": np.array([0, 2]),
    "pads": np.array([1, 0, 2, 3]),
    "scales": np.array([1, 1, 1.7, 2.4], np.float32),
    "no_region": np.zeros(0, np.float32),
    "region": np.array([0, 0, 0.2, -0.3, 1, 1, 0.8, 1.1], np.float32),
    "crops": np.array([0, 1, 0, -1]),
    "stacks": RANDOM.standard_normal((N, 4, 2), np.float32),
    "stacks_at": RANDOM.integers(-4, 4, (N, 3, 1)),
    "fixed": np.array([7, 3]),
    "none": np.zeros(0, np.int64),
    "ones": np.array([1]),
    "seven": np.array([7]),
    "sizes": np.array([1, 2]),
    "half": np.float32(0.5),
    "two": np.float32(2),
    "length": np.float32(1.7),
    "w": RANDOM.standard_normal((3, 5), np.float32),
    "v": RANDOM.standard_normal((5, 5), np.float32),
    "bias": RANDOM.standard_normal(5, np.float32),
    "x4": RANDOM.standard_normal((1, 2, 6, 5), np.float32),
    "shape13": np.array([1, 3]),
    "overlap": np.array([0.5], np.float32),
}
CROP = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.5}
COUNT = [op("Shape", "i", "n"), op("Squeeze", "n axis0", "count")]
# Behind the rows; the result is y (and z).
TAILS = {
    "elementwise": [
        op("Exp", "rows", "a"),
        op("Clip", "a half two", "b"),
        op("Sub", "b rows", "c"),
        op("Max", "c rows half", "d"),
        op("Pow", "d two", "e"),
        op("Sigmoid", "e", "y"),
    ],
    "choices": [
        op("Less", "rows half", "a"),
        op("Not", "a", "b"),
        op("Or", "a b", "c"),
        op("Xor", "c a", "d"),
        op("Where", "d rows two", "y"),
        op("Cast", "rows", "as_bool", to=onnx.TensorProto.BOOL),
        op("Cast", "as_bool", "z", to=onnx.TensorProto.INT32),
    ],
    "integers": [op("Div", "i axis2", "a"), op("Mod", "i three", "b"), op("Add", "a b", "c"), op("Neg", "c", "y")],
    "shapes": [
        op("Unsqueeze", "rows axis1", "a"),
        op("Concat", "a a", "b", axis=1),
        op("Flatten", "b", "c", axis=1),
        op("Transpose", "c", "y", perm=[1, 0]),
    ],
    "reshape": [
        *COUNT,
        op("Concat", "n three", "shape", axis=0),
        op("Reshape", "rows shape", "a"),
        op("ReduceSum", "a axis1", "y", keepdims=0),
    ],
    "slices": [
        op("Slice", "rows back far axis0", "y"),
        op("Slice", "rows axis2 back axis1 minus", "z"),
    ],
    "slice to the size": [*COUNT, op("Slice", "x axis0 n axis0", "y")],
    "constant of shape": [
        *COUNT,
        op("ConstantOfShape", "n", "a", value=onnx.numpy_helper.from_array(np.array([4], np.int64))),
        op("Concat", "a i", "y", axis=0),
    ],
    "expand": [op("Shape", "rows", "s"), op("Expand", "half s", "a"), op("Mul", "a rows", "y")],
    "range": [*COUNT, op("Range", "zero count one", "y")],
    "split": [op("Split", "rows sizes", "y z", axis=1)],
    "gather_nd": [op("GatherND", "x turned", "y")],
    "top k of a size": [
        *COUNT,
        op("Concat", "n seven", "both", axis=0),
        op("ReduceMin", "both", "k", keepdims=0),
        op("Reshape", "k minus", "ks"),
        op("TopK", "rows ks", "y z", axis=0),
    ],
    "gather_nd of batches": [
        op("Gather", "stacks i", "data"),
        op("Gather", "stacks_at i", "at"),
        op("GatherND", "data at", "y", batch_dims=1),
    ],
    "tile": [
        op("Tile", "rows sizes", "y"),
        *COUNT,
        op("Concat", "ones n", "times", axis=0),
        op("Tile", "x times", "z"),
    ],
    "pad": [
        op("Pad", "rows pads half", "y"),
        *COUNT,
        op("Concat", "axis0 axis0 n axis0", "pads_of_rows", axis=0),
        op("Pad", "x pads_of_rows", "z"),
    ],
    "pad with rows": [op("Pad", "rows pads", "y", mode="edge"), op("Pad", "rows crops", "z", mode="reflect")],
    "places of extrema": [
        op("ArgMax", "rows", "y", axis=1),
        op("Floor", "rows", "whole"),
        op("ArgMin", "whole", "z", axis=-1, keepdims=0, select_last_index=1),
    ],
    "products with factors": [
        op("Gemm", "rows w", "a", alpha=0.5),
        op("Gemm", "a v bias", "b", beta=-2.0),
        op("Gemm", "w x", "c", transA=1, transB=1),
        op("Gemm", "b v half", "d", alpha=3.0, beta=0.25),
        op("Gather", "d zero", "first_d", axis=1),
        op("Unsqueeze", "first_d axis1", "column"),
        op("Gemm", "rows w column", "y"),
        op("Gemm", "rows w bias", "z", beta=0.0),
    ],
    "squeeze without axes": [
        op("Unsqueeze", "rows axis02", "a"),
        op("Squeeze", "a", "y"),
    ],
    "resize by scales": [
        op("Unsqueeze", "rows axis01", "image"),
        op("Resize", "image no_region scales", "y", mode="linear"),
        op("Resize", "image no_region scales", "z", mode="nearest", nearest_mode="floor"),
    ],
    "resize to sizes": [
        op("Unsqueeze", "rows axis01", "image"),
        *COUNT,
        op("Add", "n n", "twice"),
        op("Concat", "ones ones twice seven", "image_sizes", axis=0),
        op("Resize", "image no_region no_region image_sizes", "y", mode="cubic", exclude_outside=1),
        op("Resize", "image region no_region image_sizes", "z", mode="linear", **CROP),
    ],
    "softmax": [op("Softmax", "rows", "y", axis=1)],
    "non-zero again": [op("Greater", "rows half", "a"), op("NonZero", "a", "y")],
    "boxes": [
        op("Concat", "rows rows", "a", axis=1),
        op("Slice", "a axis0 four axis1", "b"),
        op("Unsqueeze", "b axis0", "boxes"),
        op("Gather", "rows one", "c", axis=1),
        op("Unsqueeze", "c axis01", "scores"),
        op("NonMaxSuppression", "boxes scores seven overlap", "y"),
    ],
    "products": [
        op("MatMul", "rows w", "a"),
        op("Gemm", "a v bias", "b", transB=1),
        op("Unsqueeze", "b axis0", "c"),
        op("Unsqueeze", "a axis0", "d"),
        op("Transpose", "d", "e", perm=[0, 2, 1]),
        op("MatMul", "c e", "y"),
    ],
    "regions": [
        op("Abs", "rows", "a"),
        op("Slice", "a axis0 axis2 axis1", "corner"),
        op("Add", "corner length", "other"),
        op("Concat", "corner other", "c", axis=1),
        op("Shape", "c", "s"),
        op("Gather", "s one", "columns"),  # is known: so is the branch
        op("Equal", "columns one", "is_one"),
        op("Mul", "i zero", "images"),
        op("RoiAlign", "x4 c images", "y", output_height=2, output_width=3, sampling_ratio=2),
        op("RoiAlign", "x4 c images", "z", output_height=2, output_width=1, mode="max"),
    ],
    "scatter": [
        op("Unsqueeze", "i axis1", "a"),
        op("Expand", "a shape13", "b"),
        op("Neg", "rows", "c"),
        op("ScatterElements", "x b c", "y", axis=0),
    ],
    "back to a fixed size": [op("ReduceMax", "rows", "a", keepdims=0), op("Add", "a x", "y")],
}
# onnxruntime refuses them without rows, or gives ArgMin's result another rank.
NEED_ROWS = (
    "resize by scales",
    "resize to sizes",
    "softmax",
    "regions",
    "pad with rows",
    "places of extrema",
    "back to a fixed size",
)


def graph(tmp_path, tail):
    """m.onnx of the rows and what is done with them."""
    nodes = [*ROWS, *tail]
    used = {name for node in nodes for name in node.input}
    weights = [weight(name, np.asarray(value)) for name, value in WEIGHTS.items() if name in used]
    inputs = [info("x", F, [N, 3]), info("t", F, [])]
    typed = onnx.shape_inference.infer_shapes(
        helper.make_model(
            helper.make_graph(nodes, "g", inputs, [], weights), opset_imports=[helper.make_opsetid("", 17)]
        )
    )
    outputs = [v for v in typed.graph.value_info if v.name in ("y", "z")]
    for output in outputs:
        if not output.type.tensor_type.HasField("shape"):  # of a Squeeze without axes
            output.CopyFrom(info(output.name, F, [None, 3]))
    save(tmp_path / "m.onnx", nodes, inputs, outputs, weights)


@pytest.mark.parametrize("tail", TAILS)
def test_the_host_computes_on_rows_that_values_choose(tmp_path, tail):
    """All rows, some, more than there are versions of, and none."""
    graph(tmp_path, TAILS[tail])
    thresholds = [-9, 0.3, -0.5, *([] if tail in NEED_ROWS else [9])]
    check(tmp_path, [{"x": X, "t": np.array(t, np.float32)} for t in thresholds], interpreted=False)


def test_what_versions_serve_stays_on_the_engines(tmp_path):
    """With as many versions as rows, the op behind them is a kernel."""
    graph(tmp_path, [op("Exp", "rows", "y")])
    counts = [sum(" exp on the host" in line for line in convert(tmp_path, n)["host_ops"]) for n in (8, N)]
    assert counts == [1, 0]


def test_a_branch_gives_rows(tmp_path):
    """If no row is kept, exporters leave out the rest."""
    branches = {
        "then_branch": helper.make_graph([op("Identity", "none", "no")], "then", [], [info("no", I, [0])]),
        "else_branch": helper.make_graph(
            [op("TopK", "first_kept ones", "most at", axis=0)], "else", [], [info("at", I, [None])]
        ),
    }
    tail = [
        op("Gather", "rows zero", "first_kept", axis=1),
        *COUNT,
        op("Equal", "count zero", "is_none"),
        op("If", "is_none", "chosen", **branches),
        op("Gather", "rows chosen", "y"),
    ]
    nodes = [*ROWS, *tail]
    save(
        tmp_path / "m.onnx",
        nodes,
        [info("x", F, [N, 3]), info("t", F, [])],
        [info("y", F, [None, 3])],
        [weight(name, np.asarray(value)) for name, value in WEIGHTS.items()],
    )
    check(tmp_path, [{"x": X, "t": np.array(t, np.float32)} for t in (-9, 0.3, 9)], interpreted=False)


def test_a_fault_of_the_run_says_why(tmp_path):
    graph(tmp_path, [op("Reshape", "rows fixed", "y")])
    convert(tmp_path)
    with pytest.raises(RuntimeFailure, match=r"a tensor of shape 40x3 has not as many elements as shape 7x3"):
        InferenceSession(str(tmp_path / "m.pmodel")).run(None, {"x": X, "t": np.array(-9, np.float32)})


def test_a_squeeze_without_axes_refuses_the_size_that_changes_its_rank(tmp_path):
    graph(tmp_path, TAILS["squeeze without axes"])
    convert(tmp_path)
    most = np.sort(X[:, 0])[-2]
    with pytest.raises(
        RuntimeFailure, match=r"squeeze without axes of shape 1x1x1x3 gives a tensor of rank less than 2"
    ):
        InferenceSession(str(tmp_path / "m.pmodel")).run(None, {"x": X, "t": np.array(most, np.float32)})


def test_the_error_names_the_operator_without_a_form(tmp_path):
    """Where versions fail as well."""
    graph(tmp_path, [op("Unsqueeze", "rows axis0", "a"), op("LpNormalization", "a", "y", axis=9)])
    with pytest.raises(UserError, match=r"LpNormalization, opset 17\): input 'a' has an extent that is known at run"):
        convert(tmp_path)


def test_many_operations_of_the_host_are_one_line(tmp_path, capsys):
    tail = [op("Exp", f"{'rows' if n == 0 else f'e{n - 1}'}", f"e{n}") for n in range(8)] + [op("Neg", "e7", "y")]
    graph(tmp_path, tail)
    mlir, target = str(tmp_path / "m.mlir"), str(tmp_path / "m.pmodel")
    assert model_transform.main(["--model_name", "m", "--model_def", str(tmp_path / "m.onnx"), "--mlir", mlir]) == 0
    for options, wanted in (([], "e0, e1, e2 and 5 others: exp on the host"), (["--verbose"], "e7: exp on the host")):
        assert model_deploy.main(["--mlir", mlir, "--model", target, "--quantize", "F32", *options]) == 0
        assert wanted in capsys.readouterr().out


def test_a_reason_of_many_kinds_is_one_line(tmp_path, capsys):
    kinds = "Exp Neg Abs Sqrt Floor Ceil Sigmoid Tanh".split()
    tail = [op(kind, f"{'rows' if n == 0 else f'e{n - 1}'}", f"e{n}") for n, kind in enumerate(kinds)]
    graph(tmp_path, [*tail, op("Neg", "e7", "y")])
    mlir, target = str(tmp_path / "m.mlir"), str(tmp_path / "m.pmodel")
    assert model_transform.main(["--model_name", "m", "--model_def", str(tmp_path / "m.onnx"), "--mlir", mlir]) == 0
    assert model_deploy.main(["--mlir", mlir, "--model", target, "--quantize", "F32"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("  on the host: "))
    assert "operations (neg, " in line and " others) on the host, sizes are known at run time only" in line
    assert len(line) < 400


def test_large_tensors_of_the_host_are_kept_once(tmp_path):
    """Two equal ones of 100 KB, one that differs in a bit, and one of the same bytes and another type."""
    table = RANDOM.standard_normal((N * 7, 100), np.float32)
    other = table.copy()
    other[3, 5] = -other[3, 5]
    tail = [op("Gather", f"t{n} i", f"g{n}") for n in range(3)]
    tail += [op("Mul", "g0 g1", "m"), op("Add", "m g2", "s"), op("ReduceSum", "s axis1", "y", keepdims=1)]
    tail += [op("Gather", "t3 i", "z")]
    WEIGHTS.update({"t0": table, "t1": table.copy(), "t2": other, "t3": table.view(np.int32)})
    graph(tmp_path, tail)
    check(tmp_path, [{"x": X, "t": np.array(t, np.float32)} for t in (-9, 0.3)], interpreted=False)
    assert 2 * table.nbytes < (tmp_path / "m.pmodel").stat().st_size < 3.5 * table.nbytes


def test_experts_of_sorted_tokens(tmp_path):
    """Two layers of experts: rows sorted by their expert, cut into as many as each has, and put back. The ways to cut
    them are more than there may be versions, though each part has few extents."""
    nodes, weights, last = [], {"zero": np.int64(0), "axis1": np.array([1]), "four": np.array([4])}, "x"
    weights |= {"minus": np.array([-1]), "count": np.array([32]), "zeros": np.zeros((32, 6), np.float32)}
    for layer in ("a", "b"):
        for e in range(4):
            weights[f"{layer}w{e}"] = RANDOM.standard_normal((5, 6), np.float32)
            weights[f"{layer}v{e}"] = RANDOM.standard_normal((6, 5), np.float32)
        weights[layer + "r"] = RANDOM.standard_normal((6, 4), np.float32)
        parts = " ".join(f"{layer}p{e}" for e in range(4))
        nodes += [
            op("MatMul", f"{last} {layer}r", layer + "scores"),
            op("ArgMax", layer + "scores", layer + "expert", axis=1, keepdims=0),
            op("TopK", f"{layer}expert count", f"{layer}sorted {layer}order", axis=0, largest=0),
            op("OneHot", f"{layer}expert four on", layer + "hot"),
            op("ReduceSum", f"{layer}hot axis0", layer + "sizes", keepdims=0),
            op("Unsqueeze", f"{layer}order axis1", layer + "places"),
            op("Gather", f"{last} {layer}order", layer + "rows"),
            op("Split", f"{layer}rows {layer}sizes", parts, axis=0),
            *(op("Gemm", f"{layer}p{e} {layer}w{e}", f"{layer}g{e}", transB=1) for e in range(4)),
            *(op("Relu", f"{layer}g{e}", f"{layer}s{e}") for e in range(4)),
            *(op("Gemm", f"{layer}s{e} {layer}v{e}", f"{layer}h{e}", transB=1) for e in range(4)),
            op("Concat", " ".join(f"{layer}h{e}" for e in range(4)), layer + "all", axis=0),
            op("Reshape", f"{layer}all shape", layer + "fixed"),
            op("ScatterND", f"zeros {layer}places {layer}fixed", layer + "y"),
        ]
        last = layer + "y"
    weights |= {"axis0": np.array([0]), "on": np.array([0, 1]), "shape": np.array([32, 6])}
    save(
        tmp_path / "m.onnx",
        nodes,
        [info("x", F, [32, 6])],
        [info("by", F, [32, 6])],
        [weight(name, np.asarray(value)) for name, value in weights.items()],
    )
    feeds = [{"x": RANDOM.standard_normal((32, 6), np.float32)} for _ in range(3)] + [{"x": np.ones((32, 6), "f")}]
    check(tmp_path, feeds, max_extent=32, interpreted=False)


def test_lists_of_many_numbers(tmp_path):
    """Each number has few values, and all of them together more than there may be versions."""
    nodes = [
        op("ArgMax", "m", "most", axis=1, keepdims=0),
        op("Gather", "most first", "starts"),
        op("Gather", "most last", "ends"),
        op("Slice", "m starts ends", "part"),
        op("Exp", "part", "y"),
    ]
    weights = {"first": np.array([0, 1]), "last": np.array([2, 3])}
    save(
        tmp_path / "m.onnx",
        nodes,
        [info("m", F, [30, 31])],
        [info("y", F, [None, None])],
        [weight(name, value) for name, value in weights.items()],
    )
    feeds = [{"m": RANDOM.standard_normal((30, 31), np.float32)} for _ in range(3)]
    for feed, places in zip(feeds, ((0, 0, 30, 30), (3, 7, 20, 9), (9, 2, 28, 30)), strict=True):
        feed["m"][range(4), places] = 9
    check(tmp_path, feeds, max_extent=32, interpreted=False)
