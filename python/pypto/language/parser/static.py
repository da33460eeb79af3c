"""What is done while a function is parsed and leaves nothing in it: pl.static_print, pl.static_assert, pl.func_attr."""

import ast

from pypto.language.parser import scalars
from pypto.language.parser.diagnostics import ParserError, ParserSyntaxError, UnsupportedFeatureError
from pypto.pypto_core import DataType, ir

# Attributes that the decorator says, since they decide how the function is read.
_OF_DECORATORS = ("auto_scope", "type", "level", "role", "strict_ssa", "external_source")


class Static:
    """Needs Expressions and Statements; `self.attrs` takes what pl.func_attr says of the function."""

    def static_print(self, node):
        """Prints texts as they are, values with their types, behind the place of the call."""
        if node.keywords or not node.args:
            self.fail(ParserSyntaxError, "pl.static_print requires at least 1 argument, and no keywords", node)
        shown = " ".join(self.shown(each) for each in node.args)
        span = self.span(node)
        print(f"[{span.filename}:{span.begin_line}]: {shown}")

    def shown(self, node):
        if isinstance(node, ast.JoinedStr):
            return "".join(self.shown_part(each) for each in node.values)
        value = self.value(node)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return f"[{', '.join(self.shown_value(each) for each in value)}]"
        return self.shown_value(value)

    def shown_part(self, node):
        if isinstance(node, ast.Constant):
            return node.value
        if node.conversion != -1:
            self.fail(UnsupportedFeatureError, "an f-string of pl.static_print has no conversion", node)
        if node.format_spec is not None:
            self.fail(UnsupportedFeatureError, "an f-string of pl.static_print has no format spec", node)
        return self.shown(node.value)

    @staticmethod
    def shown_value(value):
        if scalars.is_number(value):
            value = scalars.constant(value, ir.Span.unknown())
        if not isinstance(value, ir.Expr):
            return str(value)
        number = isinstance(value, (ir.ConstInt, ir.ConstFloat, ir.ConstBool))
        return f"{value.value if number else value}: {value.type}"

    def static_assert(self, node):
        """Fails with its message unless the condition, which must be known, holds."""
        if node.keywords or not 1 <= len(node.args) <= 2:
            self.fail(ParserSyntaxError, "pl.static_assert takes 1 or 2 arguments, a condition and a text", node)
        held = self.value(node.args[0])
        if isinstance(held, (ir.ConstInt, ir.ConstBool)):
            held = held.value
        if not isinstance(held, (bool, int, float, str, list, type(None), DataType)):
            message = "the condition of pl.static_assert must be compile-time evaluable"
            self.fail(ParserError, message, node.args[0], "compare constants and static extents")
        text = self.shown(node.args[1]) if len(node.args) > 1 else ""
        if not held:
            self.fail(ParserError, f"static_assert failed{': ' + text if text else ''}", node)

    def func_attr(self, node):
        """pl.func_attr({..}): attributes of the function, which may name its parameters."""
        if self.depth or not self.is_prologue:
            self.fail(ParserSyntaxError, "pl.func_attr must appear before every other statement", node)
        if node.keywords or len(node.args) != 1:
            self.fail(ParserSyntaxError, "pl.func_attr takes exactly one positional dict argument", node)
        if not isinstance(node.args[0], ast.Dict):
            self.fail(ParserSyntaxError, "the argument of pl.func_attr must be a dict literal", node.args[0])
        for key, value in zip(node.args[0].keys, node.args[0].values, strict=True):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                self.fail(ParserSyntaxError, "a key must be a string literal", key or value)
            if key.value in _OF_DECORATORS:
                message = f"'{key.value}' cannot be set with pl.func_attr"
                self.fail(ParserSyntaxError, message, key, f"write `@pl.function({key.value}=..)`")
            if key.value in self.attrs:
                message = f"Duplicate attribute '{key.value}'. Each attribute may be declared only once."
                self.fail(ParserSyntaxError, message, key)
            self.attrs[key.value] = self.attribute(value)

    def attribute(self, node):
        held = self.value(node)
        if isinstance(held, list) and not all(isinstance(each, (int, ir.Var)) for each in held):
            self.fail(ParserSyntaxError, "a list in an attribute holds numbers or names of parameters", node)
        return held
