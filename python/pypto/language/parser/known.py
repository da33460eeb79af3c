"""Calls of what is known: functions under pl.inline, of Python on known values, and numbers that name paddings."""

import ast

from pypto.ir.op._pad_value import normalize_pad_value
from pypto.language.parser import scalars
from pypto.language.parser.diagnostics import (
    InvalidOperationError,
    ParserTypeError,
    UnsupportedFeatureError,
    hints,
)
from pypto.pypto_core import ir

BUILTINS = {each.__name__: each for each in (abs, bool, float, int, len, list, max, min, sum, tuple)}


class Known:
    """Needs Expressions; `self.inlined`: the functions under pl.inline that are being read."""

    def known_call(self, function, node):
        """len, min, .. of values that are known."""
        arguments, keywords = self.arguments(node)
        hint = hints.builtin(node.func.id)
        known = all(isinstance(each, (bool, int, float, str, list, tuple, dict)) for each in arguments)
        flat = [each for value in arguments for each in (value if isinstance(value, list) else [value])]
        if not known or keywords or function is not len and any(isinstance(each, ir.Expr) for each in flat):
            self.fail(InvalidOperationError, f"Unknown operation '{node.func.id}'", node, hint)
        return scalars.fold(function, arguments, self.span(node))

    def inline_call(self, definition, node):
        """A call of a function under `@pl.inline`."""
        arguments, keywords = self.arguments(node)
        name, wanted, given = definition.__name__, len(definition.order), len(arguments) + len(keywords)
        if wanted != given:
            hint = f"write `{name}({', '.join(definition.order)})`"
            message = f"{name} expects {wanted} argument{'' if wanted == 1 else 's'}, got {given}"
            self.fail(ParserTypeError, message, node, hint)
        if definition in self.inlined:
            self.fail(UnsupportedFeatureError, f"{name} calls itself", node, "use a loop over `pl.range`")
        try:
            return self.inline(definition, definition.given(arguments, keywords))
        except TypeError as error:
            self.fail(ParserTypeError, str(error), node)

    def inline(self, definition, given):
        """The statements of the function, with its parameters bound to the arguments; gives what it returns."""
        tree, source, _ = definition.source()
        outer = self.source, self.closure, self.env
        self.source, self.closure, self.env = source, definition.closure(), dict(given)
        self.inlined.append(definition)
        result = None
        for index, stmt in enumerate(tree.body):
            if isinstance(stmt, ast.Return):
                if index + 1 != len(tree.body):
                    self.fail(UnsupportedFeatureError, "nothing may follow return", tree.body[index + 1])
                result = self.value(stmt.value) if stmt.value is not None else None
                if isinstance(result, ir.Expr):
                    result = self.named(result, stmt)
            else:
                self.statement(stmt)
        self.inlined.pop()
        self.source, self.closure, self.env = outer
        return result

    def name_padding(self, arguments, keywords, node):
        """0, inf and -inf as values of pl.PadValue."""
        held = keywords.get("pad_value", arguments[1] if len(arguments) > 1 else None)
        if isinstance(held, bool) or not isinstance(held, (int, float, ir.ConstInt, ir.ConstFloat, ir.Neg)):
            return
        try:
            held = normalize_pad_value(held)
        except ValueError as error:
            raise InvalidOperationError(str(error), self.span(node), source_lines=self.source.lines) from error
        if "pad_value" in keywords:
            keywords["pad_value"] = held
        else:
            arguments[1] = held
