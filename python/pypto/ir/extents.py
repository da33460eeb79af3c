"""Extents of tensors that a program leaves open, and what arguments say of them."""

from dataclasses import dataclass

from pypto.ir.visitor import IRVisitor
from pypto.pypto_core import DataType, ir


def symbols_of(extent):
    """The variables of an extent."""
    if isinstance(extent, ir.BinaryExpr):
        return [*symbols_of(extent.left), *symbols_of(extent.right)]
    return [extent] if isinstance(extent, ir.Var) else []


def extent_of(extent, sizes):
    """The number that an extent is for sizes by name; None where one of them is missing."""
    if isinstance(extent, ir.Var):
        return sizes.get(extent.name_hint)
    if not isinstance(extent, ir.BinaryExpr):
        return getattr(extent, "value", None)
    left, right = extent_of(extent.left, sizes), extent_of(extent.right, sizes)
    if left is None or right is None or (right == 0 and type(extent).__name__ not in _COMPUTE_ZERO):
        return None
    compute = _COMPUTE.get(type(extent).__name__)
    return compute and compute(left, right)


_COMPUTE_ZERO = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Min": min,
    "Max": max,
}
_COMPUTE = {**_COMPUTE_ZERO, "FloorDiv": lambda a, b: a // b, "FloorMod": lambda a, b: a % b}


def solved(extent, size):
    """The only variable of an extent and the number that it must be; None where it does not follow."""
    if isinstance(extent, ir.Var):
        return extent, size
    if not isinstance(extent, ir.BinaryExpr):
        return None
    left, right = getattr(extent.left, "value", None), getattr(extent.right, "value", None)
    kind = type(extent).__name__
    if kind == "Add" and (left is None) != (right is None):
        return solved(extent.left if left is None else extent.right, size - (right if left is None else left))
    if kind == "Sub" and left is None and right is not None:
        return solved(extent.left, size + right)
    if kind == "Mul" and (left is None) != (right is None) and (left or right):
        return solved(extent.left if left is None else extent.right, size // (left or right))
    return None


@dataclass(frozen=True)
class SizeText:
    """A size as text of a language whose division of integers is `over`."""

    text: str
    over: str

    def __add__(self, number):
        return SizeText(f"({self.text} + {number})", self.over)

    def __sub__(self, number):
        return SizeText(f"({self.text} - {number})", self.over)

    def __floordiv__(self, number):
        return SizeText(f"({self.text} {self.over} {number})", self.over)


def solved_texts(params, size_of, over):
    """The variables of extents that parameters say, by name, as text from the first that says it: `size_of` gives the
    text of the size of a parameter along an axis."""
    found = {}
    for param in params:
        for axis, extent in enumerate(getattr(param.type, "shape", ())):
            says = solved(extent, SizeText(size_of(param, axis), over))
            if says is not None:
                found.setdefault(says[0].name_hint, says[1].text)
    return found


def stored(extent, sizes):
    """An extent as a literal: a number, the name of a variable, or an operator with its operands."""
    known = extent_of(extent, sizes)
    if known is not None:
        return known
    if isinstance(extent, ir.Var):
        return extent.name_hint
    return [type(extent).__name__, stored(extent.left, sizes), stored(extent.right, sizes)]


def restored(literal):
    """The extent of such a literal. TypeError, AttributeError for others."""
    if isinstance(literal, (list, tuple)):
        kind, left, right = literal
        if kind not in _COMPUTE:
            raise TypeError(f"{kind!r} is no operator of extents")
        return getattr(ir, kind)(restored(left), restored(right), DataType.INDEX)
    if isinstance(literal, str):
        return ir.Var(literal, ir.ScalarType(DataType.INDEX))
    return ir.ConstInt(literal, DataType.INDEX)


def open_names(types):
    """The variables of the extents of these types, by name, in the order of their appearance."""
    extents = [extent for type_ in types for extent in getattr(type_, "shape", ())]
    return list(dict.fromkeys(symbol.name_hint for extent in extents for symbol in symbols_of(extent)))


def element(name, index):
    """The name of an element of a parameter, or of the number that it is (element 0), among sizes."""
    return f"{name}({index})"


def own_extent(name, axis):
    """The name of an extent that one parameter has for itself."""
    return f"{name}[{axis}]"


def shape_of(name, type_, sizes):
    """The shape of a parameter for sizes by name; None for an extent that they do not say."""
    return tuple(sizes.get(own_extent(name, i), extent_of(each, sizes)) for i, each in enumerate(type_.shape))


class _Uses(IRVisitor):
    """The variables that are operands of something else than a view with another shape."""

    def __init__(self):
        self.names = set()

    def visit_call(self, call):
        viewed = getattr(call.op, "name", "") in ("tensor.reshape", "tensor.transpose", "tensor.dim")
        for each in call.args[1:] if viewed and isinstance(call.args[0], ir.Var) else call.args:
            self.visit(each)

    def visit_var(self, var):
        self.names.add(var.name_hint)

    visit_iter_arg = visit_var


def viewed_only(function):
    """The parameters of an orchestrator that it only transposes or reshapes: kernels do not see their extents."""
    if function.func_type != ir.FunctionType.Orchestration:
        return set()
    uses = _Uses()
    uses.visit(function.body)
    return {each.name_hint for each in function.params} - uses.names


def sizes_of(name, types, shapes, viewed=()):
    """The extents that tensors leave open, by name, for arguments of these shapes. ValueError where they differ, but
    for the parameters in `viewed`: there the extent is one of the parameter's own (`own_extent`)."""
    sizes = {}
    for param, shape in sorted(shapes.items(), key=lambda each: each[0] in viewed):
        for axis, extent in enumerate(getattr(types.get(param), "shape", ())):
            found = solved(extent, shape[axis]) if axis < len(shape) else None
            if found is None:
                continue
            symbol, size = found[0].name_hint, found[1]
            known = sizes.setdefault(symbol, size)
            if param in viewed:
                if extent_of(extent, sizes) != shape[axis]:
                    sizes[own_extent(param, axis)] = shape[axis]
                continue
            if known != size:
                where = f"{name}: argument {param}"
                raise ValueError(f"{where}: {symbol} is {size} here and {known} elsewhere")
            if extent_of(extent, sizes) != shape[axis]:
                where = f"{name}: argument {param}"
                raise ValueError(f"{where}: axis {axis} cannot be {shape[axis]} for any {symbol}")
    return sizes
