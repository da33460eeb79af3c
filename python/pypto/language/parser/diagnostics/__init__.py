"""Errors of the parser and their text for people."""

from pypto.language.parser.diagnostics import hints
from pypto.language.parser.diagnostics.exceptions import (
    InvalidOperationError,
    OperandError,
    ParserError,
    ParserSyntaxError,
    ParserTypeError,
    PlacedError,
    QueueError,
    ScopeIsolationError,
    SSAViolationError,
    UndefinedVariableError,
    UnknownShapeError,
    UnsupportedFeatureError,
)
from pypto.language.parser.diagnostics.renderer import ErrorRenderer, concise_error_message

__all__ = [
    "ErrorRenderer",
    "InvalidOperationError",
    "QueueError",
    "OperandError",
    "ParserError",
    "ParserSyntaxError",
    "ParserTypeError",
    "PlacedError",
    "SSAViolationError",
    "ScopeIsolationError",
    "UndefinedVariableError",
    "UnknownShapeError",
    "UnsupportedFeatureError",
    "concise_error_message",
    "hints",
]
