"""The output tree of programs that leave extents open: one C++ orchestration for all sizes, to numpy's numbers."""

import warnings

import numpy as np
import pypto.language as pl
import pytest
from pypto.backend import output_tree
from pypto.ir.compiled_program import CompiledProgram
from pypto.pypto_core import codegen
from pypto.runtime import RunConfig
from pypto.runtime.orchestration import OrchestrationTree, read_config
from test_pypto_open_sizes import SIZES, Sum, add, added, numbers, products

M, N, H = pl.dynamic("M"), pl.dynamic("N"), pl.dynamic("H")
GENERATIONS = [False, True]


def written(folder, program, today, processor=""):
    files, left_out = output_tree.tree_files(program, today, processor)
    assert left_out == {}
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return OrchestrationTree(folder, processor)


def zeros(*shape):
    return np.zeros(shape, np.float32)


@pytest.mark.parametrize("today", GENERATIONS)
def test_one_orchestration_takes_every_size(tmp_path, today):
    tree, compiled = written(tmp_path, Sum, today), CompiledProgram(Sum, RunConfig())
    for m, n in SIZES:
        a, b, y, again = numbers(m, n), numbers(m, n, seed=1), zeros(m, n), zeros(m, n)
        tree(a, b, y)
        np.testing.assert_array_equal(y, a + b + a)
        compiled(a, b, again)
        np.testing.assert_array_equal(y, again)


def test_extents_are_read_or_given(tmp_path):
    """Today's tensors know their extents, those of March 2026 are pointers."""
    today = output_tree.orchestration_of(Sum, Sum.get_function("main"), today=True).code
    assert "int64_t M = ext_a.extent(0);" in today
    assert "pto_orchestration::expect(ext_b.extent(1) == N," in today
    march = codegen.generate_orchestration(Sum, Sum.get_function("main"))
    assert "#define ARG_EXTENT_M 3" in march.code and ".expected_arg_count = 5," in march.code
    assert march.extents == ["M", "N"]
    written(tmp_path, Sum, today=False)
    config = read_config(tmp_path)
    assert config["EXTENTS"] == ["M", "N"] and config["ARGUMENTS"][0] == ("a", "FP32", ["M", "N"])
    wrapper = (tmp_path / "kernels/aiv/add.cpp").read_text()
    assert "int64_t M = static_cast<int64_t>(a_tensor->shapes[0]);" in wrapper and "add(a, b, y, M, N);" in wrapper


def test_a_wrapper_solves_extents():
    """M from M * 2 + 4; N, which no tensor has alone, is missing."""

    @pl.function(type=pl.FunctionType.InCore)
    def rows(a: pl.Tensor[[M * 2 + 4, 64], pl.FP32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):
        return pl.store(pl.load(a, [M, 0], [1, 64]), [0, 0], y)

    @pl.function(type=pl.FunctionType.InCore)
    def area(a: pl.Tensor[[M * N, 64], pl.FP32], y: pl.Out[pl.Tensor[[M, 64], pl.FP32]]):
        return pl.store(pl.load(a, [N, 0], [1, 64]), [0, 0], y)

    assert output_tree.open_extents(rows) == {"M": "((static_cast<int64_t>(a_tensor->shapes[0]) - 4) / 2)"}
    with pytest.raises(RuntimeError, match="extent N follows from no argument of the kernel"):
        output_tree.open_extents(area)


@pytest.mark.parametrize("today", GENERATIONS)
@pytest.mark.parametrize("processor", ["a3", "a5"])
def test_loops_over_blocks(tmp_path, today, processor):
    a, b, y = numbers(50, 64), numbers(50, 64, seed=1), zeros(50, 64)
    tree = written(tmp_path, add.compile(a, b, y).program, today, processor)
    for m in (16, 50, 1, 333):
        a, b, y = numbers(m, 64), numbers(m, 64, seed=1), zeros(m, 64)
        tree(a, b, y)
        np.testing.assert_array_equal(y, a + b)


@pytest.mark.parametrize("today", GENERATIONS)
def test_scopes_of_both_cores(tmp_path, today):
    a, b, y = numbers(32, 64).astype(np.float16), numbers(64, 128).astype(np.float16), zeros(32, 128)
    tree = written(tmp_path, products.compile(a, b, y).program, today)
    assert {row["core_type"] for row in tree.config["KERNELS"]} == {"aic", "aiv"}
    for m in (32, 160):
        a, b, y = numbers(m, 64).astype(np.float16), numbers(64, 128, seed=1).astype(np.float16), zeros(m, 128)
        tree(a, b, y)
        np.testing.assert_allclose(y, 2 * (a.astype(np.float64) @ b.astype(np.float64)), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("today", GENERATIONS)
def test_reshapes(tmp_path, today):
    a, y = numbers(32, 64), np.ones(32 * 64, np.float32)
    tree = written(tmp_path, added.compile(a, y).program, today)
    for m in (1, 7, 32):
        a, y = numbers(m, 64), np.ones(m * 64, np.float32)
        tree(a, y)
        np.testing.assert_array_equal(y, a.ravel() + 1)
    with pytest.raises(ValueError, match="argument y: M is 33 here and 32 elsewhere"):
        tree(a, np.ones(33 * 64, np.float32))


PARTS = """
M = pl.dynamic("M")
N = pl.dynamic("N")
H = pl.dynamic("H")

@pl.program
class Parts:
    @pl.function(type=pl.FunctionType.InCore)
    def copy(self, a: pl.Tensor[[M, N], pl.FP32], y: pl.Out[pl.Tensor[[M, N], pl.FP32]]):
        for i in pl.range(0, M, 16):
            for j in pl.range(0, N, 64):
                t = pl.load(a, [i, j], [16, 64], valid_shapes=[pl.min(M - i, 16), pl.min(N - j, 64)])
                y = pl.store(t, [i, j], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, {head}):
{body}
"""


def parts(head, *body):
    return pl.parse_program(PARTS.format(head=head, body="".join(f"        {line}\n" for line in body)))


@pytest.mark.parametrize("today", GENERATIONS)
def test_views_and_tensors_on_the_way(tmp_path, today):
    head = "a: pl.Tensor[[M, N], pl.FP32], y: pl.Out[pl.Tensor[[H, N], pl.FP32]]"
    lines = [
        "h = pl.tensor.dim(y, 0)",
        "t = pl.create_tensor([h * 2, N], dtype=pl.FP32)",
        "t = self.copy(pl.slice(a, [h * 2, N], [M - h * 2, 0]), t)",
        "y = self.copy(pl.slice(t, [h, N], [h, 0]), y)",
        "return y",
    ]
    tree = written(tmp_path, parts(head, *lines), today)
    for m, n, h in ((40, 70, 20), (9, 3, 2), (100, 129, 17)):
        a, y = numbers(m, n), zeros(h, n)
        tree(a, y)
        np.testing.assert_array_equal(y, a[m - h :])
    before = zeros(21, 70)
    with pytest.raises(RuntimeError, match=r":\d+:\d+: the view is empty, or reaches out of its tensor"):
        tree(numbers(40, 70), before)
    assert not before.any()


@pytest.mark.parametrize("today", GENERATIONS)
def test_a_returned_tensor_of_open_extents(tmp_path, today):
    head = "a: pl.Tensor[[M * 2, 64], pl.FP32]"
    lines = ["h, w = a.shape", "t = pl.create_tensor([h // 2, 64], dtype=pl.FP32)"]
    lines += ["t = self.copy(pl.slice(a, [h // 2, 64], [h // 2, 0]), t)", "return t"]
    program = parts(head, *lines)
    tree = written(tmp_path, program, today)
    for m in (1, 5, 40):
        a, made = numbers(2 * m, 64), zeros(m, 64)
        tree(a, made)
        np.testing.assert_array_equal(made, a[m:])
        np.testing.assert_array_equal(CompiledProgram(program, RunConfig())(a), made)
    with pytest.raises(ValueError, match="cannot be 5 for any M"):
        tree(numbers(5, 64), zeros(2, 64))


@pytest.mark.parametrize("today", GENERATIONS)
def test_extents_from_elements(tmp_path, today):
    head = "a: pl.Tensor[[M, 64], pl.FP32], n: pl.Tensor[[2], pl.INT32], y: pl.Out[pl.Tensor[[M, 64], pl.FP32]]"
    lines = [
        "first = pl.tensor.read(n, [0])",
        "top = pl.slice(a, [first, 64], [0, 0])",
        "t = pl.create_tensor([first, 64], dtype=pl.FP32)",
        "t = self.copy(top, t)",
        "u = self.copy(t, pl.slice(y, [first, 64], [pl.tensor.read(n, [1]), 0]))",
        "return y",
    ]
    tree = written(tmp_path, parts(head, *lines), today)
    for m, first, begin in ((40, 17, 3), (8, 8, 0), (8, 1, 7)):
        a, y = numbers(m, 64), zeros(m, 64)
        tree(a, np.array([first, begin], np.int32), y)
        expected = zeros(m, 64)
        expected[begin : begin + first] = a[:first]
        np.testing.assert_array_equal(y, expected)
    for first, begin in ((0, 0), (-1, 0), (9, 0), (4, 5), (4, -1)):
        with pytest.raises(RuntimeError, match="the view is empty, or reaches out of its tensor"):
            tree(numbers(8, 64), np.array([first, begin], np.int32), zeros(8, 64))


@pytest.mark.parametrize("today", GENERATIONS)
def test_tensors_of_other_extents_in_branches_and_loops(tmp_path, today):
    head = "a: pl.Tensor[[M, 64], pl.FP32], n: pl.Tensor[[2], pl.INT32], y: pl.Out[pl.Tensor[[M, 64], pl.FP32]]"
    lines = [
        "half = pl.create_tensor([M // 2, 64], dtype=pl.FP32)",
        "half = self.copy(pl.slice(a, [M // 2, 64], [0, 0]), half)",
        "if pl.tensor.read(n, [0]) > 0:",
        "    part = pl.slice(a, [M // 2, 64], [M - M // 2, 0])",
        "else:",
        "    part = half",
        "y = self.copy(part, pl.slice(y, [M // 2, 64], [0, 0]))",
    ]
    lines = [*lines[:-1], "z = self.copy(part, pl.slice(y, [M // 2, 64], [0, 0]))", "return y"]
    tree = written(tmp_path, parts(head, *lines), today)
    for m in (2, 9, 64):
        for taken in (0, 1):
            a, y = numbers(m, 64), zeros(m, 64)
            tree(a, np.array([taken, 0], np.int32), y)
            np.testing.assert_array_equal(y[: m // 2], a[m - m // 2 :] if taken else a[: m // 2])
            assert not y[m // 2 :].any()


@pytest.mark.parametrize("today", GENERATIONS)
def test_sizes_that_differ(tmp_path, today):
    tree = written(tmp_path, Sum, today)
    a, b, y = numbers(3, 4), numbers(3, 5), zeros(3, 4)
    with pytest.raises(ValueError, match="argument b: N is 5 here and 4 elsewhere"):
        tree(a, b, y)
    tree._read = lambda given: list(given) + ([] if today else [3, 0])  # the C++ looks, too
    reason = "parameter b: extent 1 is another number here than elsewhere" if today else "extent N is less than 1"
    with pytest.raises(RuntimeError, match=r"test_pypto_open_sizes.py:\d+:\d+: " + reason):
        tree(*(_read(each) for each in (a, b, y)))
    assert not y.any()


def _read(array):
    from pypto.jit.arguments import read

    return read("x", array)


def test_what_is_known_at_run_time_only_is_not_returned():
    head = "a: pl.Tensor[[M, 64], pl.FP32], n: pl.Tensor[[2], pl.INT32]"
    lines = ["first = pl.tensor.read(n, [0])", "t = pl.create_tensor([first, 64], dtype=pl.FP32)"]
    program = parts(head, *lines, "t = self.copy(pl.slice(a, [first, 64], [0, 0]), t)", "return t")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, left_out = output_tree.tree_files(program, today=True)
    assert "extent 0 of t, which is returned, follows from no parameter" in left_out["orchestration"]


@pytest.mark.parametrize("today", GENERATIONS)
def test_a_view_of_columns_has_strides(tmp_path, today):
    head = "a: pl.Tensor[[M, N], pl.FP32], y: pl.Out[pl.Tensor[[M, H], pl.FP32]]"
    program = parts(head, "h = pl.tensor.dim(y, 1)", "y = self.copy(pl.slice(a, [M, h], [0, 0]), y)", "return y")
    tree = written(tmp_path, program, today)
    a, y = numbers(8, 16), zeros(8, 16)
    tree(a, y)  # all columns
    np.testing.assert_array_equal(y, a)
    with pytest.raises(RuntimeError, match="copy: argument a is a view with strides"):
        tree(a, zeros(8, 15))


@pytest.mark.parametrize("today", GENERATIONS)
def test_a_view_that_is_known_to_lie_outside(today):
    head = "a: pl.Tensor[[40, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]"
    program = parts(head, "y = self.copy(pl.slice(a, [16, 64], [30, 0]), y)", "return y")
    with pytest.raises(ValueError, match="takes 16 from 30 on, but axis 0 has 40"):
        output_tree.orchestration_of(program, program.get_function("main"), today)
