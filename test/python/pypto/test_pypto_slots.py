"""Slots of one allocation in the `.pto` of a program: as today's generator prints them where the assembler places
tiles, or as tiles of their own."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pto_mlir
import pypto.language as pl
import pytest
from pto_mlir import runtime
from pypto.ir import compile as ir_compile
from pypto.pypto_core import codegen
from pypto.pypto_core.passes import MemoryPlanner

BIN = Path(pto_mlir.__file__).resolve().parents[2] / "bin"
TURNS, FIXED = pl.MemRef(slots=2), pl.MemRef(slots=3)


@pl.program
class Rotates:
    """One slot of each allocation in a turn; two constant ones behind the loop."""

    @pl.function(type=pl.FunctionType.InCore)
    def k(
        self, x: pl.Tensor[[128, 32], pl.FP32], z: pl.Out[pl.Tensor[[128, 32], pl.FP32]]
    ) -> pl.Tensor[[128, 32], pl.FP32]:
        for i in pl.range(7):
            a: pl.Tile[[16, 32], pl.FP32, TURNS[i % 2], pl.Mem.Vec] = pl.load(x, [i * 16, 0], [16, 32])
            z = pl.store(pl.mul(a, 2.0), [i * 16, 0], z)
        b: pl.Tile[[16, 32], pl.FP32, FIXED[2], pl.Mem.Vec] = pl.load(x, [112, 0], [16, 32])
        c: pl.Tile[[16, 32], pl.FP32, FIXED[0], pl.Mem.Vec] = pl.add(b, b)
        z = pl.store(c, [112, 0], z)
        return z


@pl.program
class Shifted:
    """A number that is no remainder of what is known not to be negative."""

    @pl.function(type=pl.FunctionType.InCore)
    def k(
        self, x: pl.Tensor[[128, 32], pl.FP32], z: pl.Out[pl.Tensor[[128, 32], pl.FP32]]
    ) -> pl.Tensor[[128, 32], pl.FP32]:
        for i in pl.range(8):
            a: pl.Tile[[16, 32], pl.FP32, TURNS[(i - 3) % 2], pl.Mem.Vec] = pl.load(x, [i * 16, 0], [16, 32])
            z = pl.store(pl.mul(a, 2.0), [i * 16, 0], z)
        return z


def printed(program, **how):
    return codegen.PTOCodegen().generate(program, style="today", **how)


def assemble(text, target):
    target.with_suffix(".in.pto").write_text(text)
    subprocess.run([BIN / "pto-compile", target.with_suffix(".in.pto"), "-o", target], check=True)


def run(text, path):
    file = path / "k.pmodel"
    assemble(text, file)
    x = np.random.default_rng(0).standard_normal((128, 32)).astype(np.float32)
    z = np.zeros_like(x)
    runtime.Kernel(str(file), mode="checked").run(x, z)
    np.testing.assert_array_equal(z, 2 * x)


def test_slots_as_the_generator_prints_them(tmp_path):
    text = printed(Rotates, slots=True)
    slots = "!pto.multi_tile_buf<vec, 16x32xf32, count={}>"
    regions = re.findall(r"(%\S+) = pto.alloc_multi_tile : (\S.*)\n", text)
    assert [each for _, each in regions] == [slots.format(2), slots.format(3)]
    number = re.search(r"(%\S+) = arith.remsi %\S+, %c2_index : index\n", text)[1]
    gets = re.findall(r"pto.multi_tile_get (%\S+)\[(%\S+)\] : \S.* -> !pto.tile_buf<vec, 16x32xf32>\n", text)
    turns, fixed = (name for name, _ in regions)
    assert gets == [(turns, number), (fixed, "%c2_index"), (fixed, "%c0_index")]
    run(text, tmp_path)


def test_slots_of_other_numbers(tmp_path):
    text = printed(Shifted, slots=True)
    assert "pto.multi_tile_get" in text
    run(text, tmp_path)
    assemble(text, tmp_path / "planned.pto")
    assert "pto.buffers = 2" in (tmp_path / "planned.pto").read_text()  # they take turns all the same


def test_slots_as_tiles_of_their_own(tmp_path):
    text = printed(Rotates)
    assert "multi_tile" not in text and text.count("pto.alloc_tile") == 4
    run(text, tmp_path)
    with pytest.raises(ValueError, match="style seed has no slots of one allocation"):
        codegen.PTOCodegen().generate(Rotates, slots=True)


PIPELINE = """import pypto.language as pl
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(
        self, x: pl.Tensor[[128, 32], pl.FP32], z: pl.Out[pl.Tensor[[128, 32], pl.FP32]]
    ) -> pl.Tensor[[128, 32], pl.FP32]:
        for {loop}:
            a = pl.load(x, [i * 16, 0], [16, 32])
            {between}
            z = pl.store(pl.mul({read}, 2.0), [i * 16, 0], z)
        return z
"""


def pipeline(loop, between="b = pl.load(x, [i * 16, 0], [16, 32])", read="pl.maximum(a, b)"):
    return pl.parse_program(PIPELINE.format(loop=loop, between=between, read=read))


@pytest.mark.parametrize("stages", [2, 4, 3])
def test_loads_of_a_pipeline_are_slots(tmp_path, stages):
    program = pipeline(f"i in pl.pipeline(8, stage={stages})")
    text = printed(program, slots=True)
    assert text.count(f"pto.alloc_multi_tile : !pto.multi_tile_buf<vec, 16x32xf32, count={stages}>") == 2
    assert re.search(rf"arith.remsi %\S+, %c{stages}_index : index", text) and text.count("pto.multi_tile_get") == 2
    assert "multi_tile" not in printed(program)
    run(text, tmp_path)


@pytest.mark.parametrize(
    "loop, how",
    [
        ("i in pl.pipeline(0, 8, 1, stage=17)", {}),
        ("i in pl.range(8)", {}),
        ("i in pl.pipeline(8, stage=2)", {"between": "b = pl.tile.reshape(a, [8, 64])", "read": "a"}),
    ],
)
def test_loads_that_are_no_slots(tmp_path, loop, how):
    text = printed(pipeline(loop, **how), slots=True)
    assert "multi_tile" not in text
    run(text, tmp_path)


def test_slots_of_a_pipeline_fit_their_memory():
    """Two times 2 of 64 KiB would need more than UB has."""
    large = PIPELINE.replace("128, 32", "1024, 128").replace("16, 32", "128, 128").replace("* 16", "* 128")
    text = large.format(loop="i in pl.pipeline(8, stage={})", between="pass", read="a")
    assert "multi_tile" not in printed(pl.parse_program(text.replace("{}", "4")), slots=True)
    assert "count=2" in printed(pl.parse_program(text.replace("{}", "2")), slots=True)


def test_slots_that_the_assembler_does_not_guard():
    @pl.program
    class Pairs:
        @pl.function(type=pl.FunctionType.InCore)
        def k(
            self, x: pl.Tensor[[64, 32], pl.FP32], z: pl.Out[pl.Tensor[[64, 32], pl.FP32]]
        ) -> pl.Tensor[[64, 32], pl.FP32]:
            for i in pl.range(4):
                a: pl.Tile[[16, 32], pl.FP32, TURNS[i % 2], pl.Mem.Vec] = pl.load(x, [i * 16, 0], [16, 32])
                b: pl.Tile[[16, 32], pl.FP32, TURNS[(i + 1) % 2], pl.Mem.Vec] = pl.exp(a)
                z = pl.store(b, [i * 16, 0], z)
            return z

    with pytest.raises(ValueError, match="two slots live at once in a turn of a loop"):
        printed(Pairs, slots=True)


def assembler(path, line):
    """A script in the place of the assembler."""
    path.mkdir()
    (path / "ptoas").write_text(f"#!/bin/sh\n{line}\n")
    (path / "ptoas").chmod(0o755)
    return str(path)


CODE = 'echo "__global__ AICORE void k() {}" > "$4"'


@pytest.mark.parametrize("knows", [True, False])
def test_the_tree_of_an_assembler_that_places_tiles(tmp_path, monkeypatch, knows):
    """An assembler without slots gets tiles."""
    line = CODE if knows else f'if grep -q multi_tile "$1"; then echo "unknown op" >&2; exit 1; fi; {CODE}'
    monkeypatch.setenv("PTOAS_ROOT", assembler(tmp_path / "bin", line))
    ir_compile(Rotates, output_dir=tmp_path / "out", memory_planner=MemoryPlanner.PTOAS)
    assert ("multi_tile" in (tmp_path / "out/ptoas/k.pto").read_text()) == knows
    assert "AICORE void k" in (tmp_path / "out/ptoas/k.cpp").read_text()
    ir_compile(Rotates, output_dir=tmp_path / "ours")
    assert "multi_tile" not in (tmp_path / "ours/ptoas/k.pto").read_text()


def test_the_tree_without_an_assembler(tmp_path):
    ir_compile(Rotates, output_dir=tmp_path, memory_planner=MemoryPlanner.PTOAS)
    assert "pto.alloc_multi_tile" in (tmp_path / "ptoas/k.pto").read_text()
    assert "multi_tile" not in (tmp_path / "ptoas/k.cpp").read_text()
