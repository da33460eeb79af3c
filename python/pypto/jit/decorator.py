"""`jit` and what it makes."""

from pypto.jit.function import JITFunction, jit

__all__ = ["JITFunction", "jit"]
