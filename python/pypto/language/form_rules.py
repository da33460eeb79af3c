"""What a `pl.` operation that Python calls takes on tiles only, or on tensors only: TypeError for the other form."""

import warnings

from pypto.ir.utils import caller_warning_stacklevel
from pypto.pypto_core import DataType, ir

# Keywords of the tensor's form, which a tile says otherwise, by the operation that the name begins with.
_OF_TENSORS = {
    "a_trans": "take `pl.tile.transpose_view` of the operand",
    "b_trans": "take `pl.tile.transpose_view` of the operand",
    "c_matrix_nz": "the Acc tile type says the layout",
    "high_precision": "`pl.tile.{base}(tile, tmp)` computes more precisely",
}
_SCRATCH = ("tmp_tile", "tmp")  # operands that hold what an operation computes on the way
# Reductions that can do without scratch, in another order of additions.
_WITHOUT_SCRATCH = ("col_sum", "col_max", "col_min", "col_prod")
_LOGIC = ("xor", "xors")


def kind(value):
    """Whether a node is a tile or a tensor; None for others."""
    held = getattr(value, "type", None)
    return "Tile" if isinstance(held, ir.TileType) else "Tensor" if isinstance(held, ir.TensorType) else None


def check(name, arguments, keywords):
    """(arguments, keywords) of `name` ("pl.row_max") without those that say what holds anyway."""
    base = name.rpartition(".")[2]
    names = ir.op_parameters(f"tile.{base}", operands=True) or ir.op_parameters(f"tensor.{base}", operands=True) or []
    if base == "div" and len(arguments) > 1 and kind(arguments[1]) is None:
        keywords = dict(keywords)
        if keywords.pop("high_precision", False):
            raise TypeError(f"{name}: high_precision is for two tensors or two tiles, not for a scalar operand")
    _check_kinds(name, names, arguments)
    first = kind(arguments[0]) if arguments else None
    if first == "Tile":
        keywords = _on_tiles(name, base, arguments, keywords)
    if first == "Tensor":
        arguments, keywords = _on_tensors(name, names, arguments, keywords)
    if base == "slice":
        _check_padding(name, arguments, keywords)
    return arguments, keywords


def _check_kinds(name, names, arguments):
    """The first operand is a tensor or a tile, and the second one not of the other kind."""
    if names[:1] not in (["x"], ["lhs"], ["acc"]) or not arguments:
        return
    kinds = [kind(each) for each in arguments[:2]]
    if kinds[0] is None:
        raise TypeError(f"{name}: expected Tensor or Tile operands, not {type(arguments[0]).__name__}")
    if names[1:2] == ["rhs"] and len(kinds) > 1 and kinds[1] not in (None, kinds[0]):
        raise TypeError(f"{name}: cannot mix Tensor and Tile operands")


def _on_tiles(name, base, arguments, keywords):
    keywords = dict(keywords)
    for keyword, remedy in _OF_TENSORS.items():
        if keyword not in keywords or keyword not in (ir.op_parameters(f"tensor.{base}") or ()) or base == "div":
            continue
        if keywords.pop(keyword):
            raise TypeError(f"{name}: '{keyword}' is not supported for Tile operands; {remedy.format(base=base)}")
    if base.startswith("matmul") and "out_dtype" in keywords:
        made = DataType.FP32 if arguments[0].type.dtype.is_float() else DataType.INT32
        wanted = keywords.pop("out_dtype")
        if wanted is not None and (not isinstance(wanted, DataType) or wanted != made):
            raise TypeError(f"{name}: out_dtype of tiles is {made}, what the cube gives; `pl.cast` its result")
    names = ir.op_parameters(f"tile.{base}", operands=True) or []
    missing = next((i for i, each in enumerate(names) if each in _SCRATCH), len(names))
    given = missing < len(arguments) and arguments[missing] is not None
    if missing < len(names) and not given and keywords.get(names[missing]) is None:
        if names[missing] == "tmp_tile" and base not in _WITHOUT_SCRATCH:
            raise TypeError(f"{name}: Tile inputs require tmp_tile; make one with `pl.create_tile`")
        if base in _LOGIC:
            raise TypeError(f"{name}: Tile inputs require an explicit scratch tile; make one with `pl.create_tile`")
    return keywords


def _on_tensors(name, names, arguments, keywords):
    """Where a tensor is computed the compiler makes the scratch tile."""
    keywords = dict(keywords)
    for index, scratch in enumerate(names):
        if scratch not in _SCRATCH:
            continue
        held = keywords.pop(scratch, None) if index >= len(arguments) else arguments[index]
        if held is not None:
            raise TypeError(f"{name}: Tensor inputs must not pass {scratch}; the compiler makes the scratch")
        arguments = arguments[:index]
    return arguments, keywords


def _check_padding(name, arguments, keywords):
    """Padding stands where a window has less than its box: one that is full has none."""
    said = [*arguments[3:], *[None] * 6]
    valid, pad, clamp = said[0], said[2], said[3]
    valid = keywords.get("valid_shape", valid)
    if (
        keywords.get("pad_value", pad) not in (None, ir.PadValue.null)
        and not valid
        and not keywords.get("clamp", clamp)
    ):
        message = f"{name}: pad_value has no effect without valid_shape or clamp: nothing is left to pad"
        warnings.warn(message, UserWarning, stacklevel=caller_warning_stacklevel())
