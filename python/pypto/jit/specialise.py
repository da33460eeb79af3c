"""One specialisation: the entry's text with shapes, types and numbers of a call, as a program with one kernel."""

import ast

from pypto.jit import arguments
from pypto.jit.arguments import Buffer
from pypto.language.parser.diagnostics import ParserError, ParserTypeError, UnsupportedFeatureError
from pypto.language.parser.function_parser import FunctionParser, statements
from pypto.language.typing import DynVar
from pypto.pypto_core import ir

_OUT = (ir.ParamDirection.Out, ir.ParamDirection.InOut)
_SCOPE = "with pl.at(level=pl.Level.CORE_GROUP):"
_IGNORED = ("allow_early_resolve", "dumps", "no_dep_args")  # of one task alone


class JitParser(FunctionParser):
    """Reads an entry of `@pl.jit` for values by parameter name: a Buffer, or a number."""

    def __init__(self, source, closure, values):
        super().__init__(source, closure)
        self.given = values
        self.filling = None  # the argument whose annotation is read

    def specialise(self, node):
        """The Program of one InCore kernel, whose parameters are the entry's tensors. ParserError otherwise."""
        try:
            return self.entry(node)
        except ParserError as error:
            error.source_lines = error.source_lines or self.source.lines
            raise
        except RecursionError:
            raise UnsupportedFeatureError("the function nests too deeply", self.span(node)) from None

    def entry(self, node):
        params, declared = self.parameters(node)
        for stmt in node.body:
            if self.out and isinstance(self.out[-1], ir.ReturnStmt):
                self.fail(UnsupportedFeatureError, "nothing may follow return", stmt)
            self.statement(stmt)
        scope = self.only_scope(node)
        self.check_kernel(scope.body)
        written, read = set(), set()
        self.uses(scope.body, written, read)
        directions = self.directions(params, declared, scope.body)
        for param, direction in zip(params, directions, strict=True):
            if param in written and direction not in _OUT:
                hint = f"{param.name_hint}: pl.Out[pl.Tensor]"
                self.refuse(ParserTypeError, f"{param.name_hint} is written, but not declared as Out", param, hint)
            if direction in _OUT and param not in written:
                from pypto.backend.pto_backend import PartialCodegenError

                raise PartialCodegenError(f"{node.name}: output {param.name_hint} is never written; use pl.store")
        if not written:
            self.refuse(
                ParserTypeError, "the scope stores to no tensor", scope, "store the result: pl.store(t, .., out)"
            )
        self.check_results({p for p, d in zip(params, directions, strict=True) if d in _OUT})
        name = scope.name_hint or f"{node.name}_incore_0"
        kind = ir.FunctionType.InCore
        place = self.span(node)
        kernel = ir.Function(name, params, [], scope.body, place, type=kind, param_directions=directions)
        made = ir.Program([kernel], node.name, place)
        ir.verify(made)
        return made

    def refuse(self, error, message, at, hint=None):
        raise error(message, at.span, hint, source_lines=self.source.lines)

    # --- parameters ------------------------------------------------------------------------

    def parameters(self, node):
        """Tensors become parameters of the kernel, numbers constants."""
        params, declared = [], []
        for each in [*node.args.posonlyargs, *node.args.args]:
            name, value = each.arg, self.given[each.arg]
            if each.annotation is None:
                hint = f"{name}: pl.Tensor"
                self.fail(ParserTypeError, f"missing type annotation of parameter {name}", each, hint)
            self.filling = value
            type_, direction = self.annotation(each.annotation)
            self.filling = None
            where = f"{node.name}: argument {name}"
            if isinstance(type_, ir.ScalarType):
                if isinstance(value, Buffer):
                    raise TypeError(f"{where}: expects a number, not a tensor")
                self.env[name] = arguments.scalar(where, value, type_.dtype)
                continue
            if type(type_) is not ir.TensorType:
                self.fail(UnsupportedFeatureError, f"parameter {name} must be a tensor or a scalar", each)
            self.check_tensor(where, value, type_, each)
            var = ir.Var(name, type_, self.span(each))
            self.env[name] = var
            params.append(var)
            declared.append(direction)
        if not params:
            self.fail(UnsupportedFeatureError, "a program without tensors is not supported", node)
        return params, declared

    def check_tensor(self, where, value, wanted, node):
        if not isinstance(value, Buffer):
            raise TypeError(f"{where}: expects a tensor, not the number {value}")
        if value.dtype != wanted.dtype:
            raise TypeError(f"{where}: expects {wanted.dtype.name}, not {value.dtype.name}")
        if not all(isinstance(each, ir.ConstInt) for each in wanted.shape):
            hint = "use pl.Tensor, which is compiled for each size"
            self.fail(UnsupportedFeatureError, "extents known at run time are not supported yet", node, hint)
        shape = [each.value for each in wanted.shape]
        if len(shape) != len(value.shape):
            raise ValueError(f"{where}: expects {len(shape)} axes, {shape}, not {list(value.shape)}")
        if shape != list(value.shape):
            raise ValueError(f"{where}: expects shape {shape}, not {list(value.shape)}")

    def type_Tensor(self, node, items, make=ir.TensorType):
        if items or not isinstance(self.filling, Buffer):
            return super().type_Tensor(node, items, make)
        extents = [self.as_expr(extent, node) for extent in self.filling.shape]
        return make(extents, self.filling.dtype, None, None)

    # --- what is not there yet ---------------------------------------------------------------

    def only_scope(self, node):
        scope = None
        for stmt in self.out:
            if isinstance(stmt, ir.ReturnStmt):
                continue
            if not isinstance(stmt, ir.InCoreScopeStmt):
                held = getattr(stmt, "value", getattr(stmt, "expr", None))
                what = held.op.name if isinstance(held, ir.Call) else type(stmt).__name__
                message = f"{what} outside a scope is not supported yet"
                self.refuse(UnsupportedFeatureError, message, stmt, f"move it into `{_SCOPE}`")
            if scope is not None:
                hint = f"put the work into one `{_SCOPE}`"
                self.refuse(UnsupportedFeatureError, "several scopes are not supported yet", stmt, hint)
            scope = stmt
        if scope is None:
            self.fail(UnsupportedFeatureError, "an entry without a scope", node, f"put the work into one `{_SCOPE}`")
        return scope

    def stmt_With(self, node):
        super().stmt_With(node)
        scope = self.out[-1]
        if isinstance(scope, ir.InCoreScopeStmt):
            attrs = {key: value for key, value in dict(scope.attrs).items() if key not in _IGNORED and value}
            split = getattr(scope, "split", None)
            if attrs or split not in (None, ir.SplitMode.NONE):
                names = ", ".join(attrs) or "split"
                self.fail(UnsupportedFeatureError, f"{names} of a scope is not supported yet", node, f"`{_SCOPE}`")

    def closure_value(self, value, node):
        if getattr(value, "_pypto_jit", None):
            hint = "write its statements into the scope"
            self.fail(UnsupportedFeatureError, f"calls of @{value._pypto_jit} are not supported yet", node, hint)
        if isinstance(value, ir.Function):
            hint = f"write its statements into `{_SCOPE}`"
            self.fail(UnsupportedFeatureError, "calls of @pl.function are not supported yet", node, hint)
        if isinstance(value, DynVar):
            hint = "read x.shape, which is compiled for each size"
            self.fail(UnsupportedFeatureError, "extents known at run time are not supported yet", node, hint)
        return super().closure_value(value, node)

    def write_subscript(self, target, node):
        base = self.value(target.value)
        if isinstance(base, ir.Expr) and isinstance(base.type, ir.TensorType):
            hint = "use pl.store(tile, offsets, out)"
            self.fail(UnsupportedFeatureError, "assigning windows of tensors is not supported yet", node, hint)
        super().write_subscript(target, node)

    def operation(self, name, arguments, keywords, node):
        if name in ("pl.submit", "pl.spmd_submit", "pl.no_dep", "pl.dump_tag", "pl.func_attr") or name.startswith(
            "pl.static_"
        ):
            hint = f"one kernel: `{_SCOPE}`"
            self.fail(UnsupportedFeatureError, f"{name} is not supported yet", node, hint)
        call = super().operation(name, arguments, keywords, node)
        if call.op.name.startswith("tensor.") and call.op.name not in ("tensor.dim", "tensor.read"):
            hint = "load tiles with pl.load, compute with them, and pl.store the result"
            message = f"{call.op.name} on tensors is not supported yet"
            self.fail(UnsupportedFeatureError, message, node, hint)
        return call

    def check_kernel(self, body):
        """Statements that the lowering of a kernel does not know, with their place."""
        for each in statements(body):
            if isinstance(each, (ir.BreakStmt, ir.ContinueStmt)):
                hint = "keep the exit in the condition of a while"
                self.refuse(UnsupportedFeatureError, "break and continue are not supported yet", each, hint)
            elif isinstance(each, ir.ScopeStmt):
                hint = f"one `{_SCOPE}`"
                self.refuse(UnsupportedFeatureError, "scopes inside a scope are not supported yet", each, hint)

    def check_results(self, outputs):
        for value in self.returned:
            held = value
            while held in self.roots:
                held = self.roots[held]
            if held not in outputs:
                self.refuse(
                    UnsupportedFeatureError, "an entry returns only its outputs", value, "return a pl.Out tensor"
                )


def references(node):
    """Dotted names that a definition reads: what a specialisation may fold."""
    found, inner = set(), set()
    for each in ast.walk(node):
        names, base = [], each
        while isinstance(base, ast.Attribute):
            names.insert(0, base.attr)
            inner.add(id(base.value))
            base = base.value
        if isinstance(base, ast.Name) and id(each) not in inner:
            found.add((base.id, *names))
    return sorted(found)
