"""Values of the language as nodes of the IR, and who calls the library."""

import sys
from pathlib import PurePath

from pypto.language.typing import Value

_PACKAGE = PurePath(__file__).parent.parent


def plain(value):
    """Nodes and Python objects instead of values of the language (pl.Tensor(expr=..)), in lists as well."""
    if isinstance(value, Value):
        return value.unwrap()
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def caller_warning_stacklevel():
    """The `stacklevel` with which a warning of the function that asks names the first line outside of this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _PACKAGE in PurePath(frame.f_code.co_filename).parents:
        frame, level = frame.f_back, level + 1
    return level
