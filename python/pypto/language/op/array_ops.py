"""pl.array."""

from pypto.language.names import NAMESPACES

__getattr__ = NAMESPACES["array"].__getattr__
