"""Errors of the compiler and of a run, at the line of the program."""

import functools
import linecache
import re
from pathlib import Path

from pypto.language.parser.diagnostics import (
    InvalidOperationError,
    PlacedError,
    QueueError,
    ScopeIsolationError,
    UnsupportedFeatureError,
    hints,
)
from pypto.pypto_core import ir

# Element types as MLIR writes them, and names of DataType.
TYPES = {"f32": "FP32", "f16": "FP16", "bf16": "BF16", "i1": "BOOL"}
TYPES |= {f"{sign}{bits}": f"{name}{bits}" for sign, name in (("i", "INT"), ("ui", "UINT")) for bits in (8, 16, 32, 64)}
_TYPE = re.compile(rf"'?\b({'|'.join(TYPES)})\b'?")
_OP = re.compile(r"'pto\.(\w+)' op\b")
_PLACE = re.compile(r"(.+?):(\d+):(\d+): (.*)", re.DOTALL)
# Behind what failed in a run: "(pto.tstore at k.py:7:9)", "(tload) at k.py:5".
_RUN_PLACE = re.compile(r" at (\S.*?\.py):(\d+)(?::(\d+))?")
_KERNEL = re.compile(r"kernel '(\w+)' faulted")
_ARGUMENT = re.compile(r"\bargument (\d+)\b")
# Between tasks the mistake is where the later one is launched.
_LAUNCH_PLACE = re.compile(r"; launched at (\S.*?\.py):(\d+)(?::(\d+))?")


def _in_words(text):
    """A message of the compiler with operations and element types as programs name them."""
    names = {}
    for name in ir.op_names():  # of those that are the same instruction the one that has its name
        instruction, own = ir.op_instruction(name), name.removeprefix("tensor.").removeprefix("tile.")
        if instruction not in names or instruction == f"t{own}":
            names[instruction] = own

    def named(found):
        name = names.get(found[1])
        return f"pl.{name}" if name else found[0]

    return _TYPE.sub(lambda found: TYPES[found[1]], _OP.sub(named, text))


def _lines(file):
    return [each.rstrip("\n") for each in linecache.getlines(file)]


def _span(file, line, column):
    span = {"filename": file, "file": file}
    for name, value in (("line", line), ("column", column)):
        span[name] = span[f"begin_{name}"] = value
    return span


_KINDS = {
    "the two lanes": QueueError,
    "the two AIV lanes": QueueError,
    "cross-core pipe ring": QueueError,
    "not lowered yet": UnsupportedFeatureError,
    "outside of the scope that computes": ScopeIsolationError,
}


def of_compiler(text, kind=None):
    """The compiler's error as one of the parser's, or of a kind, with its place."""
    kind = kind or next((held for key, held in _KINDS.items() if key in text), InvalidOperationError)
    text = _in_words(text)
    found = _PLACE.match(text)
    if found is None:
        return kind(text)
    file, line, column, message = found.groups()
    hint = next((held for key, held in _COMPILE_HINTS.items() if key in message), None)
    message = hints.split(message)[0] if hint else message
    return kind(message, _span(file, int(line), int(column)), hint, source_lines=_lines(file))


# What the compiler cannot do, and what helps in a program.
_COMPILE_HINTS = {
    "exists on a5 only": 'compile for it, `RunConfig(platform="a5sim")`',
    "expects a destination of": "cast to one of these first",
    "rows are no multiple of 32 bytes": "load as many columns as fill them",
}
# What went wrong in a run, and what helps.
_RUN_HINTS = {
    "out-of-range": "keep the offset plus the extent of the window inside of the tensor",
    "an index is outside": "keep the index below the extent",
    "missing: a notify": "let the rank that comes first notify the other, which waits, or put a barrier between them",
    "task-race": "name the other task in `deps` of this one",
    "deadlock": "let a rank notify the cell, or do not wait for it",
}


@functools.cache
def _failures():
    """(what a run raises, the same with a place)."""
    from pto_mlir.runtime import RuntimeFailure

    return RuntimeFailure, type("RunError", (PlacedError, RuntimeFailure), {})


def _with_names(program, text):
    """The text with the name of each tensor that it has by number, as "argument 2 (data)"."""
    faulty = _KERNEL.search(text)
    function = program.functions.get(faulty[1]) if program is not None and faulty else None
    tensors = [each for each in function.params if isinstance(each.type, ir.TensorType)] if function else []

    def named(found):
        number = int(found[1])
        return f"{found[0]} ({tensors[number].name_hint})" if number < len(tensors) else found[0]

    return _ARGUMENT.sub(named, text)


def of_run(program, run, *args):
    """run(*args) of a program; its failures with the line of the program where they name one."""
    raised, placed = _failures()
    try:
        run(*args)
    except raised as error:
        text = str(error)
    else:
        return
    text = _with_names(program, text)
    found = (_LAUNCH_PLACE if "task-race" in text else _RUN_PLACE).search(text)
    hint = next((held for key, held in _RUN_HINTS.items() if key in text), "")
    if found is None:
        raise placed(text, hint=hint)
    functions = program.functions.values() if program is not None else ()
    files = (function.span.filename for function in functions)
    file = next((each for each in files if Path(each).name == found[1]), found[1])
    lines, line = _lines(file), int(found[2])
    held = lines[line - 1] if line <= len(lines) else ""
    column = int(found[3] or len(held) - len(held.lstrip()) + 1)
    raise placed(text, _span(file, line, column), hint, source_lines=lines)


def external(function):
    """Why a program does not run that has a kernel in C++."""
    source = dict(function.attrs)["external_source"]
    message = f"{function.name} is an external kernel in C++ ({source}), which the simulated device cannot run"
    return UnsupportedFeatureError(message, function.span, hint="write its body in the language")
