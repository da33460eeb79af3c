"""The code generators and their helpers."""

from pypto.pypto_core.codegen import ISAMapper, PTOCodegen, TypeConverter

__all__ = ["ISAMapper", "PTOCodegen", "TypeConverter"]
