"""Operations that Python calls with values of the IR: `pl.add(pl.Tensor(expr=a), 1.0).unwrap()` is the call."""

from pypto.ir.utils import plain
from pypto.language.parser import scalars
from pypto.language.typing import Scalar, Tensor, Tile
from pypto.pypto_core import ir

_WRAPPED = {ir.TensorType: Tensor, ir.DistributedTensorType: Tensor, ir.TileType: Tile, ir.ScalarType: Scalar}


def wrapped(expr):
    """A node as a value; the results of a call with several as a list."""
    if isinstance(expr.type, ir.TupleType):
        return [wrapped(ir.TupleGetItemExpr(expr, i, expr.span)) for i in range(len(expr.type.types))]
    kind = _WRAPPED.get(type(expr.type))
    return expr if kind is None else kind(expr=expr)


def _kind(value):
    kind = getattr(value, "type", None)
    return "Tile" if isinstance(kind, ir.TileType) else "Tensor" if isinstance(kind, ir.TensorType) else None


def _check(name, arguments):
    """TypeError where the first operand is neither a tensor nor a tile, or the second one of the other kind."""
    base = name.rpartition(".")[2]
    held = ir.op_parameters(f"tile.{base}", operands=True) or ir.op_parameters(f"tensor.{base}", operands=True) or []
    if held[:1] not in (["x"], ["lhs"], ["acc"]) or not arguments:
        return
    kinds = [_kind(each) for each in arguments[:2]]
    if kinds[0] is None:
        raise TypeError(f"{name}: expected Tensor or Tile operands, not {type(arguments[0]).__name__}")
    if held[1:2] == ["rhs"] and len(kinds) > 1 and kinds[1] not in (None, kinds[0]):
        raise TypeError(f"{name}: cannot mix Tensor and Tile operands")


def call(name, arguments, keywords):
    """The call of an operation ("pl.add", "tile.load") as a value. TypeError, ValueError for what it does not take."""
    span = keywords.pop("span", ir.Span.unknown())
    arguments = [plain(each) for each in arguments]
    keywords = {key: plain(value) for key, value in keywords.items()}
    node = scalars.OPERATORS.get(name)
    if node is not None and len(arguments) == 2 and not keywords and all(map(scalars.is_scalar, arguments)):
        made = scalars.binary(node, *arguments, span)
        return wrapped(made if isinstance(made, ir.Expr) else scalars.constant(made, span))
    if name.startswith("pl."):
        _check(name, arguments)
    return wrapped(ir.create_op(name, *arguments, span=span, **keywords))
