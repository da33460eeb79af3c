"""The host level as Python, orchestration/host_orch.py: what it submits runs, also after an edit. Expectations are
numpy's."""

import json
import re
import runpy

import numpy as np
import pypto.language as pl
import pypto.language.distributed as pld
import pytest
from pypto import ir
from pypto.backend.host_writer import domains_of
from pypto.ir.compiled_program import CompiledProgram
from pypto.ir.distributed_compiled_program import DistributedConfig
from pypto.runtime import DistributedWorker
from pypto.runtime.host_orch import box_of
from random_numbers import numbers

W = 16
NR = pl.dynamic("NR")


def devices(ranks):
    return DistributedConfig(device_ids=list(range(ranks)))


@pl.program
class Steps:
    """y[t, r]: the sum over ranks of x where way is 0, else that of the neighbour; then times the factor of turn t."""

    @pl.function(type=pl.FunctionType.InCore)
    def publish(
        self, x: pl.Tensor[[4, W], pl.FP32], data: pl.Out[pld.DistributedTensor[[4, W], pl.FP32]]
    ) -> pld.DistributedTensor[[4, W], pl.FP32]:
        return pl.store(pl.load(x, [0, 0], [4, W]), [0, 0], data)

    @pl.function(type=pl.FunctionType.InCore)
    def send(
        self,
        x: pl.Tensor[[4, W], pl.FP32],
        data: pl.Out[pld.DistributedTensor[[4, W], pl.FP32]],
        cells: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]],
        peer: pl.Scalar[pl.INT32],
        turn: pl.Scalar[pl.INT32],
    ):
        pld.tile.remote_store(pl.load(x, [0, 0], [4, W]), data, peer=peer, offsets=[0, 0])
        pld.system.notify(target=cells, peer=peer, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
        pld.system.wait(signal=cells, offsets=[0, 0], expected=turn + 1, cmp=pld.WaitCmp.Ge)

    @pl.function(type=pl.FunctionType.InCore)
    def consume(
        self,
        data: pld.DistributedTensor[[4, W], pl.FP32],
        y: pl.Out[pl.Tensor[[4, W], pl.FP32]],
        factor: pl.Scalar[pl.FP32],
    ) -> pl.Tensor[[4, W], pl.FP32]:
        return pl.store(pl.mul(pl.load(data, [0, 0], [4, W]), factor), [0, 0], y)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def steps(
        self,
        x: pl.Tensor[[NR, 4, W], pl.FP32],
        factors: pl.Tensor[[2], pl.FP32],
        y: pl.Out[pl.Tensor[[2, NR, 4, W], pl.FP32]],
        way: pl.Scalar[pl.INT32],
    ):
        memory = pld.alloc_window_buffer(4 * W * pl.FP32.get_byte())
        cells = pld.window(pld.alloc_window_buffer(4), [1, 1], dtype=pl.INT32)
        signal = pld.window(pld.alloc_window_buffer(pld.world_size() * 4), [pld.world_size()], dtype=pl.INT32)
        data = pld.window(memory, [4, W], dtype=pl.FP32)
        for turn in pl.range(2):
            factor = pl.read(factors, [turn])
            if way == 0:
                for r in pl.range(pld.world_size()):
                    self.publish(x[r], data, device=r)
                data = pld.tensor.allreduce(data, signal, op=pld.ReduceOp.Sum)
            else:
                for r in pl.range(pld.world_size()):
                    self.send(x[r], data, cells, (r + 1) % pld.world_size(), turn, device=r)
            for r in pl.range(pld.world_size()):
                self.consume(data, y[turn, r], factor, device=r)


def expected(x, factors, way):
    total = np.broadcast_to(x.astype(np.float64).sum(0), x.shape) if way == 0 else np.roll(x, 1, axis=0)
    return np.stack([total * factor for factor in factors])


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tree")
    return folder, {
        ranks: ir.compile(Steps, folder / str(ranks), distributed_config=devices(ranks)) for ranks in (2, 3)
    }


@pytest.mark.parametrize("way", [0, 1])
@pytest.mark.parametrize("ranks", [2, 3])
def test_the_file_runs(tree, ranks, way):
    compiled = tree[1][ranks]
    assert "orchestration" not in compiled.left_out
    x, factors, y = numbers(ranks, 4, W), np.array([2, -0.5], np.float32), np.zeros((2, ranks, 4, W), np.float32)
    with DistributedWorker(compiled) as worker:
        held = worker.run_host_orch(compiled, x, factors, y, way)
    np.testing.assert_allclose(y, expected(x, factors, way), rtol=1e-6, atol=1e-6)
    assert held["y"] is y


def test_a_program_of_a_folder_and_a_tensor_that_stays(tree):
    compiled = CompiledProgram.from_dir(tree[0] / "2")
    x, factors, y = numbers(2, 4, W), np.array([1, 3], np.float32), np.zeros((2, 2, 4, W), np.float32)
    with DistributedWorker(compiled) as worker:
        held = worker.alloc_stacked_tensor(x)
        worker.run_host_orch(compiled, held, factors, y=y, way=1)
    np.testing.assert_allclose(y, expected(x, factors, 1), rtol=1e-6)


def test_launches_are_in_the_layout_of_the_public_file(tree):
    text = (tree[0] / "2" / "orchestration" / "host_orch.py").read_text()
    assert re.search(r'_ord"\] = \[torch\.zeros\(.*for _ in range\(', text)
    submits = [line for line in text.splitlines() if "_submit_chip(" in line or "orch.submit_next_level(" in line]
    assert len(submits) == 4 and any("builtin.tensor.allreduce__sum__fp32" in line for line in submits)
    for submit in submits:
        task = re.search(r"_ta_\d+", submit)[0]
        tokens = [line for line in text.splitlines() if f"{task}.add_tensor(" in line and '_ord"][' in line]
        assert tokens and all("make_tensor_arg(orch._worker, " in line for line in tokens)
    assert '_submit_chip(orch, callables["send"], ' in text
    assert 'NR = tensors["x"].shape[0]' in text
    assert "workers=[*range(world_size)]," in text
    entry = [each for each in runpy.run_path(str(tree[0] / "2/orchestration/host_orch.py")).values() if callable(each)]
    assert [each.__name__ for each in entry if getattr(each, "_pypto_distributed_entry", False)] == ["steps"]


def edited(tree, tmp_path, old, new, ranks=2, way=1):
    """What a run of the file with that replaced writes, on ones."""
    text = (tree[0] / str(ranks) / "orchestration" / "host_orch.py").read_text()
    assert old in text
    file = tmp_path / "edited.py"
    file.write_text(text.replace(old, new))
    compiled, y = tree[1][ranks], np.zeros((2, ranks, 4, W), np.float32)
    x = np.arange(1, ranks + 1, dtype=np.float32)[:, None, None] * np.ones((1, 4, W), np.float32)
    with DistributedWorker(compiled) as worker:
        worker.run_host_orch(compiled, x, np.ones(2, np.float32), y, way, file=file)
    return y[:, :, 0, 0].tolist()


def test_an_edited_file_runs_as_it_stands(tree, tmp_path):
    assert edited(tree, tmp_path, ".add_scalar(factor)", ".add_scalar(factor * 10)") == [[20, 10], [20, 10]]
    sent = 'tensors["x"][r_2, '
    assert edited(tree, tmp_path, sent, 'tensors["x"][1 - r_2, ') == [[1, 2], [1, 2]]
    assert edited(tree, tmp_path, "for turn in range(0, 2, 1):", "for turn in range(0, 1, 1):") == [[2, 1], [0, 0]]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('callables["send"]', 'callables["sent"]', r"Steps has no function 'sent'; it has 'publish', 'send'"),
        (", config, r_2)", ", config, 7)", r"submit_next_level: send: worker 7 is none of 2 devices"),
        ('"].tensor(', '_"].tensor(', r"comm_d0 has no buffer 'memory_'; it has 'memory', 'cells', 'signal'"),
        ("._pypto_distributed_entry", ".entry", r"expects one function with _pypto_distributed_entry, it has 0"),
        (
            'make_tensor_arg(orch._worker, tensors["t__tmp_v1',
            'make_tensor_arg(orch._worker, 1 * tensors["t__tmp_v1',
            r"send: a tensor of its TaskArgs lies in none of x, factors, y",
        ),
    ],
)
def test_what_a_file_may_not_submit(tree, tmp_path, old, new, message):
    with pytest.raises(ValueError, match=message):
        edited(tree, tmp_path, old, new)


def test_a_collective_of_some_devices(tree, tmp_path):
    text = (tree[0] / "2" / "orchestration" / "host_orch.py").read_text()
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if "builtin." in line)
    loop = next(line for line in reversed(lines[:at]) if line.lstrip().startswith("for "))
    with pytest.raises(ValueError, match=r"of builtin.tensor.allreduce__sum__fp32 only the devices \[0\]"):
        edited(tree, tmp_path, loop, loop.replace("range(world_size)", "range(1)"), way=0)


@pl.program
class Observed:
    @pl.function(type=pl.FunctionType.InCore)
    def scaled(
        self, x: pl.Tensor[[8, W], pl.FP32], y: pl.Out[pl.Tensor[[8, W], pl.FP32]], by: pl.Scalar[pl.FP32]
    ) -> pl.Tensor[[8, W], pl.FP32]:
        return pl.store(pl.mul(pl.load(x, [0, 0], [8, W]), by), [0, 0], y)

    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
    def sums(a: pl.Tensor[[8, W], pl.FP32], b: pl.Tensor[[8, W], pl.FP32],  # noqa: N805
             y: pl.Out[pl.Tensor[[8, W], pl.FP32]]) -> pl.Tensor[[8, W], pl.FP32]:  # fmt: skip
        ...

    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
    def check(y: pl.Tensor[[8, W], pl.FP32]):  # noqa: N805
        if abs(y).max() > 1e3:
            raise AssertionError("too large")

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(self, x: pl.Tensor[[8, W], pl.FP32], y: pl.Out[pl.Tensor[[8, W], pl.FP32]]) -> pl.Tensor[[8, W], pl.FP32]:
        a = pl.create_tensor([8, W], dtype=pl.FP32)
        b = pl.create_tensor([8, W], dtype=pl.FP32)
        a = self.scaled(x, a, 3.0, device=0)
        b = self.scaled(x, b, 4.0, device=1)
        self.check(x)
        made = self.sums(a, b, y)
        return made


def test_sub_workers_are_files_and_run(tmp_path):
    def sums(args):
        a, b, y = (each.data.view(np.float32).reshape(each.shape) for each in args)
        y[:] = a + b

    compiled = ir.compile(Observed, tmp_path, distributed_config=devices(2))
    assert json.loads((tmp_path / "sub_workers" / "__required__.json").read_text()) == ["sums"]
    x, y = numbers(8, W), np.zeros((8, W), np.float32)
    with compiled.prepare(callbacks={"sums": sums}) as worker:
        held = worker.run_host_orch(compiled, x, y)
        np.testing.assert_allclose(y, 7 * x, rtol=1e-6)
        np.testing.assert_allclose(held["b"], 4 * x, rtol=1e-6)
        with pytest.raises(AssertionError, match="too large"):
            worker.run_host_orch(compiled, 1e4 * x, y)
    check = runpy.run_path(str(tmp_path / "sub_workers" / "check.py"))["_user_check"]
    check(x)
    with pytest.raises(AssertionError, match="too large"):
        check(1e4 * x)
    with pytest.raises(RuntimeError, match="SubWorker 'sums' has no body here"):
        runpy.run_path(str(tmp_path / "sub_workers" / "sums.py"))["sums"]([])


@pl.program
class Many:
    @pl.function(type=pl.FunctionType.InCore)
    def value(
        self, y: pl.Out[pl.Tensor[[1, W], pl.FP32]], data: pl.InOut[pld.DistributedTensor[[1, W], pl.FP32]]
    ) -> pl.Tensor[[1, W], pl.FP32]:
        return pl.store(pl.add(pl.load(data, [0, 0], [1, W]), 1.0), [0, 0], y)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(self, y: pl.Out[pl.Tensor[[2, 2, W], pl.FP32]]):
        for turn in pl.range(2):
            data = pld.window(pld.alloc_window_buffer(W * 4), [1, W], dtype=pl.FP32)
            for r in pl.range(2):
                self.value(y[turn, r : r + 1], data, device=r)


def test_a_host_level_that_has_no_such_text(tmp_path):
    compiled, y = ir.compile(Many, tmp_path, distributed_config=devices(2)), np.zeros((2, 2, W), np.float32)
    reason = compiled.left_out["orchestration"]
    assert re.match(r".*test_pypto_host_orch.py:\d+:\d+: pld.alloc_window_buffer in a loop", reason)
    compiled(y)
    np.testing.assert_array_equal(y, 1)
    with DistributedWorker(compiled) as worker, pytest.raises(ValueError, match="no such file.*in a loop has no form"):
        worker.run_host_orch(compiled, y)


@pl.program
class Pairs:
    @pl.function(type=pl.FunctionType.InCore)
    def swap(
        self,
        x: pl.Tensor[[1, W], pl.FP32],
        y: pl.Out[pl.Tensor[[1, W], pl.FP32]],
        data: pl.InOut[pld.DistributedTensor[[1, W], pl.FP32]],
        cells: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]],
        peer: pl.Scalar[pl.INT32],
    ) -> pl.Tensor[[1, W], pl.FP32]:
        pld.tile.remote_store(pl.load(x, [0, 0], [1, W]), data, peer=peer, offsets=[0, 0])
        pld.system.notify(target=cells, peer=peer, offsets=[0, 0], value=1, op=pld.NotifyOp.Set)
        pld.system.wait(signal=cells, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
        return pl.store(pl.load(data, [0, 0], [1, W]), [0, 0], y)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(self, x: pl.Tensor[[4, 1, W], pl.FP32], y: pl.Out[pl.Tensor[[4, 1, W], pl.FP32]]):
        low = pld.window(pld.alloc_window_buffer(W * 4), [1, W], dtype=pl.FP32)
        low_cells = pld.window(pld.alloc_window_buffer(4), [1, 1], dtype=pl.INT32)
        high = pld.window(pld.alloc_window_buffer(W * 4), [1, W], dtype=pl.FP32)
        high_cells = pld.window(pld.alloc_window_buffer(4), [1, 1], dtype=pl.INT32)
        for r in pl.range(2):
            self.swap(x[r], y[r], low, low_cells, 1 - r, device=r)
            other = r + 2
            self.swap(x[other], y[other], high, high_cells, 1 - r, device=other)


def test_groups_of_devices_are_domains(tmp_path):
    compiled = ir.compile(Pairs, tmp_path, distributed_config=devices(4))
    text = (tmp_path / "orchestration" / "host_orch.py").read_text()
    assert "workers=[0, 1]," in text and "workers=[2, 3]," in text
    x = numbers(4, 1, W)
    assert domains_of(Pairs, 4) == 2
    for persistent, made in ((False, 4), (True, 2)):
        with compiled.prepare(persistent=persistent) as worker:
            for run in (worker.run, worker.run, worker.run_host_orch):
                y = np.zeros_like(x)
                run(compiled, x, y)
                np.testing.assert_array_equal(y, x[[1, 0, 3, 2]])
            assert worker._w._next_alloc_id == made + 2


def test_boxes():
    x = np.arange(2 * 3 * 4).reshape(2, 3, 4)
    for part in (x[1], x[1, 1:], x[:1], x[1, 2, 1:3], x):
        box, index = box_of(x.shape, part.size, int(part.flat[0]))
        held = x[tuple(slice(first, first + extent) for first, extent in zip(index, box, strict=True))]
        np.testing.assert_array_equal(held.ravel(), part.ravel())
    with pytest.raises(ValueError, match=r"8 elements from element 2 on are no box of a tensor of shape \[2, 3, 4\]"):
        box_of(x.shape, 8, 2)
