"""Statements without control flow: assignments, calls, returns."""

import ast

from pypto.language.parser.annotations import type_difference
from pypto.language.parser.diagnostics import (
    ParserSyntaxError,
    ParserTypeError,
    SSAViolationError,
    UnsupportedFeatureError,
    hints,
)
from pypto.language.parser.prefetch import Handle
from pypto.pypto_core import DataType, ir


def _declare(held):
    """What to declare for a value of this type."""
    return f"declare `{held}`, or nothing"


_NO_LAYOUT = {key: getattr(ir.TileView(), key) for key in ("blayout", "slayout", "fractal")}


def _with_layout(declared, deduced):
    """A declared view; one that says no layout, as in `pl.TileView(valid_shape=..)`, has that of the value."""
    if declared is None or deduced is None or any(getattr(declared, key) != of for key, of in _NO_LAYOUT.items()):
        return declared
    keys = ("valid_shape", "stride", "start_offset", "pad", "compact")
    layout = {key: getattr(deduced, key) for key in _NO_LAYOUT}
    return ir.TileView(**{key: getattr(declared, key) for key in keys}, **layout)


def _is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_tensor(value):
    return isinstance(value, ir.Expr) and isinstance(value.type, ir.TensorType)


class Statements:
    """Needs Expressions, Calls, Annotations; `self.out` takes the statements of the body in the making."""

    def statement(self, node):
        is_attr = isinstance(node, ast.Expr) and (self.is_call(node.value, "func_attr") or _is_text(node.value))
        self.is_prologue = self.is_prologue and is_attr
        method = getattr(self, f"stmt_{type(node).__name__}", None)
        if method is None:
            message = f"Unsupported: {type(node).__name__} is not supported in a kernel"
            self.fail(UnsupportedFeatureError, message, node, hints.construct(node))
        method(node)

    def emit(self, stmt):
        self.out.append(stmt)

    def stmt_Pass(self, node):
        pass

    def stmt_Expr(self, node):
        value = node.value
        if isinstance(value, ast.Constant):  # a docstring, or ...
            return
        if not isinstance(value, ast.Call):
            self.fail(UnsupportedFeatureError, "an expression without an effect; assign it, or leave it out", node)
        if self.is_call(value, "yield_"):
            self.yield_to([], value)
            return
        self.check_unpacked(value)
        for name in ("static_print", "static_assert", "func_attr"):
            if self.is_call(value, name):
                getattr(self, name)(value)
                return
        call = self.value(value)
        if isinstance(call, ir.Expr) and not isinstance(call, ir.Var):
            self.emit(ir.EvalStmt(call, self.span(node)))

    def stmt_Assign(self, node):
        if len(node.targets) != 1:
            self.fail(UnsupportedFeatureError, "one target at a time; write a line for each", node)
        target = node.targets[0]
        if isinstance(node.value, ast.Call) and self.is_call(node.value, "yield_"):
            self.yield_to(self.target_names(target), node.value)
            return
        if isinstance(target, ast.Subscript):
            self.write_subscript(target, node)
            return
        value = self.value(node.value)
        if isinstance(target, ast.Name):
            self.bind(target.id, value, node)
            return
        names = self.target_names(target)
        values = self.unpack(value, len(names), node)
        for name, each in zip(names, values, strict=True):
            self.bind(name, each, node)

    def target_names(self, target):
        targets = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        for each in targets:
            if not isinstance(each, ast.Name):
                self.fail(
                    UnsupportedFeatureError, "target must be a name or a tuple of names; leave the star out", each
                )
        return [each.id for each in targets]

    def unpack(self, value, count, node):
        if isinstance(value, ir.Expr) and isinstance(value.type, ir.TupleType):
            whole = value
            if not isinstance(value, ir.Var):
                whole = ir.Var("results", value.type, self.span(node))
                self.emit(ir.AssignStmt(whole, value, self.span(node)))
            value = [ir.TupleGetItemExpr(whole, i, self.span(node)) for i in range(len(value.type.types))]
        if not isinstance(value, list) or len(value) != count:
            given = len(value) if isinstance(value, list) else 1
            self.fail(ParserTypeError, f"{given} values for {count} names", node, f"give {given} names")
        return value

    def bind(self, name, value, node, type=None):
        """name = value. What is known keeps its value, other values become a variable."""
        previous = self.env.get(name)
        if self.strict and name in self.env:
            raise SSAViolationError(
                f"{name} is bound already",
                self.span(node),
                "give the value a name of its own, or leave `strict_ssa=True` out",
                source_lines=self.source.lines,
                previous_span=getattr(self.env[name], "span", None),
            )
        if not isinstance(value, ir.Expr) and type is None:
            self.env[name] = value
            return
        if isinstance(value, ir.Var) and type is None:  # another name of the same value
            self.env[name] = value
            return
        value = self.as_expr(value, node)
        if isinstance(value.type, ir.UnknownType):
            message = f"this call has no result that {name} could hold"
            self.fail(ParserTypeError, message, node, f"leave `{name} =` out")
        var = ir.Var(name, type or value.type, self.span(node))
        if isinstance(previous, ir.Var):
            self.check_rebinding(name, previous, var, node)
        self.emit(ir.AssignStmt(var, value, self.span(node)))
        self.env[name] = var

    def check_rebinding(self, name, previous, var, node):
        if type(previous.type) is not type(var.type) and isinstance(previous.type, ir.ScalarType):
            self.fail(ParserTypeError, f"{name} is a scalar: it cannot become something else", node)

    def stmt_AnnAssign(self, node):
        if not isinstance(node.target, ast.Name) or node.value is None:
            self.fail(UnsupportedFeatureError, "an annotation needs a name and a value", node)
        if isinstance(node.value, ast.Call) and self.is_call(node.value, "yield_"):
            self.yield_to([node.target.id], node.value)
            return
        declared = self.type_of(node.annotation)
        scalar = isinstance(declared, ir.ScalarType)
        self.declared = declared
        value = self.value(node.value)
        self.declared = None
        if isinstance(value, Handle) and isinstance(declared, value.type):
            self.bind(node.target.id, value, node)
            return
        value = self.as_expr(value, node.value, declared.dtype if scalar else None)
        if scalar and isinstance(value.type, ir.ScalarType) and value.type.dtype == DataType.INDEX != declared.dtype:
            if declared.dtype.is_int():
                value = ir.Cast(value, declared.dtype, self.span(node))
        self.bind(node.target.id, value, node, self.agreed(declared, value.type, node.annotation))

    def agreed(self, declared, deduced, node):
        """The declared type, with what it does not say from the deduced one."""
        if type(declared) is not type(deduced):
            held = "nothing" if isinstance(deduced, ir.UnknownType) else deduced
            self.fail(ParserTypeError, f"declared {declared}, but the value is {held}", node, _declare(held))
        if isinstance(declared, (ir.TileType, ir.TensorType)):
            differs = type_difference(declared, deduced)
            if differs:
                message = f"declared {declared}, but the value is {deduced}: {differs}"
                self.fail(ParserTypeError, message, node, _declare(deduced))
        elif isinstance(declared, ir.ScalarType) and declared.dtype != deduced.dtype:
            self.fail(ParserTypeError, f"declared {declared}, but the value is {deduced}", node, _declare(deduced))
        if not isinstance(declared, ir.TileType):
            return declared
        space = declared.memory_space
        if space is None and declared.memref is None:
            space = deduced.memory_space
        view = _with_layout(declared.tile_view, deduced.tile_view) or deduced.tile_view
        return ir.TileType(declared.shape, declared.dtype, declared.memref, view, space)

    def write_subscript(self, target, node):
        """dst[a:b, c:d] = src and arr[k] = v: the name is bound to what was assembled."""
        if not isinstance(target.value, ast.Name):
            self.fail(UnsupportedFeatureError, "only elements of a name can be assigned", node)
        name = target.value.id
        base, value = self.value(target.value), self.value(node.value)
        if isinstance(base, ir.Expr) and isinstance(base.type, ir.ArrayType):
            index = self.value(target.slice)
            self.bind(name, self.operation("array.update_element", [base, index, value], {}, node), node)
            return
        if not isinstance(base, ir.Expr) or not isinstance(base.type, (ir.TileType, ir.TensorType)):
            self.fail(ParserTypeError, "only windows of tensors and tiles can be assigned", node)
        indices = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
        if not any(isinstance(each, ast.Slice) for each in indices) and len(indices) == len(base.type.shape):
            at = ", ".join(ast.unparse(each) for each in indices)
            hint = f"write `pl.write({name}, [{at}], {ast.unparse(node.value)})`"
            self.fail(UnsupportedFeatureError, "Element-write: an element of a tensor cannot be assigned", node, hint)
        if len(indices) > len(base.type.shape):
            message = (
                f"{len(indices)} indices but the {'tensor' if is_tensor(base) else 'tile'} is {len(base.type.shape)}D"
            )
            self.fail(ParserTypeError, message, node, "give one for each axis")
        shape, offset, dropped = self.window(base, indices, node)
        self.check_fits(value, shape, dropped, node)
        self.bind(name, self.operation("pl.assemble", [base, value, offset], {}, node), node)

    def check_fits(self, value, shape, dropped, node):
        """What a window of `shape` takes: as many elements on each axis, with or without the axes of single indices."""
        if not is_tensor(value):
            return
        kept = [extent for axis, extent in enumerate(shape) if axis not in dropped]
        wanted = kept if len(value.type.shape) == len(kept) else shape
        if len(value.type.shape) != len(wanted):
            source = ast.unparse(node.value)
            message = f"{source} is {len(value.type.shape)}D, and must be {len(kept)}D to match the window"
            self.fail(ParserTypeError, message, node, f"write `pl.reshape({source}, [..])`")
        view = value.type.tensor_view
        valid = list(view.valid_shape) if view is not None and view.valid_shape else value.type.shape
        for axis, (extent, *held) in enumerate(zip(wanted, value.type.shape, valid, strict=True)):
            known = [each.value for each in held if isinstance(each, ir.ConstInt)]
            if type(extent) is int and len(known) == len(held) and extent not in known:
                message = f"shape mismatch on source axis {axis}: it has {known[0]}, and the window {extent}"
                self.fail(ParserTypeError, message, node, f"assign a window of {known[0]}")

    def stmt_Return(self, node):
        if self.depth:
            message = "return must be the last statement of the function"
            self.fail(UnsupportedFeatureError, message, node, f"end the function with `{ast.unparse(node)}`")
        if node.value is None:
            values = []
        else:
            held = self.value(node.value)
            if isinstance(held, ir.Expr) and isinstance(held.type, ir.TupleType):
                held = self.unpack(held, len(held.type.types), node)
            values = held if isinstance(held, list) else [held]
        values = [self.as_expr(each, node.value) for each in values]
        if any(isinstance(each.type, ir.TupleType) for each in values):
            hint = "return its parts one by one"
            self.fail(ParserTypeError, "a tuple in a returned tuple is not supported", node, hint)
        self.emit(ir.ReturnStmt([self.named(each, node) for each in values], self.span(node)))
        self.returned = values

    def named(self, value, node):
        """A call, or a part of its result, as a variable of its own; other values as they are."""
        if not isinstance(value, (ir.Call, ir.TupleGetItemExpr)):
            return value
        if isinstance(value.type, ir.UnknownType):
            return value
        var = ir.Var("result", value.type, self.span(node))
        self.emit(ir.AssignStmt(var, value, self.span(node)))
        return var

    def yield_to(self, names, node):
        """pl.yield_(..): what the enclosing loop or branch hands on, to the names on its left."""
        if not self.depth:
            message = "pl.yield_ belongs at the end of a loop's body or of an arm; assign the value instead"
            self.fail(ParserSyntaxError, message, node)
        values = [self.value(each) for each in node.args]
        if names and len(names) != len(values):
            self.fail(ParserTypeError, f"Mismatch: {len(values)} values for {len(names)} names", node)
        self.yielded = (names, values, node)
