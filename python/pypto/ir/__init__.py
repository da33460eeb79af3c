"""The IR: classes of nodes, types and places, and what takes a whole program. Nodes are immutable."""

from pypto.pypto_core import DataType  # noqa: F401
from pypto.pypto_core.ir import *  # noqa: F403
from pypto.pypto_core.ir import Call, InCoreScopeStmt, MemorySpace, SplitAivScopeStmt, SplitMode

Mem = MemorySpace
# Directions of a call's arguments where it says them (`attrs={"arg_directions": [..]}`).
Call.arg_directions = property(lambda call: dict(call.attrs).get("arg_directions", []))
_split = InCoreScopeStmt.split
InCoreScopeStmt.split = property(lambda scope: _split.__get__(scope) or SplitMode.NONE)
SplitAivScopeStmt.split = property(lambda scope: scope.mode)
SplitAivScopeStmt.count = property(lambda scope: 2)  # the vector cores of a cube core


def create_op_call(name, args=(), kwargs=None, span=None) -> Call:
    """The call of an operation of any generation ("tile.add", "block.add"), checked, with its type deduced."""
    from pypto.pypto_core.ir import create_op

    return create_op(name, *args, **(kwargs or {}), **({} if span is None else {"span": span}))


def __getattr__(name):
    if name == "IRVisitor":
        from pypto.ir.visitor import IRVisitor

        return IRVisitor
    if name == "IRBuilder":
        from pypto.ir.builder import IRBuilder

        return IRBuilder
    if name in ("OptimizationStrategy", "PassManager"):
        from pypto.ir import pass_manager

        return getattr(pass_manager, name)
    if name == "CompiledProgram":
        from pypto.ir.compiled_program import CompiledProgram

        return CompiledProgram
    raise AttributeError(f"module 'pypto.ir' has no attribute {name!r}")


def compile(program, *args, **keywords):
    """The CompiledProgram of a Program, written to a folder (pypto.ir.program_compile)."""
    from pypto.ir.program_compile import compile_program

    return compile_program(program, *args, **keywords)
