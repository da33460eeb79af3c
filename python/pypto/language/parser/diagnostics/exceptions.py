"""What the parser raises. Each has a message, the place, and where there is one a hint that works when followed."""

from pypto.language.parser.diagnostics import hints


class PlacedError(Exception):
    """What is wrong, and where. `span` is None or a dictionary with filename, begin_line, begin_column, and file, line,
    column. A message `what is wrong; what would work` without a hint is both."""

    def __init__(self, message, span=None, hint=None, note=None, source_lines=None):
        if hint is None:
            message, hint = hints.split(message)
        self.message, hint = _short(message), hint and _short(hint)
        self.span = None if span is None else _dictionary(span)
        self.hint = hint
        self.note = note
        self.source_lines = source_lines or []
        super().__init__(self.message)

    def __str__(self):
        text = f"{self.message}; {self.hint}" if self.hint else self.message
        if self.span is None:
            return text
        return f"{text} ({self.span['filename']}:{self.span['begin_line']}:{self.span['begin_column']})"


_MOST = 4000  # characters of a message: it may have a name, or a text, of the program


def _short(text):
    return text if len(text) <= _MOST else f"{text[: _MOST // 2]} .. {text[-200:]}"


def _dictionary(span):
    if isinstance(span, dict):
        return span
    return {
        "filename": span.filename,
        "begin_line": span.begin_line,
        "begin_column": span.begin_column,
        "file": span.filename,
        "line": span.begin_line,
        "column": span.begin_column,
    }


class ParserError(PlacedError):
    """A program that is wrong, or has no form here."""


class ParserSyntaxError(ParserError):
    """A form that the language does not have."""


class ParserTypeError(ParserError):
    """An annotation or an operand of a wrong type."""


class UndefinedVariableError(ParserError):
    """A name that nothing binds here."""


class UnknownShapeError(UndefinedVariableError, ParserTypeError):
    """A name in a shape that nothing binds."""


class SSAViolationError(ParserError):
    """A second binding where only one is allowed; `previous_span` is the first."""

    def __init__(self, *args, previous_span=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.previous_span = None if previous_span is None else _dictionary(previous_span)


class UnsupportedFeatureError(ParserError):
    """A statement or expression of Python that kernels do not have."""


class InvalidOperationError(ParserError):
    """An operation that is not there or does not take these operands."""


class OperandError(InvalidOperationError, ParserTypeError):
    """An operation that does not take an operand of this type."""


class QueueError(InvalidOperationError, ValueError):
    """A value that no queue hands from core to core as the program says."""


class ScopeIsolationError(ParserError):
    """A name that another scope keeps to itself."""
