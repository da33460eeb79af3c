"""What is known while a function is parsed: prints, assertions, attributes, functions of Python; tools for it."""

import ast
import inspect

import pypto
import pypto.language as pl
import pytest
from pypto import DataType, ir
from pypto.language.parser import source_lookup
from pypto.language.parser.diagnostics import (
    InvalidOperationError,
    ParserError,
    ParserSyntaxError,
    ParserTypeError,
    UnsupportedFeatureError,
    concise_error_message,
)
from pypto.language.parser.expr_evaluator import ExprEvaluator
from pypto.language.parser.span_tracker import SpanTracker
from pypto.language.parser.type_resolver import TypeResolver

CONFIG = {0: 64, "shapes": {"small": [16, 32]}}
SHAPES, SMALL = "shapes", "small"


def parsed(*lines):
    body = "\n".join(f"    {line}" for line in lines)
    head = "x: pl.Tensor[[64, 32], pl.FP16], n: pl.Scalar[pl.INT32]"
    return pl.parse(f"@pl.function\ndef f({head}) -> pl.Tensor[[64, 32], pl.FP16]:\n{body}\n    return x\n", "f.py")


def test_static_print_shows_values_with_types_and_leaves_nothing(capsys):
    made = parsed('pl.static_print("in:", x, 42)', 'pl.static_print(f"n is {n}, {7}")')
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "[f.py:3]: in: x: pl.Tensor[[64, 32], pl.FP16] 42: pl.Scalar[pl.INDEX]",
        "[f.py:4]: n is n: pl.Scalar[pl.INT32], 7: pl.Scalar[pl.INDEX]",
    ]
    ir.assert_structural_equal(made, parsed())


@pytest.mark.parametrize(
    ("line", "error", "text"),
    [
        ("pl.static_print()", ParserSyntaxError, "at least 1 argument"),
        ('pl.static_print(f"{n!r}")', UnsupportedFeatureError, "conversion"),
        ('pl.static_print(f"{n:>4}")', UnsupportedFeatureError, "format spec"),
        ("pl.static_assert(x.shape[1] > 32, 'too small')", ParserError, "static_assert failed: too small"),
        ("pl.static_assert(n)", ParserError, "compile-time evaluable"),
        ("pl.static_assert()", ParserSyntaxError, "1 or 2 arguments"),
        ("pl.func_attr([1])", ParserSyntaxError, "must be a dict literal"),
        ("pl.func_attr({1: 2})", ParserSyntaxError, "string literal"),
        ('pl.func_attr({"type": 2})', ParserSyntaxError, "cannot be set"),
        ('pl.func_attr({"a": 1, "a": 2})', ParserSyntaxError, "Duplicate attribute 'a'"),
        ("m = len(n)", InvalidOperationError, "Unknown operation 'len'"),
        ("m = int('x')", ParserSyntaxError, "cannot be computed"),
    ],
)
def test_static_forms_refuse(line, error, text):
    with pytest.raises(error, match=text):
        parsed(line)


def test_static_assert_holds_and_must_not_follow(capsys):
    ir.assert_structural_equal(parsed("pl.static_assert(x.shape[0] == 64)"), parsed())
    with pytest.raises(ParserSyntaxError, match="before every other statement"):
        parsed("m = n + 1", 'pl.func_attr({"a": 1})')


def test_attributes_of_a_function_may_name_parameters():
    made = parsed('"""A text may stand before."""', 'pl.func_attr({"stationary": x})', 'pl.func_attr({"b": True})')
    assert made.attrs["stationary"] is made.params[0] or ir.structural_equal(
        made.attrs["stationary"], made.params[0], enable_auto_mapping=True
    )
    assert made.attrs["b"] is True
    held = ir.deserialize(ir.serialize(made))
    ir.assert_structural_equal(held, made)


def test_python_functions_and_dictionaries_of_known_values():
    @pl.function
    def f(x: pl.Tensor[[CONFIG[0], max(CONFIG[SHAPES][SMALL])], pl.FP32]):
        pl.static_assert(len(x.shape) == 2)
        pl.static_assert(sum(x.shape) == 96)
        pl.static_assert(CONFIG["shapes"]["small"][0:1] == [16])

    assert [each.value for each in f.params[0].type.shape] == [64, 32]


def test_expressions_and_types_for_tools():
    of = ExprEvaluator({"a": [1, 2, 3], "b": 5})
    value = lambda text: of.eval_expr(ast.parse(text, mode="eval").body)  # noqa: E731
    assert value("len(a) * b + a[-1]") == 18
    assert of.try_eval_expr(ast.parse("c", mode="eval").body) == (False, None)
    with pytest.raises(ParserTypeError, match="Cannot resolve expression"):
        value("open('f')")
    with pytest.raises(ParserTypeError, match="Failed to evaluate"):
        value("b + 'x'")
    resolver = TypeResolver(ExprEvaluator({"shape": [4, pl.dynamic("M")]}))
    type_of = lambda text: resolver.resolve_type(ast.parse(text, mode="eval").body)  # noqa: E731
    made = type_of("pl.Tensor[shape, pl.FP16, NZ]")
    assert made.shape[0].value == 4 and made.shape[1].name_hint == "M" and made.tensor_view.layout == ir.TensorLayout.NZ
    assert [each.dtype for each in type_of("tuple[pl.Scalar[pl.INT8], pl.Scalar[pl.BOOL]]")] == [pl.INT8, pl.BOOL]
    for text, message in {
        "pl.Tensor[[4], pl.INVALID]": "Unknown dtype",
        "pl.Tensor[other, pl.FP16]": "Unknown shape variable",
        "pl.Tensor[[4.5], pl.FP16]": "element 0 must be int",
        "pl.Tensor[[4], pl.FP16, pl.INVALID]": "Unknown layout",
        "pl.Tuple[pl.Tuple[pl.Scalar[pl.INT8]]]": "Nested tuple types",
        "pl.Tensor[[4], pl.FP16, pl.TensorView(foo=1)]": "Unknown TensorView keyword foo",
    }.items():
        with pytest.raises(ParserTypeError, match=message):
            type_of(text)
    four, five = ir.TensorType([4], DataType.FP32), ir.TensorType([5], DataType.FP32)
    with pytest.raises(ParserTypeError, match="shape dimension 0 = 4, not 5"):
        resolver.validate_annotation_consistency(four, five, "x", None)


def test_places_and_sources():
    span = SpanTracker("f.py", [], line_offset=10, source_map={11: ("real.py", 5, 8)}).get_span(ast.parse("x").body[0])
    assert (span.filename, span.begin_line, span.begin_column) == ("real.py", 5, 9)

    class Local:
        class Inner:
            pass

    for each in (Local, Local.Inner):
        assert source_lookup.get_class_source_lines(each) == inspect.getsourcelines(each)
    assert concise_error_message(ValueError("bad [k.py:1:2]\nCheck failed: x"), strip_trailing_span=True) == "bad"


def program(name, hint):
    return pl.parse_program(f"""
@pl.program
class {name}:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        pl.store(pl.load(x, [0, 0], [16, 16]), [0, 0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        task = pl.submit(self.k, x, y{hint})
""")


def test_names_of_programs_are_notes_and_functions_have_keys():
    one, other = program("One", ""), program("Other", "")
    ir.assert_structural_equal(one, other)
    assert ir.structural_hash(one) == ir.structural_hash(other)
    key = one.get_global_var("k")
    assert one.functions[key] is one.functions["k"] or one.functions[key].name == "k"
    assert key == other.get_global_var("k") and one.get_global_var("none") is None
    assert ir.is_incore_type(one.functions["k"].func_type) and not ir.is_incore_type(one.functions["main"].func_type)


def test_the_hint_of_a_submit_is_kept():
    plain, early = program("P", ""), program("P", ", allow_early_resolve=True")
    assert not ir.structural_equal(plain, early)
    assert "allow_early_resolve=True" in str(early)
    ir.assert_structural_equal(pl.parse_program(str(early)), early)
    ir.assert_structural_equal(ir.deserialize(ir.serialize(early)), early)
    with pytest.raises(ParserSyntaxError, match="boolean literal"):
        program("P", ", allow_early_resolve=1")


def test_internal_errors_have_their_class():
    assert issubclass(pypto.InternalError, RuntimeError)
    assert ir.get_op("tensor.add").name == "tensor.add"
    with pytest.raises(ValueError, match="Unknown operation tensor.none"):
        ir.get_op("tensor.none")
    assert ir.python_print_type(ir.ScalarType(DataType.INT8)) == "pl.Scalar[pl.INT8]"
