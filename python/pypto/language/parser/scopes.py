"""`with` statements, and the lanes of pl.split_aiv."""

import ast

from pypto.language.names import Name
from pypto.language.parser.calls import is_tensor
from pypto.language.parser.diagnostics import ParserSyntaxError, ParserTypeError, UnsupportedFeatureError
from pypto.language.typing import ScopeMode
from pypto.pypto_core import DataType, ir

_SUBMITS = ("submit", "spmd_submit")
_AT = {
    "level",
    "role",
    "optimizations",
    "deps",
    "no_dep_args",
    "dumps",
    "allow_early_resolve",
    "name_hint",
    "windowize",
}
_AT |= {"split", "slot_num", "attrs"}  # as scopes are printed

# Attributes of a scope that order its launch or hasten it: they change no result.
OF_TASKS = ("task_id_var", "manual_dep_edges", "allow_early_resolve", "no_dep_args")


def is_written_out(body):
    """Whether a body is one kernel's scope."""
    stmts = getattr(body, "stmts", ())
    return len(stmts) == 1 and isinstance(stmts[0], ir.InCoreScopeStmt)


class Scopes:
    """Needs ControlFlow."""

    scope_task = None  # the variable of `as task`, until its scope is made
    is_manual = False  # in a scope that orders its launches by hand

    def split_aiv(self, node, call):
        arguments, keywords = self.arguments(call)
        if arguments != [2]:
            self.fail(ParserSyntaxError, "pl.split_aiv requires n == 2; write `2`", call.args[0] if call.args else call)
        self.check_split(call)
        lane = ir.Var(node.target.id, ir.ScalarType(DataType.INDEX), self.span(node.target))
        self.env = {**self.env, node.target.id: lane}
        mode = keywords.pop("mode", ir.SplitMode.NONE)
        hint = keywords.pop("name_hint", "")
        if self.lane is not None:
            self.fail(ParserSyntaxError, "pl.split_aiv does not nest; put it behind the other one", node)
        self.lane = lane, mode
        body = self.scope_body(node, "pl.split_aiv")
        self.lane = None
        self.emit(ir.SplitAivScopeStmt(lane, mode, body, hint, keywords, self.span(node)))

    def spmd_loop(self, node, call):
        """for i in pl.spmd(n): `i` is the block that runs the body."""
        if not isinstance(node.target, ast.Name):
            self.fail(ParserSyntaxError, "pl.spmd has a single loop variable: the target must be a name", node.target)
        self.check_scope("pl.spmd", call, loop=True)
        if self.predicated(node, call, ast.For(node.target, None, node.body, [])):
            return
        arguments, attrs = self.scope_arguments(call)
        index = ir.create_op("tile.get_block_idx", span=self.span(node.target))
        block = ir.Var(node.target.id, index.type, self.span(node.target))
        self.env = {**self.env, node.target.id: block}
        hint = attrs.pop("name_hint", "")
        self.spmd(node, call, arguments, attrs, hint, ir.AssignStmt(block, index, self.span(node.target)))

    def spmd(self, node, call, arguments, attrs, hint, first=None):
        """A scope that `core_num` blocks run; `first` begins its body."""
        count = attrs.pop("core_num", arguments[0] if arguments else None)
        if count is None or len(arguments) > 1:
            few = "requires core_num, the number of blocks"
            message = f"pl.spmd {few if count is None else 'takes at most one positional argument, core_num'}"
            self.fail(ParserSyntaxError, message, call, "write `pl.spmd(1)`")
        sync = bool(attrs.pop("sync_start", False))
        marked, outer = list(attrs.pop("dumps", None) or ()), self.tagged
        kernel = {key: attrs.pop(key) for key in ("split", "slot_num") if key in attrs}
        others = [key for key in attrs if key not in OF_TASKS]
        if others:
            self.fail(UnsupportedFeatureError, f"{', '.join(others)} of pl.spmd is not supported yet", call)
        self.tagged = [*outer, *marked]  # a call in the body takes them over
        body = self.scope_body(node, "pl.spmd" if first is not None else None)
        if first is None:
            self.check_reads_block(node, count, body)
        self.mark(attrs, body, call)
        self.tagged = [each for each in self.tagged if any(each is tag for tag in outer)]
        if first is not None:
            body = ir.SeqStmts([first, *body.stmts], self.span(node))
        is_kernel = first is None and (self.calls_kernel(node) and not kernel or is_written_out(body))
        if not is_kernel:
            base = hint.removesuffix("_spmd")
            hint = f"{base}_spmd" if hint else hint
            split = kernel.pop("split", None) or None  # NONE says nothing
            body = ir.SeqStmts([ir.InCoreScopeStmt(split, body, base, kernel, self.span(node))], self.span(node))
        self.emit(ir.SpmdScopeStmt(self.as_expr(count, call), sync, body, hint, attrs, self.span(node)))

    def calls_kernel(self, node):
        """Whether a body is one call of a function, which is then the kernel."""
        body = [each for each in node.body if not isinstance(getattr(each, "value", None), ast.Constant)]
        value = getattr(body[0], "value", None) if len(body) == 1 else None
        func = value.func if isinstance(value, ast.Call) else None
        if isinstance(func, ast.Attribute):
            return isinstance(func.value, ast.Name) and func.value.id == "self" or self.is_call(value, *_SUBMITS)
        return isinstance(func, ast.Name)

    def scope_body(self, node, loop=None):
        stmts, after, yielded = self.body(node.body, self.env, loop)
        if yielded is not None:
            self.fail(ParserSyntaxError, "pl.yield_ belongs in a loop or an arm", yielded[2])
        self.env = after
        return ir.SeqStmts(stmts, self.span(node))

    def stmt_With(self, node):
        if len(node.items) != 1 or not isinstance(node.items[0].context_expr, ast.Call):
            message = "with takes one of pl.at, pl.cluster, pl.spmd, pl.scope; nest them, one in a line"
            self.fail(UnsupportedFeatureError, message, node)
        call = node.items[0].context_expr
        callee = self.value(call.func)
        name = callee.full if isinstance(callee, Name) else ""
        self.check_scope(name, call, node.items[0].optional_vars)
        plain = ast.With([ast.withitem(None, None)], node.body)
        task = self.task_of_scope(node, name)
        if name != "pl.spmd" or not self.predicated(node, call, plain):
            self.scope(node, name, call)
        if task is not None:
            self.env[task.name_hint] = task

    def predicated(self, node, call, plain):
        """A scope that runs where its predicate holds: `plain`, which lacks its call, in a branch. Whether it has one.
        The element is read behind the tasks that write it, as a scheduler would."""
        found = [each for each in call.keywords if each.arg == "predicate"]
        if not found:
            return False
        self.predicate(found[0].value)  # its form
        for each in call.keywords:
            if each.arg == "deps":
                self.tasks(each.value)
        rest = [each for each in call.keywords if each.arg not in ("predicate", "deps")]
        launch = ast.copy_location(ast.Call(call.func, call.args, rest), call)
        if isinstance(plain, ast.With):
            plain.items[0].context_expr = launch
        else:
            plain.iter = launch
        branch = ast.If(found[0].value, [ast.copy_location(plain, node)], [])
        self.statement(ast.copy_location(branch, node))
        return True

    def task_of_scope(self, node, name):
        """The variable of `as task`, which the scope notes. Launches are ordered by the memory that they share, so a
        task that waits for what the scope waits for is as good."""
        task = node.items[0].optional_vars
        if task is None:
            return None
        if name not in ("pl.at", "pl.spmd"):
            self.fail(ParserSyntaxError, "`as` only applies to pl.at and pl.spmd, which have a task", task)
        if not isinstance(task, ast.Name):
            self.fail(ParserSyntaxError, "the target of `as` must be a plain variable name", task)
        span = self.span(task)
        deps = [each.value for each in node.items[0].context_expr.keywords if each.arg == "deps"]
        tasks = self.tasks(deps[0]) if deps else []
        made = (
            ir.create_op("system.task_dummy", tasks, span=span)
            if tasks
            else ir.create_op("system.task_invalid", span=span)
        )
        self.scope_task = ir.Var(task.id, ir.ScalarType(DataType.TASK_ID), span)
        self.emit(ir.AssignStmt(self.scope_task, made, span))
        return self.scope_task

    def scope(self, node, name, call):
        span = self.span(node)
        arguments, attrs = self.scope_arguments(call)
        hint = attrs.pop("name_hint", "")
        if name == "pl.at":
            for keyword in call.keywords:
                if keyword.arg not in _AT:
                    hint = f"leave `{ast.unparse(keyword)}` out"
                    self.fail(ParserSyntaxError, f"pl.at does not accept '{keyword.arg}='", keyword, hint)
            level = attrs.pop("level", arguments[0] if arguments else None)
            if not isinstance(level, ir.Level):
                self.fail(ParserTypeError, "pl.at needs a level; write `pl.at(level=pl.Level.CORE_GROUP)`", call)
            role, split = attrs.pop("role", None), attrs.pop("split", None) or None  # NONE says nothing
            body = self.scope_body(node)
            if level == ir.Level.CORE_GROUP:
                self.mark(attrs, body, call)
                self.emit(ir.InCoreScopeStmt(split, body, hint, attrs, span))
            else:
                self.emit(ir.HierarchyScopeStmt(level, role, body, hint, attrs, span))
        elif name == "pl.cluster":
            self.clusters += 1
            body = self.scope_body(node)
            self.clusters -= 1
            self.emit(ir.ClusterScopeStmt(body, hint, attrs, span))
        elif name == "pl.spmd":
            self.spmd(node, call, arguments, attrs, hint)
        elif name in ("pl.scope", "pl.manual_scope"):
            if arguments:
                say = "write `mode=pl.ScopeMode.MANUAL`, or nothing"
                self.fail(ParserSyntaxError, f"{name} takes no positional argument", call, say)
            mode = attrs.pop("mode", ScopeMode.MANUAL if name == "pl.manual_scope" else ScopeMode.AUTO)
            self.emit(
                ir.RuntimeScopeStmt(mode == ScopeMode.MANUAL, self.runtime_body(node, mode, call), hint, attrs, span)
            )
        else:
            hint = "a scope is `pl.at(level=pl.Level.CORE_GROUP)`"
            self.fail(UnsupportedFeatureError, f"{ast.unparse(call.func)} is no scope", call, hint)

    def runtime_body(self, node, mode, call):
        """The body of a scope of the run time, which none may lie in that orders by hand."""
        if not isinstance(mode, ScopeMode):
            self.fail(ParserTypeError, "mode must be of pl.ScopeMode", call, "write `mode=pl.ScopeMode.MANUAL`")
        if self.is_manual:
            hint = "leave it out: `deps` order what is in the outer one"
            self.fail(ParserSyntaxError, f"{ast.unparse(call.func)} inside of a manual scope", call, hint)
        self.is_manual = mode == ScopeMode.MANUAL
        body = self.scope_body(node)
        self.is_manual = False
        return body

    def mark(self, attrs, body, call):
        """Notes which of the tensors of a scope are to be seen (`dumps=`, pl.dump_tag)."""
        marked = attrs.pop("dumps", None) or []
        if not isinstance(marked, list) or not all(is_tensor(each) for each in marked):
            self.fail(ParserTypeError, "dumps= names what is not a tensor", call, "write `dumps=[x]` of a tensor x")
        marked = [*marked, *self.tagged]
        if marked:
            attrs["dumps"] = marked
            written = set()
            self.uses(body, written, set())
            self.untag(written)

    def scope_arguments(self, call):
        """Arguments of a scope; `optimizations` is a literal list of pl.split and pl.cross_core_slot. Launches are
        ordered by all memory that they share, so `deps` changes no result."""
        attrs, task = {}, self.scope_task
        self.scope_task = None
        for each in call.keywords:
            if each.arg == "deps":
                tasks = self.tasks(each.value)
                attrs |= {"manual_dep_edges": tasks} if tasks else {}
                continue
            if each.arg != "optimizations":
                attrs[each.arg] = self.value(each.value)
                continue
            if not isinstance(each.value, ast.List):
                hint = f"write `[{ast.unparse(each.value)}]`"
                message = f"{ast.unparse(call.func)}(optimizations=..): optimizations must be a list literal"
                self.fail(ParserSyntaxError, message, each.value, hint)
            said = set()
            for item in each.value.elts:
                self.optimization(item, attrs, said, ast.unparse(call.func))
        if task is not None:
            attrs["task_id_var"] = task
        return [self.value(each) for each in call.args], attrs

    def optimization(self, item, attrs, said, of):
        """pl.split(mode, slot_num=None) or pl.cross_core_slot(slot_num=N); each may be said once."""
        split = self.is_call(item, "split") and len(item.args) == 1
        slots = [each.value for each in getattr(item, "keywords", []) if each.arg == "slot_num"]
        if not split and not (self.is_call(item, "cross_core_slot") and not item.args and slots):
            hint = "it takes `pl.split(mode)` and `pl.cross_core_slot(slot_num=2)`"
            self.fail(
                ParserSyntaxError, f"Unsupported entry in {of}(optimizations=[..]): {ast.unparse(item)}", item, hint
            )
        for each in item.keywords:
            if each.arg != "slot_num":
                hint = f"leave `{ast.unparse(each)}` out"
                self.fail(
                    ParserSyntaxError, f"Unknown keyword argument '{each.arg}' of pl.{item.func.attr}", each, hint
                )
        kind = "split" if split else "cross_core_slot"
        if kind in said:
            self.fail(ParserSyntaxError, f"Duplicate 'pl.{kind}' in optimizations", item, "leave one of them out")
        said.add(kind)
        if split:
            attrs["split"] = self.value(item.args[0])
        if slots:
            attrs["slot_num"] = self.check_slots(slots[0])
