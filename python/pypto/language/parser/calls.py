"""Calls: operations of the table, functions of the program, conversions of scalars."""

import ast

from pypto.jit.definition import Definition
from pypto.language.calls import called
from pypto.language.names import Name, replacement
from pypto.language.parser import scalars
from pypto.language.parser.diagnostics import (
    InvalidOperationError,
    OperandError,
    ParserSyntaxError,
    ParserTypeError,
    UnsupportedFeatureError,
    hints,
)
from pypto.language.parser.known import BUILTINS, Known
from pypto.language.parser.prefetch import Prefetches
from pypto.language.typing import DynVar, dynamic
from pypto.pypto_core import DataType, ir

_SUBMITS = ("pl.submit", "pl.spmd_submit")
# Hints to the scheduler or the debugger: their value is that of their argument.
_HINTS = ("pl.no_dep", "pl.dump_tag")
_CORES = {"aic": ir.CoreType.CUBE, "aiv": ir.CoreType.VECTOR}
# Without an operand that would say so, these make tiles, or tensors where the annotation declares one.
_GENERATED = ("pl.full", "pl.arange", "pl.random")
_POPS = ("tpop_from_aic", "tpop_from_aiv")  # what is popped is as declared where the call does not say it
_SHIFTS = ("tile.shl", "tile.shr")  # their right operand may be of another type
_LOOPS = ("pl.range", "pl.parallel", "pl.unroll", "pl.pipeline", "pl.while_", "pl.split_aiv")


_called = {}  # of functions outside a program that call others: the function, and these, by its identity


def note_calls(function, others):
    """A program that gets the function gets the others as well."""
    if others:
        _called[id(function)] = (function, others)


def calls_of(function):
    """The functions that one outside a program calls."""
    held, others = _called.get(id(function), (None, []))
    return others if held is function else []


def _named(error):
    """The text of an error of an operation: `tile.add: ..` names it as pl.tile operation 'add'."""
    text = str(error)
    full, colon, rest = text.partition(": ")
    space, _, base = full.partition(".")
    return f"pl.{space} operation '{base}': {rest}" if colon and base.isidentifier() else text


def _argument(node, text):
    """The keyword of a call that an error names, else the call."""
    named = [each for each in getattr(node, "keywords", []) if each.arg and f"no argument {each.arg};" in text]
    return named[0] if named else node


def is_tile(value):
    return isinstance(value, ir.Expr) and isinstance(value.type, ir.TileType)


def is_tensor(value):
    return isinstance(value, ir.Expr) and isinstance(value.type, ir.TensorType)


class Calls(Known, Prefetches):
    """Needs Expressions, and `self.program` with the functions that can be called."""

    tagged = ()  # tensors under pl.dump_tag, until a launch has written them

    def untag(self, written):
        """A tag is for what the tensor held when it was set."""
        self.tagged = [each for each in self.tagged if each not in written and self.root(each) not in written]

    def value_Call(self, node):
        if self.is_call(node, "dynamic"):
            return self.open_extent(node)
        callee = self.callee(node.func)
        if isinstance(callee, Definition):
            return self.inline_call(callee, node)
        if isinstance(callee, Name) and callee.full in _SUBMITS:
            return self.submit(node, callee.full)
        if isinstance(callee, Name) and callee.full == "system.task_dummy":
            return self.task_dummy(node)
        if isinstance(node.func, ast.Name) and callee is BUILTINS.get(node.func.id):
            return self.known_call(callee, node)
        arguments, keywords = self.arguments(node)
        if isinstance(callee, ir.Function):
            return self.call_function(callee, arguments, keywords, node)
        if callable(callee) and not isinstance(callee, Name):  # a method of an element type
            return callee()
        name = callee.full
        if name in _LOOPS:
            hint = f"write `for i in {ast.unparse(node)}:`"
            self.fail(ParserSyntaxError, f"{name} belongs in a `for` statement", node, hint)
        if name == "pl.yield_":
            message = "pl.yield_ requires an assignment-form pl.yield_ at the end of a body; write `a = pl.yield_(x)`"
            self.fail(ParserSyntaxError, message, node)
        if name in _HINTS:
            if len(arguments) != 1 or keywords:
                self.fail(ParserTypeError, f"{name} takes one argument", node)
            if name == "pl.dump_tag" and is_tensor(arguments[0]):
                self.tagged = [*self.tagged, arguments[0]]
            return arguments[0]
        if name.startswith("prefetch."):
            return self.prefetch(name.removeprefix("prefetch."), arguments, keywords, node)
        if name in ("pl.paged_gather", "tensor.paged_gather"):
            from pypto.language.parser.composed import paged_gather  # it is read when a program needs it

            return paged_gather(self, arguments, keywords, node)
        if name == "pl.const":
            return self.constant(arguments, keywords, node)
        scalar = self.scalar_call(name, arguments, keywords, node)
        return self.operation(name, arguments, keywords, node) if scalar is None else scalar

    def open_extent(self, node):
        """pl.dynamic("M") in a shape: one extent for each name of a function."""
        arguments, keywords = self.arguments(node)
        if len(arguments) != 1 or keywords:
            self.fail(ParserTypeError, "pl.dynamic takes a name", node)
        try:
            return self.dynamics.setdefault(arguments[0], dynamic(arguments[0]))
        except (TypeError, ValueError) as error:
            self.fail(ParserTypeError, str(error), node)

    def callee(self, node):
        """What is called: a Name of the language, a function, or a method of an element type."""
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id == "self" and self.program is not None:
                return self.program.function(node.attr, self, node)
            if node.attr in ("get_byte", "get_bit"):
                base = self.value(node.value)
                if isinstance(base, DataType):
                    return getattr(base, node.attr)
        if isinstance(node, ast.Name) and node.id not in self.env and node.id not in self.closure:
            if node.id in BUILTINS:
                return BUILTINS[node.id]
            self.fail(InvalidOperationError, f"Unknown operation '{node.id}'", node, hints.builtin(node.id))
        held = self.closure.get(node.id) if isinstance(node, ast.Name) and node.id not in self.env else None
        if isinstance(held, Definition) and held.kind == "inline":
            return held
        value = self.value(node)
        if isinstance(value, (Name, ir.Function)):
            return value
        hint = "operations begin with `pl.`, kernels are functions under `@pl.function` or `@pl.jit.incore`"
        self.fail(UnsupportedFeatureError, f"{ast.unparse(node)} cannot be called in a kernel", node, hint)

    def arguments(self, node):
        for each in node.args:
            if isinstance(each, ast.Starred):
                self.fail(UnsupportedFeatureError, "starred arguments are not supported; write them out", each)
        keywords = {}
        for each in node.keywords:
            if each.arg is None:
                self.fail(UnsupportedFeatureError, "starred arguments are not supported; write them out", each.value)
            keywords[each.arg] = self.attributes(each.value) if each.arg == "attrs" else self.value(each.value)
        return [self.value(each) for each in node.args], keywords

    def attributes(self, node):
        """A dictionary of constants."""
        if not isinstance(node, ast.Dict):
            self.fail(ParserTypeError, "attrs must be a dictionary", node)
        keys = [self.value(key) for key in node.keys if key is not None]
        if len(keys) != len(node.values) or not all(isinstance(key, str) for key in keys):
            self.fail(ParserTypeError, "attrs must be a dictionary with strings as keys", node)
        return dict(zip(keys, (self.value(value) for value in node.values), strict=True))

    def constant(self, arguments, keywords, node):
        if len(arguments) != 2 or keywords or not isinstance(arguments[1], DataType):
            self.fail(ParserTypeError, "pl.const takes a number and an element type", node)
        value = float("nan") if arguments[0] == "nan" else arguments[0]
        if not scalars.is_number(value):
            self.fail(ParserTypeError, "pl.const takes a number and an element type", node)
        try:
            return scalars.constant(value, self.span(node), arguments[1])
        except ParserTypeError as error:
            error.source_lines = self.source.lines
            raise
        except (ValueError, TypeError) as error:
            self.fail(ParserTypeError, str(error), node)

    def scalar_call(self, name, arguments, keywords, node):
        """The node of pl.min, pl.cast, .. on scalars; None for other calls."""
        on_scalars = bool(arguments) and scalars.is_scalar(arguments[0])
        if name in scalars.OPERATORS and on_scalars and len(arguments) == 2 and scalars.is_scalar(arguments[1]):
            return scalars.binary(scalars.OPERATORS[name], *arguments, self.span(node))
        if name in scalars.CALLS and len(arguments) == 2 and on_scalars and scalars.is_scalar(arguments[1]):
            return scalars.apply(scalars.CALLS[name], *arguments, self.span(node))
        if name in ("pl.min", "pl.max", "pl.pow", "pl.logical_xor"):
            self.fail(ParserTypeError, f"{name} takes two scalars", node, "tiles and tensors have pl.maximum, ..")
        if name in ("pl.cast", "tile.cast") and on_scalars:
            target = arguments[1] if len(arguments) > 1 else keywords.get("target_type")
            if not isinstance(target, DataType):
                self.fail(ParserTypeError, "pl.cast takes a value and an element type", node)
            return ir.Cast(self.as_expr(arguments[0], node), target, self.span(node))
        if name == "pl.abs" and on_scalars:
            value = self.as_expr(arguments[0], node)
            return ir.Abs(value, value.type.dtype, self.span(node))
        return None

    def operation(self, name, arguments, keywords, node):
        """A call of an operation of the table, checked; errors at its place."""
        attrs = keywords.pop("attrs", None)
        declared, self.declared = self.declared, None
        if name == "pl.assemble" and len(arguments) > 2 and is_tile(arguments[1]) and is_tensor(arguments[0]):
            name, arguments = "tile.store", [arguments[1], arguments[2], arguments[0], *arguments[3:]]
        is_free = name == "pl.full" and not self.loads_tiles and not isinstance(declared, ir.TileType)
        if name in _GENERATED and (is_free or isinstance(declared, ir.TensorType)):
            name = name.replace("pl.", "tensor.")
        says_type = arguments or "shape" in keywords or "dtype" in keywords
        if name.rpartition(".")[2] in _POPS and isinstance(declared, ir.TileType) and not says_type:
            keywords.update(shape=list(declared.shape), dtype=declared.dtype)
        if name == "comm.alloc_window_buffer":
            keywords.pop("name", None)
            arguments = [[each] if not isinstance(each, list) else each for each in arguments]
        if name in ("system.sync_set", "system.sync_wait") and keywords.get("core_type") in _CORES:
            keywords["core_type"] = _CORES[keywords["core_type"]]
        if name.rpartition(".")[2] in ("aiv_shard", "aic_gather") and len(arguments) == 1:
            if self.lane is None and name.startswith("pl."):
                self.refuse_lone(name, node)
            self.refuse_mode(name, node)
            self.check_shared(arguments[0], name, node)
            if self.lane is not None:
                arguments, keywords["mode"] = [*arguments, self.lane[0]], self.lane[1]
        self.check_form(name, arguments, keywords, node)
        if name.rpartition(".")[2].startswith("fillpad"):
            self.name_padding(arguments, keywords, node)
        try:
            values = [self.argument(each, node) for each in arguments]
            named = {key: self.argument(each, node) for key, each in keywords.items()}
            held = replacement(name)
            call = called(held, values, named) if held else ir.create_op(name, *values, span=self.span(node), **named)
        except TypeError as error:
            place = self.span(_argument(node, str(error)))
            raise OperandError(_named(error), place, source_lines=self.source.lines) from error
        except ValueError as error:
            raise InvalidOperationError(_named(error), self.span(node), source_lines=self.source.lines) from error
        self.check_elements(call, node)
        return ir.Call(call.op, call.args, call.kwargs, attrs, call.type, self.span(node)) if attrs else call

    def check_elements(self, call, node):
        """Operations on two tiles compute with one element type."""
        written = getattr(node, "args", ())
        if not call.op.name.startswith("tile.") or call.op.name in _SHIFTS or len(call.args) < 2 or len(written) < 2:
            return
        if ir.op_parameters(call.op.name)[:2] != ["lhs", "rhs"] or not all(is_tile(each) for each in call.args[:2]):
            return
        left, right = (each.type.dtype.name for each in call.args[:2])
        if left != right:
            hint = f"write `pl.cast({ast.unparse(written[1])}, pl.{left})`"
            message = f"{ast.unparse(node.func)} takes tiles of one element type, not {left} and {right}"
            self.fail(OperandError, message, written[1], hint)

    def check_form(self, name, arguments, keywords, node):
        """Refuses operations of tiles and tensors on a number, and keywords of the tensor's form on tiles."""
        first = arguments[0] if arguments else None
        space, _, base = name.rpartition(".")
        if space != "pl":
            return
        held = ir.op_parameters(f"tile.{base}")
        if scalars.is_scalar(first) and held and held[0] in ("x", "lhs"):
            message = f"{name} works on tensors and tiles, not on a Scalar"
            self.fail(OperandError, message, node, "use Python operators on scalars")
        if not isinstance(first, ir.Expr):
            return
        if base == "store" and is_tensor(first) and len(arguments) > 2:
            of, to = (ast.unparse(node.args[i]) for i in (0, -1)) if len(node.args) > 2 else ("t", "out")
            message = f"pl.store takes a tile, and {of} is a tensor"
            self.fail(OperandError, message, node.args[0] if node.args else node, f"write `{to}[:] = {of}`")
        tile = isinstance(first.type, ir.TileType)
        if tile and "out_dtype" in keywords and base.startswith("matmul"):  # what the cube gives
            made = DataType.FP32 if first.type.dtype.is_float() else DataType.INT32
            if keywords["out_dtype"] == made:
                keywords.pop("out_dtype")
        of_tensors = set(ir.op_parameters(f"tensor.{base}") or ()) - set(held or ())
        for keyword in keywords:
            if isinstance(first.type, ir.TileType) and keyword in of_tensors:
                at = next((each for each in node.keywords if each.arg == keyword), node)
                message, hint = f"{name} on tiles does not take {keyword}=", f"see `pl.tensor.{base}`"
                if keyword.endswith("_trans"):
                    message = f"{name} on tiles takes a pl.tile.transpose_view instead of {keyword}="
                    hint = "multiply the view, or tensors"
                self.fail(OperandError, message, at, hint)

    def argument(self, value, node):
        if isinstance(value, list):
            return [self.argument(each, node) for each in value]
        return self.symbol(value, node) if isinstance(value, DynVar) else value

    def call_function(self, function, arguments, keywords, node):
        attrs = dict(keywords.pop("attrs", {}))
        if "manual_dep_edges" in attrs:
            hint = f"write `pl.submit({', '.join(ast.unparse(each) for each in (node.func, *node.args))}, deps=[..])`"
            self.fail(ParserTypeError, "manual_dep_edges is of pl.submit, not of a call", node, hint)
        if "device" in keywords:
            attrs["device"] = self.as_expr(keywords.pop("device"), node, DataType.INDEX)
        if keywords:
            message = f"{function.name} takes positional arguments only, and no {', '.join(keywords)}="
            self.fail(ParserTypeError, message, node, "leave the names out")
        if len(arguments) != len(function.params):
            wanted, given = len(function.params), len(arguments)
            hint = f"write `{ast.unparse(node.func)}({', '.join(each.name_hint for each in function.params)})`"
            self.fail(ParserTypeError, f"{function.name} expects {wanted} argument(s), got {given}", node, hint)
        said = attrs.get("arg_directions")
        if said and len(said) != len(arguments):
            message = f"arg_directions must match the arguments: {len(said)} for {len(arguments)}"
            self.fail(ParserTypeError, message, node, "give one for each argument")
        untracked = [i for i, each in enumerate(node.args) if self.is_call(each, "no_dep")]
        if untracked:
            attrs["arg_direction_overrides"] = untracked
        values = []
        for value, param in zip(arguments, function.params, strict=True):
            dtype = param.type.dtype if isinstance(param.type, ir.ScalarType) else None
            values.append(self.as_expr(value, node, dtype))
            if isinstance(param.type, ir.ScalarType) != isinstance(values[-1].type, ir.ScalarType):
                kind = "a scalar" if dtype else "a tensor"
                self.fail(ParserTypeError, f"{function.name}: {param.name} must be {kind}", node)
        results = function.return_types
        kind = ir.UnknownType() if not results else results[0] if len(results) == 1 else ir.TupleType(results)
        if self.program is not None:
            try:
                self.program.include(function)
            except ValueError as error:
                message, hint = hints.split(str(error))
                self.fail(ParserSyntaxError, message, node, hint)
        else:
            self.outside.append(function)
        marked = [each for each in self.tagged if any(each is value for value in values)]
        if marked:
            attrs["dumps"] = marked
            directions = zip(values, function.param_directions, strict=True)
            self.untag({value for value, direction in directions if direction != ir.ParamDirection.In})
        return ir.Call(ir.GlobalVar(function.name), values, {}, attrs, kind, self.span(node))

    # --- tasks -------------------------------------------------------------------------------

    def submit(self, node, name):
        """pl.submit(self.k, *args, deps=[..]): the kernel's results and the task."""
        if not node.args:
            self.fail(ParserTypeError, f"{name} takes a kernel and its arguments", node)
        keywords = {each.arg: each.value for each in node.keywords}
        call = self.value(ast.copy_location(ast.Call(node.args[0], node.args[1:], []), node))
        if not isinstance(call, ir.Call) or not isinstance(call.op, ir.GlobalVar):
            self.fail(ParserTypeError, f"{ast.unparse(node.args[0])} is no kernel", node, f"{name}(self.kernel, ..)")
        self.check_submitted(name, node, keywords)
        fields = {"deps": self.tasks(keywords.pop("deps", None))}
        if name == "pl.spmd_submit":
            if "core_num" not in keywords:
                self.fail(ParserSyntaxError, "pl.spmd_submit requires core_num=; add `core_num=1`", node)
            self.block_count(keywords["core_num"])
            fields["core_num"] = self.expr(keywords.pop("core_num"))
            if "sync_start" in keywords:
                fields["sync_start"] = self.flag("sync_start", keywords.pop("sync_start"))
        if "predicate" in keywords:
            fields["predicate"] = self.predicate(keywords.pop("predicate"))
        if "allow_early_resolve" in keywords:  # a hint, which changes no result
            fields["allow_early_resolve"] = self.flag("allow_early_resolve", keywords.pop("allow_early_resolve"))
        attrs = self.attributes(keywords.pop("attrs")) if "attrs" in keywords else {}
        marked = [*dict(call.attrs).get("dumps", ()), *self.dumps(keywords.pop("dumps", None), call)]
        if marked:
            attrs["dumps"] = marked
        if untracked := dict(call.attrs).get("arg_direction_overrides"):
            attrs["arg_direction_overrides"] = untracked
        for keyword in keywords:
            self.fail(ParserTypeError, f"{name} does not accept '{keyword}='", node)
        results = call.type.types if isinstance(call.type, ir.TupleType) else [call.type]
        kinds = [each for each in results if not isinstance(each, ir.UnknownType)]
        kind = ir.TupleType([*kinds, ir.ScalarType(DataType.TASK_ID)])
        return ir.Submit(call.op, call.args, attrs=attrs, type=kind, span=self.span(node), **fields)

    def dumps(self, node, call):
        """The entries of `dumps`: tensors that the call passes."""
        marked = self.value(node) if node is not None else []
        if not isinstance(marked, list) or not all(is_tensor(each) for each in marked):
            hint = f"write `[{ast.unparse(node)}]`"
            self.fail(ParserTypeError, "dumps is a list of tensors", node, hint)
        for each, place in zip(marked, getattr(node, "elts", ()), strict=False):
            if not any(each is argument for argument in call.args):
                message = f"{ast.unparse(place)} is no argument of {call.op.name}"
                self.fail(ParserTypeError, message, place, "dumps names tensors that the call passes")
        return marked

    def predicate(self, node):
        """A comparison of one element with an integer."""
        if not (isinstance(node, ast.Compare) and len(node.ops) == 1):
            hint = f"write `({ast.unparse(node)} > 0)`"
            self.fail(ParserTypeError, "predicate must compare an element with an integer", node, hint)
        condition = self.condition(node)
        if isinstance(condition, bool):
            hint = f"write `({ast.unparse(node)} > 0)`"
            self.fail(ParserTypeError, "predicate must compare an element with an integer", node, hint)
        self.check_predicate(condition, node)
        return condition

    def task_dummy(self, node):
        """A task without work behind others."""
        if node.args or [each.arg for each in node.keywords] not in ([], ["deps"]):
            self.fail(ParserTypeError, "pl.system.task_dummy takes deps=", node)
        deps = self.tasks(node.keywords[0].value if node.keywords else None)
        return ir.create_op("system.task_dummy", deps, span=self.span(node))

    def tasks(self, node):
        """The entries of `deps`: tasks, one array of them, None, or a comprehension over elements."""
        if node is None:
            return []
        if isinstance(node, ast.ListComp):
            return self.listed_tasks(node)
        if not isinstance(node, (ast.List, ast.Tuple)):
            self.fail(ParserTypeError, "deps must be a list literal of tasks", node, f"write `[{ast.unparse(node)}]`")
        found = [task for each in node.elts for task in self.task(each)]
        if len(node.elts) > 1 and any(isinstance(each.type, ir.ArrayType) for each in found):
            hint = "name its elements, or the array alone"
            self.fail(ParserTypeError, "deps cannot mix a whole array of tasks with other tasks", node, hint)
        return found

    def task(self, node):
        value = self.value(node)
        if value is None:
            return []
        kind = value.type if isinstance(value, ir.Expr) else None
        if not isinstance(kind, (ir.ScalarType, ir.ArrayType)) or kind.dtype != DataType.TASK_ID:
            hint = "a task is the last result of `pl.submit`, or the name behind `as` of a scope"
            self.fail(ParserTypeError, f"deps: {ast.unparse(node)} is no task", node, hint)
        return [value]

    def listed_tasks(self, node):
        """[ids[k] for k in range(n)], with a constant n."""
        loop = node.generators[0]
        call = loop.iter
        plain = len(node.generators) == 1 and not loop.ifs and isinstance(loop.target, ast.Name)
        named = isinstance(call, ast.Call) and not call.keywords and ast.unparse(call.func) in ("range", "pl.range")
        bounds = [self.value(each) for each in call.args] if plain and named else []
        if not 1 <= len(bounds) <= 3 or not all(type(each) is int for each in bounds):
            self.fail(
                UnsupportedFeatureError, "this list of tasks is not supported", node, "[ids[k] for k in range(4)]"
            )
        outer, found = self.env, []
        for number in range(*bounds):
            self.env = {**outer, loop.target.id: number}
            found += self.task(node.elt)
        self.env = outer
        return found
