"""State in models with control flow: nets of a program share a group of state (docs/state.md)."""

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from decoder_graph import FLOAT, INT64, Graph, decoder, info, save
from onnx import TensorProto, helper
from pto_mlir import compiler
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession, RuntimeFailure
from pto_mlir.tools import model_deploy, model_transform
from pto_mlir.tools.native import program_output

WIDTH = 16
TOLERANCE = {"F32": 1e-5, "F16": 5e-3, "BF16": 4e-2}


def build(folder, model, state, length=0, name="m", quantize="F32", cores=1, processor="a3"):
    source = save(model, folder / f"{name}.onnx")
    mlir, target = str(folder / f"{name}.mlir"), str(folder / f"{name}.pmodel")
    compiler.transform(source, "m", None, [], mlir, "", state=state, state_length=length)
    compiler.deploy(mlir, target, quantize, processor, cores, False)
    return target, ort.InferenceSession(source, providers=["CPUExecutionProvider"])


def body(name, nodes, inputs, outputs):
    return helper.make_graph(nodes, name, inputs, outputs)


def node(kind, inputs, *outputs, **attributes):
    return helper.make_node(kind, inputs, list(outputs), **attributes)


def gated(width=WIDTH):
    """As silero_vad: c is always replaced; h is computed in one branch, and given out as it was by the other."""
    g = Graph()
    for name in "AB":
        g.normal(name, width, width, scale=0.3)
    h = info("h_new", FLOAT, [4, width])
    step = body("step", [node("MatMul", ["h", "A"], "hA"), node("Add", ["hA", "x"], "s"), node("Tanh", ["s"], "h_new")],
                [], [h])  # fmt: skip
    keep = body("keep", [node("Identity", ["h"], "h_new")], [], [h])
    g.op("If", ["go"], "h_out", then_branch=step, else_branch=keep)
    g.op("MatMul", ["c", "B"], "cB")
    g.op("Add", ["cB", "h_out"], "sum")
    g.op("Sigmoid", ["sum"], "c_out")
    g.op("Mul", ["c", "h"], "y")
    shape = [4, width]
    inputs = [
        info("x", FLOAT, shape),
        info("go", TensorProto.BOOL, []),
        info("h", FLOAT, shape),
        info("c", FLOAT, shape),
    ]
    return g.model(inputs, [info("y", FLOAT, shape), info("h_out", FLOAT, shape), info("c_out", FLOAT, shape)], 18)


def looped(width=WIDTH):
    """h goes through a loop of as many steps as an input says."""
    g = Graph()
    g.normal("A", width, width, scale=0.3)
    g.weight("true", np.array(True))
    shape = [4, width]
    once = body(
        "once",
        [node("Identity", ["go"], "more"), node("MatMul", ["t", "A"], "tA"), node("Add", ["tA", "x"], "s"),
         node("Tanh", ["s"], "t_new")],
        [info("i", INT64, []), info("go", TensorProto.BOOL, []), info("t", FLOAT, shape)],
        [info("more", TensorProto.BOOL, []), info("t_new", FLOAT, shape)],
    )  # fmt: skip
    g.op("Loop", ["n", "true", "h"], "h_out", body=once)
    g.op("Add", ["h_out", "x"], "y")
    inputs = [info("x", FLOAT, shape), info("n", INT64, []), info("h", FLOAT, shape)]
    return g.model(inputs, [info("y", FLOAT, shape), info("h_out", FLOAT, shape)], 18)


@pytest.mark.parametrize("processor", ["a3", "a5"])
@pytest.mark.parametrize("quantize", ["F32", "F16", "BF16"])
def test_branches_replace_and_keep_a_state(tmp_path, quantize, processor):
    target, session = build(tmp_path, gated(), "h=h_out,c=c_out", quantize=quantize, processor=processor, cores=3)
    ours, rng = InferenceSession(target), np.random.default_rng(0)
    assert [i.name for i in ours.get_inputs()] == ["x", "go"] and [o.name for o in ours.get_outputs()] == ["y"]
    h, c, state = np.zeros((4, WIDTH), np.float32), np.zeros((4, WIDTH), np.float32), ours.new_state()
    for go in (True, False, True, True, False, False):
        feed = {"x": rng.normal(size=(4, WIDTH)).astype(np.float32), "go": np.array(go)}
        y, h, c = session.run(["y", "h_out", "c_out"], {**feed, "h": h, "c": c})
        np.testing.assert_allclose(ours.run(["y"], feed, state)[0], y, atol=TOLERANCE[quantize])
    tensors = state.tensors()
    if quantize == "F32":
        np.testing.assert_allclose(tensors["h"], h, atol=1e-5)
        np.testing.assert_allclose(tensors["c"], c, atol=1e-5)


@pytest.mark.parametrize("schedule", ["functional", "checked", "timing"])
def test_a_loop_carries_a_state(tmp_path, schedule):
    target, session = build(tmp_path, looped(), "h=h_out")
    ours, rng = InferenceSession(target, mode=schedule), np.random.default_rng(1)
    h, state = np.zeros((4, WIDTH), np.float32), ours.new_state()
    for steps in (1, 3, 0, 2):
        feed = {"x": rng.normal(size=(4, WIDTH)).astype(np.float32), "n": np.array(steps)}
        y, h = session.run(["y", "h_out"], {**feed, "h": h})
        np.testing.assert_allclose(ours.run(None, feed, state)[0], y, atol=1e-5)
    np.testing.assert_allclose(state.tensors()["h"], h, atol=1e-5)


def with_switch(model):
    """The logits go through one of two branches."""
    graph = model.graph
    logits = next(n for n in graph.node if n.output[0] == "logits")
    logits.output[0] = "raw"
    made = info("made", FLOAT, [1, 1, graph.output[0].type.tensor_type.shape.dim[2].dim_value])
    graph.node.append(
        node("If", ["sharp"], "logits", then_branch=body("twice", [node("Add", ["raw", "raw"], "made")], [], [made]),
             else_branch=body("plain", [node("Neg", ["raw"], "made")], [], [made]))
    )  # fmt: skip
    graph.input.append(info("sharp", TensorProto.BOOL, []))
    return model


def with_switch_before(model):
    """The tokens' vectors are chosen by a branch, so that the caches are in a later net than their position's users."""
    graph = model.graph
    gather = next(n for n in graph.node if n.output[0] == "tok")
    width = 64
    made = info("made", FLOAT, [1, 1, width])
    gather.output[0] = "tok0"
    at = list(graph.node).index(gather) + 1
    graph.node.insert(
        at,
        node("If", ["sharp"], "tok", then_branch=body("same", [node("Identity", ["tok0"], "made")], [], [made]),
             else_branch=body("flip", [node("Neg", ["tok0"], "made")], [], [made])),
    )  # fmt: skip
    graph.input.append(info("sharp", TensorProto.BOOL, []))
    return model


@pytest.mark.parametrize("quantize", ["F32", "F16"])
def test_a_debug_build_keeps_the_tensors_of_every_net(command, tmp_path, quantize):
    save(gated(), tmp_path / "m.onnx")
    rng = np.random.default_rng(3)
    feed = {name: rng.normal(size=(4, WIDTH)).astype(np.float32) for name in "xhc"}
    np.savez(tmp_path / "in.npz", go=np.array(True), **feed)
    code, out, err = command(
        model_transform,
        *["--model_name", "m", "--model_def", tmp_path / "m.onnx", "--mlir", tmp_path / "m.mlir"],
        *["--state", "h=h_out,c=c_out", "--test_input", tmp_path / "in.npz"],
        *["--test_result", tmp_path / "ref.npz", "--tolerance", "0.9999,0.999"],
    )
    assert code == 0, out + err
    code, out, err = command(
        model_deploy,
        *["--mlir", tmp_path / "m.mlir", "--model", tmp_path / "m.pmodel", "--quantize", quantize, "--debug"],
        *["--test_input", tmp_path / "in.npz", "--test_reference", tmp_path / "ref.npz", "--tolerance", "0.99,0.95"],
    )
    assert code == 0, out + err
    assert all(name in out for name in ("h_out", "c_out", "sum"))


def test_a_run_that_fails_changes_nothing(tmp_path):
    model = gated()
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.eye(WIDTH, dtype=np.float32)[:4], "rows"))
    model.graph.node.append(node("Gather", ["rows", "index"], "row"))
    model.graph.node.append(node("Add", ["row", "sum"], "more"))
    model.graph.input.append(info("index", INT64, [4]))
    model.graph.output.append(info("more", FLOAT, [4, WIDTH]))
    target, _ = build(tmp_path, model, "h=h_out,c=c_out")
    session = InferenceSession(target)
    feed = {"x": np.ones((4, WIDTH), np.float32), "go": np.array(True), "index": np.arange(4)}
    state = session.new_state()
    session.run(None, feed, state)
    before = state.tensors()
    with pytest.raises(RuntimeFailure, match="index"):
        session.run(None, feed | {"index": np.full(4, 9)}, state)
    after = state.tensors()
    assert all(before[name].tobytes() == after[name].tobytes() for name in before) and state.position == 0
    fork = state.fork()
    assert session.run(None, feed, state)[0].tobytes() == session.run(None, feed, fork)[0].tobytes()


PAIRS = "past_key_values.*.key=present.*.key,past_key_values.*.value=present.*.value"


@pytest.mark.parametrize("joins", ["Attention", "Concat", "Spelled"])
@pytest.mark.parametrize("change", [with_switch, with_switch_before])
def test_caches_beside_control_flow_are_written_in_place(tmp_path, change, joins):
    target, session = build(tmp_path, change(decoder(2, 64, 4, 96, 48, joins=joins)), PAIRS, 48)
    ours = InferenceSession(target)
    state = ours.new_state()
    past = {f"past_key_values.{i}.{kv}": np.zeros((1, 4, 0, 16), np.float32) for i in (0, 1) for kv in ("key", "value")}
    names = [o.name for o in session.get_outputs()]
    for position in range(20):
        feed = {"input_ids": np.array([[7 * position % 96]]), "position_ids": np.array([[position]])}
        feed["sharp"] = np.array(position % 3 != 1)
        values = dict(zip(names, session.run(names, feed | past)))
        past = {name: values[name.replace("past_key_values", "present")] for name in past}
        np.testing.assert_allclose(ours.run(["logits"], feed, state)[0], values["logits"], rtol=1e-4, atol=2e-3)
    assert state.position == 20
    for name, value in past.items():
        np.testing.assert_allclose(state.tensors()[name][:, :, :20], value, atol=5e-5)
    text = program_output("pmodel_tool", ["--traffic", target])
    written = sum(int(line.split()[5]) for line in text.splitlines() if "state traffic" in line)
    assert written == 2 * 2 * 64 * 4
    fork = state.fork()
    again = ours.run(["logits"], feed | {"position_ids": np.array([[20]])}, state)[0]
    assert ours.run(["logits"], feed | {"position_ids": np.array([[20]])}, fork)[0].tobytes() == again.tobytes()
    state.truncate(20)
    assert ours.run(["logits"], feed | {"position_ids": np.array([[20]])}, state)[0].tobytes() == again.tobytes()


def test_what_a_program_cannot_keep_is_refused_by_name(tmp_path):
    shape, made = [1, 4, "total", 16], [1, 4, 48, 16]
    model = decoder(1, 64, 4, 96, 48, joins="Concat")
    branch = body("past", [node("Identity", ["present.0.key"], "made")], [], [info("made", FLOAT, shape)])
    model.graph.input.append(info("sharp", TensorProto.BOOL, []))
    model.graph.node.append(node("If", ["sharp"], "more", then_branch=branch, else_branch=branch))
    model.graph.output.append(info("more", FLOAT, shape))
    with pytest.raises(UserError, match="state whose rows are counted at run time"):
        build(tmp_path, model, PAIRS, 48)

    g = Graph()
    out = info("c_new", FLOAT, made)
    write = body("write", [node("TensorScatter", ["cache", "rows", "at"], "c_new", axis=2)], [], [out])
    keep = body("keep", [node("Identity", ["cache"], "c_new")], [], [out])
    g.op("If", ["go"], "cache_new", then_branch=write, else_branch=keep)
    inputs = [info("cache", FLOAT, made), info("rows", FLOAT, [1, 4, 1, 16]), info("at", INT64, [1])]
    inputs.append(info("go", TensorProto.BOOL, []))
    model = g.model(inputs, [info("cache_new", FLOAT, made)], 24)
    with pytest.raises(UserError, match="writes a state inside of a branch or loop; only the model's own graph may"):
        build(tmp_path, model, "cache=cache_new", name="branch")
    g = Graph()
    g.op("TensorScatter", ["cache", "rows", "at"], "cache_new", axis=2)
    g.op("If", ["go"], "y", then_branch=body("a", [node("Abs", ["cache"], "r")], [], [info("r", FLOAT, made)]),
         else_branch=body("b", [node("Neg", ["cache"], "r")], [], [info("r", FLOAT, made)]))  # fmt: skip
    model = g.model(inputs, [info("cache_new", FLOAT, made), info("y", FLOAT, made)], 24)
    with pytest.raises(UserError, match="reads the state 'cache' as it was before rows were written into it"):
        build(tmp_path, model, "cache=cache_new", name="old")
