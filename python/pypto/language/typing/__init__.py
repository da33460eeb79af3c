"""Markers for annotations: `pl.Tensor[[64, 32], pl.FP32]`. Python may evaluate them; the parser reads their text."""

from pypto.pypto_core import DataType, ir
from pypto.pypto_core.ir import (
    AtomicType,
    CoreType,
    Expr,
    MaskPattern,
    MemorySpace,
    MemRef,
    PadValue,
    PipeType,
    TensorLayout,
    TileLayout,
)


class _Marker:
    """A type by name; anything in brackets after it is for the parser."""

    def __init__(self, name):
        self._name = name

    def __getitem__(self, _):
        return self

    def __call__(self, *_, **__):
        return self

    def __or__(self, _):
        return self

    def __repr__(self):
        return f"pl.{self._name}"


class _Kind(type):
    """A marker whose instances, made by `expr=`, are values of the IR that operations take when Python calls them."""

    def __getitem__(cls, _):
        return cls

    def __call__(cls, *_, expr=None, **__):
        return cls if expr is None else super().__call__(expr)

    def __or__(cls, _):
        return cls

    def __repr__(cls):
        return f"pl.{cls.__name__}"


class Value:
    """A node of the IR as a value of the language."""

    def __init__(self, expr):
        self._expr = expr

    def unwrap(self) -> Expr:
        """The node."""
        return self._expr


class Tensor(Value, metaclass=_Kind):
    """`pl.Tensor[[64, 32], pl.FP32]`; a value: `pl.Tensor(expr=var)`."""


class Tile(Value, metaclass=_Kind):
    """`pl.Tile[[64, 32], pl.FP32]`; a value: `pl.Tile(expr=var)`."""


class Scalar(Value, metaclass=_Kind):
    """`pl.Scalar[pl.INT32]`; a value: `pl.Scalar(expr=var)`."""


Array, Tuple, Ptr, Out, InOut = (_Marker(name) for name in ("Array", "Tuple", "Ptr", "Out", "InOut"))
DistributedTensor = _Marker("DistributedTensor")


class DynVar:
    """An extent known at run time: `M = pl.dynamic("M")`. The same object is the same extent everywhere."""

    def __init__(self, name):
        self.name = name
        self.var = None  # its variable in the IR, once a parameter has it

    def _expression(self, *_):
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = _expression

    def variable(self, span=None):
        """Its variable in the IR."""
        if self.var is None:
            type_ = ir.ScalarType(DataType.INDEX)
            self.var = ir.Var(self.name, type_) if span is None else ir.Var(self.name, type_, span)
        return self.var

    def __repr__(self):
        return f"pl.dynamic({self.name!r})"


def _plain(value):
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value.variable() if isinstance(value, DynVar) else value


def TensorView(*args, **keywords) -> ir.TensorView:  # noqa: N802 (a class elsewhere)
    """An ir.TensorView, with pl.dynamic among its extents."""
    return ir.TensorView(*map(_plain, args), **{key: _plain(value) for key, value in keywords.items()})


def TileView(*args, **keywords) -> ir.TileView:  # noqa: N802
    """An ir.TileView, with pl.dynamic among its extents."""
    return ir.TileView(*map(_plain, args), **{key: _plain(value) for key, value in keywords.items()})


def dynamic(name) -> DynVar:
    """An extent known at run time."""
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"pl.dynamic needs a name, not {name!r}")
    return DynVar(name)


__all__ = [
    "Array",
    "AtomicType",
    "CoreType",
    "DataType",
    "DistributedTensor",
    "DynVar",
    "Expr",
    "InOut",
    "MaskPattern",
    "MemRef",
    "MemorySpace",
    "Out",
    "PadValue",
    "PipeType",
    "Ptr",
    "Scalar",
    "Tensor",
    "TensorLayout",
    "TensorView",
    "Tile",
    "TileLayout",
    "TileView",
    "Tuple",
    "dynamic",
]
