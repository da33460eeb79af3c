"""Texts and files as functions and programs."""

from pypto.language.parser.entry import loads, loads_program, parse, parse_program

__all__ = ["loads", "loads_program", "parse", "parse_program"]
