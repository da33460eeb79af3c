"""Cases of the cube core: products, their operands in L0A and L0B, image to column, biases."""

import numpy as np

from . import numbers as nb
from .machine import (
    BITS,
    NUMPY,
    Program,
    Tile,
    View,
    tested,
)
from .movement import same


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
    """Loads a [.., ..] and b to L1, the part [m, k] of a from (row, col) to L0A and [k, n] of b to L0B. Returns their
    tiles."""
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


FAMILIES = [
    ({"tmatmul", "tmatmul_acc", "tmatmul_bias", "tmatmul_mx", "tmatmul_mx_acc", "tmatmul_mx_bias"}, product),
    ({"textract_l0a", "textract_l0b", "textract_sa", "textract_sb"}, extract),
    ({"timg2col"}, image),
    # Its result shows only in what reads the bias table.
    ({"tmov_bt"}, lambda mnemonic, arch, kinds, rng: bias_table(arch, kinds, rng)),
]
CASES = {mnemonic: f for names, f in FAMILIES for mnemonic in names}
