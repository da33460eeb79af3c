"""`pl.pipeline`: turns overlap in two buffers, which changes when things happen and no bit of what is computed."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.language.parser.diagnostics import InvalidOperationError
from pypto.runtime import RunConfig, benchmark
from test_pypto_parts import numbers

TURNS, WIDTH = 16, 128
LOOPS = ["pl.range(16)", "pl.pipeline(16, stage=1)", "pl.pipeline(16, stage=2)", "pl.pipeline(16, stage=4)"]

ROWS = """
@pl.function(type=pl.FunctionType.InCore)
def rows(
    x: pl.Tensor[[256, 128], pl.FP32], y: pl.Out[pl.Tensor[[256, 128], pl.FP32]]
) -> pl.Tensor[[256, 128], pl.FP32]:
    for i in {loop}:
        t = pl.load(x, [i * 16, 0], [16, 128])
        s = pl.add(pl.exp(t), t)
        y = pl.store(pl.mul(s, s), [i * 16, 0], y)
    return y
"""
# A sum that the loop carries: its tile must not take turns.
SUM = """
@pl.function(type=pl.FunctionType.InCore)
def total(
    x: pl.Tensor[[256, 128], pl.FP32], y: pl.Out[pl.Tensor[[16, 128], pl.FP32]]
) -> pl.Tensor[[16, 128], pl.FP32]:
    first = pl.load(x, [0, 0], [16, 128])
    for i, (acc,) in {loop_of_sum}:
        t = pl.load(x, [i * 16, 0], [16, 128])
        acc = pl.yield_(pl.add(acc, pl.mul(t, 0.5)))
    return pl.store(acc, [0, 0], y)
"""
# A tile that both an outer pipeline and an inner loop use, and a branch that only some turns take.
NESTED = """
@pl.function(type=pl.FunctionType.InCore)
def nested(
    x: pl.Tensor[[256, 128], pl.FP32], y: pl.Out[pl.Tensor[[256, 128], pl.FP32]]
) -> pl.Tensor[[256, 128], pl.FP32]:
    for i in {loop}:
        t = pl.load(x, [i * 16, 0], [16, 128])
        acc = pl.mul(t, 2.0)
        for k, (acc,) in pl.range(3, init_values=(acc,)):
            u = pl.load(x, [k * 16, 0], [16, 128])
            acc = pl.yield_(pl.add(acc, pl.mul(u, t)))
        if i > 4:
            y = pl.store(acc, [i * 16, 0], y)
        else:
            y = pl.store(t, [i * 16, 0], y)
    return y
"""
# Parts that are computed where they are put: their own tiles are gone.
PARTS = """
@pl.function(type=pl.FunctionType.InCore)
def parts(
    x: pl.Tensor[[256, 128], pl.FP32], y: pl.Out[pl.Tensor[[256, 128], pl.FP32]]
) -> pl.Tensor[[256, 128], pl.FP32]:
    for i in {loop}:
        t = pl.load(x, [i * 16, 0], [16, 64])
        both = pl.create_tile([16, 128], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        both = pl.tile.assemble(both, pl.exp(t), [0, 0])
        both = pl.tile.assemble(both, pl.load(x, [i * 16, 64], [16, 64]), [0, 64])
        y = pl.store(pl.mul(both, 2.0), [i * 16, 0], y)
    return y
"""


def kernel(text, loop):
    carried = loop[:-1] + ", init_values=(first,))"
    return pl.parse(text.format(loop=loop, loop_of_sum=carried))


def run(text, loop, x, y, platform, mode="functional"):
    from pypto import ir
    from pypto.ir.compiled_program import CompiledProgram

    function = kernel(text, loop)
    compiled = CompiledProgram(ir.Program([function], function.name, function.span), RunConfig(platform, mode=mode))
    compiled(x, y)
    return compiled


def expected_nested(x):
    parts, y = x.reshape(16, 16, 128), np.zeros((16, 16, 128), np.float32)
    for i, t in enumerate(parts):
        acc = t * np.float32(2)
        for u in parts[:3]:
            acc = acc + u * t
        y[i] = acc if i > 4 else t
    return y.reshape(256, 128)


@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
@pytest.mark.parametrize("text", [ROWS, SUM, NESTED, PARTS], ids=["rows", "sum", "nested", "parts"])
def test_every_number_of_stages_gives_the_same_bits(text, platform):
    x = numbers(256, 128)
    shape = (16, 128) if text is SUM else (256, 128)
    outputs = [np.zeros(shape, np.float32) for _ in LOOPS]
    for loop, y in zip(LOOPS, outputs, strict=True):
        run(text, loop, x, y, platform, "checked")
        np.testing.assert_array_equal(y, outputs[0])
    if text is NESTED:
        np.testing.assert_allclose(outputs[0], expected_nested(x), rtol=1e-6, atol=1e-6)
    if text is PARTS:
        np.testing.assert_allclose(outputs[0], 2 * np.hstack([np.exp(x[:, :64]), x[:, 64:]]), rtol=1e-5)
    if text is SUM:
        wanted = x[:16] + np.float32(0.5) * x.reshape(16, 16, 128).astype(np.float64).sum(0)
        np.testing.assert_allclose(outputs[0], wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
def test_turns_of_a_pipeline_overlap_in_timing_mode(platform):
    x, y = numbers(256, 128), np.zeros((256, 128), np.float32)
    times = []
    for loop in LOOPS:
        compiled = run(ROWS, loop, x, y, platform)
        times.append(benchmark(compiled, (x, y), rounds=1, warmup=0).device_us_min)
    plain, one, two, four = times
    assert one == plain and four == two
    assert two < 0.8 * plain, times


# Each step needs another 64 KiB, and no turn more than two of them: UB has three.
STEPS = """
@pl.function(type=pl.FunctionType.InCore)
def steps(
    x: pl.Tensor[[256, 128], pl.FP32], y: pl.InOut[pl.Tensor[[256, 128], pl.FP32]]
) -> pl.Tensor[[256, 128], pl.FP32]:
    {head}
        for k in pl.range(2):
            a = pl.load(x, [k * 128, 0], [128, 128])
            b = pl.add(a, 1.0)
            c = pl.mul(b, b)
            d = pl.add(c, 1.0)
            y = pl.store(d, [k * 128, 0], y)
        e = pl.load(y, [0, 0], [128, 128])
        f = pl.mul(e, 2.0)
        g = pl.add(f, 3.0)
        y = pl.store(g, [0, 0], y)
    return y
"""


@pytest.mark.parametrize("head", ["for i in pl.range(2):", "if True:"])
@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
def test_tiles_of_a_turn_share_memory(head, platform):
    x, y = numbers(256, 128), np.zeros((256, 128), np.float32)
    run(STEPS.format(head=head), "", x, y, platform, "checked")
    expected = (x + np.float32(1)) ** 2 + np.float32(1)
    expected[:128] = expected[:128] * 2 + 3
    np.testing.assert_allclose(y, expected, rtol=1e-6)


def test_a_turn_that_needs_more_is_refused():
    text = STEPS.format(head="for i in pl.range(2):")
    alive = "".join(f"            y = pl.store({each}, [k * 128, 0], y)\n" for each in "abcd")
    text = text.replace("            y = pl.store(d, [k * 128, 0], y)\n", alive)
    with pytest.raises(InvalidOperationError, match="tiles need 262144 bytes of UB, which has 196608"):
        run(text, "", None, None, "a2a3sim")
