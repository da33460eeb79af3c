"""Nodes and types as text of the DSL."""

from pypto.pypto_core.ir import python_print

__all__ = ["python_print", "python_print_type"]


def python_print_type(type_, prefix="pl") -> str:
    """The annotation of a type: `pl.Tensor[[64], pl.FP32]`."""
    text = str(type_)
    return text if prefix == "pl" else text.replace("pl.", f"{prefix}.")
