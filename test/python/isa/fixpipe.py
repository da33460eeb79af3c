"""Cases of the fixpipe: what leaves the accumulators, quantised or not, for global memory, L1 and the vector cores."""

import numpy as np
import pytest

from . import numbers as nb
from .cube import boxed, operands, up
from .machine import (
    NUMPY,
    Fault,
    Program,
    Tile,
    View,
    encode,
    raw,
    reg,
    unpack,
)
from .movement import same


def accumulator(program, kind, values):
    """An accumulator tile that holds f32 values that are multiples of 1/64 below 512 in magnitude, or i32 ones: the
    product of two factors."""
    m, n = values.shape
    if kind == "i32":
        high, low = np.divmod(values.astype(np.int64), 100)
        a, b = np.eye(m, dtype=np.int8), None
        parts = [(np.eye(m, dtype=np.int8) * 100, high), (a, low)]
        left = "i8"
    else:
        parts, left = [(np.eye(m, dtype=np.float32), values)], "f32"
    a = np.concatenate([p[0] for p in parts], 1)
    b = np.concatenate([p[1] for p in parts], 0).astype(NUMPY[left])
    ta, tb = operands(program, left, left, m, a.shape[1], n, a.astype(NUMPY[left]), b)
    dst = boxed(kind, m, n, "NZ16")
    program.do("tmatmul", dst=dst, a=ta, b=tb)
    return dst


def acc_values(kind, rng, m, n):
    return rng.integers(-9000, 9000, (m, n)) if kind == "i32" else rng.integers(-20000, 20000, (m, n)) / 64


def cast(kind, values):
    return values.astype(np.float32).astype(NUMPY[kind]) if kind in nb.FLOATS else np.rint(values).astype(NUMPY[kind])


def descriptor(scale, offset, shift=0):
    return int(np.float32(scale).view(np.uint32)) | (offset & 511) << 37 | shift << 32 | 1 << 46


def quantised(to, kind, values, scales, offsets, relu, shift=0):
    if to == "i16":
        v = values.astype(np.int64)
        return nb.wrap("i16", (np.maximum(v, 0) if relu else v) >> (shift + 1))
    v = values.astype(np.float32) * scales + offsets.astype(np.float32)
    v = np.maximum(v, 0) if relu else v
    if to in ("i8", "u8"):
        info = np.iinfo(NUMPY[to])
        return np.clip(np.rint(v), info.min, info.max).astype(NUMPY[to])
    if to == "f16" and kind == "i32":
        v = np.clip(v, -65504, 65504)
    return nb.convert(to, v.astype(np.float64), to in ("f8E4M3FN", "hif8"))


def store_acc(mnemonic, arch, kinds, rng):
    """From L0C to global memory, with relu, cast, addition and both forms of quantisation, to row-major and
    column-major views."""
    to, kind = kinds
    for m, n, relu, atomic, layout in (
        (16, 16, "none", "none", "ND"),
        (7, 19, "relu", "none", "ND"),
        (33, 40, "none", "add", "ND"),
        (9, 24, "relu", "none", "DN"),
    ):
        values = acc_values(kind, rng, m, n)
        program = Program(arch, "AIC")
        acc = accumulator(program, kind, values)
        before = nb.random(to, rng, (m, n))
        number = program.argument(before if layout == "ND" else before.T)
        view = View(number, to, (m, n)) if layout == "ND" else View(number, to, (m, n), (1, m), layout="DN")
        positive = np.maximum(values, 0) if relu == "relu" else values
        if mnemonic == "tstore_acc":
            program.do(mnemonic, dst=view, src=acc, relu=relu, atomic=atomic)
            expected = cast(to, positive)
            if atomic == "add":
                expected = (
                    cast(to, before.astype(np.float64) + expected.astype(np.float64))
                    if to in nb.FLOATS
                    else before + expected
                )
        else:
            scales, offsets = epilogue(program, mnemonic, n, rng)
            attributes = {"scales": Tile("u64", 1, up(n, 4), (1, n))}
            if mnemonic.endswith("quant"):
                attributes = {"atomic": atomic} | in_halves(
                    program, descriptor(scales[0], int(offsets[0])), engine="FIX" if m == 7 else None
                )
            program.do(mnemonic, dst=view, src=acc, relu=relu, **attributes)
            expected = quantised(to, kind, values, scales, offsets, relu == "relu")
            if atomic == "add" and mnemonic.endswith("quant") and to in ADDABLE:
                expected = (
                    cast(to, before.astype(np.float64) + expected.astype(np.float64))
                    if to in nb.FLOATS
                    else before + expected
                )
            elif atomic == "add" and mnemonic.endswith("quant"):
                with pytest.raises(Fault, match="no atomic addition"):
                    program.run()
                continue
        got = program.run().matrix(number, to, (m, n) if layout == "ND" else (n, m))
        same(got if layout == "ND" else got.T, expected, kinds, (m, n, relu, atomic))


def epilogue(program, mnemonic, n, rng, shift=0):
    """Scales of few digits (a vector's low 13 bits are cut) and offsets; for the vector form also in the fixpipe
    buffer."""
    if not mnemonic.endswith("quantv"):
        return np.full(n, 0.37, np.float32), np.full(n, -3)
    scales, offsets = (rng.integers(8, 64, n) / 128).astype(np.float32), rng.integers(-20, 20, n)
    words = np.array([[descriptor(s, int(o), shift) | 0x1ABC for s, o in zip(scales, offsets)]], np.uint64)
    src = Tile("u64", 1, up(n, 4) + 4, None, "ND", 1 << 16)
    full = np.zeros((1, src.cols), np.uint64)
    full[:, 4 : 4 + n] = words
    program.fill(src, full, "L1").do("tmov_fb", dst=Tile("u64", 1, up(n, 4), (1, n)), src=src, col=4)
    return scales, offsets


ADDABLE = {"f32", "f16", "bf16", "i8", "u8"}


def in_halves(program, word, engine=None):
    """The two operands of a descriptor; with `engine` by way of its registers, the low one with bits above that do not
    count."""
    low, high = word & 0xFFFFFFFF, word >> 32
    if engine is None:
        return {"descriptorLow": low, "descriptorHigh": high}
    program.do("li", engine, dst=5, value=word).do("li", engine, dst=6, value=high)
    return {"descriptorLow": reg(5), "descriptorHigh": reg(6)}


def move_to_vector_cores(mnemonic, arch, kinds, rng):
    """From L0C to the UB of one vector core, or halved to both; they store what has come once the cube core's flag is
    up."""
    to, kind = kinds
    for m, n, relu, cores, layout in (
        (16, 16, "none", "first", "ND"),
        (7, 19, "relu", "second", "ND"),
        (20, 24, "none", "halfRows", "ND"),
        (9, 32, "relu", "halfCols", "NZ"),
    ):
        values = acc_values(kind, rng, m, n)
        program = Program(arch, "AIC")
        acc = accumulator(program, kind, values)
        rows, cols = m // 2 if cores == "halfRows" else m, n // 2 if cores == "halfCols" else n
        dst = Tile(to, 32, 64, (rows, cols), layout, 1 << 10)
        positive = np.maximum(values, 0) if relu == "relu" else values
        attributes, expected = {}, None
        if mnemonic == "tmov_acc_ub":
            expected = cast(to, positive)
        else:
            scales, offsets = epilogue(program, mnemonic, n, rng, shift=2)
            attributes = (
                in_halves(program, descriptor(scales[0], int(offsets[0]), 2))
                if mnemonic.endswith("quant")
                else {"scales": Tile("u64", 1, up(n, 4), (1, n))}
            )
            expected = quantised(to, kind, values, scales, offsets, relu == "relu", 2)
        program.do(mnemonic, dst=dst, src=acc, relu=relu, cores=cores, **attributes).do(
            "cross_set", "FIX", mode="block", id=3
        )
        whole = raw(dst)
        number = program.argument(np.zeros(2 * whole.cols * 4, np.uint8))
        place = encode("get", dst=1, what="subblock_idx") + encode("mul", dst=2, lhs=reg(1), rhs=whole.cols * 4)
        program.streams["AIV", "S"] = encode("cross_wait", id=3) + encode("set_flag", src="S", dst="MTE3", id=0)
        program.streams["AIV", "MTE3"] = (
            encode("wait_flag", src="S", dst="MTE3", id=0)
            + place
            + encode(
                "tstore", dst=View(number, "u32", (1, whole.cols), offset=reg(2)), src=whole, atomic="none", space="UB"
            )
        )
        results = program.run().results[number].reshape(2, -1)
        for core, part in {
            "first": [(0, expected)],
            "second": [(1, expected)],
            "halfRows": list(enumerate((expected[:rows], expected[rows:]))),
            "halfCols": list(enumerate((expected[:, :cols], expected[:, cols:]))),
        }[cores]:
            same(unpack(dst, results[core][: dst.bytes])[:rows, :cols], part, kinds, (m, n, relu, cores))


def move_acc(mnemonic, arch, kinds, rng):
    """From L0C to L1, whole, into a part, and quantised from part to part."""
    to, kind = kinds
    for m, n, relu, row, col in ((16, 16, "none", 0, 0), (7, 19, "relu", 3, 5), (20, 24, "none", 16, 32)):
        values = acc_values(kind, rng, m, n)
        program = Program(arch, "AIC")
        acc = accumulator(program, kind, values)
        dst = Tile(to, 48, 64, None, "NZ", 1 << 17)
        before = nb.random(to, rng, (48, 64))
        program.fill(dst, before, "L1")
        positive = np.maximum(values, 0) if relu == "relu" else values
        expected = before.copy()
        if mnemonic == "tmov_acc":
            dst = Tile(to, 48, 64, (m, n), "ND" if m == 7 else "NZ", 1 << 17)
            program.fill(dst, before, "L1")
            program.do(mnemonic, dst=dst, src=acc, relu=relu)
            expected[:m, :n] = cast(to, positive)
        elif mnemonic == "tinsert_acc":
            program.do(mnemonic, dst=dst, src=acc, row=row, col=col, relu=relu)
            expected[row : row + m, col : col + n] = cast(to, positive)
        else:
            scales, offsets = epilogue(program, mnemonic, n, rng, shift=2)
            attributes = (
                in_halves(program, descriptor(scales[0], int(offsets[0]), 2))
                if mnemonic.endswith("quant")
                else {"scales": Tile("u64", 1, up(n, 4), (1, n))}
            )
            rows, cols = m - 2, n - 3
            program.do(
                mnemonic,
                dst=dst,
                src=acc,
                row=row,
                col=col,
                srcRow=2,
                srcCol=3,
                rows=rows,
                cols=cols,
                relu=relu,
                **attributes,
            )
            expected[row : row + rows, col : col + cols] = quantised(
                to, kind, values[2:, 3:], scales[:cols], offsets[:cols], relu == "relu", 2
            )
        number = program.fetch(dst, "L1")
        same(program.run().box(number, dst), expected, kinds, (m, n, relu))


FAMILIES = [
    ({"tstore_acc", "tstore_acc_quant", "tstore_acc_quantv"}, store_acc),
    ({"tmov_acc", "tinsert_acc", "tmov_acc_quant", "tmov_acc_quantv"}, move_acc),
    ({"tmov_acc_ub", "tmov_acc_ub_quant", "tmov_acc_ub_quantv"}, move_to_vector_cores),
    # Its result shows only in what reads the fixpipe buffer.
    ({"tmov_fb"}, lambda mnemonic, arch, kinds, rng: store_acc("tstore_acc_quantv", arch, ["i8", "f32"], rng)),
]
CASES = {mnemonic: f for names, f in FAMILIES for mnemonic in names}
