"""Attention as a PyPTO program with queues between its cores (benchmarks/silicon): its error, and that blocks change no
bit."""

import importlib

import ml_dtypes
import numpy as np
import pypto.language as pl
import pytest
from conftest import ROOT
from pto_mlir import _compiler, runtime
from pypto.ir.compiled_program import CompiledProgram
from pypto.pypto_core import ir as core
from pypto.runtime import RunConfig

TYPES = {np.float16: pl.FP16, ml_dtypes.bfloat16: pl.BF16}


@pytest.fixture
def program_of(monkeypatch):
    """Imports a program of benchmarks/silicon."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks" / "silicon"))
    return importlib.import_module


@pytest.fixture
def flash(program_of):
    return program_of("flash_program")


@pytest.fixture
def paged(program_of):
    return program_of("paged_program")


def inputs(queries, keys, head, kind, seed=0):
    random = np.random.default_rng(seed)
    return [random.standard_normal((n, head)).astype(kind) for n in (queries, keys, keys)]


def attention(q, k, v, dtype):
    q, k, v = (each.astype(dtype) for each in (q, k, v))
    s = q @ k.T * dtype(q.shape[1] ** -0.5)
    p = np.exp(s - s.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True) @ v


def check(y, exact, single):
    """At most twice the error to float64 of f32 arithmetic whose result is rounded to the same type."""
    theirs = np.abs(single.astype(y.dtype).astype(np.float64) - exact)
    ours = np.abs(y.astype(np.float64) - exact)
    assert ours.max() <= 2 * theirs.max(), (ours.max(), theirs.max())
    assert ours.mean() <= 2 * theirs.mean(), (ours.mean(), theirs.mean())


def check_attention(y, *arrays):
    check(y, attention(*arrays, np.float64), attention(*arrays, np.float32))


def on_blocks(program, folder, words, *arrays):
    """The results on 24, 2 and 1 blocks, which are the same bits; `words`: of the queues of a block."""
    results, data = [], core.serialize(program)
    for blocks in (24, 2, 1):
        file = str(folder / f"{blocks}.pmodel")
        _compiler.compile_pypto(data, file, "a3", blocks)
        results.append(np.zeros_like(arrays[0]))
        runtime.Kernel(file, mode="checked").run(
            *arrays, results[-1], np.zeros(blocks * words, np.float32), blocks=blocks
        )
    for each in results[1:]:
        np.testing.assert_array_equal(each.view(np.uint16), results[0].view(np.uint16))
    return results[0]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(
    "queries, keys, head",
    [
        (256, 512, 128),
        (200, 333, 128),
        (128, 128, 64),
        (37, 64, 64),
        (1, 300, 128),
        (2, 1, 64),
        (400, 1000, 64),
        (50, 1280, 128),
    ],
)
def test_error_of_flash_attention(flash, queries, keys, head, kind):
    program = flash.flash_attention(queries, keys, head, TYPES[kind])
    arrays = inputs(queries, keys, head, kind)
    y = np.zeros((queries, head), kind)
    CompiledProgram(program, RunConfig(platform="a2a3", mode="checked"))(*arrays, y)
    check_attention(y, *arrays)


@pytest.mark.parametrize("kind", TYPES)
def test_blocks_change_no_bit(flash, tmp_path, kind):
    queries, keys, head = 1500, 400, 128
    program = flash.flash_attention(queries, keys, head, TYPES[kind])
    arrays = inputs(queries, keys, head, kind, seed=1)
    check_attention(on_blocks(program, tmp_path, flash.queue_words(queries, head), *arrays), *arrays)


def test_a_program_makes_memory_for_the_queues_of_all_blocks(flash, tmp_path):
    file = tmp_path / "f.pmodel"
    program = flash.flash_attention(400, 256, 64, pl.FP16)
    _compiler.compile_pypto(core.serialize(program), str(file), "a3", 24)
    arrays = inputs(400, 256, 64, np.float16)
    y = runtime.InferenceSession(str(file)).run(None, dict(zip("qkv", arrays, strict=True)))[0]
    check_attention(y, *arrays)


def paged_inputs(requests, heads, head, pages, most, kind, lengths):
    random = np.random.default_rng(2)
    q = random.standard_normal((requests * heads, head)).astype(kind)
    k, v = (random.standard_normal((pages * 128, head)).astype(kind) for _ in range(2))
    table = random.permutation(pages)[: requests * most].astype(np.int32)
    return q, k, v, table, np.array(lengths, np.int32)


def check_pages(y, q, k, v, table, lengths):
    heads, most = len(q) // len(lengths), len(table) // len(lengths)
    for request, length in enumerate(lengths):
        mine = slice(request * heads, (request + 1) * heads)
        rows = (table[request * most : (request + 1) * most, None] * 128 + np.arange(128)).ravel()[:length]
        if length:
            check_attention(y[mine], q[mine], k[rows], v[rows])
        else:
            assert not y[mine].any()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("heads, head", [(16, 128), (32, 64), (64, 128)])
def test_error_of_paged_attention(paged, heads, head, kind):
    arrays = paged_inputs(4, heads, head, 17, 4, kind, [300, 0, 512, 1])
    y = np.zeros_like(arrays[0])
    program = paged.paged_attention(4, heads, head, 17, 4, TYPES[kind])
    CompiledProgram(program, RunConfig(platform="a2a3", mode="checked"))(*arrays, y)
    check_pages(y, *arrays)


def test_blocks_change_no_bit_of_paged_attention(paged, tmp_path):
    lengths = np.random.default_rng(3).integers(0, 385, 30)
    arrays = paged_inputs(30, 16, 128, 90, 3, np.float16, lengths)
    program = paged.paged_attention(30, 16, 128, 90, 3, pl.FP16)
    check_pages(on_blocks(program, tmp_path, paged.queue_words(16, 128), *arrays), *arrays)


def test_time_of_flash_attention(program_of, tmp_path):
    measured = program_of("pypto_attention")
    silicon = measured.compiled.ROWS[1, 1024, 128, False][0]
    assert measured.measure(1024, "f16", tmp_path)[0] <= measured.RATIO * silicon
