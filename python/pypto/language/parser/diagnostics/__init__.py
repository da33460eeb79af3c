"""Errors of the parser and their text for people."""

from pypto.language.parser.diagnostics.exceptions import (
    InvalidOperationError,
    OperandError,
    ParserError,
    ParserSyntaxError,
    ParserTypeError,
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
    "SSAViolationError",
    "ScopeIsolationError",
    "UndefinedVariableError",
    "UnsupportedFeatureError",
]
