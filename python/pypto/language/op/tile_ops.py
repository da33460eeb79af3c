"""pl.tile."""

from pypto.language.names import NAMESPACES

__getattr__ = NAMESPACES["tile"].__getattr__
