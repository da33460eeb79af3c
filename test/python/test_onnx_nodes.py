"""ONNX's own backend tests through pto_mlir.backend: a fixed sample, all of them in the long run. A test gives what
ONNX says or is refused with a clear error."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from pto_mlir import backend
from pto_mlir.errors import UserError

from regression import onnx_node_tests, onnx_suite

ROOT = Path(__file__).resolve().parents[2]
FULL = os.environ.get("PTO_MLIR_FULL_TESTS") == "1"
# Tests of onnx 1.23.2 that passed: of the sample of 300, and of all 2033.
FEWEST = {False: 291, True: 1982}


def outcomes(folder, *arguments):
    """The outcomes of the command's run, and its exit code."""
    command = [sys.executable, "regression/onnx_node_tests.py", "--json", str(folder / "t.json")]
    ran = subprocess.run([*command, "--markdown", str(folder / "t.md"), *arguments], cwd=ROOT, capture_output=True)
    assert ran.returncode in (0, 1), ran.stderr.decode()
    return json.loads((folder / "t.json").read_text())["tests"], ran.returncode


def test_backend_tests(tmp_path):
    scope = ["--jobs", "2"] if FULL else ["--sample", "300", "--no-onnxruntime"]
    tests, code = outcomes(tmp_path, *scope)
    passed = [test for test in tests if test["status"] == "passed"]
    bad = [f"{test['name']}: {test['reason']}" for test in tests if test["status"] in onnx_node_tests.BAD]
    assert not bad and code == 0, "\n".join(bad)
    for test in tests:
        assert "'arith." not in test["reason"] and "'math." not in test["reason"], f"not for people: {test}"
    assert len(passed) >= FEWEST[FULL]


def test_table_and_choice(tmp_path):
    """A test on the host, one specialised on values, one that is out of scope, in the table."""
    tests, _ = outcomes(tmp_path, "--tests", "^test_(add|cast_FLOAT_to_DOUBLE|adam|reshape_extended_dims)$")
    found = {test["name"]: test for test in tests}
    assert found["test_add"]["status"] == "passed" and not found["test_add"]["host_ops"]
    assert found["test_add"]["onnxruntime"] == "passed" and found["test_add"]["op"] == "Add"
    assert found["test_adam"]["status"] == "out of scope" and found["test_adam"]["reason"] == "training"
    assert found["test_cast_FLOAT_to_DOUBLE"]["host_ops"]
    assert found["test_reshape_extended_dims"]["specialised"] == ["shape"]
    table = (tmp_path / "t.md").read_text()
    assert "| passed specialised on values | 1 |" in table
    assert "| with inputs of f32, f16 or bf16 | 3 |" in table
    assert "| of these passed on the engines alone | 2 |" in table
    names = [f"test_{i}" for i in range(50)]
    assert onnx_node_tests.choose(names, "", 5, 1) == onnx_node_tests.choose(names, "", 5, 1)


def test_processes_that_die_or_hang():
    """The other tests go on in a new process, and what is wrong is told from what is refused."""

    def hang():
        while True:
            pass

    def fail(error):
        raise error

    tests = {
        "test_dies": ("", lambda: os._exit(3)),
        "test_hangs": ("", hang),
        "test_refused": ("", lambda: fail(UserError("no"))),
        "test_wrong": ("", lambda: fail(AssertionError("5 is not 4"))),
        "test_passes": ("", lambda: None),
    }
    got = onnx_suite.run(tests, tests, {}, 2, 2)
    assert [outcome.status for outcome in got] == ["crashed", "timed out", "refused", "wrong", "passed"]


def test_one_node():
    """run_node with types from the inputs; an old opset; a device and inputs that are not there."""
    x = np.array([[1, -2, 3]], np.float32)
    (y,) = backend.run_node(helper.make_node("Relu", ["x"], ["y"]), [x])
    np.testing.assert_array_equal(y, [[1, 0, 3]])
    (y,) = backend.run_node(helper.make_node("Unsqueeze", ["x"], ["y"], axes=[0]), [x], opset_version=11)
    assert y.shape == (1, 1, 3)
    with pytest.raises(UserError, match="device 'CUDA'"):
        backend.run_node(helper.make_node("Relu", ["x"], ["y"]), [x], device="CUDA")
    with pytest.raises(UserError, match="1 inputs, got 2"):
        backend.run_node(helper.make_node("Relu", ["x"], ["y"]), [x, x])


def test_values_compiled_for():
    """The shape of a Reshape: one compilation for each set of values; symbolic sizes: one for each shape."""
    reshape = helper.make_node("Reshape", ["x", "s"], ["y"])
    infos = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4]),
        helper.make_tensor_value_info("s", TensorProto.INT64, [2]),
    ]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, None])
    model = helper.make_model(
        helper.make_graph([reshape], "g", infos, [y]), opset_imports=[helper.make_opsetid("", 21)], ir_version=10
    )
    rep = backend.prepare(model)
    x = np.arange(800, dtype=np.float32).reshape(200, 4)  # more rows than --max_extent
    for shape in ([2, 400], [400, 2], [2, 400]):
        np.testing.assert_array_equal(rep.run([x, np.array(shape)])[0], x.reshape(shape))
        assert rep.specialised == ["s"]
    np.testing.assert_array_equal(rep.run([x[:2], np.array([8, 1])])[0], x[:2].reshape(8, 1))


def test_powers_of_negative_numbers():
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
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    *columns, table = backend.run_model(model, {"x": x, "column": x[:, None], "computed": computed})
    with np.errstate(all="ignore"):
        wanted = np.power(x[:, None], computed)
    np.testing.assert_allclose(table, wanted, rtol=2e-5)
    np.testing.assert_allclose(np.stack(columns, 1), wanted, rtol=2e-5)
