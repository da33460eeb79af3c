"""Helpers of the code generators."""

from pypto.pypto_core.codegen import ISAMapper, TypeConverter

__all__ = ["ISAMapper", "TypeConverter"]
