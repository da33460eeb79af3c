"""`run`, `ir.compile`, ChipWorker and programs in class form, against numpy."""

import csv
import json
import os
from pathlib import Path

import numpy as np
import pypto
import pypto.language as pl
import pytest
from pypto import ir
from pypto.backend import BackendType
from pypto.runtime import ChipWorker, RunConfig, ScalarSpec, TensorSpec, Worker, benchmark, run
from random_numbers import numbers


def zeros(*shape):
    return np.zeros(shape, np.float32)


@pl.program
class Graph:
    @pl.function(type=pl.FunctionType.InCore)
    def add(
        self,
        a: pl.Tensor[[16, 32], pl.FP32],
        b: pl.Tensor[[16, 32], pl.FP32],
        out: pl.Out[pl.Tensor[[16, 32], pl.FP32]],
    ) -> pl.Tensor[[16, 32], pl.FP32]:
        t = pl.add(pl.load(a, [0, 0], [16, 32]), pl.load(b, [0, 0], [16, 32]))
        return pl.store(t, [0, 0], out)

    @pl.function(type=pl.FunctionType.InCore)
    def relu(self, x: pl.Tensor[[16, 32], pl.FP32]) -> pl.Tensor[[16, 32], pl.FP32]:
        return pl.relu(x)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self, a: pl.Tensor[[16, 32], pl.FP32], b: pl.Tensor[[16, 32], pl.FP32], c: pl.Out[pl.Tensor[[16, 32], pl.FP32]]
    ) -> pl.Tensor[[16, 32], pl.FP32]:
        t = pl.create_tensor([16, 32], dtype=pl.FP32)
        t = self.add(a, b, t)
        r = self.relu(t)
        c = self.add(r, a, c)
        return c


@pl.program
class Returns:
    @pl.function(type=pl.FunctionType.InCore)
    def relu(self, x: pl.Tensor[[16, 32], pl.FP32]) -> pl.Tensor[[16, 32], pl.FP32]:
        return pl.relu(x)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 32], pl.FP32]) -> pl.Tensor[[16, 32], pl.FP32]:
        y = self.relu(x)
        with pl.at(level=pl.Level.CORE_GROUP):
            z = pl.add(y, x)
        return z


@pl.program
class Alone:
    @pl.function
    def scale(self, src: pl.Tensor[[64, 32], pl.FP32], dst: pl.Tensor[[64, 32], pl.FP32]):
        t = pl.load(src, [0, 0], [64, 32])
        pl.store(pl.mul(t, 3.0), [0, 0], [64, 32], dst)


def test_class_form():
    a, b, c = numbers(16, 32), numbers(16, 32, seed=1), zeros(16, 32)
    compiled = run(Graph, a, b, c)
    np.testing.assert_array_equal(c, np.maximum(a + b, 0) + a)
    assert compiled.param_names == ["a", "b", "c"] and compiled.output_indices == [2] and compiled.has_return
    np.testing.assert_array_equal(compiled(a, b), c)
    x = numbers(64, 32)
    np.testing.assert_array_equal(run(Alone)(x), x * 3)


def test_tensors_that_a_program_returns():
    x = numbers(16, 32)
    compiled = run(Returns)
    assert compiled.has_return and compiled.output_indices == []
    np.testing.assert_array_equal(compiled(x), np.maximum(x, 0) + x)


def test_ir_compile_writes_a_folder(tmp_path, monkeypatch):
    compiled = pypto.ir.compile(Graph, tmp_path / "out", backend_type=BackendType.Ascend950)
    assert compiled.platform == "a5sim" and os.fspath(compiled) == str(compiled) == str(tmp_path / "out")
    names = {each.name for each in (tmp_path / "out").iterdir()}
    tree = {"debug", "kernel_config.py", "kernels", "orchestration", "passes_dump", "ptoas"}
    assert names == {"Graph.pmodel", "Graph.pto", "Graph.py", "compiled_meta.json"} | tree
    assert pl.parse_program((tmp_path / "out" / "Graph.py").read_text()).name == "Graph"
    monkeypatch.setenv("PYPTO_PROG_BUILD_DIR", str(tmp_path / "builds"))
    assert Path(ir.compile(Alone, dump_passes=False)).parent == tmp_path / "builds"
    a, b = numbers(16, 32), numbers(16, 32, seed=1)
    np.testing.assert_array_equal(compiled(a, b), np.maximum(a + b, 0) + a)
    with pytest.raises(TypeError, match="ir.compile: has no parameter optimise"):
        ir.compile(Graph, optimise=True)
    with pytest.raises(TypeError, match="expects a Program, not int"):
        ir.compile(3)


@pl.jit
def add(a: pl.Tensor[[16, 32], pl.FP32], b: pl.Tensor[[16, 32], pl.FP32], c: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        c[:] = pl.add(a, b)
    return c


def test_worker():
    x, out = numbers(16, 32), zeros(16, 32)
    compiled = add.compile()
    with ChipWorker(RunConfig(), runtime="tensormap_and_ringbuffer") as worker:
        assert isinstance(worker, Worker)
        weight = worker.alloc_tensor([16, 32], np.float32, init=x)
        handle = worker.register(compiled)
        assert worker.aicpu_dlopen_count == 1
        for step in range(3):
            handle(np.full((16, 32), step, np.float32), weight, out)
            np.testing.assert_array_equal(out, x + np.float32(step))
        worker.run(compiled, x, weight, c=out)
        assert worker.aicpu_dlopen_count == 1
        with ChipWorker() as other, pytest.raises(ValueError, match="belongs to another worker"):
            other.run(compiled, x, weight, out)
        worker.free_tensor(weight)
        with pytest.raises(ValueError, match="argument b: the DeviceTensor was freed"):
            handle(x, weight, out)
        with pytest.raises(ValueError, match="alloc_tensor: init: expects"):
            worker.alloc_tensor([8, 32], np.float32, init=x)
    with pytest.raises(RuntimeError, match="ChipWorker.* called after close"):
        handle(x, x, out)
    with pytest.raises(ValueError, match="level: expects 2"):
        ChipWorker(level=3)


def test_specs_make_tensors():
    assert TensorSpec("x", [2, 3], np.float32).create_tensor().sum() == 0
    assert TensorSpec("x", [2, 3], np.int32, 4).create_tensor().tolist() == [[4] * 3] * 2
    assert TensorSpec("x", [2], np.float32, lambda shape: np.ones(shape)).create_tensor().tolist() == [1, 1]
    with pytest.raises(ValueError, match="x: init_value has shape"):
        TensorSpec("x", [2], np.float32, np.ones(3)).create_tensor()
    with pytest.raises(ValueError, match="n: ctype 'int8'"):
        ScalarSpec("n", 1, "int8")


@pl.jit
def declared(x: pl.Tensor, scratch: pl.Out[pl.Tensor], out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="first") as first:
        scratch[:] = pl.add(x, x)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="second", deps=[first]):
        out[:] = pl.add(scratch, scratch)
    return scratch, out


def test_declared_edges():
    x, scratch, out = numbers(16, 32), zeros(16, 32), zeros(16, 32)
    declared(x, scratch, out)
    np.testing.assert_array_equal(out, x * 4)


@pl.program
class NoMain:
    @pl.function(type=pl.FunctionType.InCore)
    def one(self, x: pl.Tensor[[16, 32], pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
        pl.store(pl.load(x, [0, 0], [16, 32]), [0, 0], y)

    @pl.function(type=pl.FunctionType.InCore)
    def two(self, x: pl.Tensor[[16, 32], pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
        pl.store(pl.load(x, [0, 0], [16, 32]), [0, 0], y)


def test_a_program_without_an_entry():
    with pytest.raises(ValueError, match="NoMain: has no orchestrator, but one, two"):
        run(NoMain)


@pl.program
class Configured:
    @pl.function(type=pl.FunctionType.InCore)
    def main(
        self,
        x: pl.Tensor[[16, 32], pl.FP32],
        config: pl.Tensor[[16, 32], pl.FP32],
        y: pl.Out[pl.Tensor[[16, 32], pl.FP32]],
    ):
        pl.store(pl.add(pl.load(x, [0, 0], [16, 32]), pl.load(config, [0, 0], [16, 32])), [0, 0], y)


@pl.program
class ConfiguredLast:
    @pl.function(type=pl.FunctionType.InCore)
    def main(
        self,
        x: pl.Tensor[[16, 32], pl.FP32],
        y: pl.Out[pl.Tensor[[16, 32], pl.FP32]],
        config: pl.Tensor[[16, 32], pl.FP32],
    ):
        pl.store(pl.add(pl.load(x, [0, 0], [16, 32]), pl.load(config, [0, 0], [16, 32])), [0, 0], y)


def test_a_parameter_may_be_called_config():
    a, b, c = numbers(16, 32), numbers(16, 32, seed=1), zeros(16, 32)
    compiled = run(Configured, a, b, c, config=RunConfig())
    np.testing.assert_array_equal(c, a + b)
    compiled(a, config=b, y=c)
    np.testing.assert_array_equal(c, a + b)
    np.testing.assert_array_equal(run(ConfiguredLast, config=RunConfig())(a, b, config=RunConfig()), a + b)


def test_records_say_which_core_ran_which_task_when(tmp_path):
    a, b, c = numbers(16, 32), numbers(16, 32, seed=1), zeros(16, 32)
    run(Graph, a, b, c, config=RunConfig(enable_chip_swimlane=3, save_kernels_dir=tmp_path))
    np.testing.assert_array_equal(c, np.maximum(a + b, 0) + a)
    folder = tmp_path / "dfx_outputs"
    records = json.loads((folder / "chip_swimlane_records.json").read_text())
    names = json.loads((folder / "name_map_Graph.json").read_text())["callable_id_to_name"]
    tasks = records["tasks"]
    assert records["chip_swimlane_level"] == 3
    assert [names[str(each["func_id"])] for each in tasks] == ["add", "relu", "add"] == [each["name"] for each in tasks]
    for before, after in zip(tasks, tasks[1:], strict=False):
        assert after["task_id"] in before["fanout"] and after["start_time_us"] >= before["end_time_us"]
    assert all(each["core_type"] == "aiv" and each["duration_us"] > 0 for each in tasks)
    assert json.loads((folder / "merged_swimlane.json").read_text())["traceEvents"]


def test_records_of_edges_counters_and_rings(tmp_path):
    a, b, c = numbers(16, 32), numbers(16, 32, seed=1), zeros(16, 32)
    wanted = {"enable_dep_gen": True, "enable_scope_stats": True, "save_kernels_dir": tmp_path}
    run(Graph, a, b, c, config=RunConfig(enable_pmu=2, **wanted))
    np.testing.assert_array_equal(c, np.maximum(a + b, 0) + a)
    folder = tmp_path / "dfx_outputs"
    assert {each.name for each in folder.iterdir()} == {"deps.json", "pmu.csv", "scope_stats"}
    deps = json.loads((folder / "deps.json").read_text())
    first, second, third = (each["task_id"] for each in deps["tasks"])
    assert [each["name"] for each in deps["tasks"]] == ["add", "relu", "add"]
    assert {(each["pred"], each["succ"]) for each in deps["edges"]} >= {(first, second), (second, third)}
    rings = [json.loads(line) for line in (folder / "scope_stats/scope_stats.jsonl").read_text().splitlines()]
    assert rings == [{"ring": 0, "tasks": 3, "task_window_peak": 3}]

    def table():
        with open(folder / "pmu.csv", newline="") as file:
            return {row["kernel"]: row for row in csv.DictReader(file)}

    cycles = table()
    assert cycles["add"]["launches"] == "2" and float(cycles["add"]["AIV V busy"]) > 0
    assert float(cycles["relu"]["AIC M busy"]) == 0
    assert float(cycles["add"]["AIV MTE2 busy"]) > 2 * float(cycles["relu"]["AIV MTE2 busy"])
    run(Graph, a, b, c, config=RunConfig(enable_pmu=4, **wanted))
    size = 16 * 32 * 4
    assert {name: (int(row["gm_bytes_read"]), int(row["gm_bytes_written"])) for name, row in table().items()} == {
        "add": (4 * size, 2 * size),
        "relu": (size, size),
    }


def test_records_of_jit_and_of_compiled_programs(tmp_path):
    @pl.jit
    def twice(x: pl.Tensor, y: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            y[:] = pl.add(x, x)

    x, y = numbers(16, 32), zeros(16, 32)
    twice(x, y, config=RunConfig(enable_chip_swimlane=True, save_kernels_dir=tmp_path / "jit"))
    np.testing.assert_array_equal(y, x + x)
    assert (tmp_path / "jit" / "dfx_outputs" / "chip_swimlane_records.json").is_file()
    compiled = ir.compile(Graph, output_dir=tmp_path / "tree")
    c = zeros(16, 32)
    compiled(x, x, c, config=RunConfig(enable_chip_swimlane=1))
    np.testing.assert_array_equal(c, np.maximum(x + x, 0) + x)
    assert (tmp_path / "tree" / "dfx_outputs" / "chip_swimlane_records.json").is_file()
    assert compiled.recording is None


def test_a_benchmark_gives_the_time_of_each_run_on_the_device(tmp_path):
    compiled = ir.compile(Graph, output_dir=tmp_path)
    a, b, c = numbers(16, 32), numbers(16, 32, seed=1), zeros(16, 32)
    stats = benchmark(compiled, [a, b, c], rounds=3, warmup=1, config=RunConfig(platform="a2a3"))
    np.testing.assert_array_equal(c, np.maximum(a + b, 0) + a)
    assert len(stats.device_wall_us) == stats.rounds == 3 and stats.warmup == 1 and not stats.all_zero_device
    assert 0 < stats.device_us_min <= stats.device_us_median <= stats.device_us_max < 1000
    with pytest.raises(ValueError, match="at least one round"):
        benchmark(compiled, [a, b, c], rounds=0)
    with pytest.raises(ValueError, match="was compiled for a2a3sim, not a5"):
        benchmark(compiled, [a, b, c], config=RunConfig(platform="a5"))
