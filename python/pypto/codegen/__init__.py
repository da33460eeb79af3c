"""The code generators and their helpers, under the names of each generation."""

from pypto.pypto_core.codegen import (
    CCECodegen,
    CceCodegen,
    CodeGenerator,
    ISAMapper,
    PTOCodegen,
    TypeConverter,
    generate_orchestration,
)

__all__ = [
    "CCECodegen",
    "CceCodegen",
    "CodeGenerator",
    "ISAMapper",
    "PTOCodegen",
    "TypeConverter",
    "generate_orchestration",
]
