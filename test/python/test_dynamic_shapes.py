"""Sizes known only at run time: versions of the graph, against onnxruntime."""

import numpy as np
import onnxruntime as ort
import pytest
from graphs import B, F, I, info, save, weight
from onnx import helper
from pto_mlir import compiler
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession, RuntimeFailure
from pto_mlir.tools import model_deploy, model_transform

RANDOM = np.random.default_rng(11)


def node(*arguments, **attributes):
    return helper.make_node(*arguments, **attributes)


def convert(tmp_path, max_extent=8, sizes=None, quantize="F32", debug=False):
    source, target = str(tmp_path / "m.onnx"), str(tmp_path / "m.pmodel")
    compiler.transform(source, "m", None, [], target + ".mlir", "", max_extent, sizes)
    return compiler.deploy(target + ".mlir", target, quantize, "a3", 1, debug)


def check(tmp_path, feeds, tolerance=1e-5, interpreted=True, **options):
    """Compiles tmp_path/m.onnx; compares the cmodel and MLIR's execution engine with onnxruntime on every feed."""
    convert(tmp_path, **options)
    target = str(tmp_path / "m.pmodel")
    session, reference = InferenceSession(target, threads=1), ort.InferenceSession(str(tmp_path / "m.onnx"))
    names = [output.name for output in reference.get_outputs()]
    for i, feed in enumerate(feeds):
        expected = reference.run(names, feed)
        made = [session.run(names, feed)]
        if interpreted and i == len(feeds) - 1:
            values = compiler.interpret(target + ".mlir", feed)
            made.append([values[name] for name in names])
        for results in made:
            for ours, theirs in zip(results, expected, strict=True):
                assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
                np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
    return session


def test_a_slice_with_an_end_of_the_run_feeds_ops(tmp_path):
    """The first n + 1 rows: a matrix product, a softmax over them, a sum; next to computations that do not depend on
    n."""
    save(
        tmp_path / "m.onnx",
        [
            node("Add", ["n", "one"], ["end"]),
            node("Slice", ["x", "zero", "end"], ["part"]),
            node("MatMul", ["part", "w"], ["h"]),
            node("Softmax", ["h"], ["s"], axis=0),
            node("ReduceSum", ["s", "zero"], ["y"], keepdims=0),
            node("Tanh", ["x"], ["t"]),
        ],
        [info("x", F, [6, 5]), info("n", I, [1])],
        [info("h", F, ["rows", 7]), info("y", F, [7]), info("t", F, [6, 5]), info("end", I, [1])],
        [
            weight("one", np.array([1])),
            weight("zero", np.array([0])),
            weight("w", RANDOM.standard_normal((5, 7), np.float32)),
        ],
    )
    x = RANDOM.standard_normal((6, 5), np.float32)
    session = check(tmp_path, [{"x": x, "n": np.array([n])} for n in (0, 5, 8, 2)])
    with pytest.raises(
        RuntimeFailure,
        match=r"'n' has a value that the model was not compiled for: 0, 1, 2 to 8 \(model_transform --max_extent",
    ):
        session.run(None, {"x": x, "n": np.array([9])})


def test_two_sizes_and_shapes_made_of_them(tmp_path):
    """Reshape and Expand to sizes that are inputs; sizes that do not divide are a fault of the run."""
    save(
        tmp_path / "m.onnx",
        [
            node("Concat", ["a", "minus"], ["shape"], axis=0),
            node("Reshape", ["x", "shape"], ["r"]),
            node("ReduceMax", ["r"], ["m"], axes=[1], keepdims=1),
            node("Concat", ["a", "b"], ["wide"], axis=0),
            node("Expand", ["m", "wide"], ["e"]),
            node("Neg", ["e"], ["y"]),
        ],
        [info("x", F, [12]), info("a", I, [1]), info("b", I, [1])],
        [info("y", F, ["p", "q"])],
        [weight("minus", np.array([-1]))],
    )
    x = RANDOM.standard_normal(12).astype(np.float32)
    session = check(
        tmp_path, [{"x": x, "a": np.array([a]), "b": np.array([b])} for a, b in ((3, 2), (4, 1), (1, 4))], max_extent=4
    )
    for a, b, name in ((0, 1, "a"), (2, 7, "b")):
        with pytest.raises(RuntimeFailure, match=f"'{name}' has a value"):
            session.run(None, {"x": x, "a": np.array([a]), "b": np.array([b])})


def test_range_and_nonzero(tmp_path):
    """Numbers up to n, squared; indices of nonzero elements, counted and looked up; none of them as well."""
    save(
        tmp_path / "m.onnx",
        [
            node("Range", ["from", "n", "by"], ["r"]),
            node("Cast", ["r"], ["f"], to=F),
            node("Mul", ["f", "f"], ["y"]),
            node("NonZero", ["x"], ["places"]),
            node("Transpose", ["places"], ["t"]),
            node("Cast", ["t"], ["g"], to=F),
            node("ReduceSum", ["g", "axis"], ["sums"], keepdims=0),
            node("Shape", ["places"], ["size"]),
        ],
        [info("x", F, [2, 3]), info("n", I, [])],
        [info("y", F, ["n"]), info("places", I, [2, "k"]), info("sums", F, [2]), info("size", I, [2])],
        [weight("from", np.int64(0)), weight("by", np.int64(1)), weight("axis", np.array([0]))],
    )
    grids = ([[0, 1, 0], [2, 0, -3]], [[0, 0, 0], [0, -0.0, 0]], [[1, 1, 1], [1, 1, 1]])
    check(tmp_path, [{"x": np.float32(grid), "n": np.array(n)} for n, grid in zip((3, 0, 8), grids)])


def test_a_size_made_of_two_choices(tmp_path):
    """What a number follows from ends with the version that computed it; the number outlives it."""
    counts = []
    for i in "12":
        counts += [
            node("NonZero", [f"x{i}"], [f"places{i}"]),
            node("Shape", [f"places{i}"], [f"size{i}"]),
            node("Gather", [f"size{i}", "one"], [f"n{i}"], axis=0),
            node("Min", [f"n{i}", "most"], [f"k{i}"]),
            node("TopK", [f"x{i}", f"k{i}"], [f"top{i}", f"at{i}"]),
            node("ReduceSum", [f"top{i}"], [f"sum{i}"]),
        ]
    save(
        tmp_path / "m.onnx",
        [*counts, node("Min", ["k1", "k2"], ["k"]), node("TopK", ["x", "k"], ["y", "at"])],
        [info("x1", F, [3]), info("x2", F, [2]), info("x", F, [4])],
        [info("y", F, ["k"]), info("sum1", F, [1]), info("sum2", F, [1])],
        [weight("one", np.array([1])), weight("most", np.array([4]))],
    )
    x = RANDOM.standard_normal(4).astype(np.float32)
    feeds = [([1, 0, 2], [3, 4]), ([1, 2, 3], [0, 4]), ([0, 5, 0], [6, 7])]
    check(tmp_path, [{"x1": np.float32(a), "x2": np.float32(b), "x": x} for a, b in feeds])


def test_branches_of_different_shapes_feed_ops(tmp_path):
    """The rows of a branch pass through a product and a loop of their own length."""
    then = helper.make_graph([node("Abs", ["x"], ["t"])], "then", [], [info("t", F, [4, 3])])
    other = helper.make_graph([node("Slice", ["x", "zero", "two"], ["e"])], "else", [], [info("e", F, [2, 3])])
    body = helper.make_graph(
        [node("Add", ["s", "row"], ["s2"]), node("Tanh", ["s2"], ["out"])],
        "body",
        [info("s", F, [3]), info("row", F, [3])],
        [info("s2", F, [3]), info("out", F, [3])],
    )
    save(
        tmp_path / "m.onnx",
        [
            node("If", ["c"], ["h"], then_branch=then, else_branch=other),
            node("MatMul", ["h", "w"], ["p"]),
            node("Scan", ["s0", "p"], ["s", "ys"], body=body, num_scan_inputs=1),
        ],
        [info("x", F, [4, 3]), info("c", B, [])],
        [info("h", F, ["n", 3]), info("s", F, [3]), info("ys", F, ["n", 3])],
        [
            weight("zero", np.array([0])),
            weight("two", np.array([2])),
            weight("w", RANDOM.standard_normal((3, 3), np.float32)),
            weight("s0", np.zeros(3, np.float32)),
        ],
    )
    check(tmp_path, [{"x": RANDOM.standard_normal((4, 3), np.float32), "c": np.array(flag)} for flag in (True, False)])


def test_rows_that_a_loop_collects_feed_ops(tmp_path):
    body = helper.make_graph(
        [node("Mul", ["h", "half"], ["h2"]), node("Identity", ["go"], ["go2"]), node("Identity", ["h2"], ["row"])],
        "body",
        [info("i", I, []), info("go", B, []), info("h", F, [4])],
        [info("go2", B, []), info("h2", F, [4]), info("row", F, [4])],
    )
    save(
        tmp_path / "m.onnx",
        [
            node("Loop", ["n", "", "x"], ["last", "rows"], body=body),
            node("Concat", ["rows", "tail"], ["all"], axis=0),
            node("ReduceSum", ["all", "axis"], ["y"], keepdims=0),
        ],
        [info("n", I, []), info("x", F, [4])],
        [info("y", F, [4]), info("all", F, ["m", 4])],
        [weight("half", np.float32(0.5)), weight("tail", np.ones((1, 4), np.float32)), weight("axis", np.array([0]))],
    )
    check(tmp_path, [{"n": np.array(n), "x": np.float32([1, -2, 3, 4])} for n in (0, 3, 8)])


GROW = helper.make_graph(
    [
        node("Concat", ["h", "x"], ["h2"], axis=0),
        node("ReduceSum", ["h2"], ["sum"], keepdims=0),
        node("Less", ["sum", "bound"], ["go2"]),
        node("ReduceMax", ["h2"], ["row"], axes=[0], keepdims=1),
    ],
    "body",
    [info("i", I, []), info("go", B, []), info("h", F, ["a", 3])],
    [info("go2", B, []), info("h2", F, ["b", 3]), info("row", F, [1, 3])],
)


@pytest.mark.parametrize("start", [0, 2])
def test_a_loop_whose_tensors_grow_while_a_condition_holds(tmp_path, start):
    """At most n iterations, while the sum stays below a bound; the grown tensor (initially empty as well) is an
    operand."""
    save(
        tmp_path / "m.onnx",
        [node("Loop", ["n", "", "h0"], ["grown", "rows"], body=GROW), node("MatMul", ["grown", "w"], ["y"])],
        [info("n", I, []), info("x", F, [1, 3])],
        [info("y", F, ["rows", 2]), info("rows", F, ["trips", 1, 3])],
        [
            weight("bound", np.float32(10)),
            weight("h0", np.ones((start, 3), np.float32)),
            weight("w", RANDOM.standard_normal((3, 2), np.float32)),
        ],
    )
    x = np.full((1, 3), 0.5, np.float32)
    session = check(
        tmp_path,
        [{"n": np.array(n), "x": x} for n in ((0, 4, 100, 6) if start else (4, 100, 1))],
        interpreted=start == 2,
    )
    with pytest.raises(RuntimeFailure, match="a loop whose tensors change their shapes takes more than 8 trips"):
        session.run(None, {"n": np.array(100), "x": 0 * x})


def test_a_body_that_slices_by_its_counter(tmp_path):
    """Attention to the rows so far: their number follows from the counter of a loop whose number of trips is an
    input."""
    body = helper.make_graph(
        [
            node("Reshape", ["i", "flat"], ["first"]),
            node("Add", ["first", "one"], ["end"]),
            node("Slice", ["keys", "zero", "end"], ["k"]),
            node("Transpose", ["k"], ["kt"]),
            node("MatMul", ["q", "kt"], ["scores"]),
            node("Softmax", ["scores"], ["a"]),
            node("MatMul", ["a", "k"], ["q2"]),
            node("Identity", ["go"], ["go2"]),
        ],
        "body",
        [info("i", I, []), info("go", B, []), info("q", F, [1, 4])],
        [info("go2", B, []), info("q2", F, [1, 4])],
    )
    save(
        tmp_path / "m.onnx",
        [node("Loop", ["n", "", "q0"], ["y"], body=body)],
        [info("n", I, []), info("q0", F, [1, 4]), info("keys", F, [6, 4])],
        [info("y", F, [1, 4])],
        [weight("flat", np.array([1])), weight("one", np.array([1])), weight("zero", np.array([0]))],
    )
    check(
        tmp_path,
        [
            {"n": np.array(n), "q0": np.ones((1, 4), np.float32), "keys": RANDOM.standard_normal((6, 4), np.float32)}
            for n in (0, 1, 6)
        ],
    )


def test_named_dimensions_have_several_sizes(tmp_path, capfd):
    """Batches of 1 to 3, lengths 4 and 6, in two inputs that share both: one file, one upload of weights."""
    save(
        tmp_path / "m.onnx",
        [
            node("Unsqueeze", ["mask", "last"], ["column"]),
            node("Mul", ["x", "column"], ["kept"]),
            node("MatMul", ["kept", "w"], ["h"]),
            node("ReduceSum", ["h", "middle"], ["y"], keepdims=0),
        ],
        [info("x", F, ["batch", "length", 5]), info("mask", F, ["batch", "length"])],
        [info("y", F, ["batch", 9]), info("h", F, ["batch", "length", 9])],
        [
            weight("w", RANDOM.standard_normal((5, 9), np.float32)),
            weight("middle", np.array([1])),
            weight("last", np.array([2])),
        ],
    )
    feeds = [
        {"x": RANDOM.standard_normal((b, n, 5), np.float32), "mask": RANDOM.integers(0, 2, (b, n)).astype(np.float32)}
        for b, n in ((2, 4), (1, 6), (3, 6))
    ]
    session = check(tmp_path, feeds, sizes={"batch": [1, 2, 3], "length": [4, 6]})
    assert [input.shape for input in session.get_inputs()] == [[None, None, 5], [None, None]]
    with pytest.raises(
        RuntimeFailure,
        match=(
            r"'mask' has a shape that the model was not compiled for: \[1, 4\], .* to \[3, 6\] \(model_transform "
            r"--max_extent, --dynamic"
        ),
    ):
        session.run(None, {"x": np.zeros((2, 5, 5), np.float32), "mask": np.zeros((2, 5), np.float32)})
    np.savez(tmp_path / "in.npz", **feeds[0])
    names = {
        key: str(tmp_path / name)
        for key, name in (
            ("onnx", "m.onnx"),
            ("mlir", "m.mlir"),
            ("in", "in.npz"),
            ("ref", "ref.npz"),
            ("model", "n.pmodel"),
        )
    }
    transform = ["--model_name", "m", "--model_def", names["onnx"], "--mlir", names["mlir"]]
    assert (
        model_transform.main(
            [
                *transform,
                "--dynamic",
                "batch=1..2,length=4|5",
                "--test_input",
                names["in"],
                "--test_result",
                names["ref"],
            ]
        )
        == 0
    )
    assert (
        model_deploy.main(
            [
                "--mlir",
                names["mlir"],
                "--model",
                names["model"],
                "--test_input",
                names["in"],
                "--test_reference",
                names["ref"],
            ]
        )
        == 0
    )
    for wrong, text in (
        ("batch=0", "expects names with sizes"),
        ("batch", "expects names with sizes"),
        ("batch=1..16385", "lists more than 16384 sizes; a range LEAST:GREATEST may have as many"),
        ("batch=1,length=4,depth=2", "no input has a dimension 'depth'"),
    ):
        assert model_transform.main([*transform, "--dynamic", wrong]) == 1
        assert text in capfd.readouterr().err


def test_what_has_too_many_versions_is_said(tmp_path):
    save(
        tmp_path / "m.onnx",
        [node("Reshape", ["x", "shape"], ["y"])],
        [info("x", F, [64]), info("shape", I, [3])],
        [info("y", F, ["a", "b", "c"])],
    )
    with pytest.raises(
        UserError,
        match="'shape' is known at run time only, and the sizes that follow from it make more than 512 versions of "
        "the graph with more than 16384 nodes in all; allow fewer",
    ):
        convert(tmp_path, max_extent=32)


def test_more_than_512_values(tmp_path):
    """The limit is on the nodes of all versions, not on their number."""
    save(
        tmp_path / "m.onnx",
        [node("Reshape", ["x", "shape"], ["y"])],
        [info("x", F, [64]), info("shape", I, [2])],
        [info("y", F, ["a", "b"])],
    )
    convert(tmp_path, max_extent=64)  # 65 x 65 values, of which those have a version that divide
    session, x = InferenceSession(str(tmp_path / "m.pmodel")), np.arange(64, dtype=np.float32)
    for shape in ((1, 64), (64, 1), (16, 4)):
        feed = {"x": x, "shape": np.array(shape, np.int64)}
        np.testing.assert_array_equal(session.run(None, feed)[0], x.reshape(shape))


def test_what_most_versions_lack_is_said(tmp_path):
    """None can be: those of a size of 0, which a Resize does not take, and all others without the roi's values."""
    resize = node("Resize", ["x", "roi", "", "sizes"], ["y"], coordinate_transformation_mode="tf_crop_and_resize")
    inputs = [info("x", F, [4, 4]), info("roi", F, [4]), info("sizes", I, [2])]
    save(tmp_path / "m.onnx", [resize], inputs, [info("y", F, ["a", "b"])])
    with pytest.raises(UserError, match="Resize, opset .*: roi must be constant") as error:
        convert(tmp_path)
    assert "got 0" not in str(error.value)


def test_a_version_of_a_size_that_cannot_be(tmp_path):
    """It alone is left out; onnxruntime refuses a size of 0, too."""
    inputs = [info("x", F, [1, 4]), info("sizes", I, [2])]
    save(tmp_path / "m.onnx", [node("Resize", ["x", "", "", "sizes"], ["y"])], inputs, [info("y", F, ["a", "b"])])
    x = RANDOM.standard_normal((1, 4), np.float32)
    session = check(tmp_path, [{"x": x, "sizes": np.array(sizes)} for sizes in ((1, 7), (3, 1))])
    empty = {"x": x, "sizes": np.array([1, 0])}
    with pytest.raises(RuntimeFailure, match="'sizes' has a value that the model was not compiled for"):
        session.run(None, empty)
    with pytest.raises(ort.capi.onnxruntime_pybind11_state.Fail):
        ort.InferenceSession(str(tmp_path / "m.onnx")).run(None, empty)


def test_many_versions_are_halved(tmp_path):
    """More than 512 versions of a small graph; the program does not nest as deep as there are versions."""
    save(
        tmp_path / "m.onnx",
        [
            node("Shape", ["x"], ["shape"]),
            node("Cast", ["shape"], ["sizes"], to=1),
            node("ReduceProd", ["sizes"], ["y"], keepdims=0),
        ],
        [info("x", F, ["rows", "columns"])],
        [info("y", F, [])],
    )
    convert(tmp_path, sizes={"rows": list(range(1, 31)), "columns": list(range(1, 21))})
    assert max(len(line) - len(line.lstrip()) for line in (tmp_path / "m.pmodel.mlir").read_text().splitlines()) < 60
    session = InferenceSession(str(tmp_path / "m.pmodel"))
    for shape in ((1, 1), (30, 20), (17, 3), (16, 20), (30, 1)):
        assert session.run(None, {"x": np.zeros(shape, np.float32)})[0] == np.prod(shape)
    for shape in ((31, 20), (1, 21)):
        with pytest.raises(RuntimeError, match="shape that the model was not compiled for"):
            session.run(None, {"x": np.zeros(shape, np.float32)})


def test_range_of_floats_follows_from_its_body(tmp_path):
    """The operator's body in ONNX is a loop, whose trips and sums the host program computes."""
    save(
        tmp_path / "m.onnx",
        [node("Range", ["a", "b", "c"], ["y"])],
        [info(n, F, []) for n in "abc"],
        [info("y", F, ["n"])],
    )
    convert(tmp_path)
    session, reference = InferenceSession(str(tmp_path / "m.pmodel")), ort.InferenceSession(str(tmp_path / "m.onnx"))
    for numbers in ((0, 5, 1), (1.5, 9, 2), (3, 0, -0.7), (0, -1, 1)):
        feed = {name: np.array(value, np.float32) for name, value in zip("abc", numbers, strict=True)}
        np.testing.assert_array_equal(session.run(None, feed)[0], reference.run(None, feed)[0])


@pytest.mark.parametrize("reduction", ["none", "add"])
def test_versions_within_versions_that_are_too_many(tmp_path, reduction):
    """33 x 33 x 33 versions of three computed ends of slices: the host computes at the sizes of the run, and writes
    rows at computed places, the last ones counted from the end."""
    ends = [node("ReduceSum", [f"n{i}"], [f"end{i}"], keepdims=1) for i in range(3)]
    slices = [node("Slice", ["x", "zero", f"end{i}"], [f"part{i}"]) for i in range(3)]
    save(
        tmp_path / "m.onnx",
        [
            *ends,
            *slices,
            node("Concat", ["part0", "part1", "part2"], ["y"], axis=0),
            node("Slice", ["places", "zero", "end0"], ["rows"]),
            node("ScatterND", ["x", "rows", "part0"], ["z"], reduction=reduction),
            node("CumSum", ["part1", "zero"], ["c"], exclusive=1, reverse=1),
        ],
        [info("x", F, [32, 3]), info("places", I, [32, 1]), *(info(f"n{i}", I, [2]) for i in range(3))],
        [info("y", F, ["rows", 3]), info("z", F, [32, 3]), info("c", F, ["sums", 3])],
        [weight("zero", np.array([0]))],
    )
    x = RANDOM.standard_normal((32, 3), np.float32)
    places = (RANDOM.permutation(32) - 32 * (np.arange(32) % 2))[:, None]
    numbers = [[(1, 2), (3, 4), (0, 1)], [(16, 16), (5, 0), (9, 9)]]
    feeds = [{"x": x, "places": places} | {f"n{i}": np.array(n) for i, n in enumerate(each)} for each in numbers]
    check(tmp_path, feeds, max_extent=32, interpreted=False)
    assert any("scatter_nd" in reason for reason in convert(tmp_path, max_extent=32)["host_ops"])
