"""pl.tensor."""

from pypto.language.names import NAMESPACES

__getattr__ = NAMESPACES["tensor"].__getattr__
