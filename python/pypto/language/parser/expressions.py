"""Expressions. A value is a node of the IR or, where everything is known, a Python object: a number, a type, a list."""

import ast
import enum
import types

from pypto.language.names import Name, Namespace
from pypto.language.parser import scalars
from pypto.language.parser.diagnostics import (
    InvalidOperationError,
    ParserSyntaxError,
    ParserTypeError,
    UndefinedVariableError,
    UnsupportedFeatureError,
    hints,
)
from pypto.language.parser.linear import difference
from pypto.language.parser.objects import Objects
from pypto.language.typing import DynVar
from pypto.pypto_core import DataType, ir

# Modules whose public names a program may read.
_MODULES = ("pypto.language", "pypto.language.distributed")
_TYPES = (DataType, ir.Var, Name, Namespace, DynVar)


def _bounds(node):
    return node.lower, node.upper, node.step


class Expressions(Objects):
    """Needs `self.env` (names of the program), `self.closure` (a mapping of Python's names), `self.source`."""

    def span(self, node):
        return self.source.span(node)

    def fail(self, error, message, node, hint=None):
        raise error(message, self.span(node), hint, source_lines=self.source.lines)

    def value(self, node):
        """The value of an expression."""
        method = getattr(self, f"value_{type(node).__name__}", None)
        if method is None:
            message = f"Unsupported: {type(node).__name__} is not supported in a kernel"
            self.fail(UnsupportedFeatureError, message, node, hints.construct(node))
        return method(node)

    def expr(self, node, dtype=None):
        """The same as a node of the IR."""
        return self.as_expr(self.value(node), node, dtype)

    def as_expr(self, value, node, dtype=None):
        if isinstance(value, ir.Expr):
            return value
        if scalars.is_number(value):
            return scalars.constant(value, self.span(node), dtype)
        if isinstance(value, DynVar):
            return self.symbol(value, node)
        if isinstance(value, (list, tuple)):
            return ir.MakeTuple([self.as_expr(each, node) for each in value], self.span(node))
        self.fail(ParserTypeError, f"{value!r} is no value of a kernel", node)

    def symbol(self, extent, node):
        """The variable of an extent known at run time."""
        return extent.variable(self.span(node))

    def value_Constant(self, node):
        value = node.value
        if isinstance(value, int) and not isinstance(value, bool) and not -(1 << 63) <= value < 1 << 63:
            self.fail(ParserSyntaxError, "this constant has more than 64 bits", node)
        if value is None or value is ... or isinstance(value, (bool, int, float, str)):
            return value
        self.fail(UnsupportedFeatureError, f"constants of type {type(value).__name__} are not supported", node)

    def value_Name(self, node):
        if node.id in self.env:
            return self.env[node.id]
        if node.id in self.closure:
            return self.closure_value(self.closure[node.id], node)
        self.fail(UndefinedVariableError, f"Undefined variable '{node.id}'", node, self.undefined_hint(node.id))

    def undefined_hint(self, name):
        if name in self.ended:
            return f"{name} is bound only inside a body that has ended: bind it before as well"
        near = hints.nearest(name, [*self.env, *self.closure])
        return near or "bind it before, or define it outside as a constant"

    def closure_value(self, value, node):
        scalar = value is None or scalars.is_number(value) or isinstance(value, str)
        ours = isinstance(value, type) and value.__module__.startswith("pypto")
        if scalar or ours or isinstance(value, (*_TYPES, types.ModuleType, ir.Function)) or self.is_enum(value):
            return value
        if isinstance(value, (list, tuple)):
            return [self.closure_value(each, node) for each in value]
        hint = "numbers, texts, types, functions and lists of them can"
        self.fail(ParserTypeError, f"a {type(value).__name__} cannot be used in a kernel", node, hint)

    @staticmethod
    def is_enum(value):
        return type(value).__module__.startswith("pypto.pypto_core")

    def value_Attribute(self, node):
        name, held = node.attr, self.object_named(node.value)
        if name.startswith("_"):
            self.fail(UnsupportedFeatureError, f"the attribute {name} is not supported", node)
        if held is not None:
            return self.attribute_of(held, node)
        base = self.value(node.value)
        if isinstance(base, ir.Expr):
            if name == "shape" and isinstance(base.type, (ir.TensorType, ir.TileType)):
                return [each.value if isinstance(each, ir.ConstInt) else each for each in base.type.shape]
            if name == "dtype" and not isinstance(base.type, (ir.UnknownType, ir.TupleType)):
                return base.type.dtype
            hint = f"`{ast.unparse(node.value)}.shape` and `.dtype` exist"
            self.fail(UnsupportedFeatureError, f"a value has no attribute {name} here", node, hint)
        allowed = hasattr(base, "_members") or self.is_enum(base) or isinstance(base, type)
        if isinstance(base, types.ModuleType):
            allowed = base.__name__ in _MODULES or (self.trusted and not base.__name__.startswith("pypto"))
        if allowed:
            value = getattr(base, name, None)
            if value is not None or isinstance(base, types.ModuleType) and hasattr(base, name):
                return value
        shown = ast.unparse(node)
        if self.is_enumeration(base):
            self.fail_at_member(base, node)
        self.fail(InvalidOperationError, f"Unknown operation '{shown}'", node, hints.nearest(name, self.members(base)))

    @staticmethod
    def is_enumeration(value):
        return isinstance(value, type) and issubclass(value, enum.Enum)

    def fail_at_member(self, enumeration, node):
        """For a value that an enumeration lacks: at its name, with those that there are."""
        length = len(node.attr.encode())
        places = {"end_lineno": node.end_lineno, "end_col_offset": node.end_col_offset}
        at = ast.Name(node.attr, lineno=node.end_lineno, col_offset=node.end_col_offset - length, **places)
        hint = f"there are {', '.join(enumeration.__members__)}"
        self.fail(ParserSyntaxError, f"{ast.unparse(node.value)} has no {node.attr}", at, hint)

    @staticmethod
    def members(base):
        """Names that may stand behind the dot of a module or namespace."""
        if not isinstance(base, types.ModuleType):
            return dir(base)
        return [*dir(base), *(name.rpartition(".")[2] for name in [*ir.op_names(), *ir.op_aliases()])]

    def value_Tuple(self, node):
        return [self.value(each) for each in node.elts]

    value_List = value_Tuple

    def value_BinOp(self, node):
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(left, DynVar):
            left = self.symbol(left, node)
        if isinstance(right, DynVar):
            right = self.symbol(right, node)
        try:
            return scalars.binary(node.op, left, right, self.span(node))
        except (ParserSyntaxError, ParserTypeError) as error:
            error.source_lines = self.source.lines
            if not all(scalars.is_scalar(each) for each in (left, right)) or "operator" in error.message:
                error.hint = hints.operator(node) or error.hint
            raise

    def value_UnaryOp(self, node):
        return scalars.unary(node.op, self.value(node.operand), self.span(node))

    def value_BoolOp(self, node):
        return scalars.boolean(node.op, [self.condition(each) for each in node.values], self.span(node))

    def value_Compare(self, node):
        if len(node.ops) != 1:
            self.fail(UnsupportedFeatureError, "comparisons cannot be chained", node, hints.comparisons(node))
        return scalars.compare(node.ops[0], self.value(node.left), self.value(node.comparators[0]), self.span(node))

    def condition(self, node, of="if"):
        """A BOOL scalar, or True or False where it is known."""
        value = self.value(node)
        if isinstance(value, bool):
            return value
        if (
            not isinstance(value, ir.Expr)
            or not isinstance(value.type, ir.ScalarType)
            or value.type.dtype.name != "BOOL"
        ):
            self.fail(
                ParserTypeError,
                f"{of} condition must be a Bool-typed scalar",
                node,
                f"compare it: `{ast.unparse(node)} != 0`",
            )
        return value

    def value_Subscript(self, node):
        held = self.entry_of_dictionary(node)
        if held is not None:
            return self.closure_value(held, node)
        base = self.value(node.value)
        if isinstance(base, (list, tuple)) and isinstance(node.slice, ast.Slice):
            bounds = [None if each is None else self.value(each) for each in _bounds(node.slice)]
            if not all(each is None or type(each) is int for each in bounds) or bounds[2] == 0:
                self.fail(ParserTypeError, "a part of a list needs constant bounds", node.slice)
            return list(base[slice(*bounds)])
        if isinstance(base, (list, tuple)):
            index = self.value(node.slice)
            if not isinstance(index, int) or not -len(base) <= index < len(base):
                message = f"this list needs a constant index below {len(base)}"
                self.fail(ParserTypeError, message, node.slice, f"the last one is `{len(base) - 1}`")
            return base[index]
        if isinstance(base, ir.Expr) and isinstance(base.type, ir.TupleType):
            index = self.value(node.slice)
            if not isinstance(index, int) or not 0 <= index < len(base.type.types):
                self.fail(ParserTypeError, f"this tuple needs a constant index below {len(base.type.types)}", node)
            return ir.TupleGetItemExpr(base, index, self.span(node))
        if isinstance(base, ir.Expr) and isinstance(base.type, ir.ArrayType):
            return self.operation("array.get_element", [base, self.value(node.slice)], {}, node)
        if not isinstance(base, ir.Expr) or not isinstance(base.type, (ir.TensorType, ir.TileType)):
            self.fail(ParserTypeError, "only tensors, tiles, arrays, tuples and lists have elements", node)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        rank = len(base.type.shape)
        if len(indices) > rank:
            what = "tile" if isinstance(base.type, ir.TileType) else "tensor"
            message = f"{len(indices)} indices but the {what} is {rank}D"
            self.fail(ParserTypeError, message, node, "give one for each axis")
        if len(indices) == rank and not any(isinstance(each, ast.Slice) for each in indices):
            return self.operation("pl.read", [base, [self.value(each) for each in indices]], {}, node)
        shape, offset, dropped = self.window(base, indices, node)
        keywords = {"drop_dims": dropped} if dropped and isinstance(base.type, ir.TensorType) else {}
        return self.operation("pl.slice", [base, shape, offset], keywords, node)

    def dictionary(self, node):
        """The dictionary of the closure that an expression names, else None."""
        if isinstance(node, ast.Name) and node.id not in self.env:
            held = self.closure.get(node.id)
        else:
            held = self.entry_of_dictionary(node) if isinstance(node, ast.Subscript) else None
        return held if isinstance(held, dict) else None

    def entry_of_dictionary(self, node):
        """What a dictionary of the closure has under the key of a subscript; None for other subscripts."""
        base = self.dictionary(node.value)
        if base is None:
            return None
        key = self.value(node.slice)
        if not isinstance(key, (str, int, float, bool)) or base.get(key) is None:
            self.fail(
                ParserTypeError, f"this dictionary has no {key!r}", node.slice, hints.nearest(str(key), map(str, base))
            )
        return base[key]

    def is_call(self, node, *names):
        """Whether a node calls pl.NAME."""
        return (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in names
            and isinstance(node.func.value, ast.Name)
        )

    def window(self, base, indices, node):
        """Extents and offsets that subscripts select, and the axes of single indices."""
        whole = [each.value if isinstance(each, ir.ConstInt) else each for each in base.type.shape]
        shape, offset, dropped = [], [], []
        for axis, extent in enumerate(whole):
            index = indices[axis] if axis < len(indices) else ast.Slice()
            if not isinstance(index, ast.Slice):
                shape.append(1)
                offset.append(self.value(index))
                dropped.append(axis)
                continue
            if index.step is not None:
                hint = "take all of it, or loop over `pl.range(start, stop, step)`"
                self.fail(UnsupportedFeatureError, "slices have no step", index, hint)
            lower, upper = (None if each is None else self.value(each) for each in (index.lower, index.upper))
            lower, upper = 0 if lower is None else lower, extent if upper is None else upper
            for each, at in ((lower, index.lower), (upper, index.upper)):
                if not isinstance(each, (int, ir.Expr)):
                    self.fail(ParserTypeError, f"{ast.unparse(at)} is no index", at, "write a whole number")
                if isinstance(each, int) and each < 0:
                    hint = f"write `{extent + each}`" if isinstance(extent, int) else "count from the start"
                    self.fail(UnsupportedFeatureError, "indices from the end are not supported", at, hint)
            shape.append(self.extent_between(lower, upper, node))
            offset.append(lower)
        return shape, offset, dropped

    def extent_between(self, lower, upper, node):
        """upper - lower, where `i + 32` less `i` is 32."""
        size = difference(upper, lower)
        if size is not None and size <= 0:
            self.fail(ParserTypeError, "this slice is empty; its end lies behind its start", node)
        if size is not None:
            return size
        if lower == 0 and not isinstance(lower, ir.Expr):
            return upper
        return scalars.binary(ast.Sub(), upper, lower, self.span(node))
