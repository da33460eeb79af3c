"""Markers for annotations: `pl.Tensor[[64, 32], pl.FP32]`. Python may evaluate them; the parser reads their text."""

import enum

from pypto.pypto_core import DataType, ir
from pypto.pypto_core.ir import (
    AtomicType,
    CoreType,
    Expr,
    MaskPattern,
    MemorySpace,
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

    def __getitem__(cls, said):
        return cls._said(said if isinstance(said, tuple) else (said,), {})

    def __call__(cls, *said, expr=None, **named):
        return super().__call__(expr) if expr is not None else cls._said(said, named) if said or named else cls

    def _said(cls, said, named):
        """A type by what it says, in order or by name; what is neither a shape nor an element type by its class."""
        made = super().__call__(None)
        fields = dict(zip(cls._ORDER, said, strict=False))
        for name, value in named.items():
            if name not in cls._ORDER:
                raise TypeError(f"pl.{cls.__name__}: unexpected keyword argument {name!r}; it takes {cls._ORDER}")
            if name in fields:
                raise TypeError(f"pl.{cls.__name__}: multiple values for argument {name!r}; give one")
            fields[name] = value
        for value in said[len(cls._ORDER) :]:
            fields.update({name: value for name, kind in _FIELDS.items() if isinstance(value, kind)})
        made.__dict__.update({**dict.fromkeys(_FIELDS), **fields})
        return made

    def __or__(cls, _):
        return cls

    def __repr__(cls):
        return f"pl.{cls.__name__}"


_FIELDS = {"memory_space": MemorySpace, "tile_view": ir.TileView, "tensor_view": ir.TensorView, "memref": ir.MemRef}


class Value:
    """A node of the IR as a value of the language, or a type by what an annotation says: `shape`, `dtype`, .."""

    _ORDER = ("shape", "dtype")

    def __init__(self, expr):
        self._expr = expr

    def unwrap(self) -> Expr:
        """The node."""
        if self._expr is None:
            kind = type(self).__name__
            raise ValueError(f"an annotation-only {kind} holds no value; make one with `pl.{kind}(expr=..)`")
        return self._expr

    @property
    def expr(self) -> Expr:
        """The node."""
        return self.unwrap()

    def __or__(self, _):
        return self


class Tensor(Value, metaclass=_Kind):
    """`pl.Tensor[[64, 32], pl.FP32]`; a value: `pl.Tensor(expr=var)`."""


class Tile(Value, metaclass=_Kind):
    """`pl.Tile[[64, 32], pl.FP32]`; a value: `pl.Tile(expr=var)`."""


class Scalar(Value, metaclass=_Kind):
    """`pl.Scalar[pl.INT32]`; a value: `pl.Scalar(expr=var)`."""

    _ORDER = ("dtype",)


Array, Tuple, Ptr, Out, InOut = (_Marker(name) for name in ("Array", "Tuple", "Ptr", "Out", "InOut"))
DistributedTensor = _Marker("DistributedTensor")


class ScopeMode(enum.Enum):
    """Who orders the launches of pl.scope."""

    AUTO = 0  # the memory that they share
    MANUAL = 1  # their `deps`


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


class Allocation:
    """Buffers of one size behind one another, declared by hand: `pair = pl.MemRef(slots=2)`, then `pair[i % 2]` in the
    type of a tile. The planner places such tiles as all others, those that live at once apart."""

    def __init__(self, name=None, *, slots=1):
        if not isinstance(slots, int) or isinstance(slots, bool) or not 1 <= slots <= 1024:
            raise ValueError(f"pl.MemRef: slots must be 1 to 1024, not {slots!r}")
        self.name, self.slots = name, slots

    def __getitem__(self, slot):
        if isinstance(slot, int) and not 0 <= slot < self.slots:
            raise IndexError(f"pl.MemRef has slots 0 to {self.slots - 1}, not {slot}")
        return self


def MemRef(*args, **keywords):  # noqa: N802
    """An ir.MemRef, or, of a name and slots alone, an Allocation."""
    declares = not args or (len(args) == 1 and isinstance(args[0], str))
    return Allocation(*args, **keywords) if declares and not {*keywords} - {"slots"} else ir.MemRef(*args, **keywords)


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
