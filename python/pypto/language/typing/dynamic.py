"""Extents known at run time."""

from pypto.language.typing import DynVar, dynamic

__all__ = ["DynVar", "dynamic"]
