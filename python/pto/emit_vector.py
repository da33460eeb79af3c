"""Elementwise operations as instructions of the vector core.

bf16 and i8 have no vector arithmetic on a3: bf16 computes in f32 and i8 in i16 by way of f16, each operation rounds or
wraps its result, so a tile holds what its type can hold. The text is the same for a5.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from pto_as import Op, PTOError, Repeat, Value

from .segments import loads_and_stores, operations
from .text import Text, bfloat16_bits, tile_type

BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i8": 1, "i16": 2, "i32": 4}
COMPUTE = {"f32": "f32", "f16": "f16", "bf16": "f32", "i8": "i16", "i16": "i16", "i32": "i32"}
UB_BYTES = {"a3": 184 << 10, "a5": 248 << 10}  # what a segment's tiles may take together
MAX_COLUMNS = 4096  # of a block
MAX_ROWS = 1024
# Scratch tiles of an operation that computes in another type: (name, type).
SCRATCH = {
    "bf16": [("wide0", "f32"), ("wide1", "f32")],
    "i8": [("half", "f16"), ("wide0", "i16"), ("wide1", "i16")],
}


@dataclass
class Block:
    """The part of a tensor that one trip of a segment's loops works on."""

    rows: int  # of a tile
    cols: int  # of a tile, whole units of 32 bytes
    row: str | int = 0
    col: str | int = 0
    valid_rows: str | int = 0
    valid_cols: str | int = 0
    tiles: dict[str, str] = field(default_factory=dict)

    def type(self, dtype: str) -> str:
        valid = tuple("?" if isinstance(extent, str) else extent for extent in (self.valid_rows, self.valid_cols))
        return tile_type("vec", self.rows, self.cols, dtype, valid)


def matrix(shape: tuple[int, ...], itemsize: int) -> tuple[int, int]:
    """A dense tensor as rows and columns: its own last extent when a row has at least 32 bytes, else one row."""
    total = math.prod(shape)
    return (total // shape[-1], shape[-1]) if len(shape) > 1 and shape[-1] * itemsize >= 32 else (1, total)


class SegmentEmitter:
    """Writes one segment's operations of one shape."""

    def __init__(self, text: Text, processor: str, scalars: dict[str, str], outside, view):
        """`scalars`: names of the scalar arguments in the kernel's types; `outside(value)`: whether it lives in global
        memory; `view(value, rows, cols)`: a tensor view of it and the view's type."""
        self.text, self.processor, self.scalars, self.outside, self.view = text, processor, scalars, outside, view

    def emit(self, body: list, spread: bool) -> None:
        """`spread`: the blocks of rows are shared among all vector cores of the launch."""
        values = {value.name: value for op in operations(body) for value in op.operands if value.kind != "scalar"}
        dtypes = {value.dtype for value in values.values()}
        for value in values.values():
            if value.dtype not in BYTES:
                raise PTOError(
                    f"%{value.name} is {value.dtype}, which the vector core has no instructions for; it has "
                    f"{', '.join(BYTES)}"
                )
        scratch = {name: dtype for source in sorted(dtypes & SCRATCH.keys()) for name, dtype in SCRATCH[source]}
        if any(op.name == "tile_abs" and op.operands[0].dtype in ("i16", "i32") for op in operations(body)):
            scratch["negated"] = next(iter(dtypes & {"i16", "i32"}))
        widths = [BYTES[value.dtype] for value in values.values()] + [BYTES[dtype] for dtype in scratch.values()]
        rows, cols = matrix(next(iter(values.values())).shape, min(BYTES[dtype] for dtype in dtypes))
        block = self._size(rows, cols, widths)
        views = {name: self.view(value, rows, cols) for name, value in values.items() if self.outside(value)}
        # One row is shared by its columns.
        across = spread and rows == 1
        with self._over(block, "row", rows, block.rows, spread and not across):
            with self._over(block, "col", cols, block.cols, across):
                self._tiles(block, values, scratch)
                self._trip(block, body, views)

    def _trip(self, block: Block, body: list, views: dict[str, tuple[str, str]]) -> None:
        """What happens to one block: loads, operations, stores."""
        loads, stores = loads_and_stores(body, self.outside)
        parts = {value.name: self._part(block, views[value.name], value.dtype) for value in loads + stores}
        for value in loads:
            part, kind = parts[value.name]
            tile = block.tiles[value.name]
            self.text.line(f"pto.tload ins({part} : {kind}) outs({tile} : {block.type(value.dtype)})")
        self._body(block, body)
        for value in stores:
            part, kind = parts[value.name]
            tile = block.tiles[value.name]
            self.text.line(f"pto.tstore ins({tile} : {block.type(value.dtype)}) outs({part} : {kind})")

    def _size(self, rows: int, cols: int, widths: list[int]) -> Block:
        """The largest block whose tiles fit into UB together."""
        unit = 32 // min(widths)
        budget = UB_BYTES[self.processor] // sum(widths)
        columns = min(-(-cols // unit) * unit, MAX_COLUMNS, budget // unit * unit)
        if columns == 0:
            raise PTOError(
                f"{len(widths)} tiles of one operation sequence do not fit into the {UB_BYTES[self.processor]} "
                f"bytes of UB; split the kernel"
            )
        return Block(min(rows, MAX_ROWS, max(1, budget // columns)), columns)

    @contextmanager
    def _over(self, block: Block, axis: str, extent: int, step: int, spread: bool):
        """A loop over blocks along one axis; sets the block's offset and valid extent."""
        text, valid = self.text, f"valid_{axis}s"
        if extent <= step and not spread:
            setattr(block, axis, text.index(0))
            setattr(block, valid, extent)
            yield
            return
        first, stride = self._share(step) if spread else (0, step)
        with text.loop(first, extent, stride) as at:
            setattr(block, axis, at)
            if extent > step and extent % step:
                left = text.define(f"arith.subi {text.index(extent)}, {at} : index")
                setattr(block, valid, text.define(f"arith.minsi {left}, {text.index(step)} : index"))
            else:
                setattr(block, valid, min(extent, step))
            yield

    def _share(self, step: int) -> tuple[str, str]:
        """The first row of this vector core and the distance to its next ones."""
        text = self.text
        block, sub = text.define("pto.get_block_idx"), text.define("pto.get_subblock_idx")
        blocks, subs = text.define("pto.get_block_num"), text.define("pto.get_subblock_num")
        core = text.define(f"arith.addi {text.define(f'arith.muli {block}, {subs} : i64')}, {sub} : i64")
        cores = text.define(f"arith.muli {blocks}, {subs} : i64")
        first, distance = (
            text.define(
                f"arith.muli {text.define(f'arith.index_cast {name} : i64 to index')}, {text.index(step)} : index"
            )
            for name in (core, cores)
        )
        return first, distance

    def _tiles(self, block: Block, values: dict[str, Value], scratch: dict[str, str]) -> None:
        dynamic = "".join(
            f" {name} = {extent}"
            for name, extent in (("valid_row", block.valid_rows), ("valid_col", block.valid_cols))
            if isinstance(extent, str)
        )
        kinds = {name: value.dtype for name, value in values.items()} | {
            f" {name}": dtype for name, dtype in scratch.items()
        }
        for name, dtype in kinds.items():
            block.tiles[name] = self.text.define(f"pto.alloc_tile{dynamic} : {block.type(dtype)}")

    def _part(self, block: Block, view: tuple[str, str], dtype: str) -> tuple[str, str]:
        name, view_type = view
        extents = (block.valid_rows, block.valid_cols)
        kind = "x".join("?" if isinstance(extent, str) else str(extent) for extent in extents)
        kind = f"!pto.partition_tensor_view<{kind}x{dtype}>"
        sizes = ", ".join(self.text.index(extent) for extent in extents)
        part = (
            f"pto.partition_view {name}, offsets = [{self.text.index(block.row)}, {self.text.index(block.col)}], "
            f"sizes = [{sizes}]"
        )
        return self.text.define(f"{part} : {view_type} -> {kind}"), kind

    def _body(self, block: Block, body: list) -> None:
        for item in body:
            if isinstance(item, Repeat):
                count = item.count if isinstance(item.count, int) else self.scalars[item.count.name]
                with self.text.loop(0, count, 1):
                    self._body(block, item.body)
            else:
                self._op(block, item)

    def _op(self, block: Block, op: Op) -> None:
        dst, *sources = op.operands
        dtype, compute = dst.dtype, COMPUTE[dst.dtype]
        if op.name == "tile_copy":
            if dst.name != sources[0].name:
                self._line(block, "tmov", [(block.tiles[sources[0].name], dtype)], (block.tiles[dst.name], dtype))
            return
        if compute == dtype:
            operands = [
                (self.scalar(value), None) if value.kind == "scalar" else (block.tiles[value.name], dtype)
                for value in sources
            ]
            self._compute(block, op.name, operands, block.tiles[dst.name], dtype)
            return
        wide = [block.tiles[" wide0"], block.tiles[" wide1"]]
        tiles = [value for value in sources if value.kind != "scalar"]
        for value, to in zip(tiles, wide, strict=False):
            self._widen(block, block.tiles[value.name], dtype, to)
        operands = [
            (wide[i], compute) if value.kind != "scalar" else (self.scalar(value), None)
            for i, value in enumerate(sources)
        ]
        self._compute(block, op.name, operands, wide[0], compute)
        self._narrow(block, wide[0], dtype, block.tiles[dst.name])

    def scalar(self, value: Value) -> str:
        """A scalar in the type that its operations compute in."""
        if value.value is None:
            return self.scalars[value.name]
        number = value.value
        if value.dtype == "bf16":
            number = float(np.uint32(bfloat16_bits(number) << 16).view(np.float32))
        return self.text.constant(number, COMPUTE[value.dtype])

    def _compute(self, block: Block, name: str, operands: list, dst: str, dtype: str) -> None:
        """One operation in a type that the vector core has."""
        to = (dst, dtype)
        integer = dtype[0] == "i"
        if name == "tile_expands":
            self.text.line(f"pto.texpands ins({operands[0][0]} : {dtype}) outs({dst} : {block.type(dtype)})")
        elif name == "tile_neg" and integer:
            self._line(block, "tmuls", [operands[0], (self.text.constant(-1, dtype), None)], to)
        elif name == "tile_relu" and integer:
            self._line(block, "tmaxs", [operands[0], (self.text.constant(0, dtype), None)], to)
        elif name == "tile_abs" and integer:
            negated = (
                block.tiles[" wide1" if " wide1" in block.tiles and dst == block.tiles[" wide0"] else " negated"],
                dtype,
            )
            self._line(block, "tmuls", [operands[0], (self.text.constant(-1, dtype), None)], negated)
            self._line(block, "tmax", [operands[0], negated], to)
        else:
            self._line(block, "t" + name.removeprefix("tile_"), operands, to)

    def _line(self, block: Block, op: str, operands: list, dst: tuple[str, str]) -> None:
        kinds = [block.type(dtype) if dtype else dst[1] for _, dtype in operands]
        names = ", ".join(name for name, _ in operands)
        self.text.line(f"pto.{op} ins({names} : {', '.join(kinds)}) outs({dst[0]} : {block.type(dst[1])})")

    def _convert(self, block: Block, source: str, dtype: str, dst: str, to: str) -> None:
        self.text.line(
            f"pto.tcvt ins({source} {{rmode = #pto<round_mode RINT>}} : {block.type(dtype)}) outs({dst} : "
            f"{block.type(to)})"
        )

    def _widen(self, block: Block, source: str, dtype: str, dst: str) -> None:
        if dtype == "bf16":
            self._convert(block, source, "bf16", dst, "f32")
        else:
            self._convert(block, source, "i8", block.tiles[" half"], "f16")
            self._convert(block, block.tiles[" half"], "f16", dst, "i16")

    def _narrow(self, block: Block, source: str, dtype: str, dst: str) -> None:
        if dtype == "bf16":
            self._convert(block, source, "f32", dst, "bf16")
            return
        eight = (self.text.constant(8, "i16"), None)
        for shift in ("tshls", "tshrs"):  # wraps as 8 bits do
            self._line(block, shift, [(source, "i16"), eight], (source, "i16"))
        self._convert(block, source, "i16", block.tiles[" half"], "f16")
        self._convert(block, block.tiles[" half"], "f16", dst, "i8")
