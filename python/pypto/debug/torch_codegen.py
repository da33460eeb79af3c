"""A program as Python source that computes it with PyTorch, on one thread but for groups of cores.

    code = torch_codegen(program, check_shapes=True)
    names = {}
    exec(code, names)
    names["main"](a, b, out)  # writes `out` in place, and returns what the function returns

Each function is one of Python, with its name and its parameters; each operation a function of `torch_runtime`, whose
text stands in front.
"""

import builtins
import keyword
import re
from pathlib import Path

from pypto.ir.bodies import statements_in_order
from pypto.language.parser.diagnostics import UnsupportedFeatureError
from pypto.pypto_core import DataType, ir

_DTYPES = {
    "FP32": "float32",
    "FP16": "float16",
    "BF16": "bfloat16",
    "FP64": "float64",
    "INT8": "int8",
    "INT16": "int16",
    "INT32": "int32",
    "INT64": "int64",
    "UINT8": "uint8",
    "BOOL": "bool",
    "INDEX": "int64",
    "UINT16": "int32",  # torch has no such elements: wider ones hold the values
    "UINT32": "int64",
}
_BINARY = {
    "Add": "+", "Sub": "-", "Mul": "*", "FloorDiv": "//", "FloorMod": "%", "FloatDiv": "/", "Pow": "**", "Eq": "==",
    "Ne": "!=",
    "Lt": "<", "Le": "<=", "Gt": ">", "Ge": ">=", "And": "and", "Or": "or", "BitAnd": "&", "BitOr": "|", "BitXor": "^",
    "BitShiftLeft": "<<", "BitShiftRight": ">>",
}  # fmt: skip
_SPLITS = {"NONE": 0, "UP_DOWN": 1, "LEFT_RIGHT": 2}
_QUEUES = {
    "tile.tpush_to_aiv": "push_to_aiv",
    "tile.tpush_to_aic": "push_to_aic",
    "tile.tpop_from_aic": "pop_from_aic",
    "tile.tpop_from_aiv": "pop_from_aiv",
}
# What orders cores or names memory: nothing where each operation has its effect at once.
_SILENT = re.compile(r"system\.(?!available|task)|tile\.tfree|prefetch\.")
_LAYOUT = {"target_memory", "layout", "blayout", "slayout", "transpose", "flat_layout", "manual_dep", "high_precision"}
_LAYOUT |= {"acc_phase", "c_matrix_nz", "out_dtype", "target_type", "dtype", "tmp", "tmp_tile", "output_dtype"}
_FOLDER = Path(__file__).parent


def _runtime():
    texts = [(_FOLDER / name).read_text() for name in ("torch_runtime.py", "torch_queues.py")]
    return "\n\n".join(text.split('"""', 2)[2].strip() for text in texts) + "\n"


class _Function:
    """The text of one function."""

    def __init__(self, program, function, runtime_names, check_shapes):
        self.program, self.function, self.checks = program, function, check_shapes
        self.taken = {*runtime_names, *dir(builtins), *keyword.kwlist, *(program.functions if program else ())}
        self.names, self.lines, self.depth, self.kept = {}, [], 0, []
        self.runtime_names = runtime_names

    # Names and places.

    def name(self, var):
        if id(var) not in self.names:
            base = re.sub(r"\W", "_", var.name_hint)
            found, number = base, 1
            while found in self.taken:
                found, number = f"{base}_{number}", number + 1
            self.taken.add(found)
            self.names[id(var)] = found
            self.kept.append(var)  # an id is that of a living object
        return self.names[id(var)]

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def fail(self, message, node):
        raise UnsupportedFeatureError(message, node.span)

    # Expressions.

    def dtype(self, dtype, node):
        name = _DTYPES.get(dtype.name)
        if name is None:
            self.fail(f"torch has no elements of {dtype.name}", node)
        return f"torch.{name}"

    def expr(self, node):
        kind = type(node).__name__
        if isinstance(node, ir.Call):
            return self.call(node)
        if isinstance(node, ir.Var):
            return self.name(node)
        if isinstance(node, (ir.ConstInt, ir.ConstBool)):
            return repr(node.value)
        if isinstance(node, ir.ConstFloat):
            return f'float("{node.value}")' if node.value - node.value != 0 else repr(node.value)
        if isinstance(node, ir.MakeTuple):
            return "(" + "".join(f"{self.expr(each)}, " for each in node.elements) + ")"
        if isinstance(node, ir.TupleGetItemExpr):
            return f"{self.expr(node.tuple)}[{node.index}]"
        if kind in _BINARY:
            return f"({self.expr(node.left)} {_BINARY[kind]} {self.expr(node.right)})"
        if kind in ("Min", "Max"):
            return f"{kind.lower()}({self.expr(node.left)}, {self.expr(node.right)})"
        if kind in ("Neg", "Not", "BitNot"):
            return f"({ {'Neg': '-', 'Not': 'not ', 'BitNot': '~'}[kind] }{self.expr(node.operand)})"
        if kind == "Abs":
            return f"builtins.abs({self.expr(node.operand)})"
        if isinstance(node, ir.Cast):
            convert = "float" if node.dtype.is_float() else "bool" if node.dtype == DataType.BOOL else "int"
            return f"{convert}({self.expr(node.operand)})"
        return self.fail(f"torch_codegen has no form of {kind}", node)

    def value(self, value, node):
        """A keyword's."""
        if isinstance(value, DataType):
            return self.dtype(value, node)
        if isinstance(value, ir.Expr):
            return self.expr(value)
        if isinstance(value, (list, tuple)):
            return "(" + "".join(f"{self.value(each, node)}, " for each in value) + ")"
        return repr(getattr(value, "name", value))

    def call(self, node):
        if isinstance(node.op, ir.GlobalVar):
            return self.called(node)
        name = node.op.name
        if _SILENT.match(name):
            return "None"
        keywords = {key: each for key, each in node.kwargs.items() if key not in _LAYOUT}
        if name in _QUEUES:
            tile = [self.expr(each) for each in node.args] if "push" in name else []
            words = [f"{key}={self.value(each, node)}" for key, each in keywords.items()]
            return f"_cross_core_rt.{_QUEUES[name]}({', '.join([*tile, *words])})"
        space, base = name.split(".", 1)
        if base in ("aiv_shard", "aic_gather"):
            return self.fail(f"{name} inside an expression has no form in torch; give it a name", node)
        form = next((each for each in (f"{space}_{base}", base, f"{base}_") if each in self.runtime_names), None)
        if form is None:
            self.fail(f"torch_codegen has no form of {name} yet", node)
        names = ir.op_parameters(name, operands=True) or []
        arguments = []
        for key, each in zip(names, node.args):
            is_left_out = isinstance(each, ir.MakeTuple) and not each.elements
            if not is_left_out and key not in _LAYOUT:
                arguments.append(f"{key}={self.expr(each)}" if len(arguments) < names.index(key) else self.expr(each))
        arguments += [f"{key}={self.value(each, node)}" for key, each in keywords.items()]
        if isinstance(node.type, (ir.TensorType, ir.TileType)):
            arguments.append(f"dtype={self.dtype(node.type.dtype, node)}")
        return f"{form}({', '.join(arguments)})"

    def called(self, node):
        """A call of a function, with tensors for outputs that the call leaves out."""
        callee = self.program.functions.get(node.op.name) if self.program else None
        if callee is None:
            self.fail(f"the program has no function {node.op.name}", node)
        arguments = [self.expr(each) for each in node.args]
        for param in callee.params[len(arguments) :]:
            shape = "".join(f"{self.expr(each)}, " for each in param.type.shape)
            arguments.append(f"create(({shape}), dtype={self.dtype(param.type.dtype, node)})")
        text = f"{callee.name}({', '.join(arguments)})"
        if isinstance(node, ir.Submit):
            if node.core_num is not None:
                text = f"[{text} for _ in blocks({self.expr(node.core_num)})][-1]"
            if node.predicate is not None:
                self.fail("torch_codegen has no form of predicates yet", node)
            return f"({text}, None)"
        return text

    # Statements.

    def body(self, stmt):
        """The statements below; the values that they yield."""
        self.depth += 1
        before, yielded = len(self.lines), self.stmts(stmt)
        if len(self.lines) == before and not yielded:
            self.line("pass")
        self.depth -= 1
        return yielded

    def stmts(self, stmt):
        yielded = None
        for each in stmt.stmts if isinstance(stmt, ir.SeqStmts) else [stmt]:
            if isinstance(each, ir.YieldStmt):
                yielded = each.value
            elif isinstance(each, ir.SeqStmts):
                yielded = self.stmts(each) or yielded
            else:
                self.stmt(each)
        return yielded

    def stmt(self, stmt):
        method = getattr(self, "stmt_" + type(stmt).__name__, None)
        if method is None:
            if not isinstance(stmt, ir.ScopeStmt):
                self.fail(f"torch_codegen has no form of {type(stmt).__name__}", stmt)
            self.scope(stmt.body)
            return
        method(stmt)

    def scope(self, body):
        if self.stmts(body) is not None:
            self.fail("a scope yields nothing", body)

    def stmt_AssignStmt(self, stmt):
        value, type_ = stmt.value, stmt.var.type
        if isinstance(value, ir.Call) and value.op.name.split(".")[-1] in ("aiv_shard", "aic_gather"):
            return self.exchange(stmt)
        text = self.expr(value)
        if isinstance(value, ir.Call) and value.op.name.startswith("tile.tpop_from"):
            valid = type_.tile_view.valid_shape if type_.tile_view is not None else []
            if valid:
                more = "(" + "".join(f"{self.expr(each)}, " for each in valid) + ")"
                text = text[:-1] + (", " if text[-2] != "(" else "") + f"valid={more})"
        self.assign(stmt.var, text, isinstance(value, ir.Call))

    def assign(self, var, text, is_made=True):
        name, shape = self.name(var), getattr(var.type, "shape", None)
        if self.checks and is_made and shape and all(isinstance(each, ir.ConstInt) for each in shape):
            text = f"check({text}, ({''.join(f'{each.value}, ' for each in shape)}), {name!r})"
        self.line(f"{name} = {text}")

    def exchange(self, stmt):
        """What one core has as what the vector cores have, and back."""
        if not getattr(self, "lane", None):
            self.fail(f"{stmt.value.op.name} belongs into pl.split_aiv", stmt)
        lane, split = self.lane
        value, name = self.expr(stmt.value.args[0]), self.name(stmt.var)
        if stmt.value.op.name.endswith("shard"):
            self.line(f"{name} = shard({value}, {lane}, {split})")
        else:
            self.line(f"{name} = gathered({name} if {lane} else None, {value}, {lane}, {split})")

    def stmt_EvalStmt(self, stmt):
        text = self.expr(stmt.expr)
        if text != "None":
            self.line(text)

    def stmt_ReturnStmt(self, stmt):
        values = [self.expr(each) for each in stmt.value]
        self.line("return " + (values[0] if len(values) == 1 else f"({''.join(f'{each}, ' for each in values)})"))

    def stmt_BreakStmt(self, stmt):
        self.line("break")

    def stmt_ContinueStmt(self, stmt):
        self.line("continue")

    def carry(self, names, values):
        pairs = [(name, value) for name, value in zip(names, values) if name != value]
        if pairs:
            left, right = zip(*pairs)
            self.line(f"{', '.join(left)} = {', '.join(right)}")

    def loop(self, stmt, head):
        args = [self.name(each) for each in stmt.iter_args]
        self.carry(args, [self.expr(each.initValue) for each in stmt.iter_args])
        self.line(head)
        yielded = self.body(stmt.body)
        self.depth += 1
        self.carry(args, [self.expr(each) for each in yielded or []])
        self.depth -= 1
        self.carry([self.name(each) for each in stmt.return_vars], args)

    def stmt_ForStmt(self, stmt):
        bounds = ", ".join(self.expr(each) for each in (stmt.start, stmt.stop, stmt.step))
        self.loop(stmt, f"for {self.name(stmt.loop_var)} in range({bounds}):")

    def stmt_WhileStmt(self, stmt):
        for each in stmt.iter_args:
            self.name(each)
        self.loop(stmt, f"while {self.expr(stmt.condition)}:")

    def stmt_IfStmt(self, stmt):
        results = [self.name(each) for each in stmt.return_vars]
        self.line(f"if {self.expr(stmt.condition)}:")
        for number, body in enumerate([stmt.then_body, stmt.else_body]):
            if body is None:
                continue
            if number:
                self.line("else:")
            yielded = self.body(body)
            self.depth += 1
            self.carry(results, [self.expr(each) for each in yielded or []])
            self.depth -= 1

    def stmt_SpmdScopeStmt(self, stmt):
        self.line(f"for _ in blocks({self.expr(stmt.core_num)}):")
        self.body(stmt.body)

    def stmt_SplitAivScopeStmt(self, stmt):
        lane = self.name(stmt.lane)
        self.lane = (lane, _SPLITS[stmt.mode.name])
        self.line(f"for {lane} in range(2):")
        self.body(stmt.body)
        self.lane = None

    # The function.

    def text(self):
        function = self.function
        params = [self.name(each) for each in function.params]
        self.line(f"def {function.name}({', '.join(params)}):")
        self.depth = 1
        if function.requires_runtime_binding or function.body is None:
            self.fail(f"{function.name} has no body", function)
        self.line(f'"""{function.func_type.name}."""')
        known = set()
        for param, name in zip(function.params, params):
            for axis, extent in enumerate(getattr(param.type, "shape", ())):
                if isinstance(extent, ir.Var) and id(extent) not in known:
                    known.add(id(extent))
                    self.line(f"{self.name(extent)} = {name}.shape[{axis}]")
        if function.func_type == ir.FunctionType.Group:
            self.group(function)
        else:
            self.stmts(function.body)
        return "\n".join(self.lines) + "\n"

    def group(self, function):
        """Its calls run at once."""
        calls, ends = [], []
        for stmt in statements_in_order(function.body):
            value = getattr(stmt, "value", None) if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "expr", None)
            if isinstance(value, ir.Call) and isinstance(value.op, ir.GlobalVar):
                callee = self.program.functions[value.op.name]
                arguments = "".join(f"{self.expr(each)}, " for each in value.args)
                calls.append(f"({callee.name}, {_is_on_both(callee)}, ({arguments}))")
                if isinstance(stmt, ir.AssignStmt):
                    ends.append((stmt.var, len(calls) - 1))
            else:
                ends.append((stmt, None))
        self.line(f"_results = _cross_core_rt.run({', '.join(calls)})")
        for what, number in ends:
            if number is None:
                self.stmt(what)
            else:
                self.line(f"{self.name(what)} = _results[{number}]")


def _is_on_both(function):
    """Whether each vector core runs a function with its own part of the tiles."""
    attrs = function.attrs
    split = attrs.get("split", ir.SplitMode.NONE)
    if function.func_type != ir.FunctionType.AIV or (split != ir.SplitMode.NONE and not attrs.get("split_aiv")):
        return False
    return bool(re.search(r"split=[1-4]|get_subblock_idx", ir.python_print(function)))


def torch_codegen(node, check_shapes=False):
    """The source of a program or of one function. `check_shapes`: the source compares the shape of each result with
    that of the program. UnsupportedFeatureError, with the place, for what has no form in torch."""
    if not isinstance(node, (ir.Program, ir.Function)):
        raise TypeError(f"torch_codegen takes a Program or a Function, not {type(node).__name__}")
    program = node if isinstance(node, ir.Program) else None
    functions = list(node.functions.values()) if program else [node]
    runtime = _runtime()
    names = set(re.findall(r"^(?:def|class) (\w+)", runtime, re.M))
    for left in re.findall(r"^(\w+(?:(?:, | = )\w+)*) = ", runtime, re.M):
        names |= set(re.findall(r"\w+", left))
    texts = [
        _Function(program, each, names | {"torch", "queue", "threading", "builtins"}, check_shapes).text()
        for each in functions
    ]
    heads = sorted(set(re.findall(r"^import \w+$", runtime, re.M)) | {"import builtins"})
    rest = re.sub(r"^(import|from) .*\n", "", runtime, flags=re.M)
    return "\n".join([*heads, "", rest.strip(), "", "", "\n\n".join(texts)])
