"""PTO-AS: tile programs as text.

The grammar (one statement a line, `#` begins a comment):

    program   = { kernel }
    kernel    = "kernel" "@" name "{" { statement } "}"
    statement = value "=" ("tensor" | "tile") type            a tensor is an argument, a tile is local
              | value "=" "scalar" dtype "=" number           a constant
              | value "=" "scalar" dtype                      an argument
              | op value { "," value }                        the destination first
              | "repeat" ( count | value ) "{" { statement } "}"      a value is a scalar argument of i32 or i64
    type      = dtype "[" extent { "," extent } "]"
    dtype     = "f32" | "f16" | "bf16" | "f64" | "i8" | "i16" | "i32" | "i64"
    value     = "%" name

`parse` checks everything (names, kinds, shapes, types) and reports the line; `print_program` writes the one canonical
text, so that print_program(parse(text)) is a fixed point. The text is parsed, never evaluated.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

DTYPES = {
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "float64": "f64",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
}
BYTES = {"f32": 4, "f16": 2, "bf16": 2, "f64": 8, "i8": 1, "i16": 2, "i32": 4, "i64": 8}
NUMPY_DTYPES = {short: long for long, short in DTYPES.items()}

# op -> its operands after the destination: t = tile or tensor, s = scalar
OPS = {
    "tile_copy": "t",
    "tile_exp": "t",
    "tile_sqrt": "t",
    "tile_abs": "t",
    "tile_relu": "t",
    "tile_neg": "t",
    "tile_add": "tt",
    "tile_sub": "tt",
    "tile_mul": "tt",
    "tile_div": "tt",
    "tile_max": "tt",
    "tile_min": "tt",
    "tile_adds": "ts",
    "tile_subs": "ts",
    "tile_muls": "ts",
    "tile_divs": "ts",
    "tile_maxs": "ts",
    "tile_mins": "ts",
    "tile_expands": "s",
    "tile_matmul": "tt",
    "tile_matmul_acc": "tt",
}
MAX_REPEAT = 1 << 20
MAX_TILE_BYTES = 1 << 20


class PTOError(ValueError):
    """What is wrong with a program, in one line."""


@dataclass(frozen=True)
class Value:
    """A tensor, a tile or a scalar. Scalars have shape ()."""

    name: str
    kind: str
    dtype: str  # f32, ..
    shape: tuple[int, ...] = ()
    value: float | int | None = None

    def describe(self) -> str:
        return f"%{self.name} of {'x'.join(map(str, self.shape)) or 'scalar'} {self.dtype}"


@dataclass
class Op:
    name: str
    operands: list[Value]


@dataclass
class Repeat:
    count: int | Value  # a number, or the scalar argument that says it when the kernel runs
    body: list = field(default_factory=list)


@dataclass
class Kernel:
    name: str
    values: list[Value] = field(default_factory=list)
    body: list = field(default_factory=list)

    def arguments(self) -> list[Value]:
        """What a caller passes, in order: every tensor, then every scalar without a value."""
        return [v for v in self.values if v.kind == "tensor"] + [
            v for v in self.values if v.kind == "scalar" and v.value is None
        ]


def check_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise PTOError(f"'{name}' is no name: letters, digits and _ only, no digit first")
    return name


def check_value(value: Value) -> Value:
    if value.dtype not in NUMPY_DTYPES:
        raise PTOError(f"'{value.dtype}' is no element type, expected one of {', '.join(NUMPY_DTYPES)}")
    if value.kind != "scalar" and (not value.shape or any(not isinstance(e, int) or e < 1 for e in value.shape)):
        raise PTOError(f"{value.kind} %{value.name} needs a shape of positive extents, got {value.shape}")
    if value.kind == "tile" and math.prod(value.shape) * BYTES[value.dtype] > MAX_TILE_BYTES:
        raise PTOError(f"tile {value.describe()} is larger than {MAX_TILE_BYTES} bytes of local memory")
    return value


def check_count(count) -> int | Value:
    """The number of trips of a loop: a number, or a scalar argument of i32 or i64."""
    if isinstance(count, Value):
        if count.kind != "scalar" or count.value is not None or count.dtype not in ("i32", "i64"):
            raise PTOError(f"repeat takes a scalar argument of i32 or i64, got {count.kind} {count.describe()}")
        return count
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MAX_REPEAT:
        raise PTOError(f"repeat takes a count from 1 to {MAX_REPEAT} or a scalar argument, got {count!r}")
    return count


def _is_sum(op: Op) -> bool:
    """Whether a product's destination has the type that its operands' products are summed in."""
    dst, *sources = [value.dtype for value in op.operands]
    sums = {"f16": "f32", "bf16": "f32", "i8": "i32"}
    return op.name.startswith("tile_matmul") and len(set(sources)) == 1 and sums.get(sources[0]) == dst


def check_op(op: Op) -> Op:
    """Operand count, kinds, types and shapes of one operation."""
    if op.name not in OPS:
        raise PTOError(f"there is no operation '{op.name}'; known are {', '.join(sorted(OPS))}")
    kinds = "t" + OPS[op.name]
    if len(op.operands) != len(kinds):
        raise PTOError(f"{op.name} takes {len(kinds)} operands, got {len(op.operands)}")
    for value, kind in zip(op.operands, kinds):
        if (value.kind == "scalar") != (kind == "s"):
            raise PTOError(f"{op.name}: {value.describe()} is no {'scalar' if kind == 's' else 'tensor or tile'}")
        if value.dtype != op.operands[0].dtype and not _is_sum(op):
            raise PTOError(f"{op.name}: {value.describe()} and {op.operands[0].describe()} differ in type")
    dst, *sources = [value for value in op.operands if value.kind != "scalar"]
    if op.name.startswith("tile_matmul"):
        a, b = sources
        if any(len(v.shape) != 2 for v in (dst, a, b)) or (a.shape[1], dst.shape) != (
            b.shape[0],
            (a.shape[0], b.shape[1]),
        ):
            raise PTOError(f"{op.name}: {dst.describe()} is no product of {a.describe()} and {b.describe()}")
        if dst.name in (a.name, b.name):
            raise PTOError(f"{op.name}: the destination %{dst.name} is also a source")
        return op
    for source in sources:
        if source.shape != dst.shape:
            raise PTOError(
                f"{op.name}: expects sources of the destination's shape, got {source.describe()} for {dst.describe()}"
            )
    if dst.dtype[0] == "i" and op.name in ("tile_exp", "tile_sqrt", "tile_div", "tile_divs"):
        raise PTOError(f"{op.name} needs floating-point values, got {dst.describe()}")
    return op


def _number(value: float | int) -> str:
    return repr(value)


def print_kernel(kernel: Kernel) -> str:
    lines = [f"kernel @{kernel.name} {{"]
    for value in kernel.values:
        extents = f"[{', '.join(map(str, value.shape))}]" if value.kind != "scalar" else ""
        constant = f" = {_number(value.value)}" if value.value is not None else ""
        lines.append(f"  %{value.name} = {value.kind} {value.dtype}{extents}{constant}")

    def write(body: list, indent: str) -> None:
        for item in body:
            if isinstance(item, Repeat):
                count = f"%{item.count.name}" if isinstance(item.count, Value) else item.count
                lines.append(f"{indent}repeat {count} {{")
                write(item.body, indent + "  ")
                lines.append(indent + "}")
            else:
                lines.append(f"{indent}{item.name} " + ", ".join("%" + v.name for v in item.operands))

    write(kernel.body, "  ")
    return "\n".join(lines) + "\n}\n"


def print_program(kernels: list[Kernel]) -> str:
    """The canonical text of the kernels."""
    return "\n".join(print_kernel(kernel) for kernel in kernels)


_NAME = r"%([A-Za-z_][A-Za-z0-9_]*)"
_KERNEL = re.compile(r"kernel @([A-Za-z_][A-Za-z0-9_]*) \{")
_SHAPED = re.compile(_NAME + r" = (tensor|tile) (\w+)\[([\d, ]+)\]")
_SCALAR = re.compile(_NAME + r" = scalar (\w+)(?: = (\S+))?")
_REPEAT = re.compile(r"repeat (\d{1,9}|%\w+) \{")
_OP = re.compile(r"(\w+) (%\w+(?:, %\w+)*)")


class _Parser:
    def __init__(self, text: str, file: str):
        self.kernels: list[Kernel] = []
        self.kernel: Kernel | None = None
        self.values: dict[str, Value] = {}
        self.bodies: list[list] = []
        for number, line in enumerate(text.splitlines(), 1):
            line = re.sub(r"\s+", " ", line.split("#")[0]).strip()
            if line:
                try:
                    self.statement(line)
                except PTOError as error:
                    raise PTOError(f"{file}:{number}: {error}") from None
        if self.kernel:
            raise PTOError(f"{file}: kernel @{self.kernel.name} has no closing }}")

    def statement(self, line: str) -> None:
        if self.kernel is None:
            match = _KERNEL.fullmatch(line)
            if not match:
                raise PTOError(f"expects 'kernel @name {{', got '{line}'")
            if any(kernel.name == match[1] for kernel in self.kernels):
                raise PTOError(f"there are two kernels @{match[1]}")
            self.kernel, self.values = Kernel(match[1]), {}
            self.bodies = [self.kernel.body]
        elif line == "}":
            self.bodies.pop()
            if not self.bodies:
                self.kernels.append(self.kernel)
                self.kernel = None
        elif match := _SHAPED.fullmatch(line):
            extents = match[4].split(",")
            if not all(extent.strip().isdigit() and len(extent.strip()) < 16 for extent in extents):
                raise PTOError(f"'[{match[4]}]' is no shape")
            self.declare(Value(match[1], match[2], match[3], tuple(int(extent) for extent in extents)))
        elif match := _SCALAR.fullmatch(line):
            self.declare(Value(match[1], "scalar", match[2], (), self.number(match[2], match[3])))
        elif match := _REPEAT.fullmatch(line):
            count = check_count(self.use(match[1][1:]) if match[1][0] == "%" else int(match[1]))
            if len(self.bodies) > 16:
                raise PTOError("repeats nest more than 16 deep")
            self.bodies[-1].append(Repeat(count))
            self.bodies.append(self.bodies[-1][-1].body)
        elif match := _OP.fullmatch(line):
            operands = [self.use(name.strip()[1:]) for name in match[2].split(",")]
            self.bodies[-1].append(check_op(Op(match[1], operands)))
        else:
            raise PTOError(f"cannot read '{line}'")

    @staticmethod
    def number(dtype: str, text: str | None) -> float | int | None:
        try:
            return None if text is None else int(text) if dtype.startswith("i") else float(text)
        except ValueError:
            raise PTOError(f"'{text}' is no {dtype} number") from None

    def declare(self, value: Value) -> None:
        if value.name in self.values:
            raise PTOError(f"%{value.name} is declared twice")
        assert self.kernel is not None, "statement() declares within a kernel only"
        self.values[value.name] = check_value(value)
        self.kernel.values.append(value)

    def use(self, name: str) -> Value:
        if name not in self.values:
            raise PTOError(f"%{name} is not declared")
        return self.values[name]


def parse(text: str, file: str = "<PTO-AS>") -> list[Kernel]:
    """The kernels of a text; PTOError names file, line and reason."""
    return _Parser(text, file).kernels
