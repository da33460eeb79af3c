"""Caches with fewer heads than the queries as state: GroupQueryAttention and ONNX's Attention (docs/state.md)."""

import numpy as np
import onnxruntime as ort
import pytest
from decoder_graph import FLOAT, Graph, info, save
from onnx import TensorProto, helper
from pto_mlir import compiler
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools.native import program_output

HEADS, GROUPS, DEPTH, LENGTH = 6, 2, 16, 24
TOLERANCE = {"F32": 2e-5, "F16": 4e-3, "BF16": 4e-2}


def build(folder, model, state, quantize, processor, length=0):
    source = save(model, folder / "m.onnx")
    compiler.transform(source, "m", None, [], str(folder / "m.mlir"), "", state=state, state_length=length)
    compiler.deploy(str(folder / "m.mlir"), str(folder / "m.pmodel"), quantize, processor, 3, False)
    reference = ort.InferenceSession(source, providers=["CPUExecutionProvider"])
    return InferenceSession(str(folder / "m.pmodel")), reference


def written(folder):
    line = next(
        x for x in program_output("pmodel_tool", ["--traffic", str(folder / "m.pmodel")]).splitlines() if "state t" in x
    )
    return int(line.split()[5])


def some(rng, rows, heads):
    return rng.normal(size=(1, rows, heads * DEPTH)).astype(np.float32)


@pytest.mark.parametrize("rotary", [0, 1])
@pytest.mark.parametrize("processor", ["a3", "a5"])
@pytest.mark.parametrize("quantize", TOLERANCE)
def test_group_query_attention_writes_one_row_per_group(tmp_path, quantize, processor, rotary):
    """past and present are one buffer of the greatest length, as onnxruntime-genai shares them."""
    g, cache = Graph(), [1, GROUPS, LENGTH, DEPTH]
    angles = np.arange(LENGTH)[:, None] * 0.7 ** np.arange(DEPTH // 2)
    tables = [g.weight("cos", np.cos(angles).astype(np.float32)), g.weight("sin", np.sin(angles).astype(np.float32))]
    g.weight("total", np.array(LENGTH, np.int32))
    names = ["q", "k", "v", "past_key", "past_value", "last", "total", *(tables if rotary else [])]
    g.nodes.append(
        helper.make_node(
            "GroupQueryAttention", names, ["y", "present_key", "present_value"], domain="com.microsoft",
            num_heads=HEADS, kv_num_heads=GROUPS, do_rotary=rotary,
        )
    )  # fmt: skip
    inputs = [info("q", FLOAT, [1, 1, HEADS * DEPTH])] + [info(n, FLOAT, [1, 1, GROUPS * DEPTH]) for n in "kv"]
    inputs += [info(f"past_{n}", FLOAT, cache) for n in ("key", "value")] + [info("last", TensorProto.INT32, [1])]
    outputs = [info("y", FLOAT, [1, 1, HEADS * DEPTH])] + [info(f"present_{n}", FLOAT, cache) for n in ("key", "value")]
    model = g.model(inputs, outputs, 21)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    ours, reference = build(tmp_path, model, "past_*=present_*", quantize, processor)
    assert written(tmp_path) == 2 * GROUPS * DEPTH * (4 if quantize == "F32" else 2)
    rng, state = np.random.default_rng(0), ours.new_state()
    past = {f"past_{n}": np.zeros(cache, np.float32) for n in ("key", "value")}
    for position in range(18):
        feed = {"q": some(rng, 1, HEADS), "k": some(rng, 1, GROUPS), "v": some(rng, 1, GROUPS)}
        feed["last"] = np.array([position], np.int32)
        y, *present = reference.run(None, feed | past)
        past = dict(zip(past, present))
        np.testing.assert_allclose(ours.run(["y"], feed, state)[0], y, atol=TOLERANCE[quantize])
    assert state.position == 18
    if quantize == "F32":
        for name, value in past.items():
            np.testing.assert_allclose(state.tensors()[name][:, :, :18], value[:, :, :18], atol=2e-6)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("processor", ["a3", "a5"])
@pytest.mark.parametrize("quantize", TOLERANCE)
def test_attention_with_groups_appends_in_place(tmp_path, quantize, processor, rows):
    g = Graph()
    g.op("Attention", ["q", "k", "v", "", "past_key", "past_value"], "y", "present_key", "present_value",
         is_causal=1, q_num_heads=HEADS, kv_num_heads=GROUPS)  # fmt: skip
    past_shape, shape = [1, GROUPS, "past", DEPTH], [1, rows, HEADS * DEPTH]
    inputs = [info("q", FLOAT, shape)] + [info(n, FLOAT, [1, rows, GROUPS * DEPTH]) for n in "kv"]
    inputs += [info(f"past_{n}", FLOAT, past_shape) for n in ("key", "value")]
    outputs = [info("y", FLOAT, shape)]
    outputs += [info(f"present_{n}", FLOAT, [1, GROUPS, "total", DEPTH]) for n in ("key", "value")]
    ours, reference = build(tmp_path, g.model(inputs, outputs, 24), "auto", quantize, processor, LENGTH)
    assert written(tmp_path) == 2 * GROUPS * rows * DEPTH * (4 if quantize == "F32" else 2)
    rng, state = np.random.default_rng(0), ours.new_state()
    past = {f"past_{n}": np.zeros((1, GROUPS, 0, DEPTH), np.float32) for n in ("key", "value")}
    for _ in range(6):
        feed = {"q": some(rng, rows, HEADS), "k": some(rng, rows, GROUPS), "v": some(rng, rows, GROUPS)}
        y, *present = reference.run(None, feed | past)
        past = dict(zip(past, present))
        np.testing.assert_allclose(ours.run(["y"], feed, state)[0], y, atol=TOLERANCE[quantize])
    assert state.position == 6 * rows
