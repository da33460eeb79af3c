"""Names that a loop binds for the first time, and that are read behind it: what the last turn bound."""

import ast

from pypto.language.parser import scalars
from pypto.pypto_core import DataType, ir


def _first(name, nodes):
    """Whether nodes, in the order of evaluation, read a name first: True; surely bind it first: False; else None."""
    for node in nodes:
        found = _first_in(name, node)
        if found is not None:
            return found
    return None


def _first_in(name, node):
    if isinstance(node, ast.Name):
        return isinstance(node.ctx, ast.Load) if node.id == name else None
    if isinstance(node, (ast.If, ast.For, ast.While)):
        head = _first(name, [node.iter if isinstance(node, ast.For) else node.test])
        target = [node.target] if isinstance(node, ast.For) else []
        arms = [_first(name, [*target, *node.body]), _first(name, node.orelse)]
        if head is not None or True in arms:
            return head is not False
        return False if isinstance(node, ast.If) and arms == [False, False] else None  # a loop may have no turn
    targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
    parts = list(ast.iter_child_nodes(node))
    return _first(name, sorted(parts, key=lambda part: any(part is target for target in targets)))


class LateNames:
    """Needs Expressions, and `self.following`: the statements behind the one that is read, of each body around it."""

    following = ()

    def read_later(self, name):
        return _first(name, [node for nodes in reversed(self.following) for node in nodes]) is True

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
            init = self.undefined(name, value, node) if isinstance(value, ir.Expr) else None
            if init is not None:
                found.append((name, ir.IterArg(name, init.type, init, self.span(node))))
        return found

    def undefined(self, name, value, node):
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
        op, keywords = "tensor.create_tensor", {"dtype": kind.dtype}
        if isinstance(kind, ir.TileType):
            op, keywords["target_memory"] = "tile.create_tile", kind.memory_space or ir.MemorySpace.Vec
        made = ir.create_op(op, list(kind.shape), span=span, **keywords)
        var = ir.Var(f"undefined_{name}", made.type, span)
        self.emit(ir.AssignStmt(var, made, span))
        return var
