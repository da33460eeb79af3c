"""`with` statements, and the lanes of pl.split_aiv."""

import ast

from pypto.language.names import Name
from pypto.language.parser.diagnostics import ParserSyntaxError, ParserTypeError, UnsupportedFeatureError
from pypto.pypto_core import DataType, ir


class Scopes:
    """Needs ControlFlow."""

    def split_aiv(self, node, call):
        arguments, keywords = self.arguments(call)
        if arguments != [2]:
            self.fail(ParserTypeError, "pl.split_aiv requires n == 2", call)
        lane = ir.Var(node.target.id, ir.ScalarType(DataType.INDEX), self.span(node.target))
        self.env = {**self.env, node.target.id: lane}
        mode = keywords.pop("mode", ir.SplitMode.NONE)
        hint = keywords.pop("name_hint", "")
        body = self.scope_body(node)
        self.emit(ir.SplitAivScopeStmt(lane, mode, body, hint, keywords, self.span(node)))

    def scope_body(self, node):
        stmts, after, yielded = self.body(node.body, self.env)
        if yielded is not None:
            self.fail(ParserSyntaxError, "pl.yield_ belongs in a loop or an arm", yielded[2])
        self.env = after
        return ir.SeqStmts(stmts, self.span(node))

    def stmt_With(self, node):
        if len(node.items) != 1 or not isinstance(node.items[0].context_expr, ast.Call):
            self.fail(UnsupportedFeatureError, "with takes one of pl.at, pl.cluster, pl.spmd, pl.scope", node)
        call, span = node.items[0].context_expr, self.span(node)
        if node.items[0].optional_vars is not None:
            self.fail(UnsupportedFeatureError, "`as` of a scope is not supported yet", node)
        callee = self.value(call.func)
        name = callee.full if isinstance(callee, Name) else ""
        arguments, attrs = self.scope_arguments(call)
        hint = attrs.pop("name_hint", "")
        if name == "pl.at":
            level = attrs.pop("level", arguments[0] if arguments else None)
            if not isinstance(level, ir.Level):
                self.fail(ParserTypeError, "pl.at needs a level", call)
            role, split = attrs.pop("role", None), attrs.pop("split", None)
            body = self.scope_body(node)
            if level == ir.Level.CORE_GROUP:
                self.emit(ir.InCoreScopeStmt(split, body, hint, attrs, span))
            else:
                self.emit(ir.HierarchyScopeStmt(level, role, body, hint, attrs, span))
        elif name == "pl.cluster":
            self.emit(ir.ClusterScopeStmt(self.scope_body(node), hint, attrs, span))
        elif name == "pl.spmd":
            count = attrs.pop("core_num", arguments[0] if arguments else None)
            sync = attrs.pop("sync_start", False)
            cores = self.as_expr(count, call)
            self.emit(ir.SpmdScopeStmt(cores, sync, self.scope_body(node), hint, attrs, span))
        elif name in ("pl.scope", "pl.manual_scope"):
            self.emit(ir.RuntimeScopeStmt(name == "pl.manual_scope", self.scope_body(node), hint, attrs, span))
        else:
            self.fail(UnsupportedFeatureError, f"{ast.unparse(call.func)} is no scope", call)

    def scope_arguments(self, call):
        """Arguments of a scope; `optimizations` is a literal list of pl.split and pl.cross_core_slot."""
        attrs = {}
        for each in call.keywords:
            if each.arg != "optimizations":
                attrs[each.arg] = self.value(each.value)
                continue
            if not isinstance(each.value, ast.List):
                self.fail(ParserTypeError, "optimizations must be a list literal", each.value)
            for item in each.value.elts:
                self.optimization(item, attrs)
        return [self.value(each) for each in call.args], attrs

    def optimization(self, item, attrs):
        """pl.split(mode, slot_num=None) or pl.cross_core_slot(slot_num=N)."""
        split = self.is_call(item, "split") and len(item.args) == 1
        slots = [each.value for each in getattr(item, "keywords", []) if each.arg == "slot_num"]
        if not split and not (self.is_call(item, "cross_core_slot") and not item.args and slots):
            self.fail(UnsupportedFeatureError, f"{ast.unparse(item)} is not supported", item)
        if len(slots) != len(item.keywords):
            self.fail(UnsupportedFeatureError, f"{ast.unparse(item)} is not supported", item)
        if split:
            attrs["split"] = self.value(item.args[0])
        if slots:
            attrs["slot_num"] = self.value(slots[0])
