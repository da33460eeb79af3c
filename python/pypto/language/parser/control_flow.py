"""Loops and branches. Names that a body binds again are carried: the IR binds each variable once."""

import ast
import math

from pypto.language.names import Name
from pypto.language.parser import scalars
from pypto.language.parser.diagnostics import (
    InvalidOperationError,
    ParserSyntaxError,
    ParserTypeError,
    UnsupportedFeatureError,
)
from pypto.pypto_core import DataType, ir

_KINDS = {
    "pl.range": ir.ForKind.Sequential,
    "pl.parallel": ir.ForKind.Parallel,
    "pl.unroll": ir.ForKind.Unroll,
    "pl.pipeline": ir.ForKind.Pipeline,
}
# Loops that break and continue cannot leave, and why.
_NO_EXIT = {
    "pl.parallel": "the turns of a parallel loop do not follow each other",
    "pl.unroll": "an unrolled loop has no turns at run time",
    "pl.pipeline": "turns of a pipeline overlap",
    "pl.spmd": "its turns are blocks, which run beside each other",
    "pl.split_aiv": "its turns are the two vector cores",
}


class _Bound(ast.NodeVisitor):
    """Names that statements bind, in the order of their first binding; not the targets of pl.yield_ in inner bodies."""

    def __init__(self, nodes):
        self.names = {}
        for node in nodes:
            self.visit(node)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Store):
            self.names.setdefault(node.id)

    def visit_Subscript(self, node):
        if isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            self.names.setdefault(node.value.id)
        self.generic_visit(node)


class ControlFlow:
    """Needs Statements."""

    loop = None  # the innermost loop around what is read

    def body(self, nodes, env, loop=None):
        """(statements, environment at the end, (names, values, node) of its yield or None). `loop`: what it is the
        body of, where break and continue would leave that."""
        outer = self.out, self.env, self.yielded, self.loop
        self.out, self.env, self.yielded, self.loop = [], env, None, loop or self.loop
        self.depth += 1
        around = self.following
        for index, node in enumerate(nodes):
            if self.yielded is not None:
                self.fail(ParserSyntaxError, "nothing may follow pl.yield_; put it before", node)
            self.following = [*around, nodes[index + 1 :]]
            self.statement(node)
        self.following = around
        result = self.out, self.env, self.yielded
        self.depth -= 1
        self.out, self.env, self.yielded, self.loop = outer
        return result

    # --- loops ---------------------------------------------------------------------------

    def stmt_For(self, node):
        if node.orelse:
            self.fail(UnsupportedFeatureError, "for .. else is not supported; put it behind the loop", node.orelse[0])
        call = node.iter
        callee = self.value(call.func) if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
        if not isinstance(callee, Name):
            ranged = isinstance(call, ast.Call) and ast.unparse(call.func) == "range"
            wanted = ast.unparse(call) if ranged else "range(4)"
            self.fail(ParserSyntaxError, "a loop must use pl.range()", node.iter, f"write `pl.{wanted}`")
        name = callee.full
        if name == "pl.while_":
            self.while_call(node, call)
        elif name in _KINDS:
            self.for_range(node, call, name)
        elif name == "pl.split_aiv":
            self.split_aiv(node, call)
        elif name == "pl.spmd":
            self.spmd_loop(node, call)
        else:
            self.fail(ParserSyntaxError, "a loop must use pl.range(); write `pl.range(4)`", node.iter)

    def for_range(self, node, call, name):
        arguments, keywords = self.arguments(call)
        if not 1 <= len(arguments) <= 3:
            self.fail(ParserTypeError, f"{name} takes stop, or start and stop, or start, stop and step", call)
        start, stop, step = (0, *arguments, 1) if len(arguments) == 1 else (*arguments, 1)[:3]
        inits = keywords.pop("init_values", None)
        attrs = keywords.pop("attrs", {})
        if name == "pl.pipeline":
            attrs = {"pipeline_stages": self.stages(call, keywords.pop("stage", None)), **attrs}
        if name == "pl.unroll" and inits is not None:
            hint = "carry values with `pl.range`"
            self.refuse_keyword("pl.unroll", call, "init_values", hint)
        for keyword in keywords:
            self.refuse_keyword(name, call, keyword)
        if step == 0 and not isinstance(step, ir.Expr):
            self.fail(ParserTypeError, "the step must not be 0; leave it out for 1", call.args[-1])
        loop_name, names = self.loop_targets(node, inits)
        bounds = [self.as_expr(each, call) for each in (start, stop, step)]
        dtype = DataType.INDEX
        for each, bound in zip(arguments, call.args, strict=True):
            held = self.as_expr(each, bound).type
            if not isinstance(held, ir.ScalarType) or not held.dtype.is_int():
                is_finite = scalars.is_number(each) and math.isfinite(each)
                hint = f"write `{int(each)}`" if is_finite else "cast it: pl.cast(.., pl.INDEX)"
                self.fail(ParserTypeError, "bounds of a loop must be integers", bound, hint)
        loop_var = ir.Var(loop_name, ir.ScalarType(dtype), self.span(node.target))
        carried = self.carried(node.body, names, inits, node, {loop_name})
        env = {**self.env, loop_name: loop_var, **{n: arg for n, arg in carried}}
        stmts, after, yielded = self.body(node.body, env, name)
        results, stmts = self.close_loop(carried, names, stmts, after, yielded, node, (loop_name,))
        args = [arg for _, arg in carried]
        body = ir.SeqStmts(stmts, self.span(node))
        self.emit(ir.ForStmt(loop_var, *bounds, args, body, results, self.span(node), kind=_KINDS[name], attrs=attrs))
        self.leave(after)

    def stages(self, call, stage):
        """How many turns of a pl.pipeline are under way at a time."""
        bounds = ", ".join(ast.unparse(each) for each in call.args)
        hint = f"write `pl.pipeline({bounds}, stage=2)`"
        if stage is None:
            self.fail(ParserSyntaxError, "pl.pipeline() requires stage=, how many turns overlap", call, hint)
        if type(stage) is not int:
            self.fail(ParserSyntaxError, "stage must be a compile-time constant of pl.pipeline()", call, hint)
        if stage < 1:
            self.fail(ParserSyntaxError, f"pl.pipeline() stage must be >= 1, not {stage}", call, hint)
        return stage

    def refuse_keyword(self, name, call, keyword, hint=None):
        """Fails at a keyword that a call does not take."""
        at = next(each for each in call.keywords if each.arg == keyword)
        hint = hint or f"leave `{ast.unparse(at)}` out"
        if keyword == "stage":
            self.fail(ParserSyntaxError, f"stage= is only supported on pl.pipeline, not on {name}", at, hint)
        self.fail(ParserSyntaxError, f"{name} does not accept '{keyword}='", at, hint)

    def loop_targets(self, node, inits):
        """(name of the loop variable, names of the explicitly carried values)."""
        target = node.target
        if inits is None:
            if not isinstance(target, ast.Name):
                self.fail(
                    ParserSyntaxError, "target must be a name", target, "`init_values=` carries more than the index"
                )
            return target.id, []
        if not isinstance(inits, list):
            self.fail(ParserTypeError, "init_values must be a tuple; write `init_values=(1,)`", node.iter)
        form = isinstance(target, ast.Tuple) and len(target.elts) == 2 and isinstance(target.elts[0], ast.Name)
        if not form or not isinstance(target.elts[1], (ast.Tuple, ast.List)):
            names = ", ".join("abcdefgh"[: len(inits)]) + ("," if len(inits) == 1 else "")
            hint = f"write `for i, ({names}) in`"
            self.fail(ParserSyntaxError, "target must be i, (a, b) beside init_values", target, hint)
        names = self.target_names(target.elts[1])
        if len(names) != len(inits):
            message = f"Mismatch: {len(inits)} init_values for {len(names)} names; give as many names"
            self.fail(ParserSyntaxError, message, target)
        return target.elts[0].id, names

    def carried(self, nodes, names, inits, node, own=frozenset()):
        """[(name, IterArg)]: the explicit ones, then names of outside that the body binds again."""
        found = []
        for name, init in zip(names, inits or [], strict=True):
            value = self.initial(init, node)
            found.append((name, ir.IterArg(name, value.type, value, self.span(node))))
        explicit = {*names, *own, *self.yield_targets(nodes)}
        for name in _Bound(nodes).names:
            if name in explicit or name not in self.env:
                continue
            value = self.env[name]
            if value is not None and not isinstance(value, ir.Expr) and not scalars.is_number(value):
                self.fail(UnsupportedFeatureError, f"{name} is no value that a loop can carry", node)
            value = self.initial(value, node)
            found.append((name, ir.IterArg(name, value.type, value, self.span(node))))
        return found

    def initial(self, value, node):
        """What a loop carries into its first turn; None is no task yet."""
        if value is None:
            return ir.create_op("system.task_invalid", span=self.span(node))
        return self.as_expr(value, node)

    def yield_targets(self, nodes):
        """The names that the yield at the end of a body gives its values."""
        last = nodes[-1] if nodes else None
        if isinstance(last, ast.Assign) and self.is_call(last.value, "yield_"):
            return self.target_names(last.targets[0])
        if isinstance(last, ast.AnnAssign) and self.is_call(last.value, "yield_"):
            return self.target_names(last.target)
        return []

    def close_loop(self, carried, names, stmts, after, yielded, node, own=()):
        """Return variables, and the body with its yield; binds the names behind the loop."""
        if yielded is None and names:
            hint = f"end it with `{', '.join(names)} = pl.yield_({', '.join(names)})`"
            self.fail(ParserSyntaxError, "a body with init_values must end in pl.yield_", node, hint)
        targets, values, place = yielded or ([], [], node)
        if names and not targets:
            message = "a body with init_values requires an assignment-form pl.yield_, which names the results"
            self.fail(ParserSyntaxError, message, place, f"write `{', '.join(names)} = {ast.unparse(place)}`")
        if len(values) != len(names):
            message = f"Mismatch: {len(values)} yielded for {len(names)} init_values; yield one for each"
            self.fail(ParserTypeError, message, place)
        if not any(self.has_exit(stmt) for stmt in stmts):
            carried += self.late(after, {*own, *dict(carried), *(targets or ())}, place)
        values = [*values, *(after[name] for name, _ in carried[len(names) :])]
        shown = [*(targets or names), *(name for name, _ in carried[len(names) :])]
        nodes, results = [], []
        for (_, arg), name, value in zip(carried, shown, values, strict=True):
            dtype = arg.type.dtype if isinstance(arg.type, ir.ScalarType) else None
            nodes.append(self.same_type(self.as_expr(value, place, dtype), arg.type, name, place))
            results.append(ir.Var(name, arg.type, self.span(place)))
        if carried:
            if any(self.has_exit(stmt) for stmt in stmts):
                hint = "keep the exit in a flag, or in the condition of a while"
                self.fail(UnsupportedFeatureError, "break and continue in a loop that carries values", node, hint)
            stmts = [*stmts, ir.YieldStmt(nodes, self.span(place))]
        self.env = {**self.env, **dict(zip(shown, results, strict=True))}
        return results, stmts

    def has_exit(self, stmt):
        if isinstance(stmt, (ir.BreakStmt, ir.ContinueStmt)):
            return True
        if isinstance(stmt, ir.SeqStmts):
            return any(self.has_exit(each) for each in stmt.stmts)
        if isinstance(stmt, ir.IfStmt):
            return any(self.has_exit(each) for each in (stmt.then_body, stmt.else_body) if each is not None)
        return isinstance(stmt, ir.ScopeStmt) and self.has_exit(stmt.body)

    def same_type(self, value, wanted, name, node):
        """The value, where its kind, shape and elements are those of `wanted`."""
        held = value.type
        same = type(held) is type(wanted)
        if same and isinstance(held, ir.ScalarType):
            if held.dtype != wanted.dtype and held.dtype.is_int() and wanted.dtype.is_int():
                return ir.Cast(value, wanted.dtype, self.span(node))
            same = held.dtype == wanted.dtype
        elif same and isinstance(held, (ir.TileType, ir.TensorType)):
            same = held.dtype == wanted.dtype and len(held.shape) == len(wanted.shape)
            for one, other in zip(held.shape, wanted.shape, strict=False):
                constants = isinstance(one, ir.ConstInt) and isinstance(other, ir.ConstInt)
                same = same and (not constants or one.value == other.value)
        if not same:
            message = f"{name} is {wanted} before and {held} after: the types must match"
            own = isinstance(value, ir.Var) and value.name_hint == name  # bound by a statement of the body
            place, hint = value.span if own else self.span(node), "give what is computed inside a name of its own"
            raise ParserTypeError(message, place, hint, source_lines=self.source.lines)
        return value

    def leave(self, inner):
        """Remembers what a body bound, for the message of a later use."""
        self.ended |= inner.keys() - self.env.keys()
        # What is written to global memory is the tensor itself, wherever it was written.
        for name, value in inner.items():
            root = self.roots.get(value) if isinstance(value, ir.Var) else None
            if name not in self.env and root is not None and root in self.env.values():
                self.env[name] = root

    def while_call(self, node, call):
        arguments, keywords = self.arguments(call)
        inits = keywords.pop("init_values", None)
        if arguments or keywords or not isinstance(inits, list):
            self.fail(ParserTypeError, "pl.while_ takes init_values=; or write `while`", call)
        names = self.target_names(node.target)
        if len(names) != len(inits):
            self.fail(ParserSyntaxError, f"Mismatch: {len(inits)} init_values for {len(names)} names", node.target)
        first = node.body[0]
        if not (isinstance(first, ast.Expr) and self.is_call(first.value, "cond") and len(first.value.args) == 1):
            message = "the first statement of pl.while_ must be pl.cond(..); begin with `pl.cond(condition)`"
            self.fail(ParserSyntaxError, message, first)
        self.while_loop(node, names, inits, first.value.args[0], node.body[1:])

    def stmt_While(self, node):
        if node.orelse:
            hint = "put it behind the loop"
            self.fail(UnsupportedFeatureError, "while .. else is not supported", node.orelse[0], hint)
        self.while_loop(node, [], [], node.test, node.body)

    def while_loop(self, node, names, inits, test, nodes):
        carried = self.carried(nodes, names, inits, node)
        outer = self.env
        self.env = {**outer, **{name: arg for name, arg in carried}}
        condition = self.as_expr(self.condition(test, "while"), test)
        inner, self.env = self.env, outer
        stmts, after, yielded = self.body(nodes, inner, "while")
        results, stmts = self.close_loop(carried, names, stmts, after, yielded, node)
        args = [arg for _, arg in carried]
        self.emit(ir.WhileStmt(condition, args, ir.SeqStmts(stmts, self.span(node)), results, self.span(node)))
        self.leave(after)

    def stmt_Break(self, node):
        self.check_exit("break", node)
        self.emit(ir.BreakStmt(self.span(node)))

    def stmt_Continue(self, node):
        self.check_exit("continue", node)
        self.emit(ir.ContinueStmt(self.span(node)))

    def check_exit(self, word, node):
        """break and continue need turns that follow each other."""
        if self.loop in _NO_EXIT:
            hint = "loop over `pl.range`, or put what is left out into an `if`"
            message = f"'{word}' not supported inside {self.loop}: {_NO_EXIT[self.loop]}"
            self.fail(InvalidOperationError, message, node, hint)

    # --- branches ------------------------------------------------------------------------

    def stmt_If(self, node):
        condition = self.condition(node.test)
        if isinstance(condition, bool):  # known: only one arm is there
            for stmt in node.body if condition else node.orelse:
                self.statement(stmt)
            return
        before = self.env
        arms = [self.body(nodes, dict(before)) for nodes in (node.body, node.orelse)]
        names, values = self.yields_of_arms(arms, node)
        for name in {**arms[0][1], **arms[1][1]}:
            held = [arm[1].get(name) for arm in arms]
            if held[0] is held[1] or name in names or any(each is None for each in held):
                continue
            names.append(name)
            for side, each in zip(values, held, strict=True):
                side.append(each)
        results = []
        for i, name in enumerate(names):
            left = self.as_expr(values[0][i], node)
            right = self.as_expr(values[1][i], node, left.type.dtype if isinstance(left.type, ir.ScalarType) else None)
            values[0][i], values[1][i] = left, self.same_type(right, left.type, name, node)
            results.append(ir.Var(name, left.type, self.span(node)))
        bodies = []
        for (stmts, _, _), side in zip(arms, values, strict=True):
            ending = [ir.YieldStmt(side, self.span(node))] if names else []
            bodies.append(ir.SeqStmts([*stmts, *ending], self.span(node)))
        other = bodies[1] if node.orelse or names else None
        self.emit(ir.IfStmt(condition, bodies[0], other, results, self.span(node)))
        self.env = {**before, **dict(zip(names, results, strict=True))}
        for arm in arms:
            self.leave(arm[1])

    def yields_of_arms(self, arms, node):
        """Names and values of pl.yield_ in both arms."""
        yields = [arm[2] for arm in arms]
        if yields[0] is None and yields[1] is None:
            return [], [[], []]
        if yields[0] is None or yields[1] is None:
            held = yields[0] or yields[1]
            message = "pl.yield_ must end both arms; let the other one yield the values of before"
            self.fail(ParserSyntaxError, message, held[2])
        (names, left, _), (others, right, place) = yields
        if names != others or len(left) != len(right):
            self.fail(
                ParserTypeError, "Mismatch: the arms yield different names", place, f"name them `{', '.join(names)}`"
            )
        return list(names), [list(left), list(right)]
