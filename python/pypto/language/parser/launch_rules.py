"""What scopes and submits may say of a launch: a wrong argument is refused by its name, at its place."""

import ast
import keyword

from pypto.language.names import Name
from pypto.language.parser.diagnostics import InvalidOperationError, ParserSyntaxError, ParserTypeError
from pypto.language.parser.scopes import is_written_out
from pypto.pypto_core import DataType, ir

_PER_TASK = ("deps", "predicate", "allow_early_resolve")  # what only a task of its own has
_FLAGS = ("sync_start", "allow_early_resolve")
_COMPARED = tuple(getattr(DataType, f"INT{bits}") for bits in (8, 16, 32, 64))  # what the scheduler can compare


def written(call):
    """Keywords of a call, by name."""
    return {each.arg: each for each in call.keywords if each.arg is not None}


def _wide(value):
    """A value without the casts around it."""
    while isinstance(value, ir.Cast):
        value = value.operand
    return value


class LaunchRules:
    """Needs Expressions."""

    clusters = 0  # how many pl.cluster are around what is read

    def check_scope(self, name, call, task=None, loop=False):
        """The arguments of pl.at and pl.spmd. `task`: the node behind `as`; `loop`: of `for i in pl.spmd(..)`."""
        said = written(call)
        if name == "pl.spmd":
            self.check_blocks(call, said)
            self.check_grouped(said, task)
            if "deps" in said and task is None:
                hint = "leave it out, or write `with pl.spmd(..) as task:`"
                form = "`for` form" if loop else "form without `as task`"
                self.fail(ParserSyntaxError, f"the {form} of pl.spmd does not accept 'deps='", said["deps"], hint)
        for flag in _FLAGS:
            if flag in said:
                self.flag(flag, said[flag].value)
        hint = said.get("name_hint")
        text = getattr(getattr(hint, "value", None), "value", "")
        if isinstance(text, str) and text and (not text.isidentifier() or keyword.iskeyword(text)):
            message = f"name_hint must be a valid non-keyword identifier, not {text!r}"
            self.fail(ParserSyntaxError, message, hint, 'write `name_hint="scale"`')
        if "no_dep_args" in said:
            self.check_untracked(said["no_dep_args"].value)

    def check_blocks(self, call, said):
        """core_num is said once, and an integer."""
        for each in call.keywords:
            if each.arg is None:
                self.fail(ParserSyntaxError, "pl.spmd does not accept **kwargs; write them out", each.value)
        if call.args and "core_num" in said:
            hint = f"leave `{ast.unparse(said['core_num'])}` out"
            message = "pl.spmd got multiple values for argument 'core_num'"
            self.fail(ParserSyntaxError, message, said["core_num"], hint)
        node = call.args[0] if call.args else said["core_num"].value if "core_num" in said else None
        if node is not None:
            self.block_count(node)

    def block_count(self, node):
        """The value of core_num, an integer of at least 1 where it is known."""
        value = self.value(node)
        kind = value.type if isinstance(value, ir.Expr) else None
        is_integer = isinstance(kind, ir.ScalarType) and kind.dtype.is_int() if kind else type(value) is int
        if not is_integer:
            message = f"core_num must be an integer expression, not {ast.unparse(node)}"
            self.fail(ParserSyntaxError, message, node, "write the number of blocks, as in `4`")
        if type(value) is int and value < 1:
            message = f"core_num must be a positive integer, not {value}: a launch needs at least one block"
            self.fail(ParserSyntaxError, message, node, "write `1`")
        return value

    def check_grouped(self, said, task):
        """A launch inside of pl.cluster is part of one task: nothing of it is of a task of its own."""
        if not self.clusters:
            return
        if task is not None:
            message = "pl.spmd cannot capture a TaskId when nested inside `pl.cluster()`"
            self.fail(ParserSyntaxError, message, task, f"leave `as {ast.unparse(task)}` out")
        for each in _PER_TASK:
            if each in said:
                message = f"pl.spmd with '{each}=' cannot be nested inside `pl.cluster()`"
                self.fail(ParserSyntaxError, message, said[each], f"leave `{ast.unparse(said[each])}` out")

    def flag(self, name, node):
        """True or False, known when the program is read."""
        value = self.value(node)
        if not isinstance(value, bool):
            message = f"{name} must be a boolean literal, not {ast.unparse(node)}"
            self.fail(ParserSyntaxError, message, node, "write `True` or `False`")
        return value

    def check_untracked(self, node):
        """no_dep_args is a list of names of tensors, each once."""
        if not isinstance(node, ast.List):
            hint = "write the names out, as in `[x, y]`"
            self.fail(ParserTypeError, "no_dep_args must be a list literal", node, hint)
        seen = set()
        for each in node.elts:
            if not isinstance(each, ast.Name):
                message = f"no_dep_args takes bare tensor names, not {ast.unparse(each)}"
                self.fail(ParserTypeError, message, each, "write the name alone")
            if each.id in seen:
                self.fail(ParserTypeError, f"no_dep_args names {each.id} more than once", each, "name it once")
            seen.add(each.id)

    def check_submitted(self, name, node, keywords):
        """The arguments of pl.submit and pl.spmd_submit."""
        said = [each for each in _PER_TASK if each in keywords]
        if self.clusters and said:
            message = f"{name} inside `pl.cluster()` cannot carry per-task dispatch metadata: {', '.join(said)}"
            self.fail(ParserSyntaxError, message, node, f"leave `{said[0]}=` out")

    def check_unpacked(self, call):
        """A submit whose results nobody takes."""
        for each in ("submit", "spmd_submit"):
            if self.is_call(call, each) and isinstance(self.value(call.func), Name):
                hint = f"write `out, task = {ast.unparse(call)}`"
                message = f"the results of pl.{each} must be unpacked: what the kernel gives, and the task"
                self.fail(ParserSyntaxError, message, call, hint)

    def check_predicate(self, condition, node):
        """A comparison of one element of a tensor with a whole number, as the scheduler makes it."""
        hint = "write `(t[0, 0] > 0)`"
        sides = [_wide(each) for each in (getattr(condition, "left", None), getattr(condition, "right", None))]
        reads = [each for each in sides if isinstance(each, ir.Call) and each.op.name == "tensor.read"]
        if len(reads) != 1 or not any(isinstance(each, ir.ConstInt) for each in sides):
            message = "predicate must compare one tensor element with an integer literal"
            self.fail(ParserSyntaxError, message, node, hint)
        tensor = reads[0].args[0]
        if tensor.type.dtype not in _COMPARED:
            message = f"predicate compares a signed 8/16/32/64-bit integer, not {tensor.type.dtype.name}"
            self.fail(ParserTypeError, message, node, "keep the value that decides in an INT32 tensor")

    def check_reads_block(self, node, count, body):
        """Blocks that never ask which they are do the same work, and write to the same place."""
        if type(count) is int and count == 1:
            return
        asked = (
            isinstance(each, ast.Call) and ast.unparse(each.func).endswith("get_block_idx") for each in ast.walk(node)
        )
        if is_written_out(body) or any(asked) or self.launches(body) or self.reads_block(body):
            return
        hint = "write `i = pl.tile.get_block_idx()`, or the form `for i in pl.spmd(..):`"
        message = (
            "the body of pl.spmd neither reads the per-block index nor calls a kernel: all blocks would do the same"
        )
        self.fail(ParserSyntaxError, message, node, hint)

    def check_split(self, call):
        """The arguments of pl.split_aiv beside its count."""
        said = written(call)
        for each in said.values():
            if each.arg not in ("mode", "name_hint"):
                hint = f"leave `{ast.unparse(each)}` out"
                self.fail(ParserSyntaxError, f"pl.split_aiv does not accept '{each.arg}='", each, hint)
        if "mode" not in said:
            hint = (
                f"write `pl.split_aiv({ast.unparse(call.args[0])}, mode=pl.SplitMode.UP_DOWN)`" if call.args else None
            )
            self.fail(ParserSyntaxError, "pl.split_aiv requires mode=, the axis that is halved", call, hint)

    def check_slots(self, node):
        """slot_num of pl.split and pl.cross_core_slot."""
        value = self.value(node)
        if type(value) is not int or value < 1:
            message = f"slot_num must be positive, not {ast.unparse(node)}"
            self.fail(ParserSyntaxError, message, node, "write `2`, or leave it out")
        return value

    def check_shared(self, tensor, name, node):
        """Halves of windows of other ranks' memory are not to be had."""
        if isinstance(tensor, ir.Expr) and isinstance(tensor.type, ir.DistributedTensorType):
            message = f"{name} does not take a distributed tensor"
            self.fail(ParserSyntaxError, message, node, "`pl.load` the part of it that is wanted")

    def refuse_mode(self, name, node):
        """pl.aiv_shard and pl.aic_gather halve as the loop around them does."""
        said = written(node)
        if self.lane is not None and "mode" in said:
            hint = f"leave `{ast.unparse(said['mode'])}` out"
            message = f"{name} does not take a mode: it has that of pl.split_aiv"
            self.fail(ParserSyntaxError, message, said["mode"], hint)

    def refuse_lone(self, name, node):
        """Operations on a vector core's half, outside of the loop over both."""
        hint = "put it into `for lane in pl.split_aiv(2, mode=..)`"
        self.fail(InvalidOperationError, f"{name} is of one vector core", node, hint)
