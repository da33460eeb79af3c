"""Errors of the parser and their text for people."""

from pypto.language.parser.diagnostics import hints
from pypto.language.parser.diagnostics.exceptions import (
    InvalidOperationError,
    OperandError,
    ParserError,
    ParserSyntaxError,
    ParserTypeError,
    PlacedError,
    ScopeIsolationError,
    SSAViolationError,
    UndefinedVariableError,
    UnsupportedFeatureError,
)
from pypto.language.parser.diagnostics.renderer import ErrorRenderer

__all__ = [
    "ErrorRenderer",
    "InvalidOperationError",
    "OperandError",
    "ParserError",
    "ParserSyntaxError",
    "ParserTypeError",
    "PlacedError",
    "SSAViolationError",
    "ScopeIsolationError",
    "UndefinedVariableError",
    "UnsupportedFeatureError",
    "hints",
]
