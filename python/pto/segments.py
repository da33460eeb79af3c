"""The structure that the emitter needs of a kernel: which parts run on the cube core, which runs of elementwise
operations share a loop over blocks, and where each tile lives."""

from __future__ import annotations

from dataclasses import dataclass, field

from pto_as import Kernel, Op, PTOError, Repeat, Value

MAX_ACCUMULATOR = 128  # rows and columns of a tile that stays in L0C
ACCUMULATOR_BYTES = 64 << 10  # of all of them; the other half of L0C is for sums on their way to global memory


@dataclass
class Segment:
    """Consecutive elementwise operations and loops of them."""

    body: list


@dataclass
class Cube:
    """An operation of the cube core: a product, or the copy of an accumulator to global memory."""

    op: Op


@dataclass
class Loop:
    """A loop with at least one operation of the cube core in it."""

    repeat: Repeat
    body: list


@dataclass
class Plan:
    """What split() found. Tiles that are in neither list live in UB for the length of one segment."""

    parts: list = field(default_factory=list)
    accumulators: list[Value] = field(default_factory=list)  # tiles that stay in L0C
    workspace: list[Value] = field(default_factory=list)  # tiles that pass through global memory
    uses_cube: bool = False
    uses_vector: bool = False


def operations(body: list):
    """Every operation of a body, in the order of the text."""
    for item in body:
        if isinstance(item, Repeat):
            yield from operations(item.body)
        else:
            yield item


def is_product(op: Op) -> bool:
    return op.name.startswith("tile_matmul")


def reads(op: Op) -> list[Value]:
    """The tensors and tiles that an operation reads."""
    sources = [value for value in op.operands[1:] if value.kind != "scalar"]
    return sources + [op.operands[0]] * (op.name == "tile_matmul_acc")


def check_defined(kernel: Kernel) -> None:
    """PTOError when a tile is read before it is written, or when nothing is written."""
    written, tensors = set(), False
    for op in operations(kernel.body):
        for value in reads(op):
            if value.kind == "tile" and value.name not in written:
                raise PTOError(f"@{kernel.name}: %{value.name} is read before it is written")
        written.add(op.operands[0].name)
        tensors |= op.operands[0].kind == "tensor"
    if not tensors:
        raise PTOError(f"@{kernel.name} writes no tensor")


def split(kernel: Kernel) -> Plan:
    """Plans a kernel: parts in order, tiles by where they live."""
    check_defined(kernel)
    plan = Plan(accumulators=_accumulators(kernel))
    held = {value.name for value in plan.accumulators}

    def on_cube(op: Op) -> bool:
        return is_product(op) or any(value.name in held for value in op.operands[1:])

    def parts(body: list) -> list:
        result: list = []
        for item in body:
            if isinstance(item, Repeat) and any(on_cube(op) for op in operations(item.body)):
                result.append(Loop(item, parts(item.body)))
            elif isinstance(item, Op) and on_cube(item):
                result.append(Cube(item))
            elif result and isinstance(result[-1], Segment):
                result[-1].body.append(item)
            else:
                result.append(Segment([item]))
        return result

    plan.parts = parts(kernel.body)
    users: dict[str, set[int]] = {}
    shared: set[str] = set()

    def visit(parts: list) -> None:
        for part in parts:
            if isinstance(part, Loop):
                visit(part.body)
                continue
            plan.uses_cube |= isinstance(part, Cube)
            plan.uses_vector |= isinstance(part, Segment)
            for op in [part.op] if isinstance(part, Cube) else operations(part.body):
                for value in op.operands:
                    users.setdefault(value.name, set()).add(id(part))
                    if isinstance(part, Cube):
                        shared.add(value.name)

    visit(plan.parts)
    plan.workspace = [
        value
        for value in kernel.values
        if value.kind == "tile"
        and value.name not in held
        and (value.name in shared or len(users.get(value.name, ())) > 1)
    ]
    return plan


def _accumulators(kernel: Kernel) -> list[Value]:
    """Tiles that only products write and only copies read: they stay in L0C and are summed there."""
    candidates = {
        value.name: value
        for value in kernel.values
        if value.kind == "tile" and len(value.shape) == 2 and max(value.shape) <= MAX_ACCUMULATOR
    }
    written = set()
    for op in operations(kernel.body):
        dst, *sources = op.operands
        if is_product(op):
            written.add(dst.name)
        else:
            candidates.pop(dst.name, None)
        if op.name != "tile_copy":
            for value in sources:
                candidates.pop(value.name, None)
    held, left = [], ACCUMULATOR_BYTES
    for name, value in candidates.items():
        rows, cols = (-(-extent // 32) * 32 for extent in value.shape)
        if name in written and rows * cols * 4 <= left:
            held.append(value)
            left -= rows * cols * 4
    return held


def shapes(body: list) -> list[tuple[int, ...]]:
    """The shapes of a segment's operations, in the order of their first use."""
    return list(dict.fromkeys(op.operands[0].shape for op in operations(body)))


def of_shape(body: list, shape: tuple[int, ...]) -> list:
    """The operations of one shape, in their loops: elementwise operations of different shapes share no value."""
    result = []
    for item in body:
        if isinstance(item, Repeat):
            inner = of_shape(item.body, shape)
            if inner:
                result.append(Repeat(item.count, inner))
        elif item.operands[0].shape == shape:
            result.append(item)
    return result


def loads_and_stores(body: list, outside) -> tuple[list[Value], list[Value]]:
    """What a segment must load before and store after: of the values for which `outside` holds, those that are read
    before they are written (or written only in a loop that may have no trips), and those that are written."""
    loads: dict[str, Value] = {}
    stores: dict[str, Value] = {}
    written: set[str] = set()

    def walk(items: list, certain: bool) -> None:
        for item in items:
            if isinstance(item, Repeat):
                walk(item.body, certain and isinstance(item.count, int))
                continue
            for value in reads(item):
                if outside(value) and value.name not in written:
                    loads[value.name] = value
            dst = item.operands[0]
            if outside(dst):
                stores[dst.name] = dst
                if certain:
                    written.add(dst.name)
                elif dst.name not in written:
                    loads[dst.name] = dst

    walk(body, True)
    return list(loads.values()), list(stores.values())
