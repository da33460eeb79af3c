"""`pto-compile x.pto -o x.py`: kernels as PyPTO programs, which compile to the same commands."""

import re
import subprocess
import sys

import numpy as np
import pypto.language as pl
import pytest
from conftest import ROOT
from pypto.ir.compiled_program import compile_to
from raise_kernels import BIN, HAND_WRITTEN, raised, raised_kernel

sys.path.insert(0, str(ROOT / "scripts"))
from compare_raised import arguments_of, compared  # noqa: E402

GOLDEN = ROOT / "test" / "python" / "golden_kernels"


@pl.program
class Softmax:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a0: pl.Tensor[[64, 32], pl.FP32], a1: pl.Out[pl.Tensor[[64, 32], pl.FP32]]):
        t = pl.load(a0, [0, 0], [64, 32])
        t = pl.exp(pl.row_expand_sub(t, pl.row_max(t)))
        pl.store(pl.row_expand_div(t, pl.row_sum(t)), [0, 0], a1)


@pl.program
class Walk:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a0: pl.Tensor[[64, 32], pl.FP32], a1: pl.Scalar[pl.INDEX], a2: pl.Out[pl.Tensor[[64, 32], pl.FP32]]):
        for i in pl.range(a1):
            t = pl.load(a0, [i * 16, 0], [16, 32])
            pl.store(pl.mul(t, 2.0), [i * 16, 0], a2)


@pl.program
class Sum:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a0: pl.Tensor[[64, 32], pl.FP32], a1: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
        t = pl.full([16, 32], dtype=pl.FP32, value=1.0)
        for i in pl.range(4):
            t = pl.add(t, pl.load(a0, [i * 16, 0], [16, 32]))
        pl.store(t, [0, 0], a1)


@pl.program
class Ragged:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a0: pl.Tensor[[60, 32], pl.FP32], a1: pl.Out[pl.Tensor[[60, 32], pl.FP32]]):
        t = pl.load(a0, [0, 0], [64, 32], valid_shape=[50, 30])
        h = pl.cast(t, pl.FP16, mode="floor")
        pl.store(pl.cast(h, pl.FP32), [0, 0], a1)


@pl.program
class Product:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a0: pl.Tensor[[64, 64], pl.FP16], a1: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        a = pl.load(a0, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        t = pl.matmul(pl.move(a, pl.Mem.Left), pl.move(a, pl.Mem.Right))
        for _ in pl.range(3):
            t = pl.matmul_acc(t, pl.move(a, pl.Mem.Left), pl.move(a, pl.Mem.Right))
        pl.store(t, [0, 0], a1)


@pl.program
class Expand:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a0: pl.Tensor[[1, 32], pl.FP32], a1: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
        t = pl.col_expand(pl.create_tile([16, 32], dtype=pl.FP32), pl.load(a0, [0, 0], [1, 32]))
        pl.store(pl.add(t, pl.exp(t)), [0, 0], a1)


def commands(program, folder, name):
    """The streams of a program's kernel, without the places that they come from."""
    compile_to(program, folder / f"{name}.pmodel", "a3")
    done = subprocess.run([BIN / "pmodel_tool", "--disasm", folder / f"{name}.pmodel"], capture_output=True, text=True)
    assert done.returncode == 0 and "tload" in done.stdout
    text = done.stdout.replace(program.name, "Kernels")
    return re.sub(r"(\S+\.py:|\S+:)\d+(:\d+)?|// .*|; .*", "", text)


@pytest.mark.parametrize("program", [Softmax, Walk, Sum, Ragged, Product, Expand], ids=lambda each: each.name)
def test_a_kernel_that_comes_back_has_the_same_commands(program, tmp_path):
    compile_to(program, tmp_path / "k.pto", "a3")
    done = raised(tmp_path / "k.pto", tmp_path / "k.py")
    assert done.returncode == 0, done.stderr
    back = pl.loads_program(tmp_path / "k.py")
    assert commands(back, tmp_path, "back") == commands(program, tmp_path, "first")


def test_the_packages_command_prints_programs_too(tmp_path):
    (tmp_path / "k.pto").write_text(HAND_WRITTEN)
    code = "from pto_mlir.tools.native import pto_compile; pto_compile()"
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "k.pto", "-o", tmp_path / "k.py"])
    assert done.returncode == 0 and "pl.tile.row_max(" in (tmp_path / "k.py").read_text()


def test_relu_is_that_of_the_fixpipe(tmp_path):
    text = (GOLDEN / "linear.pto").read_text()
    assert "reluPreMode" not in text
    relu = re.sub(r"(pto\.tstore .*\))$", r"\1 {reluPreMode = #pto<relu_pre_mode normal_relu>}", text, flags=re.M)
    (tmp_path / "plain").mkdir()
    results = []
    for each, folder in ((text, tmp_path / "plain"), (relu, tmp_path)):
        kernel, program = raised_kernel(each, folder)
        results.append(list(arguments_of(pl.loads_program(folder / "k.py"))))
        kernel.run(*results[-1])
    assert "relu=True" in program
    assert (results[0][-1] < 0).any()
    np.testing.assert_array_equal(np.maximum(results[0][-1], 0), results[1][-1])


@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.pto") if path.stem != "transpose"))
def test_kernels_of_models_come_back_with_the_same_bits(name, tmp_path):
    """The kernel that a model had, and what is compiled of its text in PyPTO."""
    assert compared(GOLDEN / f"{name}.pto", tmp_path) == ("same bits", "")


def test_another_program_computes_other_bits(tmp_path, monkeypatch):
    """What the script compares is seen where the text says something else, and where there is none."""
    loads = pl.loads_program

    def changed(path):
        text = path.read_text()
        assert "pl.tile.add(" in text
        path.write_text(text.replace("pl.tile.add(", "pl.tile.sub("))
        return loads(path)

    monkeypatch.setattr(pl, "loads_program", changed)
    assert compared(GOLDEN / "layer_norm.pto", tmp_path) == ("other bits", "bits differ")
    (tmp_path / "none.pto").write_text("module { pto.nothing }")
    assert compared(tmp_path / "none.pto", tmp_path)[0] == "not raised"
