"""The text that is parsed, and places in it."""

import ast
import inspect
import textwrap

from pypto.language.parser import source_lookup
from pypto.language.parser.diagnostics import ParserSyntaxError
from pypto.pypto_core import ir


class Source:
    """Lines of a file from `first_line` on, indented by `indent` more than the text that was parsed."""

    def __init__(self, filename, lines, first_line=1, indent=0):
        self.filename = filename
        self.lines = lines  # of the whole file where it is known
        self.first_line = first_line
        self.indent = indent

    def span(self, node):
        """The place of a node of the syntax tree."""
        if node is None or not hasattr(node, "lineno"):
            return ir.Span.unknown()
        begin, end = node.lineno + self.first_line - 1, node.end_lineno + self.first_line - 1
        return ir.Span(
            self.filename,
            begin,
            self.column(begin, node.col_offset + self.indent),
            end,
            self.column(end, node.end_col_offset + self.indent),
        )

    def column(self, line, offset):
        """The column, from 1, of what begins `offset` bytes behind the begin of a line: Python counts bytes."""
        if not 1 <= line <= len(self.lines) or self.lines[line - 1].isascii():
            return offset + 1
        return len(self.lines[line - 1].encode()[:offset].decode(errors="ignore")) + 1


def parse_text(text, filename) -> tuple[ast.Module, Source]:
    """The tree of a text. SyntaxError as Python says it; ParserSyntaxError for what nests too deeply for Python."""
    if not isinstance(text, str):
        raise TypeError(f"{filename}: expects the text of a program, not a {type(text).__name__}")
    if "\0" in text:
        raise ParserSyntaxError("the text holds a null character")
    if any("\ud800" <= each <= "\udfff" for each in text):
        raise ParserSyntaxError("the text holds half of a character")
    try:
        return ast.parse(text, filename), Source(filename, text.splitlines())
    except SyntaxError as error:
        error.msg = f"Failed to compile code: {error.msg}"
        raise
    except (RecursionError, MemoryError):
        raise ParserSyntaxError("the text nests too deeply") from None


def source_of(thing) -> tuple[ast.stmt, Source]:
    """The definition of a Python function or class, from its file."""
    try:
        find = source_lookup.get_class_source_lines if inspect.isclass(thing) else inspect.getsourcelines
        lines, first = find(thing)
        filename = inspect.getsourcefile(thing) or "<unknown>"
    except (OSError, TypeError):
        raise ParserSyntaxError(
            f"the source text of {thing.__qualname__} is not to be had", hint="define it in a file, or use pl.parse"
        ) from None
    text = textwrap.dedent("".join(lines))
    indent = len(lines[0]) - len(lines[0].lstrip())
    whole = inspect.getsource(inspect.getmodule(thing)).splitlines() if inspect.getmodule(thing) else []
    return ast.parse(text).body[0], Source(filename, whole, first, indent)
