"""One specialisation: the entry with shapes, types and numbers of a call, as an orchestrator with its kernels."""

import ast

from pypto.ir.bodies import sequence
from pypto.jit import arguments
from pypto.jit.arguments import Shaped
from pypto.jit.callees import Callees, JitProgram
from pypto.language.parser.diagnostics import ParserError, ParserTypeError, UnsupportedFeatureError
from pypto.language.parser.function_parser import FunctionParser, is_window, statements
from pypto.language.parser.returns import joined_returns
from pypto.language.parser.scopes import OF_TASKS
from pypto.language.typing import DynVar
from pypto.pypto_core import ir

_INOUT = ir.ParamDirection.InOut
_OUT = (ir.ParamDirection.Out, _INOUT)
_SCOPE = "with pl.at(level=pl.Level.CORE_GROUP):"
_IGNORED = (*OF_TASKS, "dumps", "slot_num")  # they change no result
# What an entry does with tensors outside of scopes; kernels may use the last two as well.
_VIEWS = ("tensor.create_tensor", "tensor.slice", "tensor.reshape", "tensor.view", "tensor.transpose")
# Without an operand that would say so, these make tensors; pl.tile.full makes a tile.
_TENSORS = ("pl.full", "pl.arange", "pl.random")
_COPIES = ("tensor.assemble",)  # a kernel of their own outside of scopes
_READS = ("tensor.dim", "tensor.read")
# What the host level does with ranks; the last one belongs everywhere.
_COLLECTIVES = ("allreduce", "broadcast", "allgather", "reduce_scatter", "all_to_all", "all_to_all_v", "barrier")
_COLLECTIVES = tuple(f"comm.{name}" for name in _COLLECTIVES)  # outside of scopes they are kernels of their own
_RANKS = ("comm.world_size", "comm.alloc_window_buffer", "comm.window", "comm.get_comm_ctx")
_TASKS = ("system.task_dummy", "system.task_invalid", "array.create", "array.get_element", "array.update_element")


class JitParser(Callees, FunctionParser):
    """Reads an entry of `@pl.jit`, or a kernel that it calls, for values by parameter name: a tensor (Shaped, Buffer),
    a number, or a scalar of the caller, which stays a parameter."""

    def __init__(self, source, closure, values, program=None):
        super().__init__(source, closure, program or JitProgram())
        self.given = values
        self.filling = None  # the argument whose annotation is read
        self.in_kernel = self.is_host = False
        self.promotes = False  # what is written without a direction is InOut, where nothing is run
        # Without tensors what annotations leave to pl.dynamic stays open.
        self.leaves_open = not any(isinstance(each, Shaped) for each in values.values())
        self.sizes = {}  # of extents that pl.dynamic names, by its object: numbers, or variables where they stay open

    def specialise(self, node, is_host=False, promotes=False):
        """The Program of the entry, an orchestrator, and the kernels that it calls. ParserError otherwise."""
        self.is_host, self.promotes = is_host, promotes
        try:
            entry = self.entry(node, node.name)
        except ParserError as error:
            error.source_lines = error.source_lines or self.source.lines
            raise
        except RecursionError:
            raise UnsupportedFeatureError("the function nests too deeply", self.span(node)) from None
        made = ir.Program([*self.program.functions.values(), entry], node.name, self.span(node))
        ir.verify(made)
        return made

    def device_function(self, node, name):
        """The orchestrator of a device, which the host level calls."""
        try:
            return self.entry(node, name)
        except ParserError as error:
            error.source_lines = error.source_lines or self.source.lines
            raise

    def entry(self, node, name):
        self.program.functions[name] = None  # the name is taken
        params, declared = self.parameters(node)
        if not params:
            self.fail(UnsupportedFeatureError, "a program without tensors is not supported; take one", node)
        body = self.statements(node)
        del self.program.functions[name]
        held = list(statements(body))
        calls = [each.value if isinstance(each, ir.AssignStmt) else getattr(each, "expr", None) for each in held]
        launches = [each for each in calls if isinstance(each, ir.Call) and isinstance(each.op, ir.GlobalVar)]
        if not launches and not any(isinstance(each, (ir.InCoreScopeStmt, ir.SpmdScopeStmt)) for each in held):
            self.fail(UnsupportedFeatureError, "an entry without a scope", node, f"put the work into `{_SCOPE}`")
        directions = self.checked_directions(node, name, params, declared, body)
        self.check_results({p for p, d in zip(params, directions, strict=True) if d in _OUT})
        level = {"level": ir.Level.HOST, "role": ir.Role.Orchestrator} if self.is_host else {}
        kind = ir.FunctionType.Orchestration
        results = [value.type for value in self.returned]
        return ir.Function(
            name, params, results, body, self.span(node), type=kind, param_directions=directions, **level
        )

    def kernel(self, node, name):
        """The kernel of a function under `@pl.jit.incore`."""
        self.in_kernel = True
        try:
            params, declared = self.parameters(node)
            body = self.statements(node)
            self.check_kernel(body)
            directions = self.checked_directions(node, name, params, declared, body)
        except ParserError as error:
            error.source_lines = error.source_lines or self.source.lines
            raise
        results = [value.type for value in self.returned] or [
            param.type for param, direction in zip(params, directions, strict=True) if direction in _OUT
        ][:1]
        kind = ir.FunctionType.InCore
        return ir.Function(name, params, results, body, self.span(node), type=kind, param_directions=directions)

    def statements(self, node):
        for stmt in joined_returns(node):
            if self.out and isinstance(self.out[-1], ir.ReturnStmt):
                self.fail(UnsupportedFeatureError, "nothing may follow return; put it before, or leave it out", stmt)
            self.statement(stmt)
        return sequence(self.out, self.span(node))

    def checked_directions(self, node, made, params, declared, body):
        written, read = set(), set()
        self.uses(body, written, read)
        directions = self.directions(made, params, declared, body)
        if self.promotes:
            bare = {param for param, each in zip(params, declared, strict=True) if each is None and param in written}
            directions = [_INOUT if p in bare else each for p, each in zip(params, directions, strict=True)]
        for param, direction in zip(params, directions, strict=True):
            if param in written and direction not in _OUT:
                annotation = next(each.annotation for each in node.args.args if each.arg == param.name_hint)
                hint = f"write `{param.name_hint}: pl.InOut[{ast.unparse(annotation)}]`"
                self.refuse(ParserTypeError, f"{param.name_hint} is written, but not declared as Out", param, hint)
            if direction in _OUT and param not in written and not is_window(param):
                from pypto.backend.pto_backend import PartialCodegenError

                name = param.name_hint
                message = f"{node.name}: output {name} is never written; use pl.store, or `{name}[:] = `"
                self.refuse(PartialCodegenError, message, param)
        if not any(direction in _OUT for direction in directions):
            message = "nothing is stored to a tensor"
            self.fail(ParserTypeError, message, node, "declare what is stored to as `pl.Out[pl.Tensor]`")
        return directions

    def refuse(self, error, message, at, hint=None):
        raise error(message, at.span, hint, source_lines=self.source.lines)

    # --- parameters ------------------------------------------------------------------------

    def parameters(self, node):
        """Tensors become parameters, numbers constants."""
        params, declared = [], []
        arguments_ = [*node.args.posonlyargs, *node.args.args]
        for each in arguments_:
            self.bind_sizes(each.annotation, self.given[each.arg], f"{node.name}: argument {each.arg}")
        for each in arguments_:
            name, value = each.arg, self.given[each.arg]
            if each.annotation is None:
                hint = f"write `{name}: pl.Tensor`"
                self.fail(ParserTypeError, f"missing type annotation of parameter {name}", each, hint)
            where = f"{node.name}: argument {name}"
            self.filling = value
            if value is None and self.is_bare(each.annotation):
                raise TypeError(f"{where}: its annotation says no shape; pass a tensor")
            if self.is_bare(each.annotation) and isinstance(value, (bool, int, float)):
                raise TypeError(f"{where}: expects a tensor, not {arguments.shown(value)}")
            type_, direction = self.annotation(each.annotation)
            self.filling = None
            if isinstance(type_, ir.ScalarType):
                if value is None or isinstance(value, Shaped):
                    raise TypeError(f"{where}: expects a number, not {'nothing' if value is None else 'a tensor'}")
                if not isinstance(value, ir.Expr):
                    self.env[name] = arguments.scalar(where, value, type_.dtype)
                    continue
            elif not isinstance(type_, ir.TensorType):
                hint = "take a tensor and `pl.load` the tile"
                self.fail(UnsupportedFeatureError, f"parameter {name} must be a tensor or a scalar", each, hint)
            else:
                self.check_tensor(where, value, type_, each)
            var = ir.Var(name, type_, self.span(each))
            self.env[name] = var
            params.append(var)
            declared.append(direction)
        return params, declared

    def bind_sizes(self, annotation, value, where):
        """The extents that an annotation leaves to pl.dynamic are those of the argument. ValueError where they differ
        from those of another one."""
        for part in ast.walk(annotation) if annotation is not None and isinstance(value, Shaped) else ():
            if not isinstance(part, ast.Subscript) or not isinstance(part.slice, ast.Tuple):
                continue
            extents = part.slice.elts[0]
            for axis, extent in enumerate(getattr(extents, "elts", [])):
                symbol = self.closure.get(extent.id) if isinstance(extent, ast.Name) else None
                if isinstance(symbol, DynVar) and axis < len(value.shape):
                    self.bind_size(symbol, value.shape[axis], where)

    def bind_size(self, symbol, size, where):
        known = self.sizes.setdefault(symbol, size)
        if isinstance(known, int) and isinstance(size, int) and known != size:
            raise ValueError(f"{where}: {symbol.name} is {size} here and {known} elsewhere")

    def is_bare(self, annotation):
        """Whether an annotation is pl.Tensor, pl.Out[pl.Tensor] or pl.InOut[pl.Tensor]."""
        if isinstance(annotation, ast.Subscript):
            annotation = annotation.slice
        return isinstance(annotation, ast.Attribute) and annotation.attr == "Tensor"

    def check_tensor(self, where, value, wanted, node):
        if value is None:
            value = Shaped(tuple(getattr(extent, "value", None) for extent in wanted.shape), wanted.dtype)
        if not isinstance(value, Shaped):
            number = "a number" if isinstance(value, ir.Expr) else arguments.shown(value)
            raise TypeError(f"{where}: expects a tensor, not {number}")
        if value.dtype != wanted.dtype:
            raise TypeError(f"{where}: expects {wanted.dtype.name}, not {value.dtype.name}")
        shape = [getattr(each, "value", None) for each in wanted.shape]  # None: what the run says
        if len(shape) != len(value.shape):
            raise ValueError(f"{where}: expects {len(shape)} axes, {shape}, not {list(value.shape)}")
        if any(isinstance(size, int) and each not in (None, size) for each, size in zip(shape, value.shape)):
            raise ValueError(f"{where}: expects shape {shape}, not {list(value.shape)}")

    def type_Tensor(self, node, items, make=ir.TensorType):
        if items or not isinstance(self.filling, Shaped):
            return super().type_Tensor(node, items, make)
        extents = [self.as_expr(extent, node) for extent in self.filling.shape]
        return make(extents, self.filling.dtype, None, None)

    def emit(self, stmt):
        super().emit(stmt)
        call = getattr(stmt, "value", None)
        if isinstance(stmt, ir.AssignStmt) and isinstance(call, ir.Call) and call.op.name in _VIEWS[1:]:
            self.views[stmt.var] = call.args[0]  # who writes the view writes the tensor

    # --- what is not there yet ---------------------------------------------------------------

    def stmt_With(self, node):
        if self.in_kernel:
            hint = "leave the inner scope out: its statements belong to the kernel"
            self.fail(UnsupportedFeatureError, "scopes inside a kernel are not supported yet", node, hint)
        begin = len(self.out)
        super().stmt_With(node)
        if any(each.arg == "predicate" for each in getattr(node.items[0].context_expr, "keywords", [])):
            return  # a branch, whose scope was checked
        scope = next((each for each in self.out[begin:] if isinstance(each, ir.ScopeStmt)), None)
        if isinstance(scope, ir.InCoreScopeStmt):
            attrs = {key: value for key, value in dict(scope.attrs).items() if key not in _IGNORED and value}
            if attrs:
                names = ", ".join(attrs)
                hint = f"write `{_SCOPE}`"
                self.fail(UnsupportedFeatureError, f"{names} of a scope is not supported yet", node, hint)
            self.check_kernel(scope.body)
        elif not isinstance(scope, (ir.RuntimeScopeStmt, ir.ClusterScopeStmt, ir.SpmdScopeStmt)):
            self.fail(UnsupportedFeatureError, "this scope is not supported yet", node, f"write `{_SCOPE}`")

    def scope_body(self, node, loop=None):
        call = node.items[0].context_expr if isinstance(node, ast.With) else node.iter
        launched = self.is_call(call, "spmd") and not self.calls_kernel(node)
        outer, self.in_kernel = self.in_kernel, self.in_kernel or self.is_call(call, "at") or launched
        body = super().scope_body(node, loop)
        self.in_kernel = outer
        return body

    def closure_value(self, value, node):
        if isinstance(value, DynVar):
            if value in self.sizes:
                return self.sizes[value]
            if self.filling is None and self.leaves_open:
                return super().closure_value(value, node)
            hint = "name it in the shape of a tensor that is passed"
            self.fail(UnsupportedFeatureError, f"{value.name} has no size here", node, hint)
        return super().closure_value(value, node)

    def operation(self, name, arguments, keywords, node):
        if name in _TENSORS:
            name = name.replace("pl.", "tensor.")
        call = super().operation(name, arguments, keywords, node)
        called = call.op.name
        if not self.in_kernel:
            ranks = _RANKS if self.is_host else _RANKS[-1:]
            if called not in (*_VIEWS, *_READS, *_TASKS, *_COPIES, *_COLLECTIVES, *ranks):
                shown = ast.unparse(node.func) if isinstance(node, ast.Call) else called
                message = f"{shown} outside a scope is not supported"
                self.fail(UnsupportedFeatureError, message, node, f"move it into `{_SCOPE}`")
        return call

    def check_kernel(self, body):
        """Statements that the lowering of a kernel does not know, with their place."""
        for each in statements(body):
            if isinstance(each, (ir.BreakStmt, ir.ContinueStmt)):
                hint = "keep the exit in the condition of a while"
                self.refuse(UnsupportedFeatureError, "break and continue are not supported yet", each, hint)

    def check_results(self, outputs):
        for value in self.returned:
            if self.root(value) not in outputs:
                self.refuse(
                    UnsupportedFeatureError, "an entry returns only its outputs", value, "return a `pl.Out` tensor"
                )


def open_axes(node, closure):
    """The axes whose extents a definition leaves to pl.dynamic, in annotations or by bind_dynamic: by parameter, the
    object by axis, or the text of an extent that follows from some."""
    axes = {}
    for each in (*node.args.posonlyargs, *node.args.args):
        for part in ast.walk(each.annotation) if each.annotation is not None else ():
            if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Tuple):
                for axis, extent in enumerate(getattr(part.slice.elts[0], "elts", [])):
                    names = [closure.get(name.id) for name in ast.walk(extent) if isinstance(name, ast.Name)]
                    if any(isinstance(symbol, DynVar) for symbol in names):
                        whole = names[0] if isinstance(extent, ast.Name) else ast.unparse(extent)
                        axes.setdefault(each.arg, {})[axis] = whole
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and getattr(each.func, "attr", "") == "bind_dynamic" and len(each.args) == 2:
            tensor, axis = getattr(each.func.value, "id", None), getattr(each.args[0], "value", None)
            symbol = closure.get(getattr(each.args[1], "id", ""))
            if isinstance(symbol, DynVar) and tensor and isinstance(axis, int):
                axes.setdefault(tensor, {})[axis] = symbol
    return axes


def opened(values, axes):
    """What a specialisation for all sizes knows of arguments: the variables in place of extents at these axes."""
    held = dict(values)
    for name, symbols in axes.items():
        value = values.get(name)
        if isinstance(value, Shaped):
            shape = list(value.shape)
            for axis, symbol in symbols.items():
                if axis < len(shape):
                    shape[axis] = symbol.variable() if isinstance(symbol, DynVar) else symbol
            held[name] = Shaped(tuple(shape), value.dtype)
    return held


def references(node):
    """Dotted names that a definition reads: what a specialisation may fold."""
    found, inner = set(), set()
    local = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    local |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    for each in ast.walk(node):
        names, base = [], each
        while isinstance(base, ast.Attribute):
            names.insert(0, base.attr)
            inner.add(id(base.value))
            base = base.value
        if isinstance(base, ast.Name) and id(each) not in inner and base.id not in local:
            found.add((base.id, *names))
    return sorted(found)
