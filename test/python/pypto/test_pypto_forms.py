"""Texts, their errors, and what Python evaluates outside of kernels."""

import warnings

import pypto.language as pl
import pytest
from pypto import DataType, ir
from pypto.ir.utils import caller_warning_stacklevel
from pypto.language.parser.diagnostics import ErrorRenderer, ParserSyntaxError, ParserTypeError
from two_functions import DOUBLE, MAIN, PROGRAM


def test_a_text_holds_one_function_or_program():
    assert isinstance(pl.parse(PROGRAM.format(DOUBLE)), ir.Program)
    with pytest.raises(ValueError, match="No @pl.function or @pl.program found"):
        pl.parse("x = 4")
    with pytest.raises(ValueError, match="Multiple functions/programs found"):
        pl.parse(PROGRAM.format(DOUBLE) * 2)
    with pytest.raises(SyntaxError, match="Failed to compile code"):
        pl.parse("def f(:")


def test_a_value_that_an_enumeration_lacks_is_shown_at_its_name():
    text = "@pl.function(type=pl.FunctionType.Bad_é)\ndef f(x: pl.Tensor[[64], pl.FP32]):\n    return x\n"
    with pytest.raises(ParserSyntaxError, match="pl.FunctionType has no Bad_é") as caught:
        pl.parse(text)
    assert caught.value.span["begin_column"] == text.index("Bad_é") + 1 and "AIV" in caught.value.hint
    assert "^" * 5 in ErrorRenderer().render(caught.value) and "^" * 6 not in ErrorRenderer().render(caught.value)


def test_columns_count_characters():
    function = pl.parse(
        "@pl.function\ndef f(é: pl.Tensor[[64], pl.FP32]):\n    y = pl.add(é, é); z = pl.exp(y)\n    return z"
    )
    assert function.body.stmts[1].span.begin_column == 23


def test_directions_of_arguments():
    text = PROGRAM.format(DOUBLE + MAIN.format("pl.no_dep(x), attrs={{'arg_directions': [{}]}}"))
    call = pl.parse(text.format("pl.adir.input")).functions["main"].body.stmts[0].value
    assert list(call.arg_directions) == [ir.ArgDirection.Input] and call.attrs["arg_direction_overrides"] == [0]
    assert pl.adir.output_existing is ir.ArgDirection.OutputExisting
    with pytest.raises(ParserTypeError, match="arg_directions must match"):
        pl.parse(text.format("pl.adir.input, pl.adir.input"))
    with pytest.raises(ParserTypeError, match=r"expects 1 argument\(s\), got 2"):
        pl.parse(PROGRAM.format(DOUBLE + MAIN.format("x, x")))


def test_stages_of_a_pipeline():
    text = "@pl.function\ndef f(x: pl.Tensor[[64], pl.FP32], n: pl.Scalar[pl.INT64]):\n    for i in {}:\n"
    text += "        x = pl.add(x, 1.0)\n    return x\n"
    loop = pl.parse(text.format("pl.pipeline(8, stage=4)"))
    assert dict(loop.body.stmts[0].attrs) == {"pipeline_stages": 4}
    assert "pl.pipeline(8, stage=4, init_values=(x,)):" in ir.python_print(loop)
    assert ir.structural_equal(loop, pl.parse(ir.python_print(loop)))
    for call, message in (
        ("pl.pipeline(8, stage=0)", "stage must be >= 1, not 0"),
        ("pl.pipeline(8, stage=n)", "stage must be a compile-time constant"),
        ("pl.unroll(8, stage=2)", "stage= is only supported on pl.pipeline"),
    ):
        with pytest.raises(ParserSyntaxError, match=message):
            pl.parse(text.format(call))


def test_forms_outside_of_kernels():
    assert list(pl.range(2, 8, 3)) == [2, 5] and [i for i, (a,) in pl.parallel(2, init_values=(1,))] == [0, 1]
    assert pl.at(pl.Level.CORE_GROUP, name_hint="scale").name_hint == "scale"
    assert pl.spmd(4).core_num == 4 and not pl.spmd(4).allow_early_resolve
    with pytest.raises(TypeError, match="does not accept 'unroll'"):
        pl.range(8, unroll=4)
    with pytest.raises(ValueError, match="must be the integer 2"):
        pl.split_aiv(4)
    with pytest.raises(TypeError, match="takes 1 arguments by place"):
        pl.spmd(4, 5)


def value(kind, shape=(16, 32), dtype=DataType.FP32):
    types = {pl.Tensor: ir.TensorType, pl.Tile: ir.TileType}
    return kind(expr=ir.Var("x", types[kind](list(shape), dtype)))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda t, x: pl.row_max(t), "pl.row_max: Tile inputs require tmp_tile"),
        (lambda t, x: pl.row_max(x, t), "pl.row_max: Tensor inputs must not pass tmp_tile"),
        (lambda t, x: pl.xor(t, 1), "require an explicit scratch tile"),
        (lambda t, x: pl.matmul(t, t, b_trans=True), "'b_trans' is not supported for Tile operands; .*transpose_view"),
        (lambda t, x: pl.matmul(t, t, out_dtype=DataType.FP16), "out_dtype of tiles is fp32"),
        (lambda t, x: pl.rsqrt(t, high_precision=True), r"'high_precision'.*pl.tile.rsqrt\(tile, tmp\)"),
        (lambda t, x: pl.div(x, 2.0, high_precision=True), "high_precision is for two tensors or two tiles"),
    ],
)
def test_operands_of_one_form_only(call, message):
    with pytest.raises(TypeError, match=message):
        call(value(pl.Tile, (32, 32)), value(pl.Tensor, (32, 32)))


def test_defaults_that_are_spelt_out_change_nothing():
    t, x = value(pl.Tile, (32, 32)), value(pl.Tensor, (32, 32))
    plain = pl.tile.matmul(t, t).unwrap()
    said = pl.matmul(t, t, a_trans=False, c_matrix_nz=False, out_dtype=DataType.FP32).unwrap()
    assert ir.structural_equal(plain, said)
    assert ir.structural_equal(pl.tensor.row_sum(x).unwrap(), pl.row_sum(x, None).unwrap())


def test_padding_of_a_full_window_is_a_warning_at_the_line_that_asks():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pl.slice(value(pl.Tile), [8, 32], [0, 0], pad_value=ir.PadValue.min)
        pl.slice(value(pl.Tile), [8, 32], [0, 0], valid_shape=[8, 8], pad_value=ir.PadValue.min)
    assert [(each.filename, each.category) for each in caught] == [(__file__, UserWarning)]
    assert "pad_value has no effect" in str(caught[0].message) and caller_warning_stacklevel() == 1


def test_attributes_of_a_function_are_shown_in_its_body():
    text = "@pl.function\ndef f(w: pl.Tensor[[64], pl.FP32]):\n    pl.func_attr({'kept': w})\n    return w\n"
    function = pl.parse(text)
    assert function.attrs["kept"].same_as(function.params[0])
    assert 'pl.func_attr({"kept": w})' in ir.python_print(function) and "attrs=" not in ir.python_print(function)
    assert ir.structural_equal(function, pl.parse(ir.python_print(function)))


def test_annotations_say_what_they_hold():
    kind = pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec, pl.TileView()]
    assert (kind.shape, kind.dtype, kind.memory_space) == ([16, 32], pl.FP32, pl.Mem.Vec) and kind.tile_view is not None
    assert pl.Scalar(pl.FP32).dtype == pl.FP32 and kind.memref is None
    with pytest.raises(ValueError, match="annotation-only Tensor"):
        pl.Tensor((64,), pl.FP32).unwrap()
    with pytest.raises(TypeError, match="multiple values for argument 'shape'"):
        pl.Tensor([1], pl.FP32, shape=[2])
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        pl.Tensor([1], pl.FP32, foo=2)
    assert list(ir.TileType([16, 32], DataType.FP32).shape) == [16, 32]


def test_an_extent_that_the_body_computes_is_not_in_the_head():
    function = pl.parse(
        "@pl.function\ndef f(x: pl.Tensor[[64, 32], pl.FP32], n: pl.Scalar[pl.INDEX]):\n"
        "    i = n + 1\n    return pl.slice(x, [i, 32], [0, 0])\n"
    )
    printed = ir.python_print(function)
    assert "->" not in printed
    ir.assert_structural_equal(pl.parse(printed), function, enable_auto_mapping=True)


@pytest.mark.parametrize("bound, hint", [("1e999", "cast it"), ("2.0", "write `2`")])
def test_bounds_of_loops_are_whole_numbers(bound, hint):
    with pytest.raises(ParserTypeError, match="bounds of a loop must be integers") as caught:
        pl.parse(f"@pl.function\ndef f(n: pl.INDEX):\n    for i in pl.range({bound}):\n        pass\n    return n\n")
    assert caught.value.hint.startswith(hint)


SLICED = "@pl.function\ndef f(x: pl.Tensor[[64, 32], pl.FP32], n: pl.INDEX):\n    y = x[{}]\n    return y\n"


def test_bounds_of_slices():
    given, none = (pl.parse(SLICED.format(each)) for each in ("n:, :32", "n:None, None:32"))
    ir.assert_structural_equal(given, none)
    with pytest.raises(ParserTypeError, match="0.5 is no index"):
        pl.parse(SLICED.format("0.5:8, :"))
    with pytest.raises(ParserTypeError, match="'a' is no index"):
        pl.parse(SLICED.format("0:'a', :"))


@pytest.mark.parametrize("results", ["", " -> tuple[pl.Tensor[[64], pl.FP32], pl.Scalar[pl.TASK_ID]]"])
def test_a_name_of_several_results_is_returned_as_each(results):
    main = f"""    @pl.function
    def main(self, x: pl.Tensor[[64], pl.FP32]){results}:
        both = pl.submit(self.double, x)
        return both
"""
    held = pl.parse(PROGRAM.format(DOUBLE + main))
    assert len(held.functions["main"].return_types) == 2
    ir.assert_structural_equal(pl.parse(ir.python_print(held)), held)


def test_two_functions_of_one_name():
    """None of them takes the place of the other."""

    def made(factor):
        @pl.function
        def double(x: pl.Tensor[[64], pl.FP32]) -> pl.Tensor[[64], pl.FP32]:
            return pl.mul(x, factor)

        return double

    twice, thrice = made(2.0), made(3.0)
    with pytest.raises(ParserSyntaxError, match="double of outside conflicts with program function double"):

        @pl.program
        class Inside:
            @pl.function
            def main(self, x: pl.Tensor[[64], pl.FP32]) -> pl.Tensor[[64], pl.FP32]:
                return twice(x)

            @pl.function
            def double(self, x: pl.Tensor[[64], pl.FP32]) -> pl.Tensor[[64], pl.FP32]:
                return pl.mul(x, 4.0)

    with pytest.raises(ParserSyntaxError, match="Conflicting external functions: two are called double") as caught:

        @pl.program
        class Outside:
            @pl.function
            def main(self, x: pl.Tensor[[64], pl.FP32]) -> pl.Tensor[[64], pl.FP32]:
                return thrice(twice(twice(x)))

    assert caught.value.hint == "rename one"

    @pl.program
    class Good:
        @pl.function
        def main(self, x: pl.Tensor[[64], pl.FP32]) -> pl.Tensor[[64], pl.FP32]:
            return twice(twice(x))

    assert [each.name for each in Good.functions.values()] == ["main", "double"]


@pytest.mark.parametrize(
    "text, error, message",
    [
        ("@pl.program\nclass P:\n    pass\n", ParserSyntaxError, "P has no @pl.function"),
        (
            PROGRAM.format(DOUBLE.replace("return", "with pl.scope(1):\n            y = x\n        return")),
            ParserSyntaxError,
            "pl.scope takes no positional argument",
        ),
        (
            PROGRAM.format(
                DOUBLE.replace(
                    "return", "with pl.at(level=pl.Level.CORE_GROUP, dumps=[1]):\n            y = x\n        return"
                )
            ),
            ParserTypeError,
            "dumps= names what is not a tensor",
        ),
    ],
)
def test_forms_that_are_refused(text, error, message):
    with pytest.raises(error) as caught:
        pl.parse(text)
    assert message in caught.value.message
