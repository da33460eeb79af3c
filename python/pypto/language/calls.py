"""Operations that Python calls with values of the IR: `pl.add(pl.Tensor(expr=a), 1.0).unwrap()` is the call."""

from pypto.ir.utils import plain
from pypto.language import form_rules
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
        arguments, keywords = form_rules.check(name, arguments, keywords)
    return wrapped(ir.create_op(name, *arguments, span=span, **keywords))


def called(function, arguments, keywords):
    """The node that a function of Python gives for nodes of the parser."""
    given = {key: wrapped(each) if isinstance(each, ir.Expr) else each for key, each in keywords.items()}
    return plain(function(*(wrapped(each) if isinstance(each, ir.Expr) else each for each in arguments), **given))
