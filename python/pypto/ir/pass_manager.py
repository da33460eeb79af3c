"""Strategies of compilation. There is one pipeline; all of them are it."""

import enum

from pypto.ir import errors
from pypto.pypto_core import ir


class OptimizationStrategy(enum.Enum):
    Default = "Default"
    PTOAS = "PTOAS"  # the seeds' name
    DebugTileOptimization = "DebugTileOptimization"


class PassManager:
    """The pipeline as it shows in a program: no pass has a name of its own."""

    def __init__(self, strategy=OptimizationStrategy.Default):
        self.strategy = strategy
        self.passes, self.pass_names = [], []

    @classmethod
    def get_strategy(cls, strategy=OptimizationStrategy.Default, **_):
        return cls(strategy)

    def get_pass_names(self):
        return list(self.pass_names)

    def run_passes(self, program, dump_ir=False, output_dir=None, **_):
        """The program with scopes as functions, tiles for the tensors that they compute, and each InCore function as
        one of type AIC or AIV; one that needs both kinds of core is a Group that calls one of each, with queues between
        them. For the back end of `set_backend_type`. ParserError, with the place, for what cannot be divided."""
        from pypto.backend import BackendType, get_backend_type

        return expanded(program, "a5" if get_backend_type() == BackendType.Ascend950 else "a3")


def expanded(program, processor):
    """The program as its kernels are compiled for a processor."""
    from pto_mlir import _compiler

    try:
        return ir.deserialize(_compiler.expand_pypto(ir.serialize(program), processor))
    except _compiler.CompileError as error:
        text = str(error)
    raise errors.of_compiler(text)


__all__ = ["OptimizationStrategy", "PassManager"]
