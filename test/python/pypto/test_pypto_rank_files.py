"""Saved programs of several ranks without the program: from C, and by model_runner. Expectations are numpy's."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pypto.language as pl
import pypto.language.distributed as pld
import pytest
from pypto import ir
from pypto.ir import compiled_program
from pypto.ir.distributed_compiled_program import DistributedConfig
from random_numbers import numbers
from test_pypto_host_reads import Chosen, Rounds, expected_of

ROOT = Path(__file__).resolve().parents[3]
W = 64

C_PROGRAM = r"""
#include "pto_mlir/Runtime/CApi.h"
#include <stdio.h>
#include <stdlib.h>

static int fail(const char *text) { return fprintf(stderr, "%s\n", text), 1; }

/* Runs a model RUNS times on the bytes of INPUT.bin, and writes OUTPUT.out. */
int main(int argc, char **argv) {
  pto_session *session;
  if (argc < 3 || pto_session_open(argv[1], NULL, 1, NULL, &session)) return fail(pto_last_error());
  pto_input inputs[8];
  pto_output outputs[8];
  size_t num_inputs = pto_session_num_inputs(session), num_outputs = pto_session_num_outputs(session);
  char path[256];
  pto_tensor_info info;
  for (size_t i = 0; i < num_inputs; ++i) {
    if (pto_session_input_info(session, i, &info)) return fail(pto_last_error());
    void *data = malloc(info.bytes);
    snprintf(path, sizeof path, "%s.bin", info.name);
    FILE *file = fopen(path, "rb");
    if (!file || fread(data, 1, info.bytes, file) != info.bytes) return fail(path);
    fclose(file);
    inputs[i] = (pto_input){info.name, info.type, info.shape, info.rank, data};
  }
  for (size_t i = 0; i < num_outputs; ++i) {
    if (pto_session_output_info(session, i, &info)) return fail(pto_last_error());
    outputs[i] = (pto_output){info.name, malloc(info.bytes), info.bytes};
  }
  int failed = 0;
  for (int run = 0; run < atoi(argv[2]); ++run)
    if ((failed = pto_session_run(session, inputs, num_inputs, outputs, num_outputs))) fail(pto_last_error());
  for (size_t i = 0; i < num_outputs && !failed; ++i) {
    snprintf(path, sizeof path, "%s.out", outputs[i].name);
    FILE *file = fopen(path, "wb");
    fwrite(outputs[i].data, 1, outputs[i].bytes, file);
    fclose(file);
  }
  pto_session_close(session);
  return failed;
}
"""


@pytest.fixture(scope="module")
def c_program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("c")
    (folder / "p.c").write_text(C_PROGRAM)
    library = ["-L", ROOT / "build/lib", "-lpto_runtime", f"-Wl,-rpath,{ROOT / 'build/lib'}"]
    words = ["clang-19", "-std=c99", "-Wall", "-Werror", "-I", ROOT / "include", folder / "p.c", *library]
    subprocess.run([*words, "-o", folder / "p"], check=True)
    return folder / "p"


def by_c(program, file, inputs, outputs, runs=1):
    for name, value in inputs.items():
        (file.parent / f"{name}.bin").write_bytes(np.ascontiguousarray(value).tobytes())
    done = subprocess.run([program, file, str(runs)], cwd=file.parent, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr
    assert not done.stderr
    return [np.fromfile(file.parent / f"{name}.out", like.dtype).reshape(like.shape) for name, like in outputs.items()]


def by_model_runner(file, inputs, outputs, *words):
    np.savez(file.parent / "in.npz", **inputs)
    command = [sys.executable, "-m", "pto_mlir.tools.model_runner", "--model", file, "--input", file.parent / "in.npz"]
    command += ["--output", file.parent / "out.npz", *words]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    if done.returncode:
        assert not (file.parent / "out.npz").exists()
        return done.stderr
    held = np.load(file.parent / "out.npz")
    return [held[name] for name in outputs]


def saved(program, folder, ranks):
    ir.compile(program, folder, distributed_config=DistributedConfig(device_ids=list(range(ranks))))
    (folder / "alone").mkdir()
    return (folder / f"{program.name}.pmodel").rename(folder / "alone" / "k.pmodel")


@pl.program
class Ring:
    """Nothing is left to the run: a net with the launches of each rank. Each gives its row to the next one."""

    @pl.function(type=pl.FunctionType.InCore)
    def pass_on(
        self,
        x: pl.Tensor[[1, W], pl.FP32],
        y: pl.Out[pl.Tensor[[1, W], pl.FP32]],
        data: pld.DistributedTensor[[1, W], pl.FP32],
        signal: pld.DistributedTensor[[8, 1], pl.INT32],
    ) -> pl.Tensor[[1, W], pl.FP32]:
        ctx = pld.get_comm_ctx(data)
        row = pl.load(x, [0, 0], [1, W])
        pld.tile.remote_store(row, data, peer=(pld.rank(ctx) + 1) % pld.nranks(ctx), offsets=[0, 0])
        signal = pld.tensor.barrier(signal)
        return pl.store(pl.add(pl.load(data, [0, 0], [1, W]), row), [0, 0], y)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(self, x: pl.Tensor[[3, W], pl.FP32], y: pl.Out[pl.Tensor[[3, W], pl.FP32]]):
        data = pld.alloc_window_buffer([1, W], dtype=pl.FP32)
        signal = pld.alloc_window_buffer([8, 1], dtype=pl.INT32)
        for r in pl.range(pld.world_size()):
            self.pass_on(
                pl.slice(x, [1, W], [r, 0]),
                pl.slice(y, [1, W], [r, 0]),
                pld.window(data, [1, W], dtype=pl.FP32),
                pld.window(signal, [8, 1], dtype=pl.INT32),
                device=r,
            )
        return y


def test_a_net_of_several_ranks(c_program, tmp_path):
    file, x = saved(Ring, tmp_path, 3), numbers(3, W)
    expected = x + np.roll(x, 1, axis=0)
    for got in (
        by_c(c_program, file, {"x": x}, {"y": x}),
        by_c(c_program, file, {"x": x}, {"y": x}, runs=3),
        by_model_runner(file, {"x": x}, {"y": x}),
        by_model_runner(file, {"x": x}, {"y": x}, "--mode", "checked"),
        by_model_runner(file, {"x": x}, {"y": x}, "--mode", "timing"),
    ):
        np.testing.assert_array_equal(got[0], expected)


def test_what_the_run_decides(c_program, tmp_path):
    """Numbers, elements, and signals between launches of a loop that the run counts."""
    file, x = saved(Chosen, tmp_path / "chosen", 2), numbers(40, W)
    factors, table = np.array([2.5, 2, 0.5, 3], np.float32), np.array([[39, 1], [0, 8], [8, 9], [17, 16]], np.int32)
    for count in (3, 0, 4):
        given = {"x": x, "table": table, "factors": factors, "count": np.array([count], np.int32)}
        for got in (by_c(c_program, file, given, {"y": x}, runs=2), by_model_runner(file, given, {"y": x})):
            np.testing.assert_array_equal(got[0], expected_of(x, table, factors, count))
    file = saved(Rounds, tmp_path / "rounds", 3)
    y = numbers(3, W)
    expected = y.copy()
    for _ in range(4):
        expected = expected + np.roll(expected, 1, axis=0)
    given = {"count": np.array([4], np.int32), "y": y}
    for got in (by_c(c_program, file, given, {"y": y}, runs=2), by_model_runner(file, given, {"y": y})):
        np.testing.assert_array_equal(got[0], expected)


def test_errors_of_runs_are_one_line(c_program, tmp_path):
    file, x = saved(Chosen, tmp_path, 2), numbers(40, W)
    factors, table = np.ones(4, np.float32), np.array([[0, 5]] * 4, np.int32)
    given = {"x": x, "table": table, "factors": factors, "count": np.array([5], np.int32)}
    for text in (by_c(c_program, file, given, {"y": x}), by_model_runner(file, given, {"y": x})):
        assert "an index is outside 8" in text and "test_pypto_host_reads.py:" in text
        assert text.count("\n") == 1 and "Traceback" not in text
    given = {**given, "count": np.array([2], np.int32), "table": np.array([[38, 5]] * 4, np.int32)}
    for text in (by_c(c_program, file, given, {"y": x}), by_model_runner(file, given, {"y": x})):
        assert "a view ends behind its tensor" in text and text.count("\n") == 1
    given = {**given, "table": np.array([[0, 5]] * 3, np.int32)}
    text = by_model_runner(file, given, {"y": x})
    assert "input 'table' has shape [3, 2], the model expects [4, 2]" in text and text.count("\n") == 1


@pytest.mark.parametrize("program, ranks", [(Ring, 3), (Chosen, 2), (Rounds, 3)])
def test_a_folder_is_opened_without_compiling(program, ranks, tmp_path, monkeypatch):
    ir.compile(program, tmp_path, distributed_config=DistributedConfig(device_ids=list(range(ranks))))
    compiled_again = []

    def compiling(*args, **keywords):
        compiled_again.append(program)
        return compile_to(*args, **keywords)

    compile_to = compiled_program.compile_to
    monkeypatch.setattr(compiled_program, "compile_to", compiling)

    def runs():
        held = ir.CompiledProgram.from_dir(tmp_path)
        if program is Chosen:
            x, y, factors = numbers(40, W), np.zeros((40, W), np.float32), np.ones(4, np.float32)
            table = np.array([[39, 1], [0, 8], [8, 9], [17, 16]], np.int32)
            for count in (3, 1):
                y[:] = 0
                held(x, table, factors, count, y)
                np.testing.assert_array_equal(y, expected_of(x, table, factors, count))
        elif program is Ring:
            x, y = numbers(3, W), np.zeros((3, W), np.float32)
            with held.prepare() as worker:
                worker(x, y)
            np.testing.assert_array_equal(y, x + np.roll(x, 1, axis=0))
        else:
            y = numbers(3, W)
            expected = y + np.roll(y, 1, axis=0)
            held(np.ones(1, np.int32), y)
            np.testing.assert_array_equal(y, expected)
        assert held.pmodel == held_bytes and held.ranks == ranks

    file = tmp_path / f"{program.name}.pmodel"
    held_bytes = file.read_bytes()
    runs()
    assert not compiled_again
    for wrong in (held_bytes[:-1] + bytes([held_bytes[-1] ^ 1]), b"", None):  # what else wrote it is not run
        file.write_bytes(wrong) if wrong is not None else file.unlink()
        compiled_again.clear()
        runs()
        assert len(compiled_again) == 1


@pl.program
class Forgotten:
    """Rank 1 waits for a signal that nobody gives."""

    @pl.function(type=pl.FunctionType.InCore)
    def waits(
        self,
        x: pl.Tensor[[1, W], pl.FP32],
        y: pl.Out[pl.Tensor[[1, W], pl.FP32]],
        cells: pld.DistributedTensor[[8, 1], pl.INT32],
    ) -> pl.Tensor[[1, W], pl.FP32]:
        if pld.rank(pld.get_comm_ctx(cells)) == 1:
            pld.system.wait(signal=cells, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
        return pl.store(pl.load(x, [0, 0], [1, W]), [0, 0], y)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(self, x: pl.Tensor[[2, W], pl.FP32], y: pl.Out[pl.Tensor[[2, W], pl.FP32]]):
        memory = pld.alloc_window_buffer([8, 1], dtype=pl.INT32)
        for r in pl.range(pld.world_size()):
            cells = pld.window(memory, [8, 1], dtype=pl.INT32)
            self.waits(pl.slice(x, [1, W], [r, 0]), pl.slice(y, [1, W], [r, 0]), cells, device=r)
        return y


def test_a_deadlock_is_one_line(c_program, tmp_path):
    file, x = saved(Forgotten, tmp_path, 2), numbers(2, W)
    for text in (
        by_c(c_program, file, {"x": x}, {"y": x}),
        by_model_runner(file, {"x": x}, {"y": x}),
        by_model_runner(file, {"x": x}, {"y": x}, "--mode", "checked"),
        by_model_runner(file, {"x": x}, {"y": x}, "--mode", "timing"),
    ):
        assert "rank 1 in kernel 'waits'" in text and "rank 0 has ended" in text and "test_pypto_rank_files.py:" in text
        assert text.count("\n") == 1 and "Traceback" not in text
