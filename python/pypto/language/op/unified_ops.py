"""The operations of `pl` that choose by their first operand."""

from pypto.language.op import __all__, __getattr__  # noqa: F401
