"""`@pl.function`, `@pl.program`, `pl.parse` and their neighbours."""

import ast
import importlib
import os
import sys
from pathlib import Path

from pypto.jit.definition import Definition
from pypto.language.names import Name
from pypto.language.parser.calls import calls_of
from pypto.language.parser.diagnostics import (
    ParserError,
    ParserSyntaxError,
    UndefinedVariableError,
    UnsupportedFeatureError,
    hints,
)
from pypto.language.parser.function_parser import FunctionParser
from pypto.language.parser.source import parse_text, source_of
from pypto.language.typing import dynamic
from pypto.pypto_core import ir

_LANGUAGE = "pypto.language"
_DISTRIBUTED = "pypto.language.distributed"


class _Program:
    """The functions of a class: parsed when they are needed, so that calls may come before definitions."""

    def __init__(self, source, closure, trusted):
        self.source, self.closure, self.trusted = source, closure, trusted
        self.definitions, self.functions, self.open, self.scratches = {}, {}, [], {}

    def function(self, name, parser, node):
        """The function of that name, for a call of it at `node`."""
        if name in self.functions:
            return self.functions[name]
        if name not in self.definitions:
            hint = hints.nearest(name, self.definitions) or "define it under `@pl.function`"
            parser.fail(UndefinedVariableError, f"the program has no function {name}", node, hint)
        if name in self.open:
            message = f"functions call each other: {' -> '.join([*self.open, name])}"
            parser.fail(ParserSyntaxError, message, node, f"leave this call of {name} out, or loop")
        return self.parse(name)

    def include(self, function):
        """A function of outside that one of the program calls. ValueError: another one has its name."""
        name = function.name
        if name in self.definitions and self.functions.get(name) is not function:
            raise ValueError(f"the function {name} of outside conflicts with program function {name}; rename one")
        if self.functions.setdefault(name, function) is not function:
            raise ValueError(f"Conflicting external functions: two are called {name}; rename one")
        for other in calls_of(function):
            self.include(other)

    def parse(self, name):
        node, options = self.definitions[name]
        self.open.append(name)
        parser = FunctionParser(self.source, self.closure, self, self.trusted)
        found = parser.parse(node, options)
        self.open.pop()
        self.functions[name] = found
        return found


def _decorator(node, closure):
    """(name in pl or None, call or None) of a decorator."""
    call = node if isinstance(node, ast.Call) else None
    head = call.func if call else node
    if isinstance(head, ast.Attribute) and isinstance(head.value, ast.Name):
        module = closure.get(head.value.id)
        if getattr(module, "__name__", None) == _LANGUAGE:
            return head.attr, call
    return None, call


def _options(source, closure, call, trusted):
    """The arguments of a decorator."""
    parser = FunctionParser(source, closure, None, trusted)
    if call is None:
        return {}
    external = [each.value for each in call.keywords if each.arg == "external_source"]
    read = [each for each in call.keywords if each.arg != "external_source"]
    options = parser.arguments(ast.Call(call.func, call.args, read))[1]
    return {**options, "external_source": _path(external[0], closure)} if external else options


def _path(node, closure):
    """The path that an argument names, else its text."""
    held = closure.get(node.id) if isinstance(node, ast.Name) else getattr(node, "value", None)
    return os.fspath(held) if isinstance(held, (str, os.PathLike)) else ast.unparse(node)


def _build_program(node, source, closure, trusted, options):
    program = _Program(source, closure, trusted)
    for item in node.body:
        if not isinstance(item, ast.FunctionDef):
            continue
        for decorator in item.decorator_list:
            name, call = _decorator(decorator, closure)
            if name == "function":
                own = _options(source, closure, call, trusted)
                program.definitions[item.name] = (item, {**options, **own})
    if not program.definitions:
        hint = "put `@pl.function` in front of a method"
        FunctionParser(source, closure).fail(ParserSyntaxError, f"{node.name} has no @pl.function", node, hint)
    for name in program.definitions:
        if name not in program.functions:
            program.parse(name)
    order = [n for n in program.definitions] + [n for n in program.functions if n not in program.definitions]
    place = FunctionParser(source, closure).span(node)
    found = ir.Program([program.functions[n] for n in order], node.name, place)
    ir.verify(found)
    return found


def _closure(frame, function=None):
    names = {**frame.f_globals, **frame.f_locals}
    if function is not None and function.__closure__:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__, strict=True):
            try:
                names[name] = cell.cell_contents
            except ValueError:  # not bound yet
                continue
    return names


def function(definition=None, **options):
    """`@pl.function` or `@pl.function(type=..)`: the function's IR. A method is left for `@pl.program`."""
    frame = sys._getframe(1)

    def decorate(held):
        scopes = held.__qualname__.split(".")
        if len(scopes) > 1 and scopes[-2] != "<locals>":
            return held
        node, source = source_of(held)
        return FunctionParser(source, _closure(frame, held)).parse(node, options)

    return decorate(definition) if definition is not None else decorate


def inline(definition):
    """`@pl.inline`: a function whose statements stand for its calls in kernels; it is read, never executed."""
    frame = sys._getframe(1)
    return Definition(definition, {} if frame.f_locals is frame.f_globals else dict(frame.f_locals), "inline")


def program(definition=None, *, strict_ssa=False):
    """`@pl.program` on a class: the Program of its methods with `@pl.function`. `sub_workers` of it: the methods that
    are SubWorkers with a body, which is Python's and runs on the host."""
    frame = sys._getframe(1)

    def decorate(held):
        node, source = source_of(held)
        names = _closure(frame)
        for member in vars(held).values():
            if hasattr(member, "__closure__"):
                names.update({k: v for k, v in _closure(frame, member).items() if k not in names})
        made = _build_program(node, source, names, True, {"strict_ssa": strict_ssa} if strict_ssa else {})
        workers = (each for each in made.functions.values() if each.role == ir.Role.SubWorker)
        made.sub_workers = {each.name: vars(held)[each.name] for each in workers if not each.requires_runtime_binding}
        return made

    return decorate(definition) if definition is not None else decorate


# --- text ------------------------------------------------------------------------------


def _import(node, closure):
    """`import pypto.language as pl` gives that name; other imports are refused, and none is made."""
    language = sys.modules[_LANGUAGE]
    for alias in node.names if isinstance(node, ast.Import) else []:
        if alias.name == _LANGUAGE and alias.asname:
            closure[alias.asname] = language
            return True
        if alias.name == _DISTRIBUTED and alias.asname:
            closure[alias.asname] = importlib.import_module(_DISTRIBUTED)
            return True
    if isinstance(node, ast.ImportFrom) and node.module == "pypto" and not node.level:
        for alias in node.names:
            if alias.name != "language":
                return False
            closure[alias.asname or alias.name] = language
        return True
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _constant(node, source, closure):
    """NAME = value at the top of a text: a number, a type, or pl.dynamic("M")."""
    parser = FunctionParser(source, closure, None, False)
    if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
        parser.fail(UnsupportedFeatureError, "a text binds one name at a time", node)
    name, value = node.targets[0].id, node.value
    if parser.is_call(value, "dynamic") and len(value.args) == 1 and not value.keywords:
        try:
            closure[name] = dynamic(parser.value(value.args[0]))
        except ValueError as error:
            parser.fail(ParserSyntaxError, str(error), node)
        return
    held = parser.value(value)
    if isinstance(held, (ir.Expr, Name)):
        parser.fail(UnsupportedFeatureError, "only constants can be bound outside a function", node)
    closure[name] = held


def _definitions(text, filename):
    """([functions], [programs]) of a text; nothing of it is executed."""
    tree, source = parse_text(text, filename)
    closure = {"pl": sys.modules[_LANGUAGE]}
    functions, programs = [], []
    try:
        for node in tree.body:
            if isinstance(node, (ast.Import, ast.ImportFrom)) and _import(node, closure):
                continue
            if isinstance(node, ast.Assign):
                _constant(node, source, closure)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                made = _definition(node, source, closure)
                closure[node.name] = made
                (functions if isinstance(made, ir.Function) else programs).append(made)
            elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                message = f"{type(node).__name__} is not supported outside a function"
                raise UnsupportedFeatureError(message, source.span(node))
    except ParserError as error:
        error.source_lines = error.source_lines or source.lines
        raise
    except RecursionError:
        raise ParserSyntaxError("the text nests too deeply") from None
    return functions, programs


def _definition(node, source, closure):
    wanted = "function" if isinstance(node, ast.FunctionDef) else "program"
    for decorator in node.decorator_list:
        name, call = _decorator(decorator, closure)
        if name == wanted:
            options = _options(source, closure, call, False)
            if wanted == "program":
                return _build_program(node, source, closure, False, options)
            return FunctionParser(source, closure, None, False).parse(node, options)
    raise UnsupportedFeatureError(f"{node.name} has no @pl.{wanted}", source.span(node))


def parse(code, filename="<string>") -> ir.Function | ir.Program:
    """The one function of a text, or its program, which may call functions beside it. ValueError for none or several,
    SyntaxError or ParserError for what is wrong."""
    functions, programs = _definitions(code, filename)
    found = programs or functions
    if not found:
        raise ValueError(f"{filename}: No @pl.function or @pl.program found; mark what is to be read with one of them")
    if len(found) > 1:
        names = ", ".join(each.name for each in found)
        raise ValueError(f"{filename}: Multiple functions/programs found, and one is wanted: {names}")
    return found[0]


def parse_program(code, filename="<string>") -> ir.Program:
    """The one program of a text."""
    found = parse(code, filename)
    if isinstance(found, ir.Function):
        raise ValueError(f"{filename}: Expected @pl.program but found @pl.function {found.name}; use pl.parse")
    return found


def _read(path):
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ParserSyntaxError(f"{path}: not UTF-8") from None


def loads(path) -> ir.Function | ir.Program:
    """The one function of a file, or its program; it is read, not executed."""
    return parse(_read(path), str(path))


def loads_program(path) -> ir.Program:
    """The one program of a file, which is read, not executed."""
    return parse_program(_read(path), str(path))
