"""pl.system."""

from pypto.language.names import NAMESPACES

__getattr__ = NAMESPACES["system"].__getattr__
