"""Programs of several ranks: `import pypto.language.distributed as pld`.

The host level (`@pl.jit.host`) allocates windows, memory that every rank has a copy of, and calls functions of devices
with `device=r`; kernels read and write the copies of their peers, and wait for each other by signal cells.
"""

from pypto.language.names import Name
from pypto.language.typing import AtomicType, DistributedTensor
from pypto.pypto_core.ir import NotifyOp, ReduceOp, WaitCmp


class CommCtx:
    """The type of `get_comm_ctx`: a group of ranks."""


class _Namespace:
    """pld.system, pld.tile, pld.tensor: operations on ranks by the names that they have there."""

    def __init__(self, prefix, members):
        self._prefix, self._members = prefix, members

    def __getattr__(self, name):
        if name not in self._members:
            raise AttributeError(f"pld.{self._prefix} has no operation {name}")
        return Name(f"comm.{name}")

    def __dir__(self):
        return sorted(self._members)


_MEMBERS = {
    "system": ("notify", "wait", "defer_wait"),
    "tile": ("remote_load", "remote_store"),
    "tensor": (
        *("put", "get", "barrier", "allreduce", "broadcast", "allgather", "reduce_scatter", "all_to_all"),
        *("all_to_all_v", "remote_store"),
    ),
}
_HERE = ("world_size", "alloc_window_buffer", "window", "get_comm_ctx", "rank", "nranks", "remote_load", "remote_store")
NAMESPACES = {prefix: _Namespace(prefix, members) for prefix, members in _MEMBERS.items()}
for _name in _HERE:
    globals()[_name] = Name(f"comm.{_name}")
system, tile, tensor = NAMESPACES["system"], NAMESPACES["tile"], NAMESPACES["tensor"]


__all__ = [
    *_HERE,
    "AtomicType",
    "CommCtx",
    "DistributedTensor",
    "NotifyOp",
    "ReduceOp",
    "WaitCmp",
    "system",
    "tensor",
    "tile",
]
