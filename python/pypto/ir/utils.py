"""Values of the language as nodes of the IR."""

from pypto.language.typing import Value


def plain(value):
    """Nodes and Python objects instead of values of the language (pl.Tensor(expr=..)), in lists as well."""
    if isinstance(value, Value):
        return value.unwrap()
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value
