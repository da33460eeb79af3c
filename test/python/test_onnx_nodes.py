"""ONNX's own node tests, as far as their operators are supported: a case is answered as ONNX says or refused with a
clear error."""

import importlib
import pkgutil
import re
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.backend.test.case import node as suite
from pto_mlir import compiler
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession

ROOT = Path(__file__).resolve().parents[2]

# onnxruntime and this project divide by the rounded number of result pixels minus one, ONNX's reference by the
# unrounded one.
AS_ONNXRUNTIME = {
    "test_resize_downsample_scales_linear_align_corners",
    "test_resize_downsample_scales_cubic_align_corners",
}
# Families with tests of their own, in test_attention.py.
ELSEWHERE = re.compile("test_(attention|rotary_embedding|tensorscatter)")
# Of 1356 cases of onnx 1.22, 1232 were computed.
FEWEST = 1226


def cases():
    """Cases whose operators are all in the table of supported ones."""
    supported = set(re.findall(r"^\| (\w+) \|", (ROOT / "docs" / "onnx-ops.md").read_text(), re.M))
    for module in pkgutil.iter_modules(suite.__path__):
        importlib.import_module(f"{suite.__name__}.{module.name}")
    for case in suite._NodeTestCases:
        if (
            case.model is not None
            and {node.op_type for node in case.model.graph.node} <= supported
            and not ELSEWHERE.match(case.name)
        ):
            yield case


def convert(model, folder, constants):
    """The model with its inputs `constants` (name to array) turned into initializers, compiled."""
    kept = onnx.ModelProto()
    kept.CopyFrom(model)
    for name, value in constants.items():
        kept.graph.initializer.append(numpy_helper.from_array(value, name))
        kept.graph.input.remove(next(info for info in kept.graph.input if info.name == name))
    onnx.save(kept, folder / "m.onnx")
    compiler.transform(str(folder / "m.onnx"), "m", None, [], str(folder / "m.mlir"), "")
    compiler.deploy(str(folder / "m.mlir"), str(folder / "m.pmodel"), "F32", "a3", 1, False)
    return InferenceSession(str(folder / "m.pmodel"), threads=1)


def answer(case, folder):
    """The tensors that we compute for a case's first data set, or the error. Axes, shapes and filters are inputs in the
    cases: where that is what is refused, all inputs but the first are made constants."""
    values = case.data_sets[0][0]
    names = [info.name for info in case.model.graph.input]
    feed = {name: to_array(value) for name, value in zip(names, values, strict=False)}
    try:
        try:
            return convert(case.model, folder, {}).run(None, feed)
        except UserError as error:
            if len(feed) < 2 or not re.search("constant|run time|not compiled for", str(error)):
                raise
        rest = {name: feed[name] for name in names[1:]}
        return convert(case.model, folder, rest).run(None, {names[0]: feed[names[0]]})
    except Exception as error:
        return error


def to_array(value):
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def of_ml_dtypes(array, dtype):
    """Types that numpy lacks: sessions return the bits of floats, and integers of a byte."""
    return array.astype(dtype) if "int" in dtype.name else array.view(dtype)


def test_node_cases(tmp_path):
    answered = 0
    for case in cases():
        ours = answer(case, tmp_path)
        if isinstance(ours, Exception):
            assert type(ours).__module__.startswith("pto_mlir") and str(ours), f"{case.name}: {ours!r}"
            assert "'arith." not in str(ours) and "'math." not in str(ours), f"{case.name}: not for people: {ours}"
            continue
        answered += 1
        for got, wanted in zip(ours, map(to_array, case.data_sets[0][1]), strict=True):
            if narrow := wanted.dtype.isbuiltin == 2:
                got = of_ml_dtypes(got, wanted.dtype)
            assert got.dtype == wanted.dtype and got.shape == wanted.shape, case.name
            if case.name not in AS_ONNXRUNTIME:
                got, wanted = (got.astype(np.float32), wanted.astype(np.float32)) if narrow else (got, wanted)
                rtol = 2**-7 if narrow else 1e-3
                np.testing.assert_allclose(got, wanted, rtol=rtol, atol=1e-5, err_msg=case.name)
    assert answered >= FEWEST


def test_powers_of_negative_numbers(tmp_path):
    """Constant and computed exponents: integral, fractional and absent, against numpy."""
    x = np.array([-2, -1.5, -1, 0, 0.25, 1, 1.25, 3], np.float32)
    exponents = [0, 1, 2, 3, 65, 66, -2, -3, 0.5, 2.5, 1.7]
    nodes = [helper.make_node("Pow", ["x", f"e{i}"], [f"y{i}"]) for i in range(len(exponents))]
    nodes.append(helper.make_node("Pow", ["column", "computed"], ["table"]))
    infos = {
        name: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in {
            "x": [8],
            "column": [8, 1],
            "computed": [11],
            **{f"y{i}": [8] for i in range(11)},
            "table": [8, 11],
        }.items()
    }
    graph = helper.make_graph(
        nodes,
        "g",
        [infos["x"], infos["column"], infos["computed"]],
        [infos[node.output[0]] for node in nodes],
        [numpy_helper.from_array(np.float32(e), f"e{i}") for i, e in enumerate(exponents)],
    )
    computed = np.array(exponents, np.float32)
    session = convert(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path, {})
    *columns, table = session.run(None, {"x": x, "column": x[:, None], "computed": computed})
    with np.errstate(all="ignore"):
        wanted = np.power(x[:, None], computed)
    np.testing.assert_allclose(table, wanted, rtol=2e-5)
    np.testing.assert_allclose(np.stack(columns, 1), wanted, rtol=2e-5)
