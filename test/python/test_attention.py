"""Attention: ONNX's node tests of its family, the op's decomposition against float64, contributed operators against
onnxruntime."""

import importlib
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pto_mlir
import pytest
from attention_reference import attention, module, random_case
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case import node as suite
from pto_mlir import backend, compiler
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(pto_mlir.__file__).resolve().parents[2] / "bin"
# rtol, atol; the cases of narrow types hold numbers that the reference rounds after each of its steps
TOLERANCE = {"float32": (1e-3, 1e-5), "float16": (1e-2, 2e-3), "bfloat16": (3e-2, 2e-2)}


def node_cases(pattern):
    for name in ("attention", "rotaryembedding", "tensorscatter"):
        importlib.import_module(f"{suite.__name__}.{name}")
    return [case for case in suite._NodeTestCases if case.model is not None and re.search(pattern, case.name)]


@pytest.mark.parametrize(
    "pattern, count",
    [("^test_attention_.*(?<!_expanded)$", 93), ("^test_attention_.*_expanded$", 93), ("^test_rotary", 16)]
    + [("^test_tensorscatter", 3)],
)
def test_node_cases(pattern, count):
    """All cases of the family, as models of one operator and expanded into its function's body."""
    wrong, cases = [], node_cases(pattern)
    for case in cases:
        try:
            ours = backend.run_model(case.model, list(map(np.asarray, case.data_sets[0][0])))
        except Exception as error:
            wrong.append(f"{case.name}: {error}")
            continue
        for got, wanted in zip(ours, map(np.asarray, case.data_sets[0][1]), strict=True):
            rtol, atol = TOLERANCE[wanted.dtype.name]
            same = got.dtype == wanted.dtype and got.shape == wanted.shape
            if not same or not np.allclose(got.astype(np.float64), wanted.astype(np.float64), rtol=rtol, atol=atol):
                wrong.append(f"{case.name}: another result")
    print(f"{pattern}: {len(cases) - len(wrong)} of {len(cases)} pass")
    assert len(cases) == count and not wrong, "\n".join(wrong)


def run_case(folder, feed, a, quantize, cores=1):
    wanted = attention(feed, a)
    (folder / "a.mlir").write_text(module(feed, a, wanted.shape))
    compiler.deploy(str(folder / "a.mlir"), str(folder / "a.pmodel"), quantize, "a3", cores, False)
    (got,) = InferenceSession(str(folder / "a.pmodel"), threads=1, mode="checked").run(None, feed)
    return got, wanted


# Operands rounded to the type: a unit in the last place of Q, K, bias and weights, through scores of about 10.
@pytest.mark.parametrize("quantize, most", [("F32", 2e-5), ("F16", 2e-2), ("BF16", 0.15)])
def test_random_cases(tmp_path, quantize, most):
    for seed in range(60 if quantize == "F32" else 20):
        feed, a = random_case(seed)
        got, wanted = run_case(tmp_path, feed, a, quantize)
        assert np.isfinite(got).all(), f"seed {seed}: {a}"
        assert np.abs(got - wanted).max() <= most, f"seed {seed}: {a} { ({n: v.shape for n, v in feed.items()}) }"


def test_rows_without_keys_are_zero(tmp_path):
    """Each rule alone can hide all keys of a row: lengths, offsets, windows, a bias of minus infinities."""
    rng = np.random.default_rng(0)
    plain = {name: rng.standard_normal((2, 2, 3, 8), np.float32) for name in ("query", "key", "value")}
    options = {"scale": 0.5, "q_heads": 2, "kv_heads": 2}
    hidden = np.zeros((3, 3), np.float32)
    hidden[1] = -np.inf
    for more, a, empty in [
        ({"lengths": np.array([0, 2], np.int32)}, {}, (0,)),
        ({}, {"causal": True, "offset": -1}, (slice(None), slice(None), 0)),
        ({}, {"window": (0, 0), "offset": 2}, (slice(None), slice(None), slice(1, 3))),
        ({"bias": hidden}, {}, (slice(None), slice(None), 1)),
        ({"bias": hidden, "sinks": np.zeros(2, np.float32)}, {}, (slice(None), slice(None), 1)),
    ]:
        got, wanted = run_case(tmp_path, plain | more, options | a, "F32")
        np.testing.assert_allclose(got, wanted, atol=2e-6)
        assert not got[empty].any() and got.any()


def test_cores_do_not_change_bits(tmp_path):
    feed, a = random_case(3)
    assert np.array_equal(run_case(tmp_path, feed, a, "F32", 1)[0], run_case(tmp_path, feed, a, "F32", 24)[0])


# ===-- Contributed operators, against onnxruntime


def contributed(op, feed, constants, outputs, **attributes):
    """A model of one operator of com.microsoft; an input that is None is left out."""
    types = {np.float32: TensorProto.FLOAT, np.int32: TensorProto.INT32, np.int64: TensorProto.INT64}
    names = [name if value is not None else "" for name, value in (feed | constants).items()]
    given = {name: value for name, value in feed.items() if value is not None}
    node = helper.make_node(op, names, outputs, domain="com.microsoft", **attributes)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info(n, types[v.dtype.type], v.shape) for n, v in given.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs if name],
        [numpy_helper.from_array(v, n) for n, v in constants.items() if v is not None],
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10), given


def compiled(folder, model, quantize="F32"):
    onnx.save(model, folder / "m.onnx")
    compiler.transform(str(folder / "m.onnx"), "m", None, [], str(folder / "m.mlir"), "")
    compiler.deploy(str(folder / "m.mlir"), str(folder / "m.pmodel"), quantize, "a3", 1, False)
    return InferenceSession(str(folder / "m.pmodel"), threads=1)


def check_against_onnxruntime(folder, op, feed, constants=None, outputs=("y",), **attributes):
    model, given = contributed(op, feed, constants or {}, list(outputs), **attributes)
    wanted = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, given)
    ours = compiled(folder, model).run(None, given)
    for name, got, reference in zip([o for o in outputs if o], ours, wanted, strict=True):
        assert got.shape == reference.shape, name
        np.testing.assert_allclose(got, reference, rtol=1e-4, atol=2e-5, err_msg=name)


def some(*shape, seed=0):
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype(np.float32)


B, S, N, D, P = 2, 5, 4, 8, 6
H = N * D
PAST = ("y", "present_key", "present_value")
MHA_CASES = {
    "plain": ({"q": some(B, S, H), "k": some(B, 7, H), "v": some(B, 7, H, seed=1)}, ("y",), {}),
    "scaled": ({"q": some(B, S, H), "k": some(B, 7, H), "v": some(B, 7, H, seed=1)}, ("y",), {"scale": 0.3}),
    "bias": ({"q": some(B, S, H), "k": some(B, S, H), "v": some(B, S, H, seed=1), "b": some(3 * H)}, ("y",), {}),
    "other_depth": ({"q": some(B, S, H), "k": some(B, 7, H), "v": some(B, 7, 2 * H)}, ("y",), {}),
    "heads": ({"q": some(B, S, H), "k": some(B, N, 7, D), "v": some(B, N, 7, D, seed=1)}, ("y",), {}),
    "causal": ({"q": some(B, S, H), "k": some(B, S, H), "v": some(B, S, H, seed=1)}, ("y",), {"unidirectional": 1}),
    "mask": (
        {"q": some(B, S, H), "k": some(B, 7, H), "v": some(B, 7, H, seed=1), "b": None}
        | {"m": np.array([[1] * 7, [1] * 3 + [0] * 4], np.int32)},
        ("y",),
        {},
    ),
    "mask_lengths": (
        {
            "q": some(B, S, H),
            "k": some(B, 7, H),
            "v": some(B, 7, H, seed=1),
            "b": None,
            "m": np.array([7, 2], np.int32),
        },
        ("y",),
        {},
    ),
    "mask_3d": (
        {"q": some(B, S, H), "k": some(B, 7, H), "v": some(B, 7, H, seed=1), "b": None}
        | {"m": (some(B, S, 7) > -0.5).astype(np.int32)},
        ("y",),
        {},
    ),
    "attention_bias": (
        {"q": some(B, S, H), "k": some(B, 7, H), "v": some(B, 7, H, seed=1), "b": None, "m": None}
        | {"a": some(1, N, S, 7)},
        ("y",),
        {},
    ),
    "past": (
        {"q": some(B, S, H), "k": some(B, S, H), "v": some(B, S, H, seed=1), "b": some(3 * H), "m": None, "a": None}
        | {"pk": some(B, N, P, D), "pv": some(B, N, P, D, seed=1)},
        PAST,
        {"unidirectional": 1},
    ),
}


@pytest.mark.parametrize("case", MHA_CASES)
def test_multi_head_attention(tmp_path, case):
    feed, outputs, attributes = MHA_CASES[case]
    check_against_onnxruntime(tmp_path, "MultiHeadAttention", feed, outputs=outputs, num_heads=N, **attributes)


def test_packed_operands(tmp_path):
    """onnxruntime has no kernel for them on the CPU: against the same operator on the parts."""
    q, k, v = some(B, S, N, D), some(B, S, N, D, seed=1), some(B, S, N, D, seed=2)

    def run(**feed):
        model, given = contributed("MultiHeadAttention", feed, {}, ["y"], num_heads=N)
        return compiled(tmp_path, model).run(None, given)[0]

    plain = run(q=q.reshape(B, S, H), k=k.reshape(B, S, H), v=v.reshape(B, S, H))
    assert np.array_equal(plain, run(qkv=np.stack([q, k, v], 3)))
    assert np.array_equal(plain, run(q=q.reshape(B, S, H), kv=np.stack([k, v], 3)))


WIDE = 16  # onnxruntime rotates heads of multiples of 16 in GroupQueryAttention
ANGLES = {"cos": np.cos(some(32, WIDE // 2)), "sin": np.sin(some(32, WIDE // 2))}


def groups(rows, past, lengths, batch=B, kv=2, packed=False, rotary=False, **more):
    """Operands of a GroupQueryAttention, and those that are constants."""
    feed = {"q": some(batch, rows, (N + 2 * kv) * WIDE if packed else N * WIDE), "k": None, "v": None}
    if not packed:
        feed |= {"k": some(batch, rows, kv * WIDE), "v": some(batch, rows, kv * WIDE, seed=1)}
    feed |= {"pk": some(batch, kv, past, WIDE) if past else None}
    feed |= {"pv": some(batch, kv, past, WIDE, seed=1) if past else None}
    feed |= {"last": np.array(lengths, np.int32) - 1}
    constants = {"total": np.array(max(lengths), np.int32)}
    if rotary:
        constants |= ANGLES
    elif more:
        constants |= {"cos": None, "sin": None}
    if more:
        constants |= {"positions": None, "bias": more.get("bias"), "sinks": more.get("sinks")}
    return feed, constants


GQA_CASES = {
    "prompt": (groups(S, 0, [S, S]), {}),
    "prompt_ragged": (groups(S, 0, [S, 3]), {}),
    "packed": (groups(S, 0, [S, S], packed=True), {}),
    "rotary": (groups(S, 0, [S, S], rotary=True), {"do_rotary": 1}),
    "rotary_interleaved": (groups(S, 0, [S, S], rotary=True), {"do_rotary": 1, "rotary_interleaved": 1}),
    "decode": (groups(1, P, [P + 1, P + 1], rotary=True), {"do_rotary": 1}),
    "decode_ragged": (groups(1, P, [P + 1, 4], rotary=True), {"do_rotary": 1}),
    "decode_in_place": (groups(1, 16, [9, 4]), {}),
    "more_rows": (groups(3, P, [P + 3], batch=1, rotary=True), {"do_rotary": 1}),
    "many_rows": (groups(20, P, [P + 20], batch=1), {}),
    "softcap": (groups(S, 0, [S, S]), {"softcap": 2.0, "scale": 0.7}),
    "window": (groups(S, 0, [S, S]), {"local_window_size": 2}),
    "window_decode": (groups(1, P, [P + 1, P + 1]), {"local_window_size": 3}),
    "smooth": (groups(S, 0, [S, S]), {"smooth_softmax": 1}),
    "sinks": (groups(S, 0, [S, S], sinks=some(N)), {}),
    "attention_bias": (groups(S, 0, [S, S], bias=some(1, N, S, S)), {}),
    "heads_alike": (groups(S, 0, [S, S], kv=N), {}),
}


@pytest.mark.parametrize("case", GQA_CASES)
def test_group_query_attention(tmp_path, case):
    """Caches are compared up to each batch's length; rows of queries behind it have no meaning."""
    (feed, constants), attributes = GQA_CASES[case]
    heads = {"num_heads": N, "kv_num_heads": N if case == "heads_alike" else 2}
    model, given = contributed("GroupQueryAttention", feed, constants, list(PAST), **heads, **attributes)
    wanted = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, given)
    ours = compiled(tmp_path, model).run(None, given)
    lengths, is_prompt = feed["last"] + 1, feed["q"].shape[1] == constants["total"]
    for name, got, reference in zip(PAST, ours, wanted, strict=True):
        assert got.shape == reference.shape, name
        for b, length in enumerate(lengths):
            end = length if name != "y" or is_prompt else got.shape[1]
            part = np.s_[b, :end] if name == "y" else np.s_[b, :, :end]
            np.testing.assert_allclose(got[part], reference[part], rtol=1e-4, atol=2e-5, err_msg=name)


def test_places_beyond_the_integers_of_f16(tmp_path):
    """Rows and keys are counted in integers, whatever the storage type: place 2,501 of a cache is none in f16."""
    feed, constants = groups(1, 2600, [2502], batch=1)
    model, given = contributed("GroupQueryAttention", feed, constants, list(PAST), num_heads=N, kv_num_heads=2)
    y, key, _ = compiled(tmp_path, model, "F16").run(None, given)
    wanted = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, given)
    np.testing.assert_allclose(y, wanted[0], atol=4e-3)
    np.testing.assert_allclose(key[:, :, 2501], given["k"].reshape(1, 2, WIDE), atol=2e-3)
    np.testing.assert_allclose(key[:, :, :2501], given["pk"][:, :, :2501], atol=4e-3)


X, W = some(B, S, 24), some(24, 3 * H) * np.float32(0.3)
ATTENTION_CASES = {
    "plain": ({"x": X}, {"w": W, "b": some(3 * H)}, ("y",), {}),
    "causal": ({"x": X}, {"w": W, "b": some(3 * H)}, ("y",), {"unidirectional": 1}),
    "lengths": ({"x": X}, {"w": W, "b": some(3 * H), "m": np.array([S, 2], np.int32)}, ("y",), {}),
    "ends_and_begins": ({"x": X}, {"w": W, "b": some(3 * H), "m": np.array([S, 4, 0, 1], np.int32)}, ("y",), {}),
    "mask": ({"x": X}, {"w": W, "b": some(3 * H), "m": np.array([[1] * S, [1, 1, 0, 0, 0]], np.int32)}, ("y",), {}),
    "past": (
        {"x": X},
        {"w": W, "b": some(3 * H), "m": None, "past": some(2, B, N, P, D)},
        ("y", "present"),
        {"unidirectional": 1},
    ),
    "attention_bias": ({"x": X}, {"w": W, "b": some(3 * H), "m": None, "p": None, "a": some(B, N, S, S)}, ("y",), {}),
}


@pytest.mark.parametrize("case", ATTENTION_CASES)
def test_contributed_attention(tmp_path, case):
    feed, constants, outputs, attributes = ATTENTION_CASES[case]
    check_against_onnxruntime(tmp_path, "Attention", feed, constants, outputs, num_heads=N, **attributes)


TURNS = {"cos": np.cos(some(32, D // 2)), "sin": np.sin(some(32, D // 2))}
ROTARY_CASES = {
    "merged": ({"x": some(B, S, H), "p": np.array([3], np.int64)}, TURNS, {}),
    "heads": ({"x": some(B, N, S, D), "p": np.arange(B * S).reshape(B, S)}, TURNS, {}),
    "interleaved": ({"x": some(B, N, S, D), "p": np.arange(B * S).reshape(B, S)}, TURNS, {"interleaved": 1}),
    "part": (
        {"x": some(B, S, H), "p": np.array([0], np.int64)},
        {"cos": np.cos(some(32, 2)), "sin": np.sin(some(32, 2))},
        {"num_heads": N, "rotary_embedding_dim": 4},
    ),
}


@pytest.mark.parametrize("case", ROTARY_CASES)
def test_contributed_rotary_embedding(tmp_path, case):
    feed, constants, attributes = ROTARY_CASES[case]
    check_against_onnxruntime(tmp_path, "RotaryEmbedding", feed, constants, **attributes)


def test_refusals_name_the_reason(tmp_path):
    def refuse(message, op, feed, constants=None, outputs=("y",), **attributes):
        model, _ = contributed(op, feed, constants or {}, list(outputs), **attributes)
        onnx.save(model, tmp_path / "m.onnx")
        with pytest.raises(UserError, match=message):
            compiler.transform(str(tmp_path / "m.onnx"), "m", None, [], str(tmp_path / "m.mlir"), "")

    feed = {"q": some(B, S, H), "k": some(B, 7, H), "v": some(B, 7, H)}
    refuse("'num_heads' must be positive", "MultiHeadAttention", feed)
    refuse("output 's' .scores. is not supported", "MultiHeadAttention", feed, None, ("y", "", "", "s"), num_heads=N)
    refuse("neither .batch, rows, heads", "MultiHeadAttention", feed, num_heads=7)
    (feed, constants), _ = GQA_CASES["decode"]
    options = {"num_heads": N, "kv_num_heads": 2, "do_rotary": 1, "k_quant_type": "PER_TENSOR"}
    refuse("a quantised cache is not supported", "GroupQueryAttention", feed, constants, **options)
    refuse("lacks seqlens_k or total", "GroupQueryAttention", {"q": some(B, S, H * 2)}, num_heads=N, kv_num_heads=2)


# ===-- Recognised subgraphs


def recognised():
    """The functions of the recognition's own test, as modules of a net: by name, with and without the fusion."""
    text = (ROOT / "test/Dialect/Top/fuse-attention.mlir").read_text()
    for part in re.findall(r"func\.func @.*?\n}\n", text, re.S):
        name = re.match(r"func\.func @(\w+)", part)[1]
        head, body = part.split(" {\n", 1)
        head = re.sub(r"%(\w+): (tensor<\w+>)", r'%\1: \2 {top.name = "\1"}', head.replace(f"@{name}", "@main"))
        arguments, results = head.split("->")
        results = [f'{kind} {{top.name = "y{i}"}}' for i, kind in enumerate(re.findall(r"tensor<\w+>", results))]
        body = "\n".join([f"{arguments}-> ({', '.join(results)}) {{", body])
        yield name, f'module attributes {{top.state = "imported"}} {{\n{body}}}\n'


@pytest.mark.parametrize("name", [name for name, _ in recognised() if name != "refused"])
def test_recognised_subgraphs_keep_their_numbers(tmp_path, name):
    """A subgraph and the op that top-fuse-attention makes of it give the same results."""
    plain, fused = tmp_path / "plain.mlir", tmp_path / "fused.mlir"
    plain.write_text(dict(recognised())[name])
    run = subprocess.run([BIN / "pto-opt", "--top-fuse-attention", plain], capture_output=True, text=True)
    assert run.returncode == 0 and run.stdout.count("top.attention") == 1, run.stderr
    fused.write_text(run.stdout)
    results = []
    for path in (plain, fused):
        compiler.deploy(str(path), str(tmp_path / "m.pmodel"), "F32", "a3", 1, False)
        session = InferenceSession(str(tmp_path / "m.pmodel"), threads=1)
        rng = np.random.default_rng(0)
        feed = {}
        for info in session.get_inputs():
            values = rng.standard_normal(info.shape)
            kind = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(bool)": np.bool_}[info.type]
            feed[info.name] = (values > -0.5) if kind is np.bool_ else values.astype(kind)
        results.append(session.run(None, feed)[0].astype(np.float64))
    narrow = feed[next(iter(feed))].dtype == np.float16
    np.testing.assert_allclose(results[1], results[0], atol=4e-3 if narrow else 2e-6)
    assert np.abs(results[0]).max() > 0.1


def fuse(folder):
    """m.mlir in `folder` with its attentions recognised, as fused.mlir; returns how many there are."""
    for name in ("m.mlir", "m_top_weights.safetensors"):
        shutil.copy(folder / name, folder / name.replace("m", "fused", 1))
    weights = folder / "m_top_weights.safetensors"
    passes = [f"--top-load-weights=file={weights}", "--top-fuse-attention"]
    passes.append(f"--top-save-weights=file={folder / 'fused_top_weights.safetensors'}")
    run = subprocess.run([BIN / "pto-opt", *passes, folder / "m.mlir"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    (folder / "fused.mlir").write_text(run.stdout)
    return run.stdout.count("top.attention")


def run_fused(folder, model, feed):
    """The number of attentions that are recognised in a model, and its results with them."""
    onnx.save(model, folder / "m.onnx")
    compiler.transform(str(folder / "m.onnx"), "m", None, [], str(folder / "m.mlir"), "")
    count = fuse(folder)
    compiler.deploy(str(folder / "fused.mlir"), str(folder / "m.pmodel"), "F32", "a3", 1, False)
    return count, InferenceSession(str(folder / "m.pmodel"), threads=1).run(None, feed)


def test_function_bodies_are_recognised(tmp_path):
    """All bodies of ONNX's Attention but those that return scores."""
    for case in node_cases("^test_attention_.*_expanded$"):
        returns_scores = any(info.name == "qk_matmul_output" for info in case.model.graph.output)
        onnx.save(case.model, tmp_path / "m.onnx")
        compiler.transform(str(tmp_path / "m.onnx"), "m", None, [], str(tmp_path / "m.mlir"), "")
        assert fuse(tmp_path) == (0 if returns_scores else 1), case.name


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


EXPORTS = {
    # torch's TorchScript exporter, opset 14: the scale from shapes, a causal mask from Trilu and Where.
    "torch": (
        [
            *(node("Shape", "q", "shape"), node("Slice", "shape last end", "d1"), node("Cast", "d1", "df", to=1)),
            *(node("Sqrt", "df", "root"), node("Div", "one root", "s"), node("Sqrt", "s", "rs")),
            *(node("Mul", "q rs", "qs"), node("Transpose", "k", "kt", perm=[0, 1, 3, 2]), node("Mul", "kt rs", "ks")),
            *(node("MatMul", "qs ks", "a"), node("Expand", "one size", "ones"), node("Trilu", "ones", "low", upper=0)),
            *(node("Equal", "low zero", "hide"), node("Where", "hide inf zero", "mask"), node("Add", "a mask", "b")),
            *(node("Softmax", "b", "w", axis=-1), node("MatMul", "w v", "y")),
        ],
        {"q": some(1, 2, 5, 8), "k": some(1, 2, 5, 8, seed=1), "v": some(1, 2, 5, 8, seed=2)},
        {
            **{"last": np.array([-1]), "end": np.array([2**62]), "size": np.array([5, 5])},
            **{"one": np.float32([1]), "zero": np.float32([0]), "inf": np.float32([-np.inf])},
        },
    ),
    # MaxViT: Einsum, a factor on K.
    "einsum": (
        [
            *(node("Mul", "k s", "ks"), node("Einsum", "q ks", "a", equation="bwhid,bwhjd->bwhij")),
            *(node("Add", "a bias", "b"), node("Softmax", "b", "w", axis=-1)),
            node("Einsum", "w v", "y", equation="bwhij,bwhjd->bwhid"),
        ],
        {name: some(2, 3, 2, 5, 8, seed=i) for i, name in enumerate("qkv")},
        {"s": np.float32(0.35), "bias": some(2, 5, 5)},
    ),
    # PP-OCR rec: one packed product, parts by Slice and Squeeze.
    "packed": (
        [
            *(node("MatMul", "x wqkv", "qkv"), node("Reshape", "qkv five", "r")),
            node("Transpose", "r", "t", perm=[2, 0, 3, 1, 4]),
            *(node("Slice", f"t n{i} n{i + 1} zero", f"p{i}") for i in range(3)),
            *(node("Squeeze", f"p{i} zero", f"s{i}") for i in range(3)),
            *(node("Mul", "s0 scale", "q"), node("Transpose", "s1", "kt", perm=[0, 1, 3, 2])),
            *(node("MatMul", "q kt", "a"), node("Softmax", "a", "w", axis=-1), node("MatMul", "w s2", "o")),
            *(node("Transpose", "o", "ot", perm=[0, 2, 1, 3]), node("Reshape", "ot rows", "y")),
        ],
        {"x": some(2, 5, 12)},
        {
            **{"wqkv": some(12, 48), "five": np.array([2, 5, 3, 2, 8]), "rows": np.array([2, 5, 16])},
            **{"zero": np.array([0]), "scale": np.float32(0.3), **{f"n{i}": np.array([i]) for i in range(4)}},
        },
    ),
    # A decoder of transformers: rotation, the past by Concat, repeat_kv, a mask from the caller.
    "decoder": (
        [
            *(node("Split", "q", "q1 q2", axis=3, num_outputs=2), node("Neg", "q2", "qn")),
            *(node("Concat", "qn q1", "qr", axis=3), node("Mul", "q cos", "qc"), node("Mul", "qr sin", "qsn")),
            *(node("Add", "qc qsn", "qq"), node("Concat", "pk k", "kk", axis=2), node("Concat", "pv v", "vv", axis=2)),
            *(node("Unsqueeze", "kk two", "k5"), node("Expand", "k5 wide", "ke"), node("Reshape", "ke four", "k4")),
            *(node("Unsqueeze", "vv two", "v5"), node("Expand", "v5 wide", "ve"), node("Reshape", "ve four", "v4")),
            *(node("Transpose", "k4", "kt", perm=[0, 1, 3, 2]), node("MatMul", "qq kt", "a")),
            *(node("Mul", "a scale", "b"), node("Add", "b mask", "c"), node("Softmax", "c", "w", axis=-1)),
            *(node("MatMul", "w v4", "o"), node("Transpose", "o", "ot", perm=[0, 2, 1, 3])),
            node("Reshape", "ot rows", "y"),
        ],
        {
            **{"q": some(1, 4, 3, 8), "k": some(1, 2, 3, 8), "v": some(1, 2, 3, 8, seed=1), "mask": some(1, 1, 3, 7)},
            **{"pk": some(1, 2, 4, 8), "pv": some(1, 2, 4, 8, seed=1)},
        },
        {
            **{"cos": some(3, 8), "sin": some(3, 8, seed=1), "two": np.array([2]), "wide": np.array([1, 2, 2, 7, 8])},
            **{"four": np.array([1, 4, 7, 8]), "scale": np.float32(0.35), "rows": np.array([1, 3, 32])},
        },
    ),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_exports_are_recognised(tmp_path, name):
    nodes, feed, constants = EXPORTS[name]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, v.shape) for n, v in feed.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(v, n) for n, v in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    (wanted,) = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feed)
    count, (got,) = run_fused(tmp_path, model, feed)
    assert count == 1
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=2e-5)
