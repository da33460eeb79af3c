"""The language of tile programs: `import pypto.language as pl`.

`@pl.function` and `@pl.program` read the text of what they decorate and give its IR; they execute none of it.
`pl.parse`, `pl.loads`, `pl.parse_program` and `pl.loads_program` do the same for text and files.
"""

from typing import TYPE_CHECKING

from pypto.language.names import lookup as _lookup
from pypto.language.typing import (
    Array,
    AtomicType,
    CoreType,
    DataType,
    DistributedTensor,
    DynVar,
    InOut,
    MaskPattern,
    MemorySpace,
    MemRef,
    Out,
    PadValue,
    PipeType,
    Ptr,
    Scalar,
    ScopeMode,
    Tensor,
    TensorLayout,
    TensorView,
    Tile,
    TileLayout,
    TileView,
    Tuple,
    dynamic,
)
from pypto.pypto_core.ir import ArgDirection as adir
from pypto.pypto_core.ir import (
    AsyncEventType,
    AsyncSessionType,
    CompactMode,
    ForKind,
    FunctionType,
    Level,
    PrefetchAsyncContextType,
    Role,
    SplitMode,
)

if TYPE_CHECKING:  # signatures of the operations, generated
    from pypto.jit.function import jit  # noqa: F401
    from pypto.language._ops import array, system, tensor, tile  # noqa: F401
    from pypto.language.parser.entry import (  # noqa: F401
        function,
        inline,
        loads,
        loads_program,
        parse,
        parse_program,
        program,
    )

Mem = MemorySpace
ND, DN, NZ = TensorLayout.ND, TensorLayout.DN, TensorLayout.NZ
MX_A_ZZ, MX_B_NN = TensorLayout.MX_A_ZZ, TensorLayout.MX_B_NN
for _name in dir(DataType):
    if _name.isupper() and not _name.startswith("_"):
        globals()[_name] = getattr(DataType, _name)
AsyncEvent, AsyncSession, PrefetchAsyncContext = AsyncEventType, AsyncSessionType, PrefetchAsyncContextType
AUTO = None  # of an address: where the compiler puts it
_ENTRIES = ("function", "inline", "loads", "loads_program", "parse", "parse_program", "program")


def __getattr__(name):
    value = _lookup(name)
    if value is not None:
        return value
    if name == "jit":
        from pypto.jit.function import jit

        return jit
    if name in _ENTRIES:  # the parser is loaded when it is needed
        from pypto.language.parser import entry

        return getattr(entry, name)
    raise AttributeError(f"module 'pypto.language' has no attribute {name!r}")


__all__ = [
    "AUTO",
    "Array",
    "AsyncEvent",
    "AsyncEventType",
    "AsyncSession",
    "AsyncSessionType",
    "AtomicType",
    "CompactMode",
    "CoreType",
    "DataType",
    "DistributedTensor",
    "DynVar",
    "ForKind",
    "FunctionType",
    "InOut",
    "Level",
    "MaskPattern",
    "Mem",
    "MemRef",
    "MemorySpace",
    "Out",
    "PadValue",
    "PipeType",
    "PrefetchAsyncContext",
    "PrefetchAsyncContextType",
    "Ptr",
    "Role",
    "Scalar",
    "ScopeMode",
    "SplitMode",
    "Tensor",
    "TensorLayout",
    "TensorView",
    "Tile",
    "TileLayout",
    "TileView",
    "Tuple",
    "adir",
    "dynamic",
]
