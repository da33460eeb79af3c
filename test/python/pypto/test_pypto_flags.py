"""A flag between engines that is deleted or moved in what is compiled of a program is reported by the checked mode.

`pto-mutate-flags` makes the mutants: those that change an output for some schedule of the engines must be reported."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pypto.language as pl
import pytest
from pypto.runtime import RunConfig

BIN = Path(__file__).resolve().parents[3] / "build" / "bin"


def sums(x: pl.Tensor, y: pl.Tensor, z: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        pl.store(pl.add(pl.load(x, [0, 0], [64, 64]), pl.load(y, [0, 0], [64, 64])), [0, 0], z)
    return z


def in_a_loop(x: pl.Tensor, y: pl.Tensor, z: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.range(4):
            t = pl.mul(pl.load(x, [i * 16, 0], [16, 64]), pl.load(y, [i * 16, 0], [16, 64]))
            z = pl.store(t, [i * 16, 0], z)
    return z


def pipelined(x: pl.Tensor, y: pl.Tensor, z: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.pipeline(8, stage=2):
            t = pl.exp(pl.sub(pl.load(x, [i * 8, 0], [8, 64]), pl.load(y, [i * 8, 0], [8, 64])))
            z = pl.store(t, [i * 8, 0], z)
    return z


def carried(x: pl.Tensor, y: pl.Tensor, z: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        total = pl.load(x, [0, 0], [16, 64])
        for i in pl.range(4):
            total = pl.add(total, pl.load(y, [i * 16, 0], [16, 64]))
        for i in pl.range(4):
            z = pl.store(total, [i * 16, 0], z)
    return z


def softmax(x: pl.Tensor, y: pl.Tensor, z: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = pl.load(x, [0, 0], [64, 64])
        e = pl.exp(pl.row_expand_sub(t, pl.row_max(t)))
        s = pl.add(pl.row_expand_div(e, pl.row_sum(e)), pl.load(y, [0, 0], [64, 64]))
        z = pl.store(s, [0, 0], z)
    return z


def turned(x: pl.Tensor, y: pl.Tensor, z: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = pl.transpose(pl.load(x, [0, 0], [64, 64]), 0, 1)
        pl.store(pl.maximum(t, pl.load(y, [0, 0], [64, 64])), [0, 0], z)
    return z


def chosen(x: pl.Tensor, y: pl.Tensor, z: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.range(4):
            t = pl.load(x, [i * 16, 0], [16, 64])
            if i % 2 == 0:
                u = pl.add(t, pl.load(y, [i * 16, 0], [16, 64]))
            else:
                u = pl.mul(t, 2.0)
            z = pl.store(u, [i * 16, 0], z)
    return z


def product(x: pl.Tensor, y: pl.Tensor, z: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        z[:] = pl.matmul(x, y)
    return z


def products_in_a_loop(x: pl.Tensor, y: pl.Tensor, z: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.range(4):
            z[i * 16 : i * 16 + 16, :] = pl.matmul(x[i * 16 : i * 16 + 16, :], y, b_trans=True)
    return z


def accumulated(x: pl.Tensor, y: pl.Tensor, z: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        a = pl.load(x, [0, 0], [64, 32], target_memory=pl.Mem.Mat)
        b = pl.load(y, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
        c = pl.matmul(pl.move(a, target_memory=pl.Mem.Left), pl.move(b, target_memory=pl.Mem.Right))
        a = pl.load(x, [0, 32], [64, 32], target_memory=pl.Mem.Mat)
        b = pl.load(y, [32, 0], [32, 64], target_memory=pl.Mem.Mat)
        c = pl.matmul_acc(c, pl.move(a, target_memory=pl.Mem.Left), pl.move(b, target_memory=pl.Mem.Right))
        z = pl.store(c, [0, 0], z)
    return z


ELEMENTWISE = [sums, in_a_loop, pipelined, carried, softmax, turned, chosen]


@pytest.mark.parametrize("platform", ["a2a3", "a5"])
@pytest.mark.parametrize("kernel", [*ELEMENTWISE, product, products_in_a_loop, accumulated])
def test_flags_that_matter_are_missed(kernel, platform, tmp_path):
    x, y, z = (np.random.default_rng(i).standard_normal((64, 64)).astype(np.float32) for i in range(3))
    file = tmp_path / "k.pmodel"
    file.write_bytes(pl.jit(kernel).compile(x, y, z, config=RunConfig(platform=platform)).pmodel)
    done = subprocess.run([BIN / "pto-mutate-flags", file], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = map(int, re.findall(r"\d+", done.stdout.splitlines()[-1]))
    kernels, false_reports, mutations, reported, harmless, missed, _ = found
    assert kernels == 1 and false_reports == missed == 0
    assert reported + harmless == mutations and reported > 0
