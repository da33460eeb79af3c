"""The operations of `pl` by the modules that programs know them from."""

from pypto.language.names import OPERATIONS, lookup


def __getattr__(name):
    value = lookup(name)
    if value is None:
        raise AttributeError(f"module 'pypto.language.op' has no attribute {name!r}")
    return value


__all__ = sorted(OPERATIONS)
