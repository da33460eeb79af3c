"""Scalar arithmetic: Python numbers fold, anything else becomes nodes of the IR with promoted types."""

import ast
import operator

from pypto.language.parser.diagnostics import ParserSyntaxError, ParserTypeError
from pypto.pypto_core import DataType, ir

_BINARY = {
    ast.Add: (operator.add, ir.Add),
    ast.Sub: (operator.sub, ir.Sub),
    ast.Mult: (operator.mul, ir.Mul),
    ast.Div: (operator.truediv, ir.FloatDiv),
    ast.FloorDiv: (operator.floordiv, ir.FloorDiv),
    ast.Mod: (operator.mod, ir.FloorMod),
    ast.LShift: (operator.lshift, ir.BitShiftLeft),
    ast.RShift: (operator.rshift, ir.BitShiftRight),
}
_COMPARE = {
    ast.Eq: (operator.eq, ir.Eq),
    ast.NotEq: (operator.ne, ir.Ne),
    ast.Lt: (operator.lt, ir.Lt),
    ast.LtE: (operator.le, ir.Le),
    ast.Gt: (operator.gt, ir.Gt),
    ast.GtE: (operator.ge, ir.Ge),
}
# pl.min(a, b) and its like on scalars.
CALLS = {
    "pl.min": (min, ir.Min),
    "pl.max": (max, ir.Max),
    "pl.pow": (None, ir.Pow),
    "pl.and_": (operator.and_, ir.BitAnd),
    "pl.or_": (operator.or_, ir.BitOr),
    "pl.xor": (operator.xor, ir.BitXor),
    "pl.logical_xor": (None, ir.Xor),
}
# pl.add(a, b) and its like on scalars are operators.
OPERATORS = {"pl.add": ast.Add(), "pl.sub": ast.Sub(), "pl.mul": ast.Mult(), "pl.div": ast.Div()}
_WIDEST = 1 << 63


def is_number(value):
    return isinstance(value, (bool, int, float))


def is_scalar(value):
    return is_number(value) or (isinstance(value, ir.Expr) and isinstance(value.type, ir.ScalarType))


def constant(value, span, dtype=None):
    """A number as a constant of that type, else of its usual one."""
    if isinstance(value, bool) and dtype in (None, DataType.BOOL):
        return ir.ConstBool(value, span)
    if isinstance(value, float) or (dtype is not None and dtype.is_float()):
        if dtype is not None and not dtype.is_float():
            raise ParserTypeError(
                f"{value} is no {dtype.name}; write `pl.const({value}, pl.FP32)`, or a whole number", span
            )
        return ir.ConstFloat(float(value), dtype or DataType.FP32, span)
    return ir.ConstInt(int(value), dtype or DataType.INDEX, span)


def promote(a, b):
    """The type of an expression of two scalars."""
    if a == b:
        return a
    if a.is_float() != b.is_float():
        return a if a.is_float() else b
    if a.get_bit() != b.get_bit():
        return a if a.get_bit() > b.get_bit() else b
    return a if DataType.INDEX in (a, b) or not a.name.startswith("U") else b


def fold(function, values, span):
    """function(*values) of numbers; within 64 bits."""
    if function is operator.lshift and not 0 <= values[1] < 64:
        raise ParserSyntaxError(f"a shift by {values[1]}", span)
    try:
        result = function(*values)
    except (ZeroDivisionError, TypeError, ValueError, OverflowError) as error:
        raise ParserSyntaxError(f"this constant cannot be computed: {error}", span) from None
    if isinstance(result, int) and not -_WIDEST <= result < _WIDEST:
        raise ParserSyntaxError("this constant has more than 64 bits", span)
    return result


def _pair(left, right, span):
    """Two scalars as nodes; a number takes the other's type where it can."""
    for value in (left, right):
        if not is_scalar(value):
            raise ParserTypeError("operators are for scalars; write tile and tensor arithmetic with `pl.add`, ..", span)

    def typed(value, other):
        if not is_number(value):
            return value
        wanted = other.type.dtype if not is_number(other) else None
        usable = wanted is not None and not isinstance(value, bool) and wanted != DataType.BOOL
        fits = usable and (wanted.is_float() or not isinstance(value, float))
        return constant(value, span, wanted if fits else None)

    return typed(left, right), typed(right, left)


def binary(operation, left, right, span):
    """left OP right for a node of the syntax tree's operators."""
    if type(operation) not in _BINARY:
        raise ParserSyntaxError(f"the operator {type(operation).__name__} is not supported", span)
    return apply(_BINARY[type(operation)], left, right, span)


def apply(rule, left, right, span):
    function, node = rule
    if is_number(left) and is_number(right) and function is not None:
        return fold(function, (left, right), span)
    left, right = _pair(left, right, span)
    dtype = promote(left.type.dtype, right.type.dtype)
    if node is ir.FloatDiv and not dtype.is_float():
        dtype = DataType.FP32
    return node(left, right, DataType.BOOL if node is ir.Xor else dtype, span)


def compare(operation, left, right, span):
    """left OP right as a BOOL."""
    if type(operation) not in _COMPARE:
        raise ParserSyntaxError(f"the comparison {type(operation).__name__} is not supported", span)
    function, node = _COMPARE[type(operation)]
    python = not isinstance(left, ir.Expr) and not isinstance(right, ir.Expr)
    if python:
        return bool(fold(function, (left, right), span))
    left, right = _pair(left, right, span)
    return node(left, right, DataType.BOOL, span)


def boolean(operation, values, span):
    """`and` or `or` of BOOL scalars; constants fold."""
    both = isinstance(operation, ast.And)
    result = values[0]
    for value in values[1:]:
        if isinstance(result, bool):
            result = (value if result else False) if both else (True if result else value)
        elif isinstance(value, bool):
            result = (result if value else False) if both else (True if value else result)
        else:
            result = (ir.And if both else ir.Or)(result, value, DataType.BOOL, span)
    return result


def unary(operation, value, span):
    if not is_scalar(value):
        raise ParserTypeError("operators are for scalars", span)
    if isinstance(operation, ast.USub):
        return fold(operator.neg, (value,), span) if is_number(value) else ir.Neg(value, value.type.dtype, span)
    if isinstance(operation, ast.Not):
        return not value if is_number(value) else ir.Not(value, DataType.BOOL, span)
    if isinstance(operation, ast.Invert):
        return fold(operator.invert, (value,), span) if is_number(value) else ir.BitNot(value, value.type.dtype, span)
    raise ParserSyntaxError("this operator is not supported", span)
