"""Kernels from the source of a Python function. The source is parsed, never run.

    def axpy(x, y, out):
        for _ in range(2):
            y[:] = y + 2.5 * x
        out[:] = y

    ast_frontend(axpy, x=(64, 64), y=(64, 64), out=(64, 64))

Arguments are tensors, `name[:] = expression` stores, a plain `name = expression` makes a tile, `for _ in range(N)`
repeats. Expressions are + - * / @, unary minus, numbers, and calls of exp, sqrt, abs, relu, maximum, minimum.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import cast

from pto_as import PTOError, Value

_BINARY = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}
_CALLS = {
    "exp": ("tile_exp", 1),
    "sqrt": ("tile_sqrt", 1),
    "abs": ("tile_abs", 1),
    "relu": ("tile_relu", 1),
    "maximum": ("tile_max", 2),
    "minimum": ("tile_min", 2),
}


def ast_frontend(source, dtype: str = "float32", **shapes):
    """A PTO builder from a function or its source text; `shapes` gives the shape of each argument."""
    if callable(source):
        try:
            source = inspect.getsource(source)
        except (OSError, TypeError):
            raise PTOError("the source of the function is not available; pass it as text") from None
    try:
        tree = ast.parse(textwrap.dedent(source))
    except SyntaxError as error:
        raise PTOError(f"line {error.lineno}: {error.msg}") from None
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if len(functions) != 1:
        raise PTOError(f"expects one function, got {len(functions)}")
    return _Frontend(functions[0], dtype, shapes).pto


class _Frontend:
    def __init__(self, function: ast.FunctionDef, dtype: str, shapes: dict):
        from . import PTO

        self.pto = PTO(function.name)
        self.dtype = dtype
        self.values: dict[str, Value] = {}
        names = [argument.arg for argument in function.args.args]
        if sorted(names) != sorted(shapes):
            raise PTOError(
                f"{function.name} takes {', '.join(names)}; shapes were given for {', '.join(shapes) or 'none'}"
            )
        for name in names:
            self.values[name] = self.pto.tensor(shapes[name], dtype, name)
        self.block(function.body)

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            try:
                self.statement(statement)
            except PTOError as error:
                text = str(error)
                raise PTOError(text if text.startswith("line ") else f"line {statement.lineno}: {text}") from None

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return  # a docstring
        if isinstance(node, ast.For):
            count = node.iter
            if (
                not (
                    isinstance(count, ast.Call)
                    and isinstance(count.func, ast.Name)
                    and count.func.id == "range"
                    and len(count.args) == 1
                    and isinstance(count.args[0], ast.Constant)
                )
                or node.orelse
            ):
                raise PTOError("a loop is 'for _ in range(N)' with a number N")
            with self.pto.repeat(cast(int, count.args[0].value)):  # what is no count is refused there
                self.block(node.body)
            return
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            raise PTOError("expects an assignment or a loop")
        target, value = node.targets[0], self.expression(node.value)
        if not isinstance(value, Value):
            raise PTOError("a number alone has no shape; use it in an expression with a tensor")
        if (
            isinstance(target, ast.Subscript)
            and isinstance(target.value, ast.Name)
            and isinstance(target.slice, ast.Slice)
        ):
            name = target.value.id
            if name not in self.values:
                raise PTOError(f"'{name}' is not known")
            self.pto.tile_copy(self.values[name], value)
        elif isinstance(target, ast.Name):
            # Inside a loop a name keeps its tile: the next round reads what this one wrote.
            if target.id not in self.values:
                self.values[target.id] = self.pto.tile(value.shape, self.dtype)
            self.pto.tile_copy(self.values[target.id], value)
        else:
            raise PTOError("expects 'name = ..' or 'name[:] = ..'")

    def emit(self, op: str, shape, *operands) -> Value:
        result = self.pto.tile(shape, self.dtype)
        getattr(self.pto, op)(result, *operands)
        return result

    def filled(self, number, like: Value) -> Value:
        return self.emit("tile_expands", like.shape, number)

    def expression(self, node: ast.expr):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
            return node.value
        if isinstance(node, ast.Name):
            if node.id not in self.values:
                raise PTOError(f"'{node.id}' is not known")
            return self.values[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.expression(node.operand)
            return self.emit("tile_neg", value.shape, value) if isinstance(value, Value) else -value
        if isinstance(node, ast.BinOp):
            return self.binary(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            op, count = _CALLS.get(node.func.id, (None, 0))
            if op is None or len(node.args) != count:
                raise PTOError(
                    f"there is no function '{node.func.id}' of {len(node.args)} arguments; known are "
                    f"{', '.join(_CALLS)}"
                )
            operands = [self.expression(argument) for argument in node.args]
            tensor = next((operand for operand in operands if isinstance(operand, Value)), None)
            if tensor is None:
                raise PTOError(f"{node.func.id} needs a tensor")
            if count == 2:
                operands.sort(key=lambda operand: not isinstance(operand, Value))
                op += "s" if not isinstance(operands[1], Value) else ""
            return self.emit(op, tensor.shape, *operands)
        raise PTOError(f"cannot translate '{ast.unparse(node)}'")

    def binary(self, node: ast.BinOp):
        left, right = self.expression(node.left), self.expression(node.right)
        if isinstance(node.op, ast.MatMult):
            if not (isinstance(left, Value) and isinstance(right, Value) and len(left.shape) == len(right.shape) == 2):
                raise PTOError("@ multiplies two matrices")
            return self.emit("tile_matmul", (left.shape[0], right.shape[1]), left, right)
        name = _BINARY.get(type(node.op))
        if name is None:
            raise PTOError(f"cannot translate '{ast.unparse(node)}'")
        if isinstance(left, Value) and isinstance(right, Value):
            return self.emit("tile_" + name, left.shape, left, right)
        if isinstance(left, Value):
            return self.emit(f"tile_{name}s", left.shape, left, right)
        if isinstance(right, Value):
            if name in ("add", "mul"):
                return self.emit(f"tile_{name}s", right.shape, right, left)
            return self.emit("tile_" + name, right.shape, self.filled(left, right), right)
        raise PTOError(f"'{ast.unparse(node)}' has no tensor; write the number")
