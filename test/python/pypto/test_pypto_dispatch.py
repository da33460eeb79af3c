"""Dispatches written by hand (`simpler`, `build_orch_args`) and replays of folders, against numpy."""

import json

import numpy as np
import pypto.language as pl
import pytest
from pypto import ir
from pypto.ir import CompiledProgram
from pypto.runtime import RunConfig, benchmark
from pypto.runtime.distributed_runner import _tensor_from_continuous  # noqa: F401  (what SubWorkers use with torch)
from simpler.task_interface import CallConfig, TaskArgs, TensorArgType
from simpler.worker import Worker
from simpler_setup.tools.swimlane_converter import read_perf_data
from simpler_setup.torch_interop import make_tensor_arg


@pl.program
class Sum:
    @pl.function(type=pl.FunctionType.InCore)
    def add(
        self,
        a: pl.Tensor[[16, 32], pl.FP32],
        b: pl.Tensor[[16, 32], pl.FP32],
        c: pl.Out[pl.Tensor[[16, 32], pl.FP32]],
    ) -> pl.Tensor[[16, 32], pl.FP32]:
        return pl.store(pl.add(pl.load(a, [0, 0], [16, 32]), pl.load(b, [0, 0], [16, 32])), [0, 0], c)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self, a: pl.Tensor[[16, 32], pl.FP32], b: pl.Tensor[[16, 32], pl.FP32], c: pl.Out[pl.Tensor[[16, 32], pl.FP32]]
    ) -> pl.Tensor[[16, 32], pl.FP32]:
        c = self.add(a, b, c)
        return c


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sum")
    ir.compile(Sum, output_dir=folder)
    return folder


@pytest.fixture
def compiled(folder):
    return CompiledProgram.from_dir(folder)


def numbers(seed):
    return np.random.default_rng(seed).standard_normal((16, 32)).astype(np.float32)


def test_a_worker_runs_a_program_by_its_number(compiled, tmp_path):
    a, b = numbers(0), numbers(1)
    with Worker(level=2, device_id=0, platform="a2a3sim", runtime=compiled.runtime_name) as worker:
        with pytest.raises(RuntimeError, match="before init"):
            worker.run(1)
        worker.init()
        packed, given, is_made = compiled.build_orch_args(a, b, worker=worker)
        assert is_made and len(packed) == 3 and packed.kinds[2] == TensorArgType.OUTPUT_EXISTING
        number = worker.register(compiled)
        config = compiled.build_call_config(
            RunConfig(enable_chip_swimlane=1, save_kernels_dir=tmp_path), aicpu_thread_num=3
        )
        assert config.aicpu_thread_num == 3
        worker.run(number, packed, config)
        np.testing.assert_array_equal(given[2], a + b)
        assert len(read_perf_data(tmp_path / "dfx_outputs" / "chip_swimlane_records.json")["tasks"]) == 1
        c = np.zeros((16, 32), np.float32)
        packed, given, is_made = compiled.build_orch_args(a, a, c, worker=worker)
        worker.run(number, packed)
        assert not is_made and given[2] is c
        np.testing.assert_array_equal(c, a + a)
        worker.unregister(number)
        with pytest.raises(ValueError, match="not registered"):
            worker.run(number, packed)
    with pytest.raises(RuntimeError, match="after close"):
        worker.register(compiled)


def test_a_function_submits_programs_and_functions(compiled):
    a, b, c = numbers(0), numbers(1), np.zeros((16, 32), np.float32)
    seen = []
    worker = Worker(level=3, device_ids=[0, 4], num_sub_workers=1)
    program, check = worker.register(compiled), worker.register(lambda args: seen.append(args[0].data.copy()))
    worker.init()

    def submit(orch, _args, config):
        args = TaskArgs()
        for array, kind in ((a, "INPUT"), (b, "INPUT"), (c, "OUTPUT_EXISTING")):
            args.add_tensor(make_tensor_arg(worker, array), TensorArgType[kind])
        with pytest.raises(ValueError, match="worker 2 is none of 2"):
            orch.submit_next_level(program, args, config, worker=2)
        with pytest.raises(TypeError, match="submit_sub calls it"):
            orch.submit_next_level(check, args, config)
        orch.submit_next_level(program, args, CallConfig(), worker=1)
        result = TaskArgs()
        result.add_tensor(c)
        orch.submit_sub(check, result)

    worker.run(submit)
    worker.close()
    np.testing.assert_array_equal(seen[0], a + b)


def test_what_a_dispatch_refuses(compiled):
    args = TaskArgs()
    with pytest.raises(TypeError, match="add_scalar takes numbers"):
        args.add_tensor(1)
    with pytest.raises(TypeError, match="add_tensor takes tensors"):
        args.add_scalar(numbers(0))
    args.add_tensor(numbers(0))
    with pytest.raises(TypeError, match="expects 3 tensors and 0 numbers, not 1 and 0"):
        compiled.in_order(args)
    with pytest.raises(TypeError, match="unexpected keyword argument 'threads'"):
        compiled.build_call_config(threads=3)
    with pytest.raises(ValueError, match="argument b: compiled for"):
        compiled.build_orch_args(numbers(0), np.zeros((4, 4), np.float32))
    with pytest.raises(ValueError, match="level: expects 2 or 3"):
        Worker(level=4)
    with pytest.raises(ValueError, match="was compiled for a2a3sim, not a5"):
        Worker(platform="a5").register(compiled)
    one, other = Worker(), Worker()
    with pytest.raises(ValueError, match="another worker"):
        make_tensor_arg(one, other.alloc_tensor((16, 32), np.float32))


def test_a_folder_is_run_again(folder, tmp_path):
    compiled = CompiledProgram.from_dir(folder, platform="a2a3")
    assert compiled.program is None and compiled.param_names == ["a", "b", "c"] and compiled.has_return
    a, b, c = numbers(0), numbers(1), np.zeros((16, 32), np.float32)
    stats = benchmark(compiled, [a, b, c], rounds=2, warmup=1)
    np.testing.assert_array_equal(c, a + b)
    assert stats.device_us_min > 0
    np.testing.assert_array_equal(compiled(a, b), a + b)
    with pytest.raises(ValueError, match="was compiled for a2a3sim, not a5"):
        CompiledProgram.from_dir(folder, platform="a5")
    with pytest.raises(ValueError, match=r"holds no compiled_meta\.json"):
        CompiledProgram.from_dir(tmp_path)
    meta = json.loads((folder / "compiled_meta.json").read_text())
    meta["params"][0]["dtype"] = "FP7"
    (tmp_path / "compiled_meta.json").write_text(json.dumps(meta))
    with pytest.raises(ValueError, match=r"is not what ir\.compile wrote"):
        CompiledProgram.from_dir(tmp_path)
