"""Cases of the cube core (transfers and layouts, products, epilogues, img2col) and of scalar instructions."""

import ml_dtypes
import numpy as np
import pytest

from . import numbers as nb
from .elementwise import scalar_bits
from .machine import (
    BITS,
    NUMPY,
    Fault,
    Program,
    Tile,
    View,
    encode,
    offsets,
    pack,
    raw,
    reg,
    tested,
    unpack,
)
from .movement import made, same


def up(n, to):
    return -(-n // to) * to


def c0(kind):
    return 2 if kind == "f8E8M0" else 256 // BITS[kind]  # scales are stored in pairs of groups


def boxed(kind, rows, cols, layout, address=0):
    """The smallest tile of a boxed layout that holds rows x cols."""
    ir, ic = {"NZ": (16, c0(kind)), "ZZ": (16, c0(kind)), "ZN": (c0(kind), 16), "NZ16": (16, 16)}[layout]
    return Tile(kind, up(rows, ir), up(cols, ic), (rows, cols), layout, address)


def grown(tile, values):
    full = np.zeros((tile.rows, tile.cols), NUMPY[tile.type])
    full[: values.shape[0], : values.shape[1]] = values
    return full


def small_floats(kind, rng, shape):
    """Operands whose products and short sums are exact in f32, so that the order of additions does not matter."""
    if kind == "i8":
        return rng.integers(-128, 128, shape).astype(np.int8)
    if kind in ("f4E2M1", "f4E1M2"):
        return rng.integers(0, 16, shape).astype(np.uint8)
    if kind == "hif8":
        return rng.choice(
            np.flatnonzero((np.abs(nb.TABLES["hif8"]) <= 4) & (np.abs(nb.TABLES["hif8"]) >= 0.125)), shape
        ).astype(np.uint8)
    return (rng.integers(-16, 17, shape) / 4).astype(NUMPY[kind])


def operands(program, left, right, m, k, n, a, b, row=0, col=0):
    """Loads a [.., ..] and b to L1, the part [m, k] of a from (row, col) to L0A and [k, n] of b to L0B. Returns their tiles."""
    la, lb = boxed(left, *a.shape, "NZ"), boxed(right, *b.shape, "NZ", address=1 << 18)
    program.fill(la, grown(la, a), "L1").fill(lb, grown(lb, b), "L1")
    ta, tb = boxed(left, m, k, "ZZ"), boxed(right, k, n, "ZN")
    program.do("textract_l0a", dst=ta, src=la, row=row, col=col).do("textract_l0b", dst=tb, src=lb, row=0, col=0)
    return ta, tb


SHAPES = [(1, 64, 1), (16, 64, 16), (7, 128, 19), (33, 64, 40), (48, 192, 64)]
RAGGED_DEPTHS = [(16, 32, 16), (5, 96, 17), (17, 100, 33), (3, 2, 5)]  # for groups of 32


def fetch_acc(program, acc, kind):
    number = program.argument(np.zeros(acc.valid_shape, NUMPY[kind]))
    program.do("tstore_acc", dst=View(number, kind, acc.valid_shape), src=acc, relu="none", atomic="none")
    return number


def product(mnemonic, arch, kinds, rng):
    """Products whose sums are exact, so that no tolerance is needed; then a long one against float64."""
    scaled, extra = "_mx" in mnemonic, mnemonic.split("_")[-1]
    out, left, right = (kinds[0], kinds[2], kinds[3]) if extra == "acc" else kinds[:3]
    for number, (m, k, n) in enumerate(SHAPES + (RAGGED_DEPTHS if scaled else [])):
        a, b = small_floats(left, rng, (m, k)), small_floats(right, rng, (k, n))
        program = Program(arch, "AIC")
        attributes = {}
        x, y = nb.decode(left, a), nb.decode(right, b)
        if BITS[left] == 4:  # two elements to a byte, along k
            pairs = a[:, 0::2] | a[:, 1::2] << 4, b[0::2] | b[1::2] << 4
            ta, tb = operands(
                program, "f8E4M3FN", "f8E4M3FN", m, k // 2, n, *(p.view(NUMPY["f8E4M3FN"]) for p in pairs)
            )
            ta, tb = (
                Tile(kind, t.rows * f, t.cols * g, (r, c), t.layout)
                for kind, t, f, g, r, c in ((left, ta, 1, 2, m, k), (right, tb, 2, 1, k, n))
            )
        else:
            ta, tb = operands(program, left, right, m, k, n, a, b)
        if scaled:
            groups = up(k, 32) // 32
            sa, sb = (rng.integers(123, 132, s).astype(np.uint8) for s in ((m, groups), (groups, n)))
            # In L1 as plain bytes, or in pairs of groups.
            la = Tile("f8E8M0", up(m, 16), 32, None, ("ND", "NZ", "ZZ")[number % 3], 1 << 17)
            lb = Tile("f8E8M0", 32, up(n, 16), None, ("DN", "ZN", "NN")[number % 3], (1 << 17) + 8192)
            program.fill(la, grown(la, sa), "L1").fill(lb, grown(lb, sb), "L1")
            ra, rb = (
                Tile("f8E8M0", up(m, 16), up(groups, 2), (m, groups), "ZZ"),
                Tile("f8E8M0", up(groups, 2), up(n, 16), (groups, n), "NN"),
            )
            program.do("textract_sa", dst=ra, src=la, row=0, col=0).do("textract_sb", dst=rb, src=lb, row=0, col=0)
            attributes |= {"scalesA": ra, "scalesB": rb}
            x, y = (
                x * np.repeat(nb.TABLES["f8E8M0"][sa], 32, 1)[:, :k],
                y * np.repeat(nb.TABLES["f8E8M0"][sb], 32, 0)[:k],
            )
        dst = boxed(out, m, n, "NZ16")
        expected = x @ y
        if extra == "acc":
            program.do(mnemonic.replace("_acc", ""), dst=dst, a=ta, b=tb, **attributes)
            attributes["acc"] = dst
            expected = 2 * expected
        if extra == "bias":
            bias = (rng.integers(-9, 10, (1, n)) / (1 if out == "i32" else 4)).astype(NUMPY[out])
            lbias = Tile(out, 1, up(n, 8) + 8, None, "ND", 1 << 16)
            program.fill(
                lbias, np.concatenate([np.zeros((1, 8), NUMPY[out]), grown(Tile(out, 1, up(n, 8)), bias)], 1), "L1"
            )
            attributes["bias"] = Tile(out, 1, up(n, 8), (1, n))
            program.do("tmov_bt", dst=attributes["bias"], src=lbias, col=8)
            expected = expected + bias
        program.do(mnemonic, dst=dst, a=ta, b=tb, **attributes)
        fetched = fetch_acc(program, dst, out)
        got = program.run().matrix(fetched, out, (m, n))
        slack = (np.abs(x) @ np.abs(y) + 100) * k * 6e-8 if scaled else 0
        assert (np.abs(got - expected) <= slack).all(), (kinds, m, k, n)
    if not scaled and left in ("f32", "f16", "bf16"):
        m, k, n = 16, 512, 16
        a, b = nb.random(left, rng, (m, k)), nb.random(right, rng, (k, n))
        program = Program(arch, "AIC")
        ta, tb = operands(program, left, right, m, k, n, a, b)
        dst = boxed(out, m, n, "NZ16")
        number = fetch_acc(program.do("tmatmul", dst=dst, a=ta, b=tb), dst, out)
        x, y = a.astype(np.float64), b.astype(np.float64)
        assert (np.abs(program.run().matrix(number, out, (m, n)) - x @ y) <= np.abs(x) @ np.abs(y) * k * 6e-8).all()


def gather_into_l1(mnemonic, arch, kinds, rng):
    """Gather from global memory by indices in global memory, out-of-bounds ones included; the rest of each last column group is 0."""
    kind, _, index_kind = kinds
    for number, bounds in enumerate(("undefined", "clamp", "wrap", "zero")):
        for unit in ("element", "row"):
            memory = nb.random(kind, rng, (20, 48))
            view = (12, 40) if unit == "row" else (20, 48)
            m, n = ((5, 29), (16, 32), (33, 7), (2, 40))[number]
            count = 12 if unit == "row" else memory.size
            shape = (m, n) if unit == "element" else (m, 1) if number % 2 else (1, m)
            low = 0 if bounds == "undefined" or index_kind == "u32" else -9
            indices = rng.integers(low, count if bounds == "undefined" else count + 9, shape)
            dst = boxed(kind, m, n, "NZ")
            before = nb.random(kind, rng, (dst.rows, dst.cols))
            expected = before.copy()
            expected[:m, n : up(n, c0(kind))] = np.zeros((), NUMPY[kind])
            for r, c in np.ndindex(m, n):
                i = int(indices.flat[r] if unit == "row" else indices[r, c])
                huge = i if i >= 0 else i + (1 << 64)
                if huge >= count:
                    i = {"clamp": count - 1, "wrap": huge % count}.get(bounds, -1)
                expected[r, c] = (
                    np.zeros((), NUMPY[kind]) if i < 0 else memory[i, c] if unit == "row" else memory.flat[i]
                )
            program = Program(arch, "AIC").fill(dst, before, "L1")
            source, places = program.argument(memory), program.argument(indices.astype(NUMPY[index_kind]))
            program.do(
                mnemonic,
                dst=dst,
                src=View(source, kind, view, (48, 1)),
                indices=View(places, index_kind, shape),
                unit=unit,
                bounds=bounds,
            )
            got = program.fetch(dst, "L1")
            same(program.run().box(got, dst), expected, kind, bounds, unit)
    for beyond, part in ((12, "index 12"), (2, "fewer indices")):
        rows = 2 if beyond == 12 else 3
        program = Program(arch, "AIC")
        source, places = program.argument(memory), program.argument(np.full((2, 1), beyond, NUMPY[index_kind]))
        program.do(
            mnemonic,
            dst=boxed(kind, rows, 16, "NZ"),
            src=View(source, kind, (12, 40), (48, 1)),
            indices=View(places, index_kind, (2, 1)),
            unit="row",
            bounds="undefined",
        )
        with pytest.raises(Fault, match=part):
            program.run()


def extract(mnemonic, arch, kinds, rng):
    """A part of a larger matrix, observed through a product with the identity, from each legal layout of L1."""
    kind = kinds[0]
    if kind == "f8E8M0":  # tested through tmatmul_mx
        tested.discard(mnemonic) if "tmatmul_mx" not in tested else None
        return product("tmatmul_mx", arch, ["f32", "f8E4M3FN", "f8E5M2"], rng)
    out, step = "i32" if kind == "i8" else "f32", max(16, c0(kind))
    for layout in ("NZ", "ZN", "ND"):
        for row, col, m, k in ((0, 0, 16, step), (3, 0, 7, step), (16, step, 18, 2 * step), (5, 3, 9, step - 3)):
            whole = small_floats(kind, rng, (64, 4 * step))
            one = {"hif8": np.flatnonzero(nb.TABLES["hif8"] == 1)[0]}.get(kind, 1)
            src = Tile(kind, *whole.shape, None, layout)
            program = Program(arch, "AIC").fill(src, whole, "L1")
            n = m if mnemonic == "textract_l0b" else k
            eye = np.zeros((n, n), NUMPY[kind])
            np.fill_diagonal(eye, one)
            other = boxed(kind, n, n, "NZ", 1 << 18)
            program.fill(other, grown(other, eye), "L1")
            if mnemonic == "textract_l0a":
                a, b = boxed(kind, m, k, "ZZ"), boxed(kind, k, k, "ZN")
                program.do(mnemonic, dst=a, src=src, row=row, col=col).do(
                    "textract_l0b", dst=b, src=other, row=0, col=0
                )
            else:
                a, b = boxed(kind, m, m, "ZZ"), boxed(kind, m, k, "ZN")
                program.do("textract_l0a", dst=a, src=other, row=0, col=0).do(
                    mnemonic, dst=b, src=src, row=row, col=col
                )
            dst = boxed(out, m, k, "NZ16")
            number = fetch_acc(program.do("tmatmul", dst=dst, a=a, b=b), dst, out)
            expected = nb.decode(kind, whole[row : row + m, col : col + k])
            same(program.run().matrix(number, out, (m, k)).astype(np.float64), expected, kind, layout, (row, col))


def image(mnemonic, arch, kinds, rng):
    """im2col by its definition, observed through a product with the identity."""
    kind = kinds[0]
    out, g = "i32" if kind == "i8" else "f32", c0(kind)
    one = {"hif8": np.flatnonzero(nb.TABLES["hif8"] == 1)[0]}.get(kind, 1)
    for h, w, channels, (kh, kw), (sh, sw), (dh, dw), (top, left, bottom, right) in (
        (5, 6, 3, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
        (7, 5, g + 1, (2, 3), (2, 1), (1, 2), (0, 2, 1, 0)),
        (4, 4, g, (1, 1), (2, 2), (1, 1), (0, 0, 0, 0)),
    ):
        groups = -(-channels // g)
        x = small_floats(kind, rng, (h * w, groups * g))
        x[:, channels:] = 0
        src = Tile(kind, up(h * w, 16), groups * g, None, "NZ")
        oh, ow = (h + top + bottom - dh * (kh - 1) - 1) // sh + 1, (w + left + right - dw * (kw - 1) - 1) // sw + 1
        depth = groups * kh * kw * g
        columns = np.zeros((oh * ow, depth), NUMPY[kind])
        for m, k in np.ndindex(columns.shape):
            c1, rest = divmod(k, g * kh * kw)
            position, lane = divmod(rest, g)
            y, z = m // ow * sh + position // kw * dh - top, m % ow * sw + position % kw * dw - left
            if 0 <= y < h and 0 <= z < w:
                columns[m, k] = x[y * w + z, c1 * g + lane]
        for pos_m, pos_k, m, k in ((0, 0, min(16, oh * ow), g), (2, depth - g, min(5, oh * ow - 2), g)):
            program = Program(arch, "AIC").fill(src, grown(src, x), "L1")
            eye = np.zeros((k, k), NUMPY[kind])
            np.fill_diagonal(eye, one)
            other = boxed(kind, k, k, "NZ", 1 << 18)
            program.fill(other, grown(other, eye), "L1")
            a, b, dst = boxed(kind, m, k, "ZZ"), boxed(kind, k, k, "ZN"), boxed(out, m, k, "NZ16")
            program.do(
                mnemonic,
                dst=a,
                src=src,
                posM=pos_m,
                posK=pos_k,
                height=h,
                padTop=top,
                padBottom=bottom,
                width=w,
                channels=channels,
                kernelH=kh,
                kernelW=kw,
                strideH=sh,
                strideW=sw,
                dilationH=dh,
                dilationW=dw,
                padLeft=left,
                padRight=right,
            )
            program.do("textract_l0b", dst=b, src=other, row=0, col=0).do("tmatmul", dst=dst, a=a, b=b)
            number = fetch_acc(program, dst, out)
            expected = nb.decode(kind, columns[pos_m : pos_m + m, pos_k : pos_k + k])
            same(program.run().matrix(number, out, (m, k)).astype(np.float64), expected, kind, (kh, kw))


def accumulator(program, kind, values):
    """An accumulator tile of f32 values (multiples of 1/64 below 512 in magnitude) or i32 values: the product of two factors."""
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
    """L0C to global memory with relu, cast, addition and both forms of quantisation, to row-major and column-major views."""
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
    """Scales of few digits (the low 13 bits of a vector's are ignored) and offsets; for the vector form also in the fixpipe buffer."""
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
    """The two operands of a descriptor; with `engine` in its registers, the low one with high bits that must be ignored."""
    low, high = word & 0xFFFFFFFF, word >> 32
    if engine is None:
        return {"descriptorLow": low, "descriptorHigh": high}
    program.do("li", engine, dst=5, value=word).do("li", engine, dst=6, value=high)
    return {"descriptorLow": reg(5), "descriptorHigh": reg(6)}


def move_to_vector_cores(mnemonic, arch, kinds, rng):
    """L0C to the UB of one vector core, or halved to both; they store their tile once the cube core has set its flag."""
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


def insert_into_l1(mnemonic, arch, kinds, rng):
    """The UB of both vector cores to parts of a tile of the cube core, which stores it once both flags are set."""
    kind = kinds[0]
    for to, layout in (("NZ", "ND"), ("ND", "ND"), ("NZ", "NZ"), ("ZN", "DN")):
        src, dst = Tile(kind, 64, 64, (60, 61), layout, 512), Tile(kind, 64, 96, None, to, 1 << 12)
        values, before = nb.random(kind, rng, (64, 64)), nb.random(kind, rng, (64, 96))
        program = Program(arch, "AIC").fill(dst, before, "L1").do("cross_set", "MTE2", mode="block", id=1)
        number = program.argument(pack(src, values))
        vector = {}
        vector["S"] = encode("cross_wait", id=1) + encode("set_flag", src="S", dst="MTE3", id=0)
        vector["MTE2"] = encode(
            "tload", dst=raw(src), src=View(number, "u32", (1, raw(src).cols)), space="UB"
        ) + encode("set_flag", src="MTE2", dst="MTE3", id=0)
        vector["MTE3"] = (
            encode("wait_flag", src="S", dst="MTE3", id=0)
            + encode("wait_flag", src="MTE2", dst="MTE3", id=0)
            + encode("get", dst=1, what="subblock_idx")
            + encode("mul", dst=2, lhs=reg(1), rhs=17)
            + encode(mnemonic, dst=dst, src=src, row=reg(2), col=9, srcRow=3, srcCol=5, rows=15, cols=33)
            + encode("cross_set", mode="block", id=2)
        )
        for pipe, words in vector.items():
            program.streams["AIV", pipe] = words
        program.do("cross_wait", "S", id=2)
        stored = program.fetch(dst, "L1")
        expected = before.copy()
        for core in range(2):
            expected[17 * core : 17 * core + 15, 9:42] = values[3:18, 5:38]
        same(program.run().box(stored, dst), expected, kinds, (to, layout))


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


def fill_l1(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    if kind in nb.TABLES or kind.startswith("f8"):
        if mnemonic == "texpands_l1":
            return
    for layout in ("ND", "NZ", "ZN") if mnemonic == "texpands_l1" else ("NZ",):
        dst = made(Tile(kind, 64, 64, (61, 37) if mnemonic == "texpands_l1" else None, layout), rng)
        program = Program(arch, "AIC").fill(*dst, "L1")
        if mnemonic == "texpands_l1":
            program.do(mnemonic, dst=dst[0], scalar=scalar_bits(kind, 3))
            expected = dst[1].copy()
            expected[:61, :37] = 3
        else:
            src = made(Tile(kind, 48, 64, (41, 33), "NZ", 1 << 17), rng)
            program.fill(*src, "L1").do(mnemonic, dst=dst[0], src=src[0])
            expected = np.zeros_like(dst[1])
            expected[:41, :33] = src[1][:41, :33]
        number = program.fetch(dst[0], "L1")
        same(program.run().box(number, dst[0]), expected, kind, layout)


def transfer(mnemonic, arch, kinds, rng):
    """Loads and stores between views and tiles of every pair of layouts, in both memories."""
    kind = kinds[0]
    g = c0(kind)
    pairs = [
        ("UB", "ND", "ND"),
        ("UB", "DN", "DN"),
        ("UB", "ND", "DN"),
        ("UB", "DN", "ND"),
        ("L1", "ND", "NZ"),
        ("L1", "DN", "ZN"),
        ("L1", "NZ", "NZ"),
        ("L1", "ND", "ND"),
    ]
    for space, outside, inside in pairs:
        for m, n in ((1, 1), (13, 29), (32, 2 * g)):
            if outside == "NZ":
                m, n = up(m, 16), up(n, g)
            tile = (
                boxed(kind, m, n, inside)
                if inside in ("NZ", "ZN")
                else Tile(kind, up(m, 32), up(n, 64), (m, n), inside)
            )
            big = nb.random(kind, rng, (m + 3, n + 5))
            if outside == "NZ":
                fractal = Tile(kind, m, n, None, "NZ")
                memory = np.empty(m * n, NUMPY[kind])
                memory[offsets(fractal).ravel()] = big[:m, :n].ravel()
                view = lambda number: View(number, kind, (1, n // g, m // 16, 16, g), layout="NZ")
                matrix = lambda buffer: buffer.view(NUMPY[kind])[offsets(fractal)]
            elif outside == "ND":
                memory, matrix = big, lambda buffer: buffer.view(NUMPY[kind]).reshape(big.shape)[:m, :n]
                view = lambda number: View(number, kind, (m, n), (n + 5, 1))
            else:
                memory, matrix = big.T, lambda buffer: buffer.view(NUMPY[kind]).reshape(n + 5, m + 3).T[:m, :n]
                view = lambda number: View(number, kind, (m, n), (1, m + 3), layout="DN")
            program = Program(arch, "AIV" if space == "UB" else "AIC")
            before = nb.random(kind, rng, (tile.rows, tile.cols))
            full = Tile(kind, tile.rows, tile.cols, None, inside)
            if mnemonic == "tload":
                program.fill(full, before, space).do("tload", dst=tile, src=view(program.argument(memory)), space=space)
                number = program.fetch(full, space)
                expected = before.copy()
                if inside == "NZ" and outside == "ND":
                    expected[:m, : up(n, g)] = np.zeros((), NUMPY[kind])
                if inside == "ZN":
                    expected[: up(m, g), :n] = np.zeros((), NUMPY[kind])
                expected[:m, :n] = big[:m, :n]
                same(program.run().box(number, full), expected, kind, space, outside, inside, (m, n))
            else:
                number = program.argument(memory)
                program.fill(full, before, space).do("tstore", dst=view(number), src=tile, atomic="none", space=space)
                same(matrix(program.run().results[number]), before[:m, :n], kind, space, outside, inside, (m, n))


def scalars(mnemonic, arch, kinds, rng):
    """One element of global memory or of a tile, through a register."""
    kind = kinds[0]
    values = nb.random(kind, rng, (4, 64))
    tile = Tile(kind, 4, 64)
    bits = lambda v: scalar_bits(kind, v)
    program = Program(arch, "AIV")
    if mnemonic in ("load_scalar", "store_scalar"):
        size = BITS[kind] // 8
        source, target = program.argument(values), program.argument(np.zeros_like(values))
        at = lambda number, i: View(number, kind, (1,), (1,), i * size)
        for i in range(8):
            program.do("load_scalar", dst=3, src=at(source, 5 * i))
            program.do("store_scalar", dst=at(target, 5 * i), value=reg(3))
        expected = np.zeros_like(values).ravel()
        expected[0:40:5] = values.ravel()[0:40:5]
        same(program.run().matrix(target, kind, (256,)), expected, kind)
        return
    program.fill(tile, values, "UB")
    for i in range(4):
        program.do("tgetval", dst=3, src=tile, index=70 * i + 1 if i < 3 else 255).do(
            "tsetval", dst=tile, index=i, value=reg(3)
        )
    program.do("tsetval", dst=tile, index=9, value=bits(2))
    expected = values.copy().ravel()
    for i in range(4):
        expected[i] = expected[70 * i + 1 if i < 3 else 255]
    expected[9] = 2
    number = program.fetch(tile, "UB")
    same(program.run().box(number, tile).ravel(), expected, kind)


M64 = (1 << 64) - 1
signed = lambda v: (v & M64) - (1 << 64) if v & M64 >> 1 != v & M64 else v & M64
ARITHMETIC = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a // b,
    "rem": lambda a, b: a % b,
    "min": min,
    "max": max,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << (b & 63),
    "shr": lambda a, b: a >> (b & 63),
}


def float_results(a, b):
    """The result of farith on two floats, by operation."""
    with np.errstate(all="ignore"):
        either = np.isnan(a) or np.isnan(b)
        above, below = (a, b) if a > b or (a == b and not np.signbit(a)) else (b, a)
        other = b if np.isnan(a) else a
        return {
            "add": a + b,
            "sub": a - b,
            "mul": a * b,
            "div": a / b,
            "rem": np.fmod(a, b),
            "maximum": np.nan if either else above,
            "minimum": np.nan if either else below,
            "maxnum": other if either else above,
            "minnum": other if either else below,
        }


def float_relations(a, b):
    """The result of fcmp on two floats, by mode."""
    either = bool(np.isnan(a) or np.isnan(b))
    answers = {"eq": a == b, "gt": a > b, "ge": a >= b, "lt": a < b, "le": a <= b, "ne": a != b}
    ordered = {f"o{name}": not either and value for name, value in answers.items() if name != "ne"} | {
        "one": not either and a != b,
        "ord": not either,
    }
    return {
        "never": False,
        "always": True,
        "uno": either,
        **ordered,
        **{f"u{name}": either or value for name, value in answers.items()},
    }


def registers(mnemonic, arch, kinds, rng):
    """Arithmetic, control and queues: each result is stored as two words."""
    program, wanted = Program(arch, "AIV"), []
    place = iter(range(0, 1 << 16, 8))

    def show(number, value, pipe="S"):
        first = next(place)
        for half in range(2):
            program.do("store_scalar", dst=View(0, "u32", (1,), (1,), first + 4 * half), value=reg(number)).do(
                "shr", "S", dst=number, lhs=reg(number), rhs=32
            )
        wanted.append(value & M64)

    program.argument(np.zeros(1 << 13, np.uint64))
    on = lambda name, **operands: program.do(name, "S", **operands)
    pairs = [(5, 3), (-7, 2), (7, -2), (-(1 << 62), 3), (0x123456789ABCDEF, -0x1234), (1 << 40, 65), (-1, 1)]
    if mnemonic in ARITHMETIC:
        for a, b in pairs:
            on("li", dst=1, value=a & M64), on("li", dst=2, value=b & M64)
            on(mnemonic, dst=3, lhs=reg(1), rhs=reg(2)), show(3, ARITHMETIC[mnemonic](a, b))
            (
                on(mnemonic, dst=3, lhs=reg(1), rhs=b if abs(b) < 1 << 31 else 9),
                show(3, ARITHMETIC[mnemonic](a, b if abs(b) < 1 << 31 else 9)),
            )
    elif mnemonic == "cmp":
        relations = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
        for name, sign in relations.items():
            for a, b in pairs + [(4, 4)]:
                on("li", dst=1, value=a & M64), on("li", dst=2, value=b & M64)
                on("cmp", dst=3, mode=name, lhs=reg(1), rhs=reg(2)), show(3, int(eval(f"{a} {sign} {b}")))
    elif mnemonic in ("li", "mov", "select"):
        for a, b in pairs:
            on("li", dst=1, value=a & M64), on("mov", dst=2, src=reg(1)), show(2, a)
            on("mov", dst=2, src=-5), on("select", dst=3, cond=a & 1, a=reg(1), b=reg(2)), show(3, a if a & 1 else -5)
    elif mnemonic in ("farith", "fcmp"):
        floats = np.array([0.0, -0.0, 1.5, -2.25, 3e38, 1e-40, np.inf, -np.inf, np.nan], np.float32)
        for a in floats:
            for b in floats:
                on("li", dst=1, value=int(a.view(np.uint32))), on("li", dst=2, value=int(b.view(np.uint32)))
                for name, value in (float_results(a, b) if mnemonic == "farith" else float_relations(a, b)).items():
                    if mnemonic == "fcmp":
                        on("fcmp", dst=3, mode=name, lhs=reg(1), rhs=reg(2)), show(3, int(value))
                    elif not np.isnan(value):
                        (
                            on("farith", dst=3, op=name, lhs=reg(1), rhs=reg(2)),
                            show(3, int(np.float32(value).view(np.int32))),
                        )
                    else:  # any NaN: it differs from itself
                        (
                            on("farith", dst=3, op=name, lhs=reg(1), rhs=reg(2)),
                            on("fcmp", dst=3, mode="uno", lhs=reg(3), rhs=reg(3)),
                            show(3, 1),
                        )
    elif mnemonic == "fcvt":
        word = lambda x: int(np.float32(x).view(np.int32))
        for i in (0, -3, 16777217, (1 << 62) + 1, -(1 << 63)):
            (
                on("li", dst=1, value=i & M64),
                on("fcvt", dst=3, cast="from_signed", src=reg(1)),
                show(3, word(np.float32(i))),
            )
            on("fcvt", dst=3, cast="from_unsigned", src=reg(1)), show(3, word(np.float32(i & M64)))
        for x, to_signed, to_unsigned in (
            (2.75, 2, 2),
            (-2.75, -2, 0),
            (3e9, 3000000000, 3000000000),
            (np.nan, 0, 0),
            (1e30, (1 << 63) - 1, -1),
            (-1e30, -(1 << 63), 0),
        ):
            (
                on("li", dst=1, value=word(x) & 0xFFFFFFFF),
                on("fcvt", dst=3, cast="to_signed", src=reg(1)),
                show(3, to_signed),
            )
            on("fcvt", dst=3, cast="to_unsigned", src=reg(1)), show(3, to_unsigned)
        for x in (0.1, 65519.0, 65520.0, 3e-8, -1e-3, 3.4e38, 1.00390625):
            with np.errstate(over="ignore"):
                half = np.float32(np.float32(x).astype(np.float16))
            (
                on("li", dst=1, value=word(x) & 0xFFFFFFFF),
                on("fcvt", dst=3, cast="round_f16", src=reg(1)),
                show(3, word(half)),
            )
            (
                on("fcvt", dst=3, cast="round_bf16", src=reg(1)),
                show(3, word(np.float32(ml_dtypes.bfloat16(np.float32(x))))),
            )
    elif mnemonic == "break_if_zero":
        for limit in (0, 3, 99):
            (
                on("li", dst=4, value=0),
                on("loop", iv=1, lb=0, ub=10, step=1),
                on("cmp", dst=2, mode="lt", lhs=reg(1), rhs=limit),
            )
            (
                on("break_if_zero", cond=reg(2)),
                on("add", dst=4, lhs=reg(4), rhs=reg(1)),
                on("end"),
                show(4, sum(range(min(limit, 10)))),
            )
    elif mnemonic in ("loop", "end", "skip_if_zero"):
        for low, high, step in ((0, 10, 3), (5, 5, 1), (-4, 4, 1)):
            on("li", dst=4, value=0), on("loop", iv=1, lb=low, ub=high, step=step)
            (
                on("and", dst=2, lhs=reg(1), rhs=1),
                on("skip_if_zero", cond=reg(2), words=4),
                on("add", dst=4, lhs=reg(4), rhs=reg(1)),
                on("end"),
            )
            show(4, sum(i for i in range(low, high, step) if i & 1))
    elif mnemonic == "get":
        for number, (what, value) in enumerate({"block_idx": 0, "block_num": 1, "subblock_num": 2}.items()):
            on("get", dst=1, what=what), show(1, value)
    elif mnemonic in (
        "cross_set",
        "cross_wait",
    ):  # the two vector cores synchronise; a raise without a wait, or by only one of them, is a fault
        for number in range(16):
            (
                on("cross_set", mode="pair", id=number),
                on("cross_wait", id=number),
                on("li", dst=1, value=number),
                show(1, number),
            )
    else:  # push and pop, flags and barriers: V fills a tile with values computed by S
        program = Program(arch, "AIV")
        for i in range(3):
            program.streams.setdefault("S", []).extend(encode_all(("push", {"value": 41 + i, "engine": "V"})))
            program.do("pop", "V", dst=1, engine="V").do(
                "texpands", dst=Tile("i32", 1, 8, (1, 8), "ND", 32 * i), scalar=reg(1)
            ).do("barrier", "V", pipe="V")
        number = program.fetch(Tile("i32", 1, 24), "UB")
        tested.update(("push", "set_flag", "wait_flag"))
        same(program.run().matrix(number, "i32", (3, 8)), np.repeat([[41], [42], [43]], 8, 1).astype(np.int32))
        return
    got = program.run().results[0].view(np.uint64)[: len(wanted)]
    assert got.tolist() == wanted, (mnemonic, got.tolist(), wanted)


def encode_all(*instructions):
    from .machine import encode

    return [word for name, operands in instructions for word in encode(name, **operands)]


FAMILIES = [
    ({"tmatmul", "tmatmul_acc", "tmatmul_bias", "tmatmul_mx", "tmatmul_mx_acc", "tmatmul_mx_bias"}, product),
    ({"mgather_l1"}, gather_into_l1),
    ({"textract_l0a", "textract_l0b", "textract_sa", "textract_sb"}, extract),
    ({"timg2col"}, image),
    ({"tstore_acc", "tstore_acc_quant", "tstore_acc_quantv"}, store_acc),
    ({"tmov_acc", "tinsert_acc", "tmov_acc_quant", "tmov_acc_quantv"}, move_acc),
    ({"tmov_acc_ub", "tmov_acc_ub_quant", "tmov_acc_ub_quantv"}, move_to_vector_cores),
    ({"tinsert_l1"}, insert_into_l1),
    ({"texpands_l1", "tfillpad_l1"}, fill_l1),
    ({"tload", "tstore"}, transfer),
    ({"load_scalar", "store_scalar", "tgetval", "tsetval"}, scalars),
    (
        {
            *ARITHMETIC,
            "cmp",
            "li",
            "mov",
            "select",
            "loop",
            "end",
            "skip_if_zero",
            "break_if_zero",
            "farith",
            "fcmp",
            "fcvt",
            "get",
            "push",
            "pop",
            "barrier",
            "set_flag",
            "wait_flag",
            "cross_set",
            "cross_wait",
        },
        registers,
    ),
    # Observed through the instructions that read the bias table and the fixpipe buffer.
    ({"tmov_bt"}, lambda mnemonic, arch, kinds, rng: bias_table(arch, kinds, rng)),
    ({"tmov_fb"}, lambda mnemonic, arch, kinds, rng: store_acc("tstore_acc_quantv", arch, ["i8", "f32"], rng)),
]


def bias_table(arch, kinds, rng):
    to, kind = kinds
    left = "i8" if to == "i32" else "f16"
    bias = rng.integers(-50, 50, (1, 19)).astype(NUMPY[kind])
    program = Program(arch, "AIC")
    ta, tb = operands(program, left, left, 5, 32, 19, np.zeros((5, 32), NUMPY[left]), np.zeros((32, 19), NUMPY[left]))
    src = Tile(kind, 1, 64, None, "ND", 1 << 16)
    program.fill(src, np.pad(bias, ((0, 0), (3, 42))), "L1").do("tmov_bt", dst=Tile(to, 1, 24, (1, 19)), src=src, col=3)
    dst = boxed(to, 5, 19, "NZ16")
    program.do("tmatmul_bias", dst=dst, a=ta, b=tb, bias=Tile(to, 1, 24, (1, 19)))
    number = fetch_acc(program, dst, to)
    same(program.run().matrix(number, to, (5, 19)).astype(np.float64), np.repeat(bias.astype(np.float64), 5, 0), kinds)


CASES = {mnemonic: f for names, f in FAMILIES for mnemonic in names}
