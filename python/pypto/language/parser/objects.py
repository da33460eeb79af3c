"""Objects of Python around a program whose attributes it reads, such as configurations."""

import ast
import enum
import types

from pypto.language.parser.diagnostics import ParserTypeError, hints

_VALUES = (bool, int, float, str, list, tuple, dict, types.ModuleType, types.FunctionType, enum.EnumMeta)


def has_attributes(value):
    """Whether a program reads attributes of it: an object, or a class of constants, of the caller's own."""
    owner = value if isinstance(value, type) else type(value)
    return value is not None and not isinstance(value, _VALUES) and not owner.__module__.startswith("pypto")


class Objects:
    """Needs Expressions."""

    def object_named(self, node):
        """The object that an expression names; None for other values, and where a text is read, which names none."""
        value = None
        if isinstance(node, ast.Name) and node.id not in self.env:
            value = self.closure.get(node.id)
        elif isinstance(node, ast.Attribute) and not node.attr.startswith("_"):
            held = self.object_named(node.value)
            value = None if held is None else self.read(held, node)
        return value if self.trusted and has_attributes(value) else None

    def attribute_of(self, held, node):
        """The value of a kernel that is an attribute of an object."""
        return self.closure_value(self.read(held, node), node)

    def read(self, held, node):
        try:
            return getattr(held, node.attr)
        except (AttributeError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            hint = hints.nearest(node.attr, [each for each in dir(held) if not each.startswith("_")])
            self.fail(ParserTypeError, f"{ast.unparse(node)} cannot be read: {error}", node, hint)
