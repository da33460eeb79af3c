"""Matrix products as instructions of the cube core: blocks of both operands go through L1 into L0A and L0B, sums stay
in L0C."""

from __future__ import annotations

from pto_as import Op, PTOError, Value

from .text import Text, tile_type

BLOCK = 128  # rows and columns of a block of the result
OPERAND_BYTES = 32 << 10  # of a block in L0A or L0B
SUM = {"f32": "f32", "f16": "f32", "bf16": "f32", "i8": "i32"}  # by the operands' type
BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i8": 1}
NZ = "blayout=col_major, slayout=row_major"
ACC = f"{NZ}, fractal=1024"


def _up(extent: int, unit: int) -> int:
    return -(-extent // unit) * unit


class CubeEmitter:
    """Writes products and the stores of accumulators."""

    def __init__(self, text: Text, view, accumulators: list[Value]):
        """`view(value, rows, cols)`: a tensor view of a value in global memory and the view's type."""
        self.text, self.view = text, view
        self.held = {value.name: value for value in accumulators}
        self.tiles: dict[str, tuple[str, str]] = {}  # accumulator -> tile and its type

    def emit(self, op: Op) -> None:
        dst, *sources = op.operands
        if op.name == "tile_copy":
            tile, kind = self.tiles[sources[0].name]
            rows, cols = dst.shape
            self._store(tile, kind, self._part(dst, 0, 0, rows, cols), atomic=False)
            return
        a, b = sources
        if a.dtype not in SUM:
            raise PTOError(f"{op.name}: the cube core has no products of {a.dtype}; it has {', '.join(SUM)}")
        if a.dtype == dst.dtype == "i8":
            raise PTOError(f"{op.name}: products of i8 are i32, but %{dst.name} is i8")
        adds = op.name == "tile_matmul_acc"
        if dst.name in self.held:
            tile, kind = self.tiles[dst.name]
            rows, cols = dst.shape
            self._sum(a, b, 0, 0, rows, cols, tile, kind, adds)
            return
        for row, rows in self._blocks(dst.shape[0], BLOCK):
            for col, cols in self._blocks(dst.shape[1], BLOCK):
                self._block(op, row, col, rows, cols, adds)

    def allocate(self, sources: dict[str, str]) -> None:
        """The accumulators; `sources` has the operands' type of each one's products."""
        for name, value in self.held.items():
            rows, cols = value.shape
            kind = self._acc(rows, cols, sources[name])
            self.tiles[name] = (self.text.define(f"pto.alloc_tile : {kind}"), kind)

    def _blocks(self, extent: int, block: int):
        """Offset and size of every block: one loop over the whole ones, then the rest."""
        whole = extent // block
        if whole > 1:
            with self.text.loop(0, whole * block, block) as at:
                yield at, block
        elif whole == 1:
            yield 0, block
        if extent % block:
            yield whole * block, extent % block

    def _block(self, op: Op, row, col, rows: int, cols: int, adds: bool) -> None:
        """One block of a product whose destination is in global memory; a sum goes there by atomic addition."""
        dst, a, b = op.operands
        kind = self._acc(rows, cols, a.dtype)
        tile = self.text.define(f"pto.alloc_tile : {kind}")
        self._sum(a, b, row, col, rows, cols, tile, kind, adds=False)
        self._store(tile, kind, self._part(dst, row, col, rows, cols), atomic=adds)

    def _sum(self, a: Value, b: Value, row, col, rows: int, cols: int, tile: str, kind: str, adds: bool) -> None:
        """tile = a[row.., :] @ b[:, col..], or added to it: blocks along the inner extent."""
        depth = a.shape[1]
        step = OPERAND_BYTES // BYTES[a.dtype] // BLOCK
        first = min(step, depth)
        self._step(a, b, row, col, 0, rows, cols, first, tile, kind, adds)
        whole = depth // step * step
        if whole > first:
            with self.text.loop(first, whole, step) as at:
                self._step(a, b, row, col, at, rows, cols, step, tile, kind, True)
        if depth > first and depth % step:
            self._step(a, b, row, col, whole, rows, cols, depth % step, tile, kind, True)

    def _step(self, a, b, row, col, at, rows: int, cols: int, depth: int, tile: str, kind: str, adds: bool) -> None:
        dtype = a.dtype
        unit = 32 if dtype == "i8" else 16
        k, m, n = _up(depth, unit), _up(rows, 16), _up(cols, unit)
        operands = []
        for memory, layout, value, offsets, sizes, box in (
            ("left", "slayout=row_major", a, (row, at), (rows, depth), (m, k)),
            ("right", "slayout=col_major", b, (at, col), (depth, cols), (k, n)),
        ):
            part, part_type = self._part(value, *offsets, *sizes)
            in_l1 = tile_type("mat", *box, dtype, sizes, NZ)
            in_l0 = tile_type(memory, *box, dtype, sizes, layout)
            loaded = self.text.define(f"pto.alloc_tile : {in_l1}")
            self.text.line(f"pto.tload ins({part} : {part_type}) outs({loaded} : {in_l1})")
            operand = self.text.define(f"pto.alloc_tile : {in_l0}")
            zero = self.text.index(0)
            self.text.line(
                f"pto.textract ins({loaded}, {zero}, {zero} : {in_l1}, index, index) outs({operand} : {in_l0})"
            )
            operands.append((operand, in_l0))
        if adds:
            operands.insert(0, (tile, kind))
        names, kinds = (", ".join(column) for column in zip(*operands))
        self.text.line(f"pto.tmatmul{'.acc' * adds} ins({names} : {kinds}) outs({tile} : {kind})")

    def _acc(self, rows: int, cols: int, source: str) -> str:
        unit = 32 if source == "i8" else 16
        return tile_type("acc", _up(rows, 16), _up(cols, unit), SUM[source], (rows, cols), ACC)

    def _part(self, value: Value, row, col, rows: int, cols: int) -> tuple[str, str]:
        name, view_type = self.view(value, *value.shape)
        kind = f"!pto.partition_tensor_view<{rows}x{cols}x{value.dtype}>"
        offsets, sizes = (", ".join(self.text.index(x) for x in pair) for pair in ((row, col), (rows, cols)))
        part = f"pto.partition_view {name}, offsets = [{offsets}], sizes = [{sizes}]"
        return self.text.define(f"{part} : {view_type} -> {kind}"), kind

    def _store(self, tile: str, kind: str, part: tuple[str, str], atomic: bool) -> None:
        mode = " {atomicType = #pto<atomic_type atomic_add>}" * atomic
        self.text.line(f"pto.tstore ins({tile} : {kind}) outs({part[0]} : {part[1]}){mode}")
