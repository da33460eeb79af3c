"""Names that a loop binds for the first time, and that are read behind it: what the last turn bound."""

import ast

from pypto.language.parser import scalars
from pypto.pypto_core import DataType, ir


def _occurrences(node, straight):
    """(name, whether it is read, whether that surely happens) below a node, in the order of evaluation."""
    if isinstance(node, ast.Name):
        yield node.id, isinstance(node.ctx, ast.Load), straight
        return
    inner = straight and not isinstance(node, (ast.If, ast.For, ast.While))
    parts = list(ast.iter_child_nodes(node))
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        parts = [part for part in (node.value,) if part is not None] + [
            part for part in parts if part is not node.value
        ]
    elif isinstance(node, ast.For):
        parts = [node.iter, node.target, *node.body, *node.orelse]
    for part in parts:
        yield from _occurrences(part, inner)


def is_read(name, nodes):
    """Whether statements read a name before they bind it."""
    for node in nodes:
        for found, read, surely in _occurrences(node, True):
            if found == name and (read or surely):
                return read
    return False


class LateNames:
    """Needs Expressions, and `self.following`: the statements behind the one that is read, of each body around it."""

    following = ()

    def read_later(self, name):
        return is_read(name, [node for nodes in reversed(self.following) for node in nodes])

    def late(self, after, known, node):
        """[(name, IterArg)] of the names that the body binds first and that are read behind the loop. Before the first
        turn their value is not defined, as in Python, where such a name is not bound."""
        found = []
        for name, value in after.items():
            if name in self.env or name in known or not self.read_later(name):
                continue
            root = self.roots.get(value) if isinstance(value, ir.Var) else None
            if root is not None and root in self.env.values():  # the tensor itself, which is there behind the loop
                continue
            if isinstance(value, ir.Var) and value in self.views:  # a part of a tensor cannot be carried
                continue
            if scalars.is_number(value):
                value = self.as_expr(value, node)
            init = self.undefined(value, node) if isinstance(value, ir.Expr) else None
            if init is not None:
                found.append((name, ir.IterArg(name, init.type, init, self.span(node))))
        return found

    def undefined(self, value, node):
        """Some value of that type, made before the loop; None where its extents are not known there."""
        span, kind = self.span(node), value.type
        if isinstance(kind, ir.ScalarType):
            if kind.dtype == DataType.TASK_ID:
                return ir.create_op("system.task_invalid", span=span)
            return scalars.constant(False if kind.dtype == DataType.BOOL else 0, span, kind.dtype)
        if type(kind) not in (ir.TensorType, ir.TileType):
            return None
        if not all(isinstance(each, ir.ConstInt) or each in self.env.values() for each in kind.shape):
            return None
        name, keywords = "tensor.create_tensor", {"dtype": kind.dtype}
        if isinstance(kind, ir.TileType):
            name, keywords["target_memory"] = "tile.create_tile", kind.memory_space or ir.MemorySpace.Vec
        made = ir.create_op(name, list(kind.shape), span=span, **keywords)
        var = ir.Var("undefined", made.type, span)
        self.emit(ir.AssignStmt(var, made, span))
        return var
