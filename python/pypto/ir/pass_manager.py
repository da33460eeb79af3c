"""Strategies of compilation. There is one pipeline; all of them are it."""

import enum
from pathlib import Path

from pypto.ir import errors
from pypto.language.parser.diagnostics import ParserError, QueueError
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

        processor = "a5" if get_backend_type() == BackendType.Ascend950 else "a3"
        if dump_ir:
            if output_dir is None:
                raise ValueError("run_passes: dump_ir needs an output_dir")
            write_dumps(program, processor, Path(output_dir))
        return expanded(program, processor)


def expanded(program, processor):
    """The program as its kernels are compiled for a processor."""
    from pto_mlir import _compiler

    try:
        return ir.deserialize(_compiler.expand_pypto(ir.serialize(program), processor))
    except _compiler.CompileError as error:
        text = str(error)
    raise errors.of_compiler(text)


def expanded_or_captured(program, processor):
    """The same, or the program itself where a kernel cannot be divided, which is then compiled as several tasks.
    QueueError for values that queues do not divide as the program says."""
    try:
        return expanded(program, processor)
    except QueueError:
        raise
    except ParserError:
        return program


def write_dumps(program, processor, folder):
    """Writes the program as captured and behind each step, to where it cannot be divided. The last step shows the
    kernels alone, with the addresses of their tiles; those that have no such form are left out."""
    from pto_mlir import _compiler

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "00_frontend.py").write_text(ir.python_print(program))
    for number, (name, made) in enumerate(_compiler.trace_pypto(ir.serialize(program), processor), 1):
        (folder / f"{number:02}_after_{name}.py").write_text(ir.python_print(ir.deserialize(made)))


__all__ = ["OptimizationStrategy", "PassManager"]
