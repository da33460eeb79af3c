"""Errors of the parser and their text for people."""

from pypto.language.parser.diagnostics.exceptions import (
    InvalidOperationError,
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
    "ParserError",
    "ParserSyntaxError",
    "ParserTypeError",
    "SSAViolationError",
    "ScopeIsolationError",
    "UndefinedVariableError",
    "UnsupportedFeatureError",
]
