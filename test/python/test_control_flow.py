"""ONNX If, Loop and Scan through model_transform and model_deploy, against onnxruntime."""

import json

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from graphs import B, F, I, info, save, weight
from onnx import helper
from pto_mlir import compiler
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession, InvalidArgument, RuntimeFailure
from pto_mlir.tools import model_deploy, model_transform
from pto_mlir.tools.native import program_output

RANDOM = np.random.default_rng(5)


def convert(source, target, shapes=None, quantize="F32", debug=False):
    compiler.transform(str(source), "m", shapes, [], target + ".mlir", "")
    return compiler.deploy(target + ".mlir", target, quantize, "a3", 1, debug)


def compare(tmp_path, feeds, tolerance=1e-5, shapes=None):
    """Compiles tmp_path/m.onnx and runs both on every feed."""
    source, target = str(tmp_path / "m.onnx"), str(tmp_path / "m.pmodel")
    summary = convert(source, target, shapes)
    session, reference = InferenceSession(target, threads=1), ort.InferenceSession(source)
    for feed in feeds:
        for ours, theirs in zip(session.run(None, feed), reference.run(None, feed), strict=True):
            assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
    return summary


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


def test_generation_loop_with_kv_cache(tmp_path):
    """Greedy decoding with one attention layer in one program: token -> embedding -> q, k, v; k and v are written to row i of the caches; the
    query attends to the rows written so far; the best token is the next input."""
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
        match=r"none of the 3 variants of net 'm' takes these input shapes; declared are 'x' \[?1.*4\]? \| 'x' \[?3.*4\]? \| 'x' \[?6.*4",
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
    """Two states; one input reversed, the other along its last axis; one result reversed, the other along axis 1."""
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
    """Every trip appends a row and reads a number of rows given by the counter: with a constant trip count each trip is compiled separately."""
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


def test_makespan_of_a_program(tmp_path):
    """Timing mode over several nets: the program's tasks in virtual time, deterministic, longer with more trips."""
    from pto_mlir.tools import model_runner

    body = helper.make_graph(
        [
            helper.make_node("MatMul", ["h", "w"], ["m"]),
            helper.make_node("Tanh", ["m"], ["h2"]),
            helper.make_node("ReduceMax", ["h2"], ["top"], axes=[0, 1], keepdims=0),
            helper.make_node("Less", ["top", "bound"], ["go2"]),
        ],
        "body",
        [info("i", I, []), info("go", B, []), info("h", F, [16, 16])],
        [info("go2", B, []), info("h2", F, [16, 16])],
    )
    save(
        tmp_path / "m.onnx",
        [helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)],
        [info("n", I, []), info("x", F, [16, 16])],
        [info("y", F, [16, 16])],
        [weight("w", RANDOM.standard_normal((16, 16), np.float32)), weight("bound", np.float32(2))],
    )
    convert(tmp_path / "m.onnx", str(tmp_path / "m.pmodel"))

    def makespan(trips):
        np.savez(tmp_path / "in.npz", n=np.array(trips), x=np.ones((16, 16), np.float32))
        arguments = [
            "--model",
            "m.pmodel",
            "--input",
            "in.npz",
            "--output",
            "out.npz",
            "--mode",
            "timing",
            "--profile",
            "t.json",
        ]
        assert model_runner.main([str(tmp_path / text) if "." in text else text for text in arguments]) == 0
        return (tmp_path / "t.json").read_text()

    def microseconds(trace):
        return max(
            event["ts"] + event.get("dur", 0) for event in json.loads(trace)["traceEvents"] if event["ph"] == "X"
        )

    one, four = makespan(1), makespan(4)
    assert one == makespan(1)
    assert 3 * microseconds(one) < microseconds(four) < 5 * microseconds(one)


def test_values_that_are_no_net(tmp_path):
    """Constants and inputs as results, two identical results, a large carried constant."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["h", "x"], ["h2"]),
            helper.make_node("Identity", ["go"], ["go2"]),
            helper.make_node("Identity", ["k"], ["k2"]),
            helper.make_node("Identity", ["x"], ["x2"]),
            helper.make_node("Constant", [], ["c"], value=weight("", np.float32([2, 3]))),
        ],
        "body",
        [info("i", I, []), info("go", B, []), info("h", F, [9, 9]), info("k", F, [9, 9])],
        [info("go2", B, []), info("h2", F, [9, 9]), info("k2", F, [9, 9]), info("c", F, [2]), info("x2", F, [9, 9])],
    )
    save(
        tmp_path / "m.onnx",
        [
            helper.make_node("Loop", ["n", "", "big", "x"], ["y", "k", "cs", "xs"], body=body),
            helper.make_node("Identity", ["x"], ["x3"]),
        ],
        [info("n", I, []), info("x", F, [9, 9])],
        [
            info("y", F, [9, 9]),
            info("k", F, [9, 9]),
            info("cs", F, ["t", 2]),
            info("xs", F, ["u", 9, 9]),
            info("x3", F, [9, 9]),
        ],
        [weight("big", RANDOM.standard_normal((9, 9), np.float32))],
    )
    compare(tmp_path, [{"n": np.array(n), "x": RANDOM.standard_normal((9, 9), np.float32)} for n in (0, 3)])


def test_half_precision_and_order_of_launches(tmp_path):
    """A recurrence in F16: bit-identical as tasks and in order."""
    body = helper.make_graph(
        [
            helper.make_node("MatMul", ["s", "w"], ["m"]),
            helper.make_node("Add", ["m", "row"], ["a"]),
            helper.make_node("Tanh", ["a"], ["s2"]),
            helper.make_node("Identity", ["s2"], ["out"]),
        ],
        "body",
        [info("s", F, [1, 32]), info("row", F, [1, 32])],
        [info("s2", F, [1, 32]), info("out", F, [1, 32])],
    )
    save(
        tmp_path / "m.onnx",
        [helper.make_node("Scan", ["s0", "xs"], ["s", "ys"], body=body, num_scan_inputs=1)],
        [info("s0", F, [1, 32]), info("xs", F, [6, 1, 32])],
        [info("s", F, [1, 32]), info("ys", F, [6, 1, 32])],
        [weight("w", 0.2 * RANDOM.standard_normal((32, 32), np.float32))],
    )
    target = str(tmp_path / "m.pmodel")
    convert(tmp_path / "m.onnx", target, quantize="F16")
    feed = {"s0": np.zeros((1, 32), np.float32), "xs": RANDOM.standard_normal((6, 1, 32), np.float32)}
    tasks = InferenceSession(target, threads=2).run(None, feed)
    for other in (
        InferenceSession(target, threads=1, schedule="in-order"),
        InferenceSession(target, threads=1, mode="checked"),
    ):
        for a, b in zip(tasks, other.run(None, feed), strict=True):
            np.testing.assert_array_equal(a, b)
    for ours, theirs in zip(tasks, ort.InferenceSession(str(tmp_path / "m.onnx")).run(None, feed), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=4e-3)


@pytest.mark.parametrize("operator", ["if_", "loop", "nonzero", "scan"])
def test_onnx_backend_nodes(tmp_path, operator):
    """ONNX's node tests with their data. Left out: sequences and optionals, and Scan 8, which are rejected."""
    import importlib

    from onnx.backend.test.case import node

    importlib.import_module(f"onnx.backend.test.case.node.{operator}")
    names = {
        "if_": ["test_if"],
        "loop": ["test_loop11"],
        "nonzero": ["test_nonzero_example"],
        "scan": ["test_scan9_sum", "test_scan9_multi_state", "test_scan9_scalar"],
    }[operator]
    cases = {case.name: case for case in node._NodeTestCases}
    for name in names:
        case, target = cases[name], str(tmp_path / "m.pmodel")
        onnx.save(case.model, tmp_path / "m.onnx")
        convert(tmp_path / "m.onnx", target)
        for inputs, outputs in case.data_sets:
            feed = {info.name: np.asarray(value) for info, value in zip(case.model.graph.input, inputs, strict=True)}
            for ours, theirs in zip(InferenceSession(target, threads=1).run(None, feed), outputs, strict=True):
                assert ours.dtype == theirs.dtype
                np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "operator, name, message",
    [
        (
            "loop",
            "test_loop13_seq",
            r"input 'seq_empty': only tensors are supported: sequences, optionals and maps have no place in device memory; a tensor that grows by Concat",
        ),
        ("loop", "test_loop16_seq_none", r"input 'opt_seq': only tensors are supported"),
        ("if_", "test_if_seq", r"\(SequenceConstruct, opset 13\): is not supported: sequences, optionals and maps"),
        ("if_", "test_if_opt", r"\(Optional, opset 16\): is not supported: sequences, optionals and maps"),
        (
            "scan",
            "test_scan_sum",
            r"\(Scan, opset 8\): is not supported in this opset: before opset 9 it has a batch and lengths; onnx.version_converter",
        ),
    ],
)
def test_what_is_not_imported_has_a_hint(tmp_path, operator, name, message):
    import importlib

    from onnx.backend.test.case import node

    importlib.import_module(f"onnx.backend.test.case.node.{operator}")
    onnx.save({case.name: case for case in node._NodeTestCases}[name].model, tmp_path / "m.onnx")
    with pytest.raises(UserError, match=message):
        convert(tmp_path / "m.onnx", str(tmp_path / "m.pmodel"))


def test_every_tensor_of_a_body_is_compared(tmp_path, capfd):
    """model_transform and model_deploy --debug: the last value of each tensor, against onnxruntime's."""
    inner = helper.make_graph(
        [
            helper.make_node("Tanh", ["g"], ["t"]),
            helper.make_node("Add", ["t", "h"], ["g2"]),
            helper.make_node("Identity", ["ig"], ["ig2"]),
        ],
        "inner",
        [info("j", I, []), info("ig", B, []), info("g", F, [3])],
        [info("ig2", B, []), info("g2", F, [3])],
    )
    body = helper.make_graph(
        [
            helper.make_node("Loop", ["two", "", "h"], ["u"], body=inner),
            helper.make_node("Exp", ["u"], ["e"]),
            helper.make_node("Neg", ["e"], ["h2"]),
            helper.make_node("Identity", ["go"], ["go2"]),
        ],
        "body",
        [info("i", I, []), info("go", B, []), info("h", F, [3])],
        [info("go2", B, []), info("h2", F, [3])],
    )
    then = helper.make_graph(
        [helper.make_node("Abs", ["y"], ["a"]), helper.make_node("Relu", ["a"], ["r"])], "then", [], [info("r", F, [3])]
    )
    other = helper.make_graph([helper.make_node("Sub", ["y", "x"], ["s"])], "else", [], [info("s", F, [3])])
    save(
        tmp_path / "m.onnx",
        [
            helper.make_node("Loop", ["n", "", "x"], ["y"], body=body),
            helper.make_node("If", ["c"], ["z"], then_branch=then, else_branch=other),
        ],
        [info("n", I, []), info("c", B, []), info("x", F, [3])],
        [info("z", F, [3])],
        [weight("two", np.int64(2))],
    )
    np.savez(tmp_path / "in.npz", n=np.int64(3), c=np.array(True), x=np.float32([0.5, -1, 0.25]))
    names = {
        key: str(tmp_path / name)
        for key, name in (
            ("onnx", "m.onnx"),
            ("mlir", "m.mlir"),
            ("in", "in.npz"),
            ("ref", "ref.npz"),
            ("model", "m.pmodel"),
        )
    }
    assert (
        model_transform.main(
            [
                "--model_name",
                "m",
                "--model_def",
                names["onnx"],
                "--mlir",
                names["mlir"],
                "--test_input",
                names["in"],
                "--test_result",
                names["ref"],
            ]
        )
        == 0
    )
    reference = np.load(names["ref"])
    assert {"t", "g2", "u", "e", "h2", "y", "a", "r", "z"} <= set(reference.files) and "s" not in reference.files
    deploy = [
        "--mlir",
        names["mlir"],
        "--model",
        names["model"],
        "--test_input",
        names["in"],
        "--test_reference",
        names["ref"],
        "--debug",
    ]
    assert model_deploy.main(deploy) == 0
    assert "no real loss" in capfd.readouterr().out
    kept = InferenceSession(names["model"], threads=1).run_with_debug(dict(np.load(names["in"])))
    for name in ("g2", "e", "h2", "a"):
        np.testing.assert_allclose(kept[name], reference[name], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("mode", ["functional", "checked"])
def test_indices_in_a_program_are_checked(tmp_path, mode):
    """h += rows[ids + i] in every trip: with and without tasks, an index that a net receives or computes must be in bounds."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["ids", "i"], ["at"]),
            helper.make_node("Gather", ["rows", "at"], ["r"]),
            helper.make_node("Add", ["h", "r"], ["h2"]),
            helper.make_node("Gather", ["rows", "ids"], ["q"]),
            helper.make_node("Mul", ["h2", "q"], ["h3"]),
            helper.make_node("Identity", ["go"], ["go2"]),
        ],
        "body",
        [info("i", I, []), info("go", B, []), info("h", F, [2, 5])],
        [info("go2", B, []), info("h3", F, [2, 5])],
    )
    rows = RANDOM.standard_normal((6, 5), np.float32)
    save(
        tmp_path / "m.onnx",
        [helper.make_node("Loop", ["n", "", "h0"], ["h"], body=body)],
        [info("n", I, []), info("ids", I, [2]), info("h0", F, [2, 5])],
        [info("h", F, [2, 5])],
        [weight("rows", rows)],
    )
    convert(tmp_path / "m.onnx", str(tmp_path / "m.pmodel"))
    session = InferenceSession(str(tmp_path / "m.pmodel"), threads=1, mode=mode)
    feed = {"n": np.array(3), "ids": np.array([3, -6]), "h0": np.ones((2, 5), np.float32)}
    expected = feed["h0"]
    for i in range(3):
        expected = (expected + rows[feed["ids"] + i]) * rows[feed["ids"]]
    for name, wrong, text in (
        ("n", 4, r"index 'at': element \[0\] is 6, but it names one of 6 rows"),
        ("ids", [3, -7], r"index 'ids': element \[1\] is -7"),
    ):
        np.testing.assert_allclose(session.run(None, feed)[0], expected, rtol=1e-5)
        with pytest.raises(RuntimeFailure, match=text):
            session.run(None, {**feed, name: np.array(wrong)})


def test_what_does_not_work_is_said(tmp_path):
    """Errors within a subgraph name the node; an invalid subgraph is reported."""
    inner = helper.make_graph([helper.make_node("Det", ["h"], ["t"], "inside")], "then", [], [info("t", F, [])])
    other = helper.make_graph([helper.make_node("ReduceSum", ["h"], ["e"], keepdims=0)], "else", [], [info("e", F, [])])
    path = tmp_path / "m.onnx"
    save(
        path,
        [helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=other)],
        [info("h", F, [2, 2]), info("c", B, [])],
        [info("y", F, [])],
    )
    with pytest.raises(UserError, match=r"node 'inside' \(Det, opset 17\): is not supported"):
        convert(path, str(tmp_path / "m.pmodel"))
    model = onnx.load(str(path))
    branches = {attribute.name: attribute.g for attribute in model.graph.node[0].attribute}
    branches["then_branch"].CopyFrom(other)
    del branches["else_branch"].output[:]
    onnx.save(model, path)
    with pytest.raises(UserError, match=r"\(If, opset 17\): its branches give 1 and 0 tensors"):
        convert(path, str(tmp_path / "m.pmodel"))
    branches["else_branch"].CopyFrom(helper.make_graph([], "else", [], [info("nowhere", F, [])]))
    onnx.save(model, path)
    with pytest.raises(UserError, match="'nowhere' is defined nowhere"):
        convert(path, str(tmp_path / "m.pmodel"))
