"""Products with a scale for every 32 elements along k (MX), exact against float64."""

import ml_dtypes
import numpy as np
import pypto.language as pl
import pytest
from pto_mlir import runtime
from pto_mlir.tools.native import run_native
from pypto.language.parser.diagnostics import ParserError, PlacedError
from pypto.pypto_core import codegen
from pypto.runtime import RunConfig, run

NUMPY = {"FP8E4M3FN": ml_dtypes.float8_e4m3fn, "FP8E5M2": ml_dtypes.float8_e5m2}
HEAD = """\
import pypto.language as pl


@pl.program
class Scaled:
    @pl.function(type=pl.FunctionType.InCore)
    def main(
        self,
        a: pl.Tensor[[{m}, {k}], pl.{kind}],
        s: pl.Tensor[[{m}, {groups}], pl.FP8E8M0, pl.MX_A_ZZ],
        b: pl.Tensor[[{k}, {n}], pl.{kind}],
        t: pl.Tensor[[{groups}, {n}], pl.FP8E8M0, pl.MX_B_NN],
        z: pl.Tensor[[1, {n}], pl.FP32],
        y: pl.Out[pl.Tensor[[{m}, {n}], pl.FP32]],
    ):
"""
OPERANDS = """\
        a1 = pl.move(pl.load(a, [{i}, {p}], [{rows}, {depth}], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Left)
        s1 = pl.load(s, [{i}, {p} // 32], [{rows}, {depth} // 32], target_memory=pl.Mem.Mat)
        s2 = pl.move(s1, target_memory=pl.Mem.LeftScale)
        b1 = pl.move(pl.load(b, [{p}, {j}], [{depth}, {cols}], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right)
        t1 = pl.load(t, [{p} // 32, {j}], [{depth} // 32, {cols}], target_memory=pl.Mem.Mat)
        t2 = pl.move(t1, target_memory=pl.Mem.RightScale)
"""


def boxes_of_rows(codes):
    """Codes [m, groups] as layout MX_A_ZZ has them in memory: 16 rows of two groups after each other."""
    m, groups = codes.shape
    return codes.reshape(m // 16, 16, groups // 2, 2).swapaxes(1, 2).reshape(m, groups)


def boxes_of_columns(codes):
    """Codes [groups, n] in layout MX_B_NN: 16 columns of two groups after each other."""
    return boxes_of_rows(codes.T).reshape(codes.shape)


def inputs(m, k, n, kind):
    random = np.random.default_rng(m + k + n)
    a, b = (random.integers(-4, 5, shape).astype(NUMPY[kind]) for shape in ((m, k), (k, n)))
    s, t = (random.integers(122, 131, shape).astype(np.uint8) for shape in ((m, k // 32), (k // 32, n)))
    z = random.integers(-8, 9, (1, n)).astype(np.float32)
    factor = lambda codes, axis: np.repeat(np.exp2(codes.astype(np.float64) - 127), 32, axis)  # noqa: E731
    product = (a.astype(np.float64) * factor(s, 1)) @ (b.astype(np.float64) * factor(t, 0))
    stored = [boxes_of_rows(s), boxes_of_columns(t)]
    s, t = (np.ascontiguousarray(each).view(ml_dtypes.float8_e8m0fnu) for each in stored)
    return [a, s, b, t, z], product, z


def computed(m, k, n, kind, lines, given, platform="a5sim", operands=OPERANDS, **place):
    place = {"i": 0, "j": 0, "p": 0, "rows": m, "cols": n, "depth": k} | place
    head = HEAD.format(m=m, k=k, n=n, groups=k // 32, kind=kind)
    body = operands.format(**place) + "".join(f"        {line}\n" for line in [*lines, "return y"])
    y = np.zeros((m, n), np.float32)
    run(pl.parse_program(head + body), *given, y, config=RunConfig(platform=platform))
    return y


SHAPES = [(16, 64, 32), (64, 128, 128), (48, 192, 96), (128, 256, 64)]


@pytest.mark.parametrize("kind", NUMPY)
@pytest.mark.parametrize("m, k, n", SHAPES)
def test_products(m, k, n, kind):
    given, product, _ = inputs(m, k, n, kind)
    lines = ["y = pl.store(pl.matmul_mx(a1, s2, b1, t2), [0, 0], y)"]
    np.testing.assert_array_equal(computed(m, k, n, kind, lines, given), product)


@pytest.mark.parametrize("m, k, n", SHAPES)
def test_products_added_to_products(m, k, n):
    given, product, _ = inputs(m, k, n, "FP8E4M3FN")
    lines = ["c = pl.tile.matmul_mx(a1, s2, b1, t2)", "c = pl.tile.matmul_mx_acc(c, a1, s2, b1, t2)"]
    y = computed(m, k, n, "FP8E4M3FN", [*lines, "y = pl.store(c, [0, 0], y)"], given)
    np.testing.assert_array_equal(y, 2 * product)


@pytest.mark.parametrize("m, k, n", SHAPES)
def test_products_and_a_bias(m, k, n):
    given, product, bias = inputs(m, k, n, "FP8E4M3FN")
    lines = [
        f"row = pl.move(pl.load(z, [0, 0], [1, {n}], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Bias)",
        "y = pl.store(pl.matmul_mx_bias(a1, s2, b1, t2, row), [0, 0], y)",
    ]
    np.testing.assert_array_equal(computed(m, k, n, "FP8E4M3FN", lines, given), product + bias)


FORMS = {
    "plain": ("c = pl.matmul_mx(a1, s2, b1, t2)",),
    "acc": ("d = pl.tile.matmul_mx(a1, s2, b1, t2)", "c = pl.tile.matmul_mx_acc(d, a1, s2, b1, t2)"),
    "bias": (
        "row = pl.move(pl.load(z, [0, 0], [1, 128], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Bias)",
        "c = pl.matmul_mx_bias(a1, s2, b1, t2, row)",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_text_is_read_back_and_runs(form, tmp_path):
    m, k, n, kind = 64, 128, 128, "FP8E4M3FN"
    given, product, bias = inputs(m, k, n, kind)
    body = OPERANDS.format(i=0, j=0, p=0, rows=m, cols=n, depth=k)
    body += "".join(f"        {line}\n" for line in [*FORMS[form], "return pl.store(c, [0, 0], y)"])
    program = pl.parse_program(HEAD.format(m=m, k=k, n=n, groups=k // 32, kind=kind) + body)
    text = codegen.PTOCodegen(processor="a5").generate(program, style="today")
    assert 'pto.target_arch = "a5"' in text and "pto.tmatmul.mx" in text
    (tmp_path / "k.pto").write_text(text)
    assert run_native("pto-compile", [str(tmp_path / "k.pto"), "-o", str(tmp_path / "k.pmodel")]) == 0
    y = np.zeros((m, n), np.float32)
    runtime.Kernel(str(tmp_path / "k.pmodel")).run(*given, y)
    np.testing.assert_array_equal(y, {"plain": product, "acc": 2 * product, "bias": product + bias}[form])
    with pytest.raises(ValueError, match="exists on a5 only, not on a3"):
        codegen.PTOCodegen().generate(program, style="today")


def test_a_text_for_an_unknown_processor():
    program = pl.parse_program(HEAD.format(m=16, k=64, n=32, groups=2, kind="FP8E4M3FN") + "        return y\n")
    for style in ("seed", "today"):
        with pytest.raises(ValueError, match="unknown processor a9: one of "):
            codegen.PTOCodegen(processor="a9").generate(program, style=style)


def test_factors_in_the_first_level_are_moved():
    given, product, _ = inputs(64, 128, 128, "FP8E4M3FN")
    operands = OPERANDS.replace("pl.move(pl.load", "(pl.load").replace(", target_memory=pl.Mem.Left)", ")")
    operands = operands.replace(", target_memory=pl.Mem.Right)", ")")
    lines = ["y = pl.store(pl.matmul_mx(a1, s1, b1, t1), [0, 0], y)"]
    y = computed(64, 128, 128, "FP8E4M3FN", lines, given, operands=operands)
    np.testing.assert_array_equal(y, product)


@pytest.mark.parametrize("step", [64, 128])
def test_parts_of_operands_in_a_loop(step):
    """Windows at offsets that only the loop knows, along all of m, k and n."""
    m, k, n = 64, 256, 128
    given, product, _ = inputs(m, k, n, "FP8E4M3FN")
    place = {"rows": 32, "cols": 64, "depth": step}
    first = OPERANDS.format(i="i", j="j", p=0, **place)
    second = OPERANDS.format(i="i", j="j", p="p", **place)
    for name in ("a1", "b1", "s1", "s2", "t1", "t2"):
        second = second.replace(name, f"{name}_p")
    indent = lambda text, levels: "".join(" " * 4 * levels + line + "\n" for line in text.splitlines())  # noqa: E731
    body = "        for i in pl.range(0, 64, 32):\n            for j in pl.range(0, 128, 64):\n"
    body += indent(first, 2) + " " * 16 + "c = pl.matmul_mx(a1, s2, b1, t2)\n"
    body += " " * 16 + f"for p in pl.range({step}, {k}, {step}):\n" + indent(second, 3)
    body += " " * 20 + "c = pl.matmul_mx_acc(c, a1_p, s2_p, b1_p, t2_p)\n"
    body += " " * 16 + "y = pl.store(c, [i, j], y)\n        return y\n"
    y = np.zeros((m, n), np.float32)
    head = HEAD.format(m=m, k=k, n=n, groups=k // 32, kind="FP8E4M3FN")
    run(pl.parse_program(head + body), *given, y, config=RunConfig(platform="a5sim"))
    np.testing.assert_array_equal(y, product)


@pytest.mark.parametrize("rows, depth, cols", [(10, 128, 32), (32, 100, 70), (17, 97, 33)])
def test_ragged_extents(rows, depth, cols):
    """Valid extents within boxes and within the last group: what is beyond counts as nothing."""
    m, k, n = 32, 128, 96
    given, _, _ = inputs(m, k, n, "FP8E4M3FN")
    operands = f"""\
        a0 = pl.load(a, [0, 0], [{m}, {k}], valid_shape=[{rows}, {depth}], target_memory=pl.Mem.Mat)
        s0 = pl.load(s, [0, 0], [{m}, {k // 32}], valid_shape=[{rows}, {k // 32}], target_memory=pl.Mem.Mat)
        b0 = pl.load(b, [0, 0], [{k}, {n}], valid_shape=[{depth}, {cols}], target_memory=pl.Mem.Mat)
        t0 = pl.load(t, [0, 0], [{k // 32}, {n}], valid_shape=[{k // 32}, {cols}], target_memory=pl.Mem.Mat)
        a1, b1 = pl.move(a0, target_memory=pl.Mem.Left), pl.move(b0, target_memory=pl.Mem.Right)
        s2 = pl.move(s0, target_memory=pl.Mem.LeftScale)
        t2 = pl.move(t0, target_memory=pl.Mem.RightScale)
"""
    lines = ["y = pl.store(pl.matmul_mx(a1, s2, b1, t2), [0, 0], y)"]
    y = computed(m, k, n, "FP8E4M3FN", lines, given, operands=operands)
    a, s, b, t = (each.copy() for each in given[:4])
    a, b = a.astype(np.float64), b.astype(np.float64)
    s = s.view(np.uint8).reshape(m // 16, k // 64, 16, 2).swapaxes(1, 2).reshape(m, k // 32)
    t = t.view(np.uint8).reshape(n // 16, k // 64, 16, 2).swapaxes(1, 2).reshape(n, k // 32).T
    a *= np.repeat(np.exp2(s - 127.0), 32, 1)
    b *= np.repeat(np.exp2(t - 127.0), 32, 0)
    expected = np.zeros((m, n))
    expected[:rows, :cols] = a[:rows, :depth] @ b[:depth, :cols]
    np.testing.assert_array_equal(y, expected)


GOOD = "y = pl.store(pl.matmul_mx(a1, s2, b1, t2), [0, 0], y)"


@pytest.mark.parametrize(
    "change, message",
    [
        (("matmul_mx(a1, s2", "matmul_mx(a1, a1"), "lhs_scale has elements of FP8E8M0, not FP8E4M3FN"),
        (("matmul_mx(a1, s2, b1, t2)", "matmul_mx(a1, t2, b1, s2)"), "lhs_scale has one scale for 32 elements"),
        (("matmul_mx(a1, s2, b1, t2)", "matmul_mx(a1, s2, b1)"), "rhs_scale"),
        (("matmul_mx(a1, s2, b1, t2)", "matmul_mx(s2, s2, b1, t2)"), "FP8E4M3FN or FP8E5M2, not FP8E8M0"),
        (("[64, 128 // 32], target_memory=pl.Mem.Mat", "[64, 128 // 32]"), "target_memory=pl.Mem.Mat"),
        (("s, [0, 0 // 32]", "s, [8, 0 // 32]"), "begin at a multiple of 16 lines"),
        (("pl.load(s,", "pl.load(a,"), "FP8E8M0, not FP8E4M3FN"),
        (("pl.MX_A_ZZ", "pl.ND"), "MX_A_ZZ or MX_B_NN"),
    ],
)
def test_what_no_scaled_product_takes_is_refused(change, message):
    given, _, _ = inputs(64, 128, 128, "FP8E4M3FN")
    place = {"i": 0, "j": 0, "p": 0, "rows": 64, "cols": 128, "depth": 128}
    head = HEAD.format(m=64, k=128, n=128, groups=4, kind="FP8E4M3FN")
    text = head + OPERANDS.format(**place) + f"        {GOOD}\n        return y\n"
    assert change[0] in text
    y = np.zeros((64, 128), np.float32)
    with pytest.raises((ParserError, PlacedError), match=message) as caught:
        run(pl.parse_program(text.replace(*change)), *given, y, config=RunConfig(platform="a5sim"))
    assert "Traceback" not in str(caught.value) and not y.any()


def test_the_other_processor_has_none():
    given, _, _ = inputs(64, 128, 128, "FP8E4M3FN")
    with pytest.raises(PlacedError, match="of scales exists on a5 only, not on a3"):
        computed(64, 128, 128, "FP8E4M3FN", [GOOD], given, platform="a2a3sim")
