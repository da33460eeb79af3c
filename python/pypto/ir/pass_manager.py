"""Strategies of compilation. There is one pipeline; all of them are it."""

import enum


class OptimizationStrategy(enum.Enum):
    Default = "Default"
    PTOAS = "PTOAS"  # the seeds' name
    DebugTileOptimization = "DebugTileOptimization"


__all__ = ["OptimizationStrategy"]
