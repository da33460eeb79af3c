"""Strategies of compilation. There is one pipeline; all of them are it."""

import enum


class OptimizationStrategy(enum.Enum):
    Default = "Default"
    PTOAS = "PTOAS"  # the seeds' name
    DebugTileOptimization = "DebugTileOptimization"


class PassManager:
    """The passes of a strategy. There are none on this IR, so a program is given back as it was."""

    def __init__(self, strategy=OptimizationStrategy.Default):
        self.strategy = strategy
        self.passes, self.pass_names = [], []

    @classmethod
    def get_strategy(cls, strategy=OptimizationStrategy.Default, **_):
        return cls(strategy)

    def get_pass_names(self):
        return list(self.pass_names)

    def run_passes(self, program, dump_ir=False, output_dir=None, **_):
        return program


__all__ = ["OptimizationStrategy", "PassManager"]
