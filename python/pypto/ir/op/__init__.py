"""Operations as functions that make calls: `block.load(x, [0, 0], [32, 32])`, `tile.add(a, b)`, `system.bar_all()`.

`block` is the seeds' name of `tile`, and takes their flat loads and stores: block.load(x, r, c, h, w).
"""

from pypto.pypto_core.ir import Call, create_op, op_names


class _Namespace:
    """The operations whose full names begin with `prefix`."""

    def __init__(self, prefix, members):
        self._prefix = prefix
        self._members = members

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)

        def call(*args, span=None, **kwargs) -> Call:
            if span is not None:
                kwargs["span"] = span
            return create_op(f"{self._prefix}.{name}", *args, **kwargs)

        call.__name__ = name
        call.__qualname__ = f"{self._prefix}.{name}"
        return call

    def __dir__(self):
        return self._members


def _namespaces():
    members = {}
    for name in op_names():
        space, base = name.split(".", 1)
        members.setdefault(space, []).append(base)
    return members


_members = _namespaces()
tile = _Namespace("tile", _members["tile"])
block = _Namespace("block", [*_members["tile"], "sum"])
tensor = _Namespace("tensor", _members["tensor"])
system = _Namespace("system", _members["system"])
array = _Namespace("array", _members["array"])

system_ops, tensor_ops, tile_ops = system, tensor, tile  # their modules' names

__all__ = ["array", "block", "system", "tensor", "tile"]
