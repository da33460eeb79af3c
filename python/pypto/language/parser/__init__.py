"""From the text of a function to its IR, over Python's syntax tree."""

from pypto.language.parser.diagnostics import *  # noqa: F403
