"""regression/pypto.py over tests of a small checkout, and the harness API that they load."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pypto.language as pl
import pytest
from pypto import ir
from pypto.pypto_core import passes
from pypto.runtime import RunConfig, compile_program
from pypto.runtime.device_runner import compile_and_assemble
from pypto.runtime.golden_writer import _extract_compute_golden
from pypto.runtime.runner import RunResult, _DfxOpts

ROOT = Path(__file__).resolve().parents[3]
CONFTEST = """
def pytest_addoption(parser):
    parser.addoption("--platform")
    parser.addoption("--device")
"""
TESTS = """
import pytest
import time
from pypto.pypto_core.passes import MemoryPlanner

@pytest.mark.parametrize("platform", ["a2a3", "a2a3sim", "a5"])
def test_platforms(platform):
    assert platform == "a2a3" and MemoryPlanner.PYPTO.name == "PYPTO"

def test_wrong():
    assert False, "Add failed: ValueError: 12 x 8 of /some/path/k.py"

def test_slow():
    time.sleep(30)

@pytest.mark.skip(reason="needs a device")
def test_skipped():
    pass
"""


def test_outcomes_by_family(tmp_path):
    folder = tmp_path / "tests" / "st" / "runtime" / "ops"
    folder.mkdir(parents=True)
    (tmp_path / "tests" / "st" / "conftest.py").write_text(CONFTEST)
    (folder / "test_some.py").write_text(TESTS)
    (folder / "test_unreadable.py").write_text("import no_such_module\n")
    out = tmp_path / "rows.json"
    command = [sys.executable, "-m", "regression.pypto", "--checkout", tmp_path, "--group", "st", "--json", out]
    command += ["--timeout", "1", "--jobs", "2"]
    done = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = {row["test"].rsplit("/", 1)[-1]: row for row in json.loads(out.read_text())}
    assert {name: row["outcome"] for name, row in rows.items()} == {
        "test_platforms[a2a3]": "passed",
        "test_wrong": "failed",
        "test_slow": "failed",
        "test_skipped": "skipped",
        "test_unreadable.py": "failed",
    }
    assert rows["test_wrong"]["reason"].startswith("ValueError: 12 x 8 of")
    assert "longer than 1 s" in rows["test_slow"]["reason"]
    assert "no_such_module" in rows["test_unreadable.py"]["reason"]
    assert "ValueError: N x N of PATH" in done.stdout
    line = next(line.split() for line in done.stdout.splitlines() if line.startswith("ops"))
    assert line == ["ops", "1", "3", "1", "5"]


@pl.program
class Twice:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[8, 32], pl.FP32], y: pl.Out[pl.Tensor[[8, 32], pl.FP32]]):
        pl.tile.store(pl.add(pl.load(x, [0, 0], [8, 32]), 1.0), offsets=[0, 0], output_tensor=y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[8, 32], pl.FP32], y: pl.Out[pl.Tensor[[8, 32], pl.FP32]]):
        self.kernel(x, y)
        return y


def test_a_folder_is_made_ready_to_run(tmp_path):
    compile_program(Twice, tmp_path, backend_type="Ascend910B", memory_planner=passes.MemoryPlanner.PTOAS)
    assert '"func_id": 0' in (tmp_path / "kernel_config.py").read_text()
    assert (tmp_path / "orchestration" / "main.cpp").is_file() and (tmp_path / "kernels" / "Twice.pto").is_file()
    compiled, name, settings = compile_and_assemble(tmp_path, "a2a3")
    assert name == settings["runtime"] == "pto_mlir" and compiled.param_names == ["x", "y"]
    x, y = np.ones((8, 32), np.float32), np.zeros((8, 32), np.float32)
    compiled(x, y)
    np.testing.assert_array_equal(y, x + 1)


def test_a_folder_of_ir_compile_is_made_ready_to_run(tmp_path):
    ir.compile(Twice, output_dir=tmp_path, platform="a2a3")
    compiled, name, settings = compile_and_assemble(tmp_path, "a2a3")
    assert name == settings["runtime"] and compiled.param_names == ["x", "y"]
    x, y = np.ones((8, 32), np.float32), np.zeros((8, 32), np.float32)
    compiled(x, y)
    np.testing.assert_array_equal(y, x + 1)
    with pytest.raises(ValueError, match="was compiled for a2a3, not a5"):
        compile_and_assemble(tmp_path, "a5")


def test_a_folder_without_a_program(tmp_path):
    with pytest.raises(ValueError, match="holds no kernel_config.py"):
        compile_and_assemble(tmp_path, "a2a3")
    with pytest.raises(ValueError, match="has no orchestrator"):
        compile_program(ir.Program([Twice.functions["kernel"]], "Alone", ir.Span.unknown()), tmp_path)


class Case:
    def compute_expected(self, tensors, params=None):
        tensors["y"][:] = tensors["x"] + 1


def test_the_reference_is_a_function_of_its_own():
    names = {}
    exec(_extract_compute_golden(Case().compute_expected), names)
    tensors = {"x": np.ones(3), "y": np.zeros(3)}
    names["compute_golden"](tensors, None)
    assert tensors["y"].tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="its source cannot be read"):
        _extract_compute_golden(len)


def test_results_and_options():
    assert str(RunResult(False, "add", "differs")) == "FAIL: add: differs"
    assert _DfxOpts.from_run_config(RunConfig(enable_pmu=2)).any() and not _DfxOpts().any()
    with passes.PassContext([passes.VerificationInstrument(passes.VerificationMode.BEFORE_AND_AFTER)]) as held:
        assert len(held.get_instruments()) == 1


def test_a_visitor_sees_calls_in_the_ir():
    class Calls(ir.IRVisitor):
        found = []

        def visit_call(self, op):
            self.found.append(op.op.name)
            super().visit_call(op)

    visitor = Calls()
    visitor.visit_program(Twice)
    assert {"tile.load", "tile.adds", "tile.store", "kernel"} <= set(visitor.found)


def product(m, k, n, size=2, **others):
    config = passes.l0_tile_chooser.L0TileConfig()
    config.M, config.K, config.N, config.bytes_a, config.bytes_b = m, k, n, size, size
    for name, value in others.items():
        setattr(config, name, value)
    return config


ALL_WAYS = {"allow_a_stationary": True, "allow_b_stationary": True, "allow_double_buffer_c": True}


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("m, k, n", [(128, 64, 128), (160, 64, 160), (16, 4096, 16), (304, 704, 512), (16, 16, 16)])
def test_parts_of_a_product_fit_l0(m, k, n, size):
    config = product(m, k, n, size, allow_k_boundary=True, **ALL_WAYS)
    choice = passes.l0_tile_chooser.choose_l0_tile(config)
    held = choice.stationarity.name
    assert choice.m * choice.k * size * (2 - (held == "AStationary")) <= config.l0a_bytes
    assert choice.n * choice.k * size * (2 - (held == "BStationary")) <= config.l0b_bytes
    assert choice.m * choice.n * 4 * (1 + choice.double_buffer_c) <= config.l0c_bytes and choice.m <= m


# Points that the public planner's tests pin.
@pytest.mark.parametrize(
    "config, parts, held, twice",
    [
        (product(16, 512, 256), (16, 256, 64), "OutputStationary", False),
        (product(4096, 4096, 4096, allow_double_buffer_c=True), (128, 256, 64), "OutputStationary", False),
        (product(160, 64, 160, 4, allow_k_boundary=True, **ALL_WAYS), (80, 128, 64), "OutputStationary", True),
        (product(256, 64, 256, 4, allow_k_boundary=True, **ALL_WAYS), (32, 256, 64), "BStationary", True),
        (
            product(256, 128, 544, allow_a_stationary=True, allow_b_stationary=True),
            (256, 128, 128),
            "AStationary",
            False,
        ),
    ],
)
def test_parts_of_least_estimated_cycles(config, parts, held, twice):
    choice = passes.l0_tile_chooser.choose_l0_tile(config)
    assert (choice.m, choice.n, choice.k) == parts
    assert choice.stationarity.name == held and choice.double_buffer_c == twice


def test_cycles_of_one_part():
    choice = passes.l0_tile_chooser.choose_l0_tile(product(64, 64, 64))
    loads = 64 * 64 * 2 / 129.7 + 64 * 64 * 2 / 85.4
    cube = 21 + 4 * 4 * 4  # one instruction of 4 x 4 x 4 fractals
    assert choice.estimated_cost_cycles == round(max(loads, cube) + 164 + 64 * 4.45)
    assert choice.estimated_traffic_bytes == 2 * 64 * 64 * 2 + 64 * 64 * 4


@pytest.mark.parametrize(
    "others, message",
    [
        ({"M": 7}, "allow_padding=false but M=7 is less than 16"),
        ({"K": 130}, "no part of 128 x 130 x 128 fits: K is a multiple of 16"),
        ({"max_n": 8}, "max_n must be zero (no limit) or at least min_n=16"),
    ],
)
def test_products_without_parts(others, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        passes.l0_tile_chooser.choose_l0_tile(product(128, 128, 128, **others))


def test_parts_of_no_product():
    with pytest.raises(ValueError, match="M, N, K must all be positive, not 0, 0, 0"):
        passes.l0_tile_chooser.choose_l0_tile(passes.l0_tile_chooser.L0TileConfig())
