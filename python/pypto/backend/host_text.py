"""Numbers and tensors of the host level as text of Python."""

from dataclasses import dataclass

from pypto.ir.extents import open_names, solved_texts
from pypto.pypto_core import DataType, ir

_BINARY = {
    "Add": "+",
    "Sub": "-",
    "Mul": "*",
    "FloorDiv": "//",
    "FloorMod": "%",
    "FloatDiv": "/",
    "Pow": "**",
    "Eq": "==",
    "Ne": "!=",
    "Lt": "<",
    "Le": "<=",
    "Gt": ">",
    "Ge": ">=",
    "And": "and",
    "Or": "or",
    "Xor": "!=",
    "BitAnd": "&",
    "BitOr": "|",
    "BitXor": "^",
    "BitShiftLeft": "<<",
    "BitShiftRight": ">>",
}
_UNARY = {"Neg": "-", "Not": "not ", "BitNot": "~"}
_CALLS = {"Min": "min", "Max": "max", "Abs": "abs"}
_RESERVED = (
    "orch _args config tensors callables sub_ids _keep world_size _domain_provider torch range min max abs int float "
    "bool TaskArgs CallConfig CommBufferSpec DataType TensorArgType make_tensor_arg"
).split()


class Key(str):
    """The key of a tensor in `tensors`."""


@dataclass
class Window:
    """A view of a buffer: its number, extents as text, the name of its element type."""

    buffer: int
    shape: list
    dtype: str


def refuse(node, message):
    span = node.span
    place = f"{span.filename}:{span.begin_line}:{span.begin_column}: " if span.is_valid() else ""
    raise ValueError(place + message)


def elements(node):
    return node.elements if isinstance(node, ir.MakeTuple) else node


def tuple_text(texts):
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


def evaluated(text, names):
    """The value of a number's text. NameError, SyntaxError, ValueError, TypeError."""
    return int(eval(text, {"__builtins__": {"min": min, "max": max, "abs": abs, "int": int}}, dict(names)))


def open_extents(params):
    """The variables of extents of parameters, by name: each as the text of what an argument says of it. ValueError."""
    found = solved_texts(params, lambda param, axis: f'tensors["{param.name_hint}"].shape[{axis}]', "//")
    for name in open_names(param.type for param in params):
        if name not in found:
            raise ValueError(f"extent {name} follows from no argument")
    return found


class Expressions:
    """Expressions as values: the Key of a tensor, a Window, the text of a number, a list of values."""

    def __init__(self):
        self.values, self.extents, self.definitions = {}, {}, {}
        self.names, self.target = set(_RESERVED), ""

    def fresh(self, name):
        """A name that no other has."""
        made, number = name.replace(".", "_"), 0
        while made in self.names:
            number += 1
            made = f"{name.replace('.', '_')}_{number}"
        self.names.add(made)
        return made

    def bind(self, var, value):
        """What a variable stands for. A parameter that is a tensor has its own name as the key."""
        is_tensor = isinstance(var.type, ir.TensorType) and not isinstance(value, (Window, list))
        self.values[var] = Key(value) if is_tensor else value

    def value(self, expr):
        if isinstance(expr, ir.Call):
            return self.call(expr)
        if isinstance(expr, ir.TupleGetItemExpr):
            held = self.value(expr.tuple)
            if not isinstance(held, list) or expr.index >= len(held):
                refuse(expr, "a result of this launch has no form in the host level's Python")
            return held[expr.index]
        if isinstance(expr, (ir.Var, ir.IterArg)) and expr in self.values:
            return self.values[expr]
        return self.number(expr)

    def number(self, expr):
        """The text of a number."""
        kind = type(expr).__name__
        if isinstance(expr, int):
            return str(expr)
        if isinstance(expr, (ir.ConstInt, ir.ConstBool, ir.ConstFloat)):
            return repr(expr.value)
        if isinstance(expr, (ir.Var, ir.IterArg)):
            held = self.values.get(expr, self.extents.get(expr.name_hint))
            if not isinstance(held, str):
                refuse(expr, f"{expr.name_hint} is no number of the host level")
            return held
        if isinstance(expr, ir.Call):
            return self.call(expr)
        if isinstance(expr, ir.Cast):
            word = "bool" if expr.dtype == DataType.BOOL else "float" if expr.dtype.is_float() else "int"
            return f"{word}({self.number(expr.operand)})"
        if kind in _CALLS:
            operands = [getattr(expr, name) for name in ("left", "right", "operand") if hasattr(expr, name)]
            return f"{_CALLS[kind]}({', '.join(map(self.number, operands))})"
        if kind in _BINARY:
            return f"({self.number(expr.left)} {_BINARY[kind]} {self.number(expr.right)})"
        if kind in _UNARY:
            return f"({_UNARY[kind]}{self.number(expr.operand)})"
        refuse(expr, f"{kind} has no form in the host level's Python")
        return ""

    def unwrap(self, text):
        """The text with what its names stand for, where these were computed."""
        for _ in range(len(self.definitions)):
            if text not in self.definitions:
                break
            text = self.definitions[text]
        return text

    def unwrapped(self, expr):
        return self.unwrap(self.number(expr))

    def place(self, value):
        return f'tensors["{value}"]' if isinstance(value, Key) else value

    def call(self, call):
        name = call.op.name
        if name == "comm.world_size":
            return "world_size"
        if name == "tensor.slice":
            return self.slice(call)
        if name == "tensor.read":
            indices = ", ".join(self.number(each) for each in elements(call.args[1]))
            return f"{self.place(self.value(call.args[0]))}[{indices}].item()"
        if name == "tensor.dim":
            return f"{self.place(self.value(call.args[0]))}.shape[{self.number(call.args[1])}]"
        refuse(call, f"{name} of the host level has no form in Python; the .pmodel has it")
        return ""

    def slice(self, call):
        held = self.value(call.args[0])
        if isinstance(held, Window):
            refuse(call, "a part of a window has no form in the host level's Python")
        shape, offset = (elements(each) for each in call.args[1:3])
        dropped, parts = {each.value for each in elements(call.args[4])} if len(call.args) > 4 else set(), []
        for axis, (extent, begin) in enumerate(zip(shape, offset, strict=True)):
            start = self.number(begin)
            if axis in dropped:
                parts.append(start)
            else:
                size = self.number(extent)
                parts.append(f"0:{size}" if start == "0" else f"{start}:{start} + {size}")
        name = self.fresh("t__tmp_v1" if not self.target else self.target)
        self.emit(f'tensors["{name}"] = {self.place(held)}[{", ".join(parts)}]')
        return Key(name)
