"""Walks over the IR in Python: a method of a kind is overridden and calls the base's to go on below it."""

import re

from pypto.pypto_core import ir

_CHILDREN = {}


def _children(node):
    """The nodes that a node holds, in the order of its fields; types and places are not entered."""
    kind = type(node)
    if kind not in _CHILDREN:
        names = [name for name in dir(kind) if not name.startswith("_") and isinstance(getattr(kind, name), property)]
        _CHILDREN[kind] = [name for name in names if name not in ("span", "type", "op")]
    for name in _CHILDREN[kind]:
        value = getattr(node, name)
        values = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else [value]
        yield from (each for each in values if isinstance(each, ir.Node) and not isinstance(each, ir.Type))


class IRVisitor:
    """`visit_call`, `visit_for_stmt`, `visit_program`, ..: one for each kind; `visit` chooses."""

    def visit(self, node):
        getattr(self, _method(type(node)))(node)

    visit_expr = visit_stmt = visit

    def generic_visit(self, node):
        for each in _children(node):
            self.visit(each)


def _method(kind):
    return "visit_" + re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


for _kind in vars(ir).values():
    if isinstance(_kind, type) and issubclass(_kind, ir.Node) and not issubclass(_kind, ir.Type):
        if not hasattr(IRVisitor, _method(_kind)):
            setattr(IRVisitor, _method(_kind), IRVisitor.generic_visit)
