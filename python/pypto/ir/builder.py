"""IRBuilder: functions and programs, statement by statement.

    ib = IRBuilder()
    with ib.function("scale") as f:
        x = f.param("x", ir.TensorType([64, 32], DataType.FP32))
        y = f.param("y", ir.TensorType([64, 32], DataType.FP32))
        f.return_type(ir.TensorType([64, 32], DataType.FP32))
        t = ib.let("t", block.load(x, [0, 0], [64, 32]))
        r = ib.let("r", block.store(t, [0, 0], [64, 32], y))
        ib.return_stmt(r)
    function = f.get_result()
"""

import sys
from contextlib import contextmanager

from pypto.ir.bodies import sequence
from pypto.pypto_core import DataType, ir


def _as_expr(value, dtype=None):
    if isinstance(value, bool):
        return ir.ConstBool(value)
    if isinstance(value, int):
        return ir.ConstInt(value, dtype or DataType.INDEX)
    if isinstance(value, float):
        return ir.ConstFloat(value, dtype or DataType.FP32)
    return value


class _Body:
    """Statements in the making."""

    def __init__(self, span):
        self.statements = []
        self.span = span

    def result(self):
        return sequence(self.statements, self.span)


class FunctionBuilder:
    """What `IRBuilder.function` gives: parameters and result types of the function in the making."""

    def __init__(self, name, span, func_type):
        self._name, self._span, self._type = name, span, func_type
        self._params, self._directions, self._results = [], [], []
        self._function = None

    def param(self, name, type, span=None, direction=ir.ParamDirection.In):
        """Adds a parameter; its variable."""
        var = ir.Var(name, type, span or self._span)
        self._params.append(var)
        self._directions.append(direction)
        return var

    def return_type(self, type):
        """Adds the type of a result."""
        self._results.append(type)

    def get_result(self):
        """The function, once its `with` has ended."""
        if self._function is None:
            raise RuntimeError(f"function {self._name} is not finished")
        return self._function

    def _finish(self, body):
        self._function = ir.Function(
            self._name,
            self._params,
            self._results,
            body.result(),
            self._span,
            type=self._type,
            param_directions=self._directions,
        )


class LoopBuilder:
    """What `for_loop` and `while_loop` give: carried values and results."""

    def __init__(self, span):
        self._span = span
        self.iter_args, self.return_vars = [], []

    def iter_arg(self, name, init_value, span=None):
        """A carried value that begins with `init_value`; its variable inside the loop."""
        init = _as_expr(init_value)
        self.iter_args.append(ir.IterArg(name, init.type, init, span or self._span))
        return self.iter_args[-1]

    def return_var(self, name, type=None, span=None):
        """The variable that holds the carried value of the same position after the loop."""
        type = type or self.iter_args[len(self.return_vars)].type
        self.return_vars.append(ir.Var(name, type, span or self._span))
        return self.return_vars[-1]

    def output(self, index=0):
        """The result of that position."""
        return self.return_vars[index]


class IfBuilder:
    """What `if_stmt` gives: the arms and the results."""

    def __init__(self, builder, span):
        self._builder, self._span = builder, span
        self.return_vars = []
        self._else = None

    @contextmanager
    def else_(self, span=None):
        """The other arm."""
        self._else = _Body(span or self._span)
        self._builder._bodies.append(self._else)
        yield self
        self._builder._bodies.pop()

    def return_var(self, name, type, span=None):
        """A variable that both arms yield a value for."""
        self.return_vars.append(ir.Var(name, type, span or self._span))
        return self.return_vars[-1]

    def output(self, index=0):
        """The result of that position."""
        return self.return_vars[index]


class IRBuilder:
    """Builds IR in the order in which the program runs. Places come from the caller's line unless `span` is given."""

    def __init__(self):
        self._bodies = []
        self._functions = []

    def _span(self, span):
        if span is not None:
            return span
        frame = sys._getframe(1)
        while frame.f_back and frame.f_code.co_filename in (__file__, _CONTEXTLIB):
            frame = frame.f_back
        return ir.Span(frame.f_code.co_filename, frame.f_lineno, 1)

    def emit(self, stmt):
        """Adds a statement."""
        if not self._bodies:
            raise RuntimeError("a statement needs a function around it")
        self._bodies[-1].statements.append(stmt)
        return stmt

    @contextmanager
    def function(self, name, span=None, type=ir.FunctionType.Opaque):
        """The function whose body the block makes."""
        builder = FunctionBuilder(name, self._span(span), type)
        self._functions.append(builder)
        body = _Body(builder._span)
        self._bodies.append(body)
        yield builder
        self._bodies.pop()
        self._functions.pop()
        builder._finish(body)

    def var(self, name, type, span=None):
        """A variable that nothing is assigned to yet: of a loop, or of `assign`."""
        return ir.Var(name, type, self._span(span))

    def let(self, name, value, type=None, span=None):
        """name = value; the variable."""
        span = self._span(span)
        value = _as_expr(value)
        var = ir.Var(name, type or value.type, span)
        self.emit(ir.AssignStmt(var, value, span))
        return var

    def assign(self, var, value, span=None):
        """var = value, for a variable of `var`."""
        self.emit(ir.AssignStmt(var, _as_expr(value), self._span(span)))
        return var

    def eval_stmt(self, expr, span=None):
        """A call for its effect."""
        return self.emit(ir.EvalStmt(expr, self._span(span)))

    def return_stmt(self, values=(), span=None):
        """return values"""
        values = list(values) if isinstance(values, (list, tuple)) else [values]
        return self.emit(ir.ReturnStmt([_as_expr(v) for v in values], self._span(span)))

    def yield_stmt(self, values=(), span=None):
        """The values that a body hands on."""
        values = list(values) if isinstance(values, (list, tuple)) else [values]
        return self.emit(ir.YieldStmt([_as_expr(v) for v in values], self._span(span)))

    @contextmanager
    def for_loop(self, loop_var, start, stop, step=1, span=None, kind=ir.ForKind.Sequential, attrs=None):
        """for loop_var in range(start, stop, step); `loop_var` is a variable of `var`, or a name."""
        span = self._span(span)
        if isinstance(loop_var, str):
            loop_var = ir.Var(loop_var, ir.ScalarType(DataType.INDEX), span)
        dtype = loop_var.type.dtype
        bounds = [_as_expr(b, dtype) for b in (start, stop, step)]
        loop, body = LoopBuilder(span), _Body(span)
        loop.loop_var = loop_var
        self._bodies.append(body)
        yield loop
        self._bodies.pop()
        carried, results = loop.iter_args, loop.return_vars
        self.emit(ir.ForStmt(loop_var, *bounds, carried, body.result(), results, span, kind=kind, attrs=attrs or {}))

    @contextmanager
    def while_loop(self, condition, span=None):
        """while condition; a callable condition is called with the loop once its values are there."""
        span = self._span(span)
        loop, body = LoopBuilder(span), _Body(span)
        self._bodies.append(body)
        yield loop
        self._bodies.pop()
        held = condition(loop) if callable(condition) else condition
        self.emit(ir.WhileStmt(_as_expr(held), loop.iter_args, body.result(), loop.return_vars, span))

    @contextmanager
    def if_stmt(self, condition, span=None):
        """if condition; the other arm is a `with` of `else_()` inside."""
        span = self._span(span)
        arms, body = IfBuilder(self, span), _Body(span)
        self._bodies.append(body)
        yield arms
        self._bodies.pop()
        other = arms._else.result() if arms._else else None
        self.emit(ir.IfStmt(_as_expr(condition), body.result(), other, arms.return_vars, span))

    def program(self, functions, name="", span=None):
        """A program of finished functions."""
        return ir.Program(list(functions), name, self._span(span))


_CONTEXTLIB = contextmanager.__code__.co_filename
