"""The parser of one function under its public name."""

from pypto.language.parser.function_parser import FunctionParser as ASTParser

__all__ = ["ASTParser"]
