"""ONNX If, Loop and Scan through model_transform and model_deploy, against onnxruntime."""

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from control_flow import RANDOM, compare, convert
from graphs import B, F, I, info, save, weight
from onnx import helper
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession, InvalidArgument
from pto_mlir.tools.native import program_output


def test_if_takes_the_branch_of_its_condition(tmp_path):
    then = helper.make_graph([helper.make_node("MatMul", ["h", "w"], ["t"])], "then", [], [info("t", F, [2, 4])])
    other = helper.make_graph([helper.make_node("Sub", ["h", "x"], ["e"])], "else", [], [info("e", F, [2, 4])])
    save(
        tmp_path / "m.onnx",
        [
            helper.make_node("Relu", ["x"], ["h"]),
            helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other),
            helper.make_node("Exp", ["y"], ["z"]),
        ],
        [info("x", F, [2, 4]), info("c", B, [])],
        [info("z", F, [2, 4])],
        [weight("w", RANDOM.standard_normal((4, 4), np.float32))],
    )
    x = RANDOM.standard_normal((2, 4), np.float32)
    compare(tmp_path, [{"x": x, "c": np.array(flag)} for flag in (True, False)])


def test_loop_carries_counts_and_collects(tmp_path):
    """h = tanh(h w + x) while the sum of |h| stays below a bound, at most n times; every h is collected."""
    body = helper.make_graph(
        [
            helper.make_node("MatMul", ["h", "w"], ["m"]),
            helper.make_node("Add", ["m", "x"], ["a"]),
            helper.make_node("Tanh", ["a"], ["h2"]),
            helper.make_node("Abs", ["h2"], ["b"]),
            helper.make_node("ReduceSum", ["b"], ["s"], keepdims=0),
            helper.make_node("Less", ["s", "bound"], ["go2"]),
            helper.make_node("Identity", ["h2"], ["kept"]),
            helper.make_node("Add", ["twice", "i"], ["t1"]),
            helper.make_node("Add", ["t1", "i"], ["twice2"]),
        ],
        "body",
        [info("i", I, []), info("go", B, []), info("h", F, [1, 8]), info("twice", I, [])],
        [info("go2", B, []), info("h2", F, [1, 8]), info("twice2", I, []), info("kept", F, [1, 8])],
    )
    save(
        tmp_path / "m.onnx",
        [helper.make_node("Loop", ["n", "", "h0", "zero"], ["h", "twice", "all"], body=body)],
        [info("n", I, []), info("x", F, [1, 8]), info("h0", F, [1, 8])],
        [info("h", F, [1, 8]), info("twice", I, []), info("all", F, ["trips", 1, 8])],
        [
            weight("w", RANDOM.standard_normal((8, 8), np.float32)),
            weight("bound", np.float32(5.5)),
            weight("zero", np.int64(0)),
        ],
    )
    x = 0.3 * RANDOM.standard_normal((1, 8), np.float32)
    compare(tmp_path, [{"n": np.array(n, np.int64), "x": x, "h0": np.zeros((1, 8), np.float32)} for n in (0, 1, 12)])


def test_scan_is_a_recurrence_over_rows(tmp_path):
    body = helper.make_graph(
        [
            helper.make_node("Mul", ["s", "decay"], ["d"]),
            helper.make_node("Add", ["d", "row"], ["s2"]),
            helper.make_node("Relu", ["s2"], ["out"]),
        ],
        "body",
        [info("s", F, [6]), info("row", F, [6])],
        [info("s2", F, [6]), info("out", F, [6])],
    )
    save(
        tmp_path / "m.onnx",
        [
            helper.make_node("Scan", ["s0", "xs"], ["s", "ys"], body=body, num_scan_inputs=1),
            helper.make_node("Neg", ["ys"], ["z"]),
        ],
        [info("s0", F, [6]), info("xs", F, [5, 6])],
        [info("s", F, [6]), info("z", F, [5, 6])],
        [weight("decay", np.float32(0.5))],
    )
    compare(tmp_path, [{"s0": np.ones(6, np.float32), "xs": RANDOM.standard_normal((5, 6), np.float32)}])


@pytest.mark.parametrize("directions", [None, [0, 1]])
def test_scan_of_opset_8_has_a_batch(tmp_path, directions):
    body = helper.make_graph(
        [
            helper.make_node("Add", ["s", "row"], ["s2"]),
            helper.make_node("Mul", ["s2", "other"], ["out"]),
        ],
        "body",
        [info("s", F, [6]), info("row", F, [6]), info("other", F, [6])],
        [info("s2", F, [6]), info("out", F, [6])],
    )
    attributes = {"directions": directions} if directions else {}
    scan = helper.make_node("Scan", ["", "s0", "xs", "zs"], ["s", "ys"], body=body, num_scan_inputs=2, **attributes)
    graph = helper.make_graph(
        [scan],
        "main",
        [info("s0", F, [3, 6]), info("xs", F, [3, 5, 6]), info("zs", F, [3, 5, 6])],
        [info("s", F, [3, 6]), info("ys", F, [3, 5, 6])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 8)], ir_version=4), tmp_path / "m.onnx")
    shapes = {"s0": (3, 6), "xs": (3, 5, 6), "zs": (3, 5, 6)}
    compare(tmp_path, [{name: RANDOM.standard_normal(shape, np.float32) for name, shape in shapes.items()}])


def test_generation_loop_with_kv_cache(tmp_path):
    """Greedy decoding of one attention layer in one program: token -> embedding -> q, k, v; k and v go to row i of the
    caches; the query attends to the rows written so far; the best token is the next input."""
    vocabulary, width, steps = 24, 16, 8
    rows = np.arange(steps, dtype=np.float32).reshape(steps, 1)
    nodes = [
        helper.make_node("Gather", ["embedding", "token"], ["word"]),  # 1 x width
        helper.make_node("Gather", ["places", "i"], ["place"]),
        helper.make_node("Add", ["word", "place"], ["x"]),
        *(helper.make_node("MatMul", ["x", "w" + n], [n]) for n in "qkv"),
        helper.make_node("Cast", ["i"], ["position"], to=F),
        helper.make_node("Sub", ["rows", "position"], ["distance"]),
        helper.make_node("Abs", ["distance"], ["far"]),
        helper.make_node("Min", ["far", "one"], ["old"]),  # 0 in row i, else 1
        helper.make_node("Sub", ["one", "old"], ["here"]),
        *(
            node
            for n in "kv"
            for node in (
                helper.make_node("Mul", [n + "_cache", "old"], [n + "_kept"]),
                helper.make_node("Mul", ["here", n], [n + "_new"]),
                helper.make_node("Add", [n + "_kept", n + "_new"], [n + "_next"]),
            )
        ),
        helper.make_node("Transpose", ["k_next"], ["k_t"], perm=[1, 0]),
        helper.make_node("MatMul", ["q", "k_t"], ["scores"]),  # 1 x steps
        helper.make_node("Reshape", ["distance", "flat"], ["ahead"]),
        helper.make_node("Relu", ["ahead"], ["later"]),
        helper.make_node("Mul", ["later", "huge"], ["penalty"]),
        helper.make_node("Sub", ["scores", "penalty"], ["masked"]),
        helper.make_node("Softmax", ["masked"], ["attention"], axis=-1),
        helper.make_node("MatMul", ["attention", "v_next"], ["y"]),
        helper.make_node("MatMul", ["y", "wo"], ["logits"]),
        helper.make_node("ReduceMax", ["logits"], ["best"], axes=[1], keepdims=1),
        helper.make_node("Equal", ["logits", "best"], ["is_best"]),
        helper.make_node("Where", ["is_best", "numbers", "huge"], ["candidates"]),
        helper.make_node("ReduceMin", ["candidates"], ["choice"], axes=[1], keepdims=0),
        helper.make_node("Cast", ["choice"], ["next"], to=I),
        helper.make_node("Identity", ["go"], ["go_on"]),
    ]
    body = helper.make_graph(
        nodes,
        "body",
        [
            info("i", I, []),
            info("go", B, []),
            info("token", I, [1]),
            info("k_cache", F, [steps, width]),
            info("v_cache", F, [steps, width]),
        ],
        [
            info("go_on", B, []),
            info("next", I, [1]),
            info("k_next", F, [steps, width]),
            info("v_next", F, [steps, width]),
            info("choice", F, [1]),
            info("logits", F, [1, vocabulary]),
        ],
    )
    weights = {"w" + n: RANDOM.standard_normal((width, width), np.float32) for n in "qkv"}
    weights |= {
        "wo": RANDOM.standard_normal((width, vocabulary), np.float32),
        "embedding": RANDOM.standard_normal((vocabulary, width), np.float32),
        "places": RANDOM.standard_normal((steps, width), np.float32),
        "rows": rows,
        "one": np.float32(1),
        "huge": np.float32(1e4),
        "flat": np.array([1, steps]),
        "steps": np.int64(steps),
        "numbers": np.arange(vocabulary, dtype=np.float32).reshape(1, -1),
        "cache": np.zeros((steps, width), np.float32),
    }
    save(
        tmp_path / "m.onnx",
        [
            helper.make_node(
                "Loop",
                ["steps", "", "start", "cache", "cache"],
                ["last", "keys", "values", "tokens", "all_logits"],
                body=body,
            )
        ],
        [info("start", I, [1])],
        [info("tokens", F, [steps, 1]), info("all_logits", F, [steps, 1, vocabulary]), info("keys", F, [steps, width])],
        [weight(name, array) for name, array in weights.items()],
    )
    compare(tmp_path, [{"start": np.array([token])} for token in (3, 17)], tolerance=1e-3)
    tokens, *_ = InferenceSession(str(tmp_path / "m.pmodel"), threads=1).run(["tokens"], {"start": np.array([3])})
    assert len(set(tokens.reshape(-1))) > 2


def test_control_flow_within_control_flow(tmp_path):
    """A loop whose body branches on the parity of its counter."""
    double = helper.make_graph([helper.make_node("Add", ["h", "h"], ["d"])], "even", [], [info("d", F, [3])])
    shift = helper.make_graph([helper.make_node("Sub", ["h", "x"], ["o"])], "odd", [], [info("o", F, [3])])
    body = helper.make_graph(
        [
            helper.make_node("Div", ["i", "two"], ["half"]),
            helper.make_node("Mul", ["half", "two"], ["even"]),
            helper.make_node("Equal", ["i", "even"], ["is"]),
            helper.make_node("If", ["is"], ["h2"], then_branch=double, else_branch=shift),
            helper.make_node("Identity", ["go"], ["go2"]),
        ],
        "body",
        [info("i", I, []), info("go", B, []), info("h", F, [3])],
        [info("go2", B, []), info("h2", F, [3])],
    )
    save(
        tmp_path / "m.onnx",
        [helper.make_node("Loop", ["n", "yes", "x"], ["y"], body=body)],
        [info("x", F, [3])],
        [info("y", F, [3])],
        [weight("n", np.int64(5)), weight("yes", np.array(True)), weight("two", np.int64(2))],
    )
    compare(tmp_path, [{"x": np.array([1, -2, 0.5], np.float32)}])


def test_loop_runs_while_its_condition_holds(tmp_path):
    """A loop with only a condition; and a subgraph that uses values of the enclosing graph."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["h", "step"], ["h2"]),
            helper.make_node("ReduceMax", ["h2"], ["top"], axes=[0], keepdims=0),
            helper.make_node("Less", ["top", "bound"], ["go2"]),
        ],
        "body",
        [info("i", I, []), info("go", B, []), info("h", F, [3])],
        [info("go2", B, []), info("h2", F, [3])],
    )
    save(
        tmp_path / "m.onnx",
        [helper.make_node("Abs", ["x"], ["step"]), helper.make_node("Loop", ["", "go0", "x"], ["y"], body=body)],
        [info("x", F, [3]), info("go0", B, [])],
        [info("y", F, [3])],
        [weight("bound", np.float32(7))],
    )
    x = np.array([0.5, -1, 0.25], np.float32)
    compare(tmp_path, [{"x": x, "go0": np.array(flag)} for flag in (True, False)])


def test_sizes_and_kernels_are_chosen_when_it_runs(tmp_path):
    """Sequences of 1, 3 or 6 rows: one combined model with a net per length, selected by the input."""
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "row"], ["s2"]), helper.make_node("Tanh", ["s2"], ["out"])],
        "body",
        [info("s", F, [4]), info("row", F, [4])],
        [info("s2", F, [4]), info("out", F, [4])],
    )
    source = tmp_path / "m.onnx"
    save(
        source,
        [
            helper.make_node("MatMul", ["x", "w"], ["h"]),
            helper.make_node("Scan", ["s0", "h"], ["s", "ys"], body=body, num_scan_inputs=1),
            helper.make_node("Relu", ["ys"], ["y"]),
        ],
        [info("x", F, ["n", 4])],
        [info("s", F, [4]), info("y", F, ["n", 4])],
        [weight("w", RANDOM.standard_normal((4, 4), np.float32)), weight("s0", np.zeros(4, np.float32))],
    )
    parts = [str(tmp_path / f"m{rows}.pmodel") for rows in (1, 3, 6)]
    for rows, part in zip((1, 3, 6), parts):
        convert(source, part, [[rows, 4]])
    program_output("pmodel_tool", ["--combine", *parts, "-o", str(tmp_path / "m.pmodel")])
    session, reference = InferenceSession(str(tmp_path / "m.pmodel"), threads=1), ort.InferenceSession(str(source))
    for rows in (3, 1, 6, 3):
        feed = {"x": RANDOM.standard_normal((rows, 4), np.float32)}
        for ours, theirs in zip(session.run(None, feed), reference.run(None, feed), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    with pytest.raises(
        InvalidArgument,
        match=(
            r"none of the 3 variants of net 'm' takes these input shapes; declared are 'x' \[?1.*4\]? \| 'x' "
            r"\[?3.*4\]? \| 'x' \[?6.*4"
        ),
    ):
        session.run(None, {"x": np.zeros((2, 4), np.float32)})
    with pytest.raises(UserError, match="input 'x': shape .* is not fixed; pass one with --input_shapes"):
        convert(source, str(tmp_path / "n.pmodel"))
    taken = program_output("pmodel_tool", ["--extract", str(tmp_path / "m.pmodel"), "-o", str(tmp_path)]).split()
    assert [name.rpartition("_")[2] for name in taken] == ["program0.pmodel", "program1.pmodel", "program2.pmodel"]
    feed = {"x": np.ones((3, 4), np.float32)}
    np.testing.assert_array_equal(
        InferenceSession(taken[1], threads=1).run(["y"], feed)[0], session.run(["y"], feed)[0]
    )


def test_scan_in_every_direction_along_any_axis(tmp_path):
    """Two states; one input from its end, the other along its last axis; one result from its end, the other along axis
    1."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["s", "a"], ["s2"]),
            helper.make_node("Mul", ["b", "t"], ["bt"]),
            helper.make_node("Sub", ["t", "bt"], ["t2"]),
            helper.make_node("Add", ["s2", "t2"], ["p"]),
            helper.make_node("Neg", ["s2"], ["q"]),
        ],
        "body",
        [info("s", F, [3]), info("t", F, [3]), info("a", F, [3]), info("b", F, [3])],
        [info("s2", F, [3]), info("t2", F, [3]), info("p", F, [3]), info("q", F, [3])],
    )
    save(
        tmp_path / "m.onnx",
        [
            helper.make_node(
                "Scan",
                ["s0", "t0", "xs", "zs"],
                ["s", "t", "ps", "qs"],
                body=body,
                num_scan_inputs=2,
                scan_input_axes=[0, -1],
                scan_input_directions=[1, 0],
                scan_output_axes=[0, 1],
                scan_output_directions=[1, 0],
            )
        ],
        [info("s0", F, [3]), info("t0", F, [3]), info("xs", F, [5, 3]), info("zs", F, [3, 5])],
        [info("s", F, [3]), info("t", F, [3]), info("ps", F, [5, 3]), info("qs", F, [3, 5])],
    )
    compare(
        tmp_path,
        [
            {
                n: RANDOM.standard_normal(shape, np.float32)
                for n, shape in (("s0", 3), ("t0", 3), ("xs", (5, 3)), ("zs", (3, 5)))
            }
        ],
    )


def test_a_condition_that_is_known_chooses_when_it_is_compiled(tmp_path):
    then = helper.make_graph([helper.make_node("Abs", ["x"], ["t"])], "then", [], [info("t", F, [4])])
    other = helper.make_graph([helper.make_node("Reshape", ["x", "two"], ["e"])], "else", [], [info("e", F, [2, 2])])
    save(
        tmp_path / "m.onnx",
        [
            helper.make_node("Shape", ["x"], ["shape"]),
            helper.make_node("Equal", ["shape", "four"], ["is"]),
            helper.make_node("Squeeze", ["is"], ["c"]),
            helper.make_node("If", ["c"], ["h"], then_branch=then, else_branch=other),
            helper.make_node("Neg", ["h"], ["y"]),
        ],
        [info("x", F, [4])],
        [info("y", F, ["n"])],
        [weight("four", np.array([4])), weight("two", np.array([2, 2]))],
    )
    compare(tmp_path, [{"x": np.array([1, -2, 3, -4], np.float32)}])
    assert "top.if" not in (tmp_path / "m.pmodel.mlir").read_text()


def test_branches_of_different_shapes(tmp_path):
    then = helper.make_graph([helper.make_node("Abs", ["x"], ["t"])], "then", [], [info("t", F, [4])])
    other = helper.make_graph([helper.make_node("Slice", ["x", "zero", "two"], ["e"])], "else", [], [info("e", F, [2])])
    branch = helper.make_node("If", ["c"], ["h"], "choose", then_branch=then, else_branch=other)
    weights = [weight("zero", np.array([0])), weight("two", np.array([2]))]
    save(tmp_path / "m.onnx", [branch], [info("x", F, [4]), info("c", B, [])], [info("h", F, ["n"])], weights)
    compare(tmp_path, [{"x": np.array([1, -2, 3, -4], np.float32), "c": np.array(flag)} for flag in (True, False)])


def test_tensors_that_grow(tmp_path):
    """Every trip appends a row, and reads as many as its number says: with a number of trips that is known, each is
    compiled by itself."""
    body = helper.make_graph(
        [
            helper.make_node("ReduceSum", ["h", "axis"], ["sum"], keepdims=1),
            helper.make_node("Concat", ["h", "sum"], ["h2"], axis=0),
            helper.make_node("Identity", ["go"], ["go2"]),
            helper.make_node("Cast", ["i"], ["f"], to=F),
            helper.make_node("Add", ["sum", "f"], ["row"]),
        ],
        "body",
        [info("i", I, []), info("go", B, []), info("h", F, ["a", 3])],
        [info("go2", B, []), info("h2", F, ["b", 3]), info("row", F, [1, 3])],
    )
    loop = helper.make_node("Loop", ["n", "", "x"], ["y", "rows"], body=body)
    outputs = [info("y", F, ["c", 3]), info("rows", F, ["t", 1, 3])]
    axis = weight("axis", np.array([0]))
    save(tmp_path / "m.onnx", [loop], [info("x", F, [2, 3])], outputs, [weight("n", np.int64(4)), axis])
    compare(tmp_path, [{"x": RANDOM.standard_normal((2, 3), np.float32)}])
    save(tmp_path / "m.onnx", [loop], [info("n", I, []), info("x", F, [2, 3])], outputs, [axis])
    compare(tmp_path, [{"n": np.array(n), "x": RANDOM.standard_normal((2, 3), np.float32)} for n in (0, 5)])
