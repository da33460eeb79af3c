"""One function: parameters, body, results, directions."""

import ast

from pypto.ir.bodies import sequence, statements_in_order
from pypto.language.parser.annotations import Annotations
from pypto.language.parser.calls import Calls, note_calls
from pypto.language.parser.control_flow import ControlFlow
from pypto.language.parser.diagnostics import ParserError, ParserSyntaxError, ParserTypeError
from pypto.language.parser.expressions import Expressions
from pypto.language.parser.late_names import LateNames
from pypto.language.parser.launch_rules import LaunchRules
from pypto.language.parser.returns import joined_returns
from pypto.language.parser.scopes import Scopes
from pypto.language.parser.statements import Statements
from pypto.language.parser.static import Static
from pypto.pypto_core import ir

_IN, _OUT, _INOUT = ir.ParamDirection.In, ir.ParamDirection.Out, ir.ParamDirection.InOut


def statements(body):
    """Each statement of a body that has no other statements, and each that has, before those."""
    stack = [body]
    while stack:
        each = stack.pop()
        if isinstance(each, ir.SeqStmts):
            stack.extend(each.stmts)
            continue
        yield each
        if isinstance(each, ir.IfStmt):
            stack.extend(arm for arm in (each.then_body, each.else_body) if arm is not None)
        elif isinstance(each, (ir.ForStmt, ir.WhileStmt, ir.ScopeStmt)):
            stack.append(each.body)


def calls_of(body):
    """The calls that statements of a body make; not those in operands of others."""
    for each in statements(body):
        call = each.value if isinstance(each, ir.AssignStmt) else getattr(each, "expr", None)
        if isinstance(call, ir.Call):
            yield call


# What operations call the operand that they write, where it is not "out".
_WRITTEN = {
    **dict.fromkeys(("tensor.assemble", "tensor.expand_clone"), "target"),
    "tensor.write": "x",
    "comm.remote_store": "target",
    "comm.notify": "target",
    "comm.put": "dst",
    "comm.get": "dst",
    "comm.barrier": "signal",
    **dict.fromkeys((f"comm.{name}" for name in ("allreduce", "broadcast", "allgather")), "target"),
    **dict.fromkeys(("comm.all_to_all", "comm.all_to_all_v"), "target"),
    "comm.reduce_scatter": "target",
}


def is_window(param):
    """Whether ranks exchange data by a parameter: it is then read and written, whatever is said of it."""
    return isinstance(param.type, ir.DistributedTensorType)


def written_operand(call):
    """The number of the operand that an operation writes in global memory; None for others."""
    name = _WRITTEN.get(call.op.name, "out")
    names = ir.op_parameters(call.op.name) or []
    return names.index(name) if name in names else None


def returned_parameters(function):
    """Numbers of the parameters that a function returns, as results of stores are what was stored to."""
    roots, returned = {}, []
    for each in statements(function.body):
        if isinstance(each, ir.AssignStmt) and isinstance(each.value, ir.Call):
            index = written_operand(each.value)
            if index is not None and isinstance(each.var.type, ir.TensorType):
                roots[each.var] = each.value.args[index]
        elif isinstance(each, (ir.ForStmt, ir.WhileStmt)):
            for arg, result in zip(each.iter_args, each.return_vars, strict=True):
                roots[arg] = roots[result] = arg.initValue
        elif isinstance(each, ir.IfStmt) and each.return_vars:
            *_, last = statements_in_order(each.then_body)
            roots |= zip(each.return_vars, last.value, strict=True)
        elif isinstance(each, ir.ReturnStmt):
            returned = list(each.value)
    numbers, params = [], list(function.params)
    for value in returned:
        while value in roots:
            value = roots[value]
        if value in params:
            numbers.append(params.index(value))
    return numbers


class FunctionParser(Expressions, Calls, Annotations, Statements, Static, ControlFlow, LateNames, Scopes, LaunchRules):
    """`closure`: Python's names around the function. `program`: what `self.f` means, or None. `trusted`: the closure is
    a running program's, not a text's."""

    def __init__(self, source, closure, program=None, trusted=True):
        self.source, self.closure, self.program, self.trusted = source, closure, program, trusted
        self.env, self.out, self.yielded = {}, [], None
        self.dynamics = {}  # extents that annotations name
        self.depth, self.strict = 0, False
        self.declared = None  # the type that an annotation gives to the call that is read
        self.ended, self.buffers, self.slotted, self.roots = set(), {}, {}, {}
        self.views = {}  # parts of tensors, by variable
        self.given_back = {}  # arguments that a call gives back, by the variable of its results
        self.returned = []
        self.scratch = set()  # tensors that operations use as they like
        self.lane = None  # of pl.split_aiv, and its mode
        self.outside = []  # called functions, where there is no program that holds them
        self.inlined = []  # functions under @pl.inline that are being read
        self.attrs, self.is_prologue = {}, True  # of the function; whether only pl.func_attr stood so far
        self.loads_tiles = True  # pl.full makes a tile then, else a tensor

    def emit(self, stmt):
        super().emit(stmt)
        if isinstance(stmt, ir.IfStmt) and stmt.return_vars:
            ends = [each.stmts[-1].value for each in (stmt.then_body, stmt.else_body)]
            for result, *values in zip(stmt.return_vars, *ends, strict=True):
                roots = [self.root(value) for value in values]
                if roots[0] is roots[1] and isinstance(roots[0], ir.Var) and isinstance(result.type, ir.TensorType):
                    self.roots[result] = roots[0]
        if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.TupleGetItemExpr):
            given = self.given_back.get(stmt.value.tuple, [])
            if stmt.value.index < len(given) and isinstance(given[stmt.value.index], ir.Var):
                self.roots[stmt.var] = given[stmt.value.index]
        if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.Call):
            call = stmt.value
            if isinstance(call.op, ir.GlobalVar):
                given = self.results_of(call)
                if isinstance(stmt.var.type, ir.TupleType):
                    self.given_back[stmt.var] = given
                elif len(given) == 1 and isinstance(given[0], ir.Var):
                    self.roots[stmt.var] = given[0]
                return
            index = written_operand(call)
            if isinstance(call.type, ir.TensorType) and index is not None and isinstance(call.args[index], ir.Var):
                root = call.args[index]
                self.roots[stmt.var] = self.roots.get(root, root)

    def root(self, value):
        """The tensor that a result of stores and calls is, or that a view is part of."""
        while True:
            if isinstance(value, ir.Call):
                if value.op.name in ("tensor.slice", "tensor.reshape"):  # a part of a tensor as an argument
                    value = value.args[0]
                    continue
                index = written_operand(value)
                given = self.results_of(value) if isinstance(value.op, ir.GlobalVar) else []
                if len(given) != 1 and index is None:
                    return value
                value = given[0] if given else value.args[index]
            elif value in self.roots or value in self.views:
                value = self.roots.get(value) or self.views[value]
            else:
                return value

    def called(self, call):
        """The function that a call names; None where it is not known here."""
        held = getattr(self.program, "functions", None) or {}
        return held.get(call.op.name)

    def launches(self, body):
        """Whether a body calls a function of the program."""
        return any(isinstance(call.op, ir.GlobalVar) for call in calls_of(body))

    def reads_block(self, body):
        """Whether a body asks which block it is."""
        return any(call.op.name == "tile.get_block_idx" for call in calls_of(body))

    def results_of(self, call):
        """The arguments that a call of a function gives back: those that it returns, else its first output."""
        function = self.called(call)
        if function is None:
            return []
        numbers = returned_parameters(function)
        if not numbers:
            numbers = [i for i, each in enumerate(function.param_directions) if each in (_OUT, _INOUT)][:1]
        return [call.args[number] for number in numbers]

    def parse(self, node, options):
        """The function of a definition; `options` are the decorator's arguments."""
        try:
            return self.function(node, options)
        except ParserError as error:
            error.source_lines = error.source_lines or self.source.lines
            raise
        except RecursionError:
            raise ParserSyntaxError("the function nests too deeply", self.span(node)) from None
        except (TypeError, ValueError) as error:  # of a node's own checks
            raise ParserTypeError(str(error), self.span(node), source_lines=self.source.lines) from None

    def function(self, node, options):
        self.strict = bool(options.get("strict_ssa", False))
        self.attrs = dict(options.get("attrs") or {})
        if "external_source" in options:
            self.attrs["external_source"] = options["external_source"]
        self.loads_tiles = any(isinstance(each, ast.Attribute) and each.attr == "load" for each in ast.walk(node))
        params, directions = self.parameters(node)
        declared = self.results(node)
        is_sub_worker = options.get("role") == ir.Role.SubWorker
        bound = all(
            isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) and s.value.value is ... for s in node.body
        )
        stmts = [] if is_sub_worker else list(joined_returns(node))
        for index, stmt in enumerate(stmts):
            self.following = [stmts[index + 1 :]]
            if self.out and isinstance(self.out[-1], ir.ReturnStmt):
                self.fail(ParserSyntaxError, "nothing may follow return; put it before, or leave it out", stmt)
            self.statement(stmt)
        results = declared if declared is not None else [value.type for value in self.returned]
        if declared is not None and self.returned and len(declared) != len(self.returned):
            count = len(self.returned)
            self.fail(ParserTypeError, f"{count} values are returned, {len(declared)} declared", node.returns)
        body = sequence(self.out, self.span(node))
        found = ir.Function(
            node.name,
            params,
            results,
            body,
            self.span(node),
            type=options.get("type", ir.FunctionType.Opaque),
            param_directions=self.directions(node.name, params, directions, body),
            level=options.get("level"),
            role=options.get("role"),
            attrs=self.attrs,
            requires_runtime_binding=bound and is_sub_worker,
        )
        ir.verify(found)
        note_calls(found, self.outside)
        return found

    @property
    def scratches(self):
        """Numbers of the parameters that functions of the program use as scratch, by name."""
        return self.program.scratches if self.program is not None else {}

    def parameters(self, node):
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
            message = "parameters have no defaults, stars or keywords; pass every argument"
            at = [*arguments.defaults, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
            self.fail(ParserTypeError, message, next(each for each in at if each is not None))
        params, directions = [], []
        for index, argument in enumerate([*arguments.posonlyargs, *arguments.args]):
            if index == 0 and argument.arg == "self":
                continue
            if argument.annotation is None:
                hint = f"write `{argument.arg}: pl.Tensor[[64, 32], pl.FP32]`"
                self.fail(ParserTypeError, f"missing type annotation of parameter {argument.arg}", argument, hint)
            type_, direction = self.annotation(argument.annotation)
            if isinstance(type_, ir.TupleType):
                self.fail(ParserTypeError, f"parameter {argument.arg} may not be a tuple", argument, "pass its parts")
            if isinstance(type_, ir.TileType):
                self.fail(
                    ParserTypeError,
                    f"parameter {argument.arg} may not be a tile",
                    argument,
                    "take a tensor and `pl.load` the tile",
                )
            if direction == _INOUT and isinstance(type_, ir.ScalarType):
                self.fail(ParserTypeError, "a scalar cannot be InOut; take a tensor of one element", argument)
            var = ir.Var(argument.arg, type_, self.span(argument))
            self.env[argument.arg] = var
            params.append(var)
            directions.append(direction)
        return params, directions

    def results(self, node):
        """Declared result types; None where nothing is declared."""
        if node.returns is None:
            return None
        if isinstance(node.returns, ast.Constant) and node.returns.value is None:
            return []
        name, items = self.marker(node.returns)
        return [self.type_of(item) for item in items] if name == "Tuple" else [self.type_of(node.returns)]

    def directions(self, name, params, directions, body):
        """What annotations say; without any, a tensor that is stored to is Out, InOut if it is read as well."""
        written, read = set(), set()
        self.uses(body, written, read)
        self.scratches[name] = [i for i, param in enumerate(params) if param in self.scratch]
        changed = {param for param in params if is_window(param) or param in self.scratch}
        if any(each is not None for each in directions):
            pairs = zip(params, directions, strict=True)
            return [each or (_INOUT if p in changed else _IN) if not is_window(p) else _INOUT for p, each in pairs]
        changed |= written & read
        return [_INOUT if p in changed else _OUT if p in written else _IN for p in params]

    def uses(self, node, written, read):
        """Tensors that calls below `node` write and read; results of stores count as what they were stored to."""
        for each in statements(node):
            if isinstance(each, (ir.ForStmt, ir.WhileStmt)):
                for arg, result in zip(each.iter_args, each.return_vars, strict=True):
                    root = self.roots.get(arg.initValue, arg.initValue)
                    if isinstance(root, ir.Var):
                        self.roots[arg] = self.roots[result] = root
            elif isinstance(each, (ir.AssignStmt, ir.EvalStmt)):
                call = each.value if isinstance(each, ir.AssignStmt) else each.expr
                if isinstance(call, ir.Call):
                    self.call_uses(call, written, read)

    def call_uses(self, call, written, read):
        if isinstance(call.op, ir.GlobalVar):
            function = self.called(call)
            directions = function.param_directions if function is not None else []
            self.scratch |= {self.root(call.args[i]) for i in self.scratches.get(call.op.name, ())}
            for arg, direction in zip(call.args, directions, strict=False):
                if direction != _IN:
                    written.add(self.root(arg))
                if direction != _OUT:
                    read.add(self.root(arg))
            return
        names = ir.op_parameters(call.op.name, operands=True) or []
        for index, arg in enumerate(call.args):
            if isinstance(arg, ir.Var) and names[index : index + 1] == ["scratch"]:
                self.scratch.add(self.root(arg))
            elif isinstance(arg, ir.Var):
                (written if index == written_operand(call) else read).add(self.root(arg))
            elif isinstance(arg, ir.Call):
                self.call_uses(arg, written, read)
