"""The source text of a class. Before Python 3.13 `inspect` parses the file for each class; here it is parsed once."""

import ast
import inspect
import linecache
import os
import sys

_CLASS_LINE_INDEX_CACHE = {}  # file -> (its lines, {qualified name: its first line})


class _ClassLineIndexer(ast.NodeVisitor):
    """The first line of each class, decorators included; of two of one name, the first, as `inspect` has it."""

    def __init__(self):
        self.names, self.lines = [], {}

    def visit_FunctionDef(self, node):
        self.names += [node.name, "<locals>"]
        self.generic_visit(node)
        del self.names[-2:]

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        self.names.append(node.name)
        first = node.decorator_list[0] if node.decorator_list else node
        self.lines.setdefault(".".join(self.names), first.lineno)
        self.generic_visit(node)
        self.names.pop()


def _class_line_index(filename, lines):
    held = _CLASS_LINE_INDEX_CACHE.get(filename)
    if held is None or held[0] is not lines and held[0] != lines:
        indexer = _ClassLineIndexer()
        indexer.visit(ast.parse("".join(lines)))
        held = _CLASS_LINE_INDEX_CACHE[filename] = (lines, indexer.lines)
    return held[1]


def _records_own_first_line(cls):
    return "__firstlineno__" in vars(cls)


def _indexed_class_source_lines(cls):
    """(lines, number of the first) by the index; None where the class knows better, or has no file."""
    if _records_own_first_line(cls):
        return None
    module = sys.modules.get(cls.__module__)
    filename = getattr(module, "__file__", None)
    if not filename or not os.path.exists(filename):
        return None
    linecache.checkcache(filename)
    lines = linecache.getlines(filename, vars(module))
    try:
        first = _class_line_index(filename, lines).get(cls.__qualname__)
    except (SyntaxError, RecursionError, MemoryError):
        return None
    return None if first is None else (inspect.getblock(lines[first - 1 :]), first)


def get_class_source_lines(cls):
    """What `inspect.getsourcelines` gives for a class. OSError where its text is not to be had."""
    return _indexed_class_source_lines(cls) or inspect.getsourcelines(cls)
