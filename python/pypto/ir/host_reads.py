"""What the host level of a program of several ranks reads of its arguments: numbers, and elements of tensors."""

import numpy as np

from pypto.ir.extents import element
from pypto.ir.visitor import IRVisitor
from pypto.pypto_core import ir

_MOST = 1 << 16


class _Reads(IRVisitor):
    """The parameters of an orchestrator whose elements it reads, those of the functions that it calls with them too."""

    def __init__(self, program, function):
        self.program = program
        self.roots = {param: name for name, param in enumerate(function.params)}
        self.found = set()
        self.visit(function.body)

    def visit_assign_stmt(self, stmt):
        self.visit(stmt.value)
        source = stmt.value
        if isinstance(source, ir.Call) and source.op.name.startswith("tensor.") and source.args:
            source = source.args[0]  # a view
        if isinstance(source, ir.Var) and source in self.roots:
            self.roots[stmt.var] = self.roots[source]

    def visit_call(self, call):
        given = [self.roots.get(each) if isinstance(each, ir.Var) else None for each in call.args]
        function = self.program.functions.get(call.op.name) if isinstance(call.op, ir.GlobalVar) else None
        if call.op.name == "tensor.read" and given[0] is not None:
            self.found.add(given[0])
        elif function is not None and function.func_type == ir.FunctionType.Orchestration:
            self.found |= {given[index] for index in _Reads(self.program, function).found} - {None}
        self.generic_visit(call)

    def visit_in_core_scope_stmt(self, scope):
        """What a kernel reads decides nothing here."""


def host_reads(program, main):
    """The names of the parameters that decide which launches a program of the host level has."""
    if main.level != ir.Level.HOST:
        return []
    found = _Reads(program, main).found
    return [
        param.name_hint
        for index, param in enumerate(main.params)
        if index in found or isinstance(param.type, ir.ScalarType)
    ]


def words(where, name, buffer):
    """The elements of an argument by their names among sizes: integers, else the bits of a double. ValueError."""
    data = np.asarray(buffer.data).reshape(-1)
    if data.size > _MOST:
        raise ValueError(f"{where}: the host level reads elements of it, which has {data.size}; at most {_MOST}")
    if buffer.dtype.name == "BF16":
        raise ValueError(f"{where}: the host level reads elements of it, which are BF16; pass FP32 or integers")
    values = data if data.dtype.kind in "iub" else data.astype(np.float64).view(np.int64)
    return {element(name, index): int(value) for index, value in enumerate(values)}
