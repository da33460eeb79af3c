"""Lines of pto text: names, constants, loops. Names that come from the user carry a prefix, numbers are our own, so
they never clash."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np

FLOAT_BITS = {"f32": (np.float32, np.uint32), "f16": (np.float16, np.uint16)}


def bfloat16_bits(value: float) -> int:
    """The bits of a number as bf16, rounded to nearest even."""
    bits = int(np.float32(value).view(np.uint32))
    if np.isnan(value):
        return 0x7FC0
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def literal(value: float | int, dtype: str) -> str:
    """A constant of arith in its exact bits."""
    if dtype[0] == "i":
        return str(int(value))
    if dtype == "bf16":
        return f"0x{bfloat16_bits(value):04X}"
    real, bits = FLOAT_BITS[dtype]
    with np.errstate(over="ignore"):
        pattern = int(real(value).view(bits))
    return f"0x{pattern:0{np.dtype(bits).itemsize * 2}X}"


def tile_type(memory: str, rows: int, cols: int, dtype: str, valid: tuple | None = None, layout: str = "") -> str:
    """`valid` has an extent or "?" for rows and columns; left out when everything is valid."""
    text = f"!pto.tile_buf<{memory}, {rows}x{cols}x{dtype}"
    if valid is not None and tuple(valid) != (rows, cols):
        text += f", valid={valid[0]}x{valid[1]}"
    return text + (f", {layout}" if layout else "") + ">"


class Text:
    """A function body under construction. Constants go to its head."""

    def __init__(self):
        self.constants: dict[str, str] = {}
        self.lines: list[str] = []
        self.depth = 2
        self.count = 0

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def define(self, text: str) -> str:
        """`%N = text`; returns %N."""
        name = f"%{self.count}"
        self.count += 1
        self.line(f"{name} = {text}")
        return name

    def constant(self, value: float | int, dtype: str) -> str:
        text = literal(value, dtype)
        name = "%c_" + text.replace("-", "m") + ("" if dtype == "index" else f"_{dtype}")
        self.constants[name] = f"arith.constant {text} : {dtype}"
        return name

    def index(self, value: int | str) -> str:
        """A number as an index; names pass."""
        return value if isinstance(value, str) else self.constant(value, "index")

    @contextmanager
    def block(self, head: str):
        self.line(head + " {")
        self.depth += 1
        yield
        self.depth -= 1
        self.line("}")

    @contextmanager
    def loop(self, first: int | str, end: int | str, step: int | str):
        """scf.for; gives its induction variable."""
        name = f"%{self.count}"
        self.count += 1
        with self.block(f"scf.for {name} = {self.index(first)} to {self.index(end)} step {self.index(step)}"):
            yield name
