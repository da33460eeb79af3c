"""Operations that are written in the language: a call stands for their statements."""

import inspect

import pypto.language as pl
from pypto.language.parser.diagnostics import OperandError, ParserTypeError
from pypto.language.parser.entry import inline
from pypto.pypto_core import DataType, ir


@inline
def _element(row, index):
    if len(row.shape) == 1:
        value = pl.tensor.read(row, [index])
    else:
        value = pl.tensor.read(row, [0, index])
    return value


@inline
def _gather(acc, src, indices, block_table, block_size, size, col_off, is_trans):
    for i in pl.range(indices.shape[len(indices.shape) - 1]):
        row = _element(indices, i)
        source = [_element(block_table, row // block_size) * block_size + row % block_size, col_off]
        if is_trans:
            acc = pl.gather_row(acc, src, [0, i], source, [1, size], transpose=True)
        else:
            acc = pl.gather_row(acc, src, [i, 0], source, [1, size])
    return acc


def _parameters(
    src,
    indices,
    block_table,
    block_size,
    size,
    max_indices,
    *,
    space=pl.MemorySpace.Mat,
    col_off=0,
    is_trans=False,
    is_b_matrix=False,
):
    """The parameters of pl.paged_gather; a product takes its result on either side, whatever is_b_matrix says."""


def paged_gather(parser, arguments, keywords, node):
    """max_indices rows of src: the i-th one is row indices[i] of the pages that block_table lists, on chip."""
    try:
        given = inspect.signature(_parameters).bind(*arguments, **keywords)
    except TypeError as error:
        parser.fail(ParserTypeError, f"pl.paged_gather: {error}", node)
    given.apply_defaults()
    held = given.arguments
    for name in ("src", "indices", "block_table"):
        _check_paged(parser, name, held[name], node)
    for name, least in (("block_size", 1), ("size", 1), ("max_indices", 1), ("col_off", 0)):
        if type(held[name]) is not int or held[name] < least:
            parser.fail(OperandError, f"pl.paged_gather: {name} must be a constant of {least} or more", node)
    count = held["indices"].type.shape[-1]
    if isinstance(count, ir.ConstInt) and count.value > held["max_indices"]:
        message = f"pl.paged_gather: {count.value} indices are more than max_indices, {held['max_indices']}"
        parser.fail(OperandError, message, node, f"write `max_indices={count.value}`")
    shape, dtype = [held["max_indices"], held["size"]], held["src"].type.dtype
    if held["space"] == ir.MemorySpace.Mat:
        shape = shape[::-1] if held["is_trans"] else shape
        make = {"name": "pl.create_l1", "keywords": {"dtype": dtype, "transpose": bool(held["is_trans"])}}
    elif held["space"] == ir.MemorySpace.Vec and not held["is_trans"]:
        make = {"name": "pl.create_tensor", "keywords": {"dtype": dtype}}
    else:
        message = "pl.paged_gather: space is Mat, or Vec without is_trans"
        parser.fail(OperandError, message, node, "write `space=pl.MemorySpace.Mat`")
    acc = parser.named(parser.operation(arguments=[shape], node=node, **make), node)
    passed = ("src", "indices", "block_table", "block_size", "size", "col_off", "is_trans")
    return parser.inline(_gather, {"acc": acc, **{name: held[name] for name in passed}})


def _check_paged(parser, name, value, node):
    """src is a matrix, the others are a row of numbers."""
    type_ = getattr(value, "type", None)
    shape = type_.shape if isinstance(type_, ir.TensorType) else []
    if name == "src":
        is_good, shown = len(shape) == 2, "a tensor of two axes"
    else:
        is_row = len(shape) == 1 or len(shape) == 2 and isinstance(shape[0], ir.ConstInt) and shape[0].value == 1
        is_good, shown = is_row and type_.dtype == DataType.INT32, "a tensor of INT32, [n] or [1, n]"
    if not is_good:
        parser.fail(OperandError, f"pl.paged_gather: {name} must be {shown}", node)
