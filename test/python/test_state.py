"""State between runs: decoders whose caches stay on the device, TensorScatter, recurrent cells (docs/state.md)."""

import os
import re

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from decoder_graph import cell, decoder, greedy, greedy_reference, info, save, scatter_cache
from pto_mlir import compiler
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession, InvalidArgument, RuntimeFailure
from pto_mlir.tools import model_deploy, model_transform
from pto_mlir.tools.native import program_output

LAYERS, WIDTH, HEADS, WORDS, CONTEXT = 2, 64, 4, 96, 48
PAIRS = "past_key_values.*.key=present.*.key,past_key_values.*.value=present.*.value"


def build(folder, model, state, length=0, name="m", quantize="F32", cores=1, shapes=None):
    source = save(model, folder / f"{name}.onnx")
    mlir, target = str(folder / f"{name}.mlir"), str(folder / f"{name}.pmodel")
    compiler.transform(source, "m", shapes, [], mlir, "", state=state, state_length=length)
    compiler.deploy(mlir, target, quantize, "a3", cores, False)
    return target


def reference(path):
    return ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("decoder")
    return build(folder, decoder(LAYERS, WIDTH, HEADS, WORDS, CONTEXT), PAIRS, CONTEXT), folder / "m.onnx"


def state_traffic(path):
    text = program_output("pmodel_tool", ["--traffic", path])
    read, written = re.findall(r"state traffic\s+(\d+) bytes read, (\d+) bytes written", text)[0]
    return int(read), int(written)


@pytest.mark.skipif(not os.environ.get("PTO_MLIR_FULL_TESTS"), reason="a gigabyte and some minutes")
def test_gpt2_small_makes_the_tokens_of_onnxruntime(tmp_path):
    """12 layers, 256 greedy tokens, context 1024: a step writes one row per layer into the cache."""
    layers, width, heads, steps = 12, 768, 12, 256
    target = build(tmp_path, decoder(layers, width, heads, 50257, 1024), PAIRS, 1024)
    assert state_traffic(target)[1] == 2 * layers * width * 4
    prompt = [464, 3139, 286, 4881, 318]
    expected, past = greedy_reference(reference(tmp_path / "m.onnx"), layers, heads, width // heads, prompt, steps)
    session = InferenceSession(target)
    state = session.new_state()
    assert greedy(session, prompt, steps, state) == expected
    assert state.position == len(prompt) + steps - 1
    assert len(set(expected)) > 30


@pytest.mark.parametrize("joins", ["Attention", "Concat", "Spelled"])
def test_tokens_are_onnxruntimes(tmp_path, joins):
    target = build(tmp_path, decoder(LAYERS, WIDTH, HEADS, WORDS, CONTEXT, joins=joins), PAIRS, CONTEXT)
    session, prompt = InferenceSession(target), [5, 17, 2]
    expected, past = greedy_reference(reference(tmp_path / "m.onnx"), LAYERS, HEADS, WIDTH // HEADS, prompt, 30)
    state = session.new_state()
    assert greedy(session, prompt, 30, state) == expected
    assert len(set(expected)) > 3  # not the same token again and again
    assert state.position == 32
    tensors = state.tensors()
    for name, value in past.items():
        np.testing.assert_allclose(tensors[name][:, :, :32], value, atol=5e-5)


def test_a_step_writes_the_new_row_alone(small):
    _, written = state_traffic(small[0])
    assert written == 2 * LAYERS * WIDTH * 4


def test_info_and_inputs_leave_state_out(small):
    session = InferenceSession(small[0])
    assert [i.name for i in session.get_inputs()] == ["input_ids", "position_ids"]
    assert [o.name for o in session.get_outputs()] == ["logits"]
    first = session.new_state().info()[0]
    assert (first.name, first.output, first.sequence_axis) == ("past_key_values.0.key", "present.0.key", 2)
    assert first.shape == [1, HEADS, CONTEXT, WIDTH // HEADS]
    text = program_output("pmodel_tool", ["--info", small[0]])
    assert f"state          group 'm', adds 1 position(s) up to {CONTEXT}" in text
    assert "past_key_values.1.value  f32   1x4x48x16  positions along dimension 2, new value 'present.1.value'" in text


def test_sequences_in_one_session_have_the_bits_that_they_have_alone(small):
    prompts = [[i + 1, 3 * i + 2, 40 + i] for i in range(8)]
    alone = []
    for prompt in prompts:
        session = InferenceSession(small[0])
        alone.append([greedy(session, prompt, 8), session])
    session = InferenceSession(small[0])
    states = [session.new_state() for _ in prompts]
    logits = [[] for _ in prompts]
    for position in range(10):
        for i, prompt in enumerate(prompts):
            token = prompt[position] if position < 3 else int(logits[i][-1].argmax())
            feed = {"input_ids": np.array([[token]]), "position_ids": np.array([[position]])}
            logits[i].append(session.run(None, feed, states[i])[0])
    for i, (tokens, _) in enumerate(alone):
        assert [int(x.argmax()) for x in logits[i][2:]] == tokens
        other = InferenceSession(small[0])
        state = other.new_state()
        greedy(other, prompts[i], 8, state)
        for name, value in state.tensors().items():
            assert value.tobytes() == states[i].tensors()[name].tobytes()


@pytest.mark.parametrize("mode", ["checked", "timing"])
def test_other_modes_make_the_same_tokens(small, mode):
    expected = greedy(InferenceSession(small[0]), [9, 4], 4)
    session = InferenceSession(small[0], mode=mode)
    assert greedy(session, [9, 4], 4, session.new_state()) == expected


def test_truncated_forked_and_loaded_states_continue(small, tmp_path):
    session = InferenceSession(small[0])
    state = session.new_state()
    first = greedy(session, [9, 4], 6, state)
    state.save(tmp_path / "s.safetensors")
    fork = state.fork()
    loaded = session.new_state()
    loaded.load(tmp_path / "s.safetensors")
    assert loaded.position == fork.position == 7

    def step(state, token):
        feed = {"input_ids": np.array([[token]]), "position_ids": np.array([[state.position]])}
        return session.run(None, feed, state)[0]

    expected = step(state, first[-1])
    assert step(fork, first[-1]).tobytes() == step(loaded, first[-1]).tobytes() == expected.tobytes()
    step(state, 3)
    state.truncate(7)
    assert step(state, first[-1]).tobytes() == expected.tobytes()
    state.reset()
    assert greedy(session, [9, 4], 6, state) == first


def test_a_prompt_in_one_run_continues_one_token_at_a_time(tmp_path):
    """Two nets of one name are variants that share state and weights."""
    parts = []
    for tokens in (1, 4):
        model = decoder(LAYERS, WIDTH, HEADS, WORDS, CONTEXT, tokens=tokens)
        parts.append(build(tmp_path, model, PAIRS, CONTEXT, name=f"d{tokens}"))
    both = str(tmp_path / "both.pmodel")
    program_output("pmodel_tool", ["--combine", *parts, "-o", both])
    session = InferenceSession(both)
    prompt = [7, 1, 30, 12, 5, 6, 8, 2]
    state, single = session.new_state(), session.new_state()
    for begin in (0, 4):
        feed = {"input_ids": np.array([prompt[begin : begin + 4]]), "position_ids": np.array([range(begin, begin + 4)])}
        many = session.run(None, feed, state)[0]
    for position, token in enumerate(prompt):
        feed = {"input_ids": np.array([[token]]), "position_ids": np.array([[position]])}
        one = session.run(None, feed, single)[0]
    assert state.position == single.position == 8
    np.testing.assert_allclose(many[0, -1], one[0, -1], rtol=1e-4, atol=1e-3)


def test_errors_of_runs(small, tmp_path):
    session = InferenceSession(small[0])
    state = session.new_state()
    feed = {"input_ids": np.array([[1]]), "position_ids": np.array([[0]])}
    for _ in range(3):
        session.run(None, feed, state)
    with pytest.raises(InvalidArgument, match="has 3 positions, cannot truncate it to 4"):
        state.truncate(4)
    with pytest.raises(InvalidArgument, match="expects an integer that is not negative, got -1"):
        state.truncate(-1)
    tensors = state.tensors()
    with pytest.raises(InvalidArgument, match="has room for 48 positions, got 49"):
        state.assign(tensors, 49)
    with pytest.raises(InvalidArgument, match="expects an integer that is not negative, got -1"):
        state.assign(tensors, -1)
    with pytest.raises(InvalidArgument, match="input 'input_ids': .*inhomogeneous"):
        session.run(None, {**feed, "input_ids": [[1], [2, 3]]}, state)
    state.assign(tensors, CONTEXT)
    with pytest.raises(RuntimeFailure, match="has 48 positions, this run adds 1, and there is room for 48"):
        session.run(None, feed, state)
    assert state.position == CONTEXT
    state.assign(tensors, 3)
    with pytest.raises(InvalidArgument, match="expects what new_state returned, got int"):
        session.run(None, feed, 3)
    other = InferenceSession(build(tmp_path, cell(16), "h=h_out"))
    with pytest.raises(RuntimeFailure, match="was made by another session"):
        other.run(None, {"x": np.zeros((4, 16), np.float32)}, state)
    other.new_state().save(tmp_path / "h.safetensors")
    with pytest.raises(RuntimeFailure, match="state 'm' has no 'h'"):
        state.load(tmp_path / "h.safetensors")
    assert state.position == 3


def test_a_run_that_fails_leaves_the_position(tmp_path):
    """A computed index is checked when all launches have ended."""
    model = decoder(LAYERS, WIDTH, HEADS, WORDS, CONTEXT)
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([[1]]), "one"))
    model.graph.node[0].input[1] = "next"
    model.graph.node.insert(0, onnx.helper.make_node("Add", ["input_ids", "one"], ["next"]))
    session = InferenceSession(build(tmp_path, model, PAIRS, CONTEXT))
    states = [session.new_state() for _ in range(2)]
    for position, token in enumerate([3, 5, 6]):
        feed = {"input_ids": np.array([[token]]), "position_ids": np.array([[position]])}
        expected = session.run(None, feed, states[0])[0]
        if position == 1:
            with pytest.raises(RuntimeFailure, match="96"):
                session.run(None, feed | {"input_ids": np.array([[WORDS - 1]])}, states[1])
        assert states[1].position == position
        actual = session.run(None, feed, states[1])[0]
    assert actual.tobytes() == expected.tobytes()


@pytest.mark.parametrize("mode", ["linear", "circular"])
@pytest.mark.parametrize("cores", [1, 3])
@pytest.mark.parametrize("rows", [1, 3])
def test_tensor_scatter_writes_in_place(tmp_path, mode, cores, rows):
    batch, heads, length, depth = 2, 3, 16, 8
    model = scatter_cache(batch, heads, length, depth, rows, mode)
    target = build(tmp_path, model, "auto", cores=cores)
    session, ours = reference(tmp_path / "m.onnx"), InferenceSession(target)
    assert state_traffic(target)[1] == 2 * batch * heads * rows * depth * 4
    rng = np.random.default_rng(0)
    caches = {f"{kv}_cache": np.zeros((batch, heads, length, depth), np.float32) for kv in ("key", "value")}
    state = ours.new_state()
    for run in range(6):
        at = np.array([run * 2, run * 2 + 1]) + (6 if mode == "circular" else 0)
        feed = {n: rng.normal(size=(batch, heads, rows, depth)).astype(np.float32) for n in ("query", "key", "value")}
        feed |= {"write_indices": at % length if mode == "circular" else at, "lengths": np.minimum(at + rows, length)}
        y, key, value = session.run(["y", "key_cache_new", "value_cache_new"], feed | caches)
        caches = {"key_cache": key, "value_cache": value}
        np.testing.assert_allclose(ours.run(["y"], feed, state)[0], y, atol=2e-6)
        for name, expected in caches.items():
            np.testing.assert_array_equal(state.tensors()[name], expected)
    assert state.position == 6 * rows


@pytest.mark.parametrize("quantize", ["F32", "F16", "BF16"])
@pytest.mark.parametrize("kind, places", [("after", 2), ("before", 1)])
def test_recurrent_state_is_never_copied(tmp_path, kind, places, quantize):
    target = build(tmp_path, cell(16, kind), "h=h_out", quantize=quantize)
    text = program_output("pmodel_tool", ["--info", target])
    assert ("whole, in two places" in text) == (places == 2)
    assert state_traffic(target)[1] == 4 * 16 * (4 if quantize == "F32" else 2)
    session, ours = reference(tmp_path / "m.onnx"), InferenceSession(target)
    h, rng, state = np.zeros((4, 16), np.float32), np.random.default_rng(1), ours.new_state()
    tolerance = {"F32": 1e-5, "F16": 5e-3, "BF16": 4e-2}[quantize]
    for _ in range(5):
        x = rng.normal(size=(4, 16)).astype(np.float32)
        y, h = session.run(["y", "h_out"], {"x": x, "h": h})
        np.testing.assert_allclose(ours.run(None, {"x": x}, state)[0], y, atol=tolerance)


def test_tools_compare_state_as_outputs(command, tmp_path):
    save(decoder(LAYERS, WIDTH, HEADS, WORDS, CONTEXT), tmp_path / "m.onnx")
    rng = np.random.default_rng(3)
    past = {
        f"past_key_values.{i}.{kv}": rng.normal(size=(1, HEADS, 5, WIDTH // HEADS)).astype(np.float32)
        for i in range(LAYERS)
        for kv in ("key", "value")
    }
    np.savez(tmp_path / "in.npz", input_ids=np.array([[3]]), position_ids=np.array([[5]]), **past)
    code, out, err = command(
        model_transform,
        *["--model_name", "m", "--model_def", tmp_path / "m.onnx", "--mlir", tmp_path / "m.mlir"],
        *["--state", PAIRS, "--state_length", CONTEXT, "--test_input", tmp_path / "in.npz", "--debug"],
        *["--test_result", tmp_path / "ref.npz", "--tolerance", "0.9999,0.999"],
    )
    assert code == 0, out + err
    assert "present.1.value" in out
    for quantize, tolerance, more in (("F32", "0.9999,0.999", []), ("F16", "0.99,0.95", ["--debug"])):
        code, out, err = command(
            model_deploy,
            *["--mlir", tmp_path / "m.mlir", "--model", tmp_path / "m.pmodel", "--quantize", quantize],
            *["--test_input", tmp_path / "in.npz", "--test_reference", tmp_path / "ref.npz", "--tolerance", tolerance],
            *more,
        )
        assert code == 0, out + err
        assert f"{1 + 2 * LAYERS} tensors" in out or more, out


def changed(model, **shapes):
    for tensor in (*model.graph.input, *model.graph.output):
        if tensor.name in shapes:
            tensor.CopyFrom(info(tensor.name, *shapes[tensor.name]))
    return model


BAD = {
    "nothing": (cell(16), "k.*=v.*", 0, "'k.*=v.*' matches no input; inputs are 'x', 'h'"),
    "auto": (cell(16), "auto", 0, "finds no input with a new value among the outputs"),
    "partner": (cell(16), "h=hn", 0, "input 'h' has no partner, the model has no output 'hn'"),
    "stars": (cell(16), "h*=h_out", 0, "expects INPUT=OUTPUT with as many . on both sides"),
    "twice": (cell(16), "h=h_out,x=h_out", 0, "pairs 'x' with 'h_out', but one of them has a partner already"),
    "shapes": (cell(16), "h=y", 0, None),
    "length": (decoder(1, 16, 2, 8, 8), PAIRS, 0, "say how long it may be with --state_length"),
    "room": (decoder(1, 16, 2, 8, 8, tokens=3), PAIRS, 2, "adds 3 rows a run to state 'past_key_values.0.key', which"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_pairs(tmp_path, case):
    model, pairs, length, message = BAD[case]
    if case == "shapes":
        model.graph.node[-1].input[1] = "narrow"
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((16, 8), np.float32), "narrow"))
        changed(model, y=(onnx.TensorProto.FLOAT, [4, 8]))
        message = "state 'h' is tensor<4x16xf32>, its new value 'y' tensor<4x8xf32>; both must have one type and shape"
    with pytest.raises(UserError, match=re.escape(message).replace("as\\ many\\ \\.", "as\\ many\\ .")):
        build(tmp_path, model, pairs, length)


def test_readers_of_a_growing_state_must_know_its_length(tmp_path):
    model = decoder(1, 16, 2, 8, 8, joins="Concat")
    model.graph.node.append(onnx.helper.make_node("Relu", ["present.0.key"], ["more"]))
    model.graph.output.append(info("more", onnx.TensorProto.FLOAT, [1, 2, "total", 8]))
    with pytest.raises(UserError, match="reads 'present.0.key', a state whose rows are counted at run time; Relu"):
        build(tmp_path, model, PAIRS, 8)
    model = decoder(1, 16, 2, 8, 8, joins="Spelled")
    softmax = next(node for node in model.graph.node if node.op_type == "Softmax")
    softmax.op_type = "Relu"
    del softmax.attribute[:]
    with pytest.raises(UserError, match="reads 'h0.scaled', a state whose rows are counted at run time; Relu"):
        build(tmp_path, model, PAIRS, 8)
    softmax.op_type = "Where"  # the mask of exporters, a constant for one length
    softmax.input[:] = ["allowed", softmax.input[0], "least"]
    for name, value in (("allowed", np.ones((1, 1, 1, 8), bool)), ("least", np.float32(-3.4e38))):
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(value), name))
    with pytest.raises(UserError, match="reads 'h0.scaled', .* Where does not .* give the mask as an input that is ad"):
        build(tmp_path, model, PAIRS, 8)
    model = decoder(1, 16, 2, 8, 8)
    model.graph.node.append(onnx.helper.make_node("Shape", ["past_key_values.0.key"], ["more"]))
    model.graph.output.append(info("more", onnx.TensorProto.INT64, [4]))
    with pytest.raises(UserError, match="reads 'past_key_values.0.key', a state whose rows are counted at run time"):
        build(tmp_path, model, PAIRS, 8)
