"""Cases of instructions that work element by element, reduce, expand and compare: mnemonic -> expectation in numpy."""

import numpy as np

from . import numbers as nb
from .machine import BITS, NUMPY, TABLE, Tile, run_vector

# (box rows, box columns in 32-byte units, valid rows, valid columns): one element, odd, multiple, ragged, full, wide.
SHAPES = [(1, 16, 1, 1), (3, 32, 3, 13), (7, 96, 5, 41), (8, 64, 8, 32), (16, 64, 16, 64), (2, 352, 2, 317)]


def ints(f):
    """Lifts an integer function on Python numbers to arrays, wrapped to the type."""
    return lambda kind, *a: nb.wrap(kind, np.vectorize(lambda *v: f(*(int(x) for x in v)), otypes=[object])(*a))


def both(on_floats, on_ints):
    wrapped = ints(on_ints) if on_ints else None

    def f(kind, *a):
        if kind in nb.FLOATS:
            with np.errstate(all="ignore"):
                return on_floats(*(nb.compute(kind, x) for x in a)).astype(np.float32).astype(NUMPY[kind])
        return wrapped(kind, *a)

    return f


def quotient(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def shifts(left):
    def f(kind, a, b):
        bits = np.iinfo(NUMPY[kind]).bits
        if left:
            return ints(lambda x, n: x << n if 0 <= n < bits else 0)(kind, a, b)
        return ints(lambda x, n: x >> n if 0 <= n < bits else (-1 if x < 0 else 0))(kind, a, b)

    return f


def power(a, b):
    if b < 0:
        return 1 if a == 1 else (-1 if b % 2 else 1) if a == -1 else 0
    return pow(a, b, 1 << 64)


add = both(lambda a, b: a + b, lambda a, b: a + b)


sub = both(lambda a, b: a - b, lambda a, b: a - b)


mul = both(lambda a, b: a * b, lambda a, b: a * b)


div = both(lambda a, b: a / b, quotient)


greater = both(lambda a, b: np.where(a < b, b, a), max)


less = both(lambda a, b: np.where(b < a, b, a), min)


floored = both(lambda a, b: np.mod(a, b), lambda a, b: a % b)


truncated = both(np.fmod, lambda a, b: a - quotient(a, b) * b)


pow_ = both(lambda a, b: np.power(a.astype(np.float64), b.astype(np.float64)), power)


relu = lambda a: np.where(a < 0, 0, a)


def fused(kind, product, addend):
    """Product and sum, each rounded."""
    return add(kind, mul(kind, *product), addend)


BINARY = {
    "tadd": add,
    "tsub": sub,
    "tmul": mul,
    "tdiv": div,
    "tmax": greater,
    "tmin": less,
    "tand": lambda k, a, b: a & b,
    "tor": lambda k, a, b: a | b,
    "txor": lambda k, a, b: a ^ b,
    "tshl": shifts(True),
    "tshr": shifts(False),
    "tprelu": lambda k, a, b: np.where(nb.compute(k, a) > 0, a, mul(k, a, b)),
    "trem": floored,
    "tfmod": truncated,
    "tpow": pow_,
    "tsubrelu": both(lambda a, b: relu(a - b), None),
}


UPDATE = {  # dst is read
    "tmuladddst": lambda k, d, a, b: fused(k, (a, b), d),
    "tfusedmuladd": lambda k, d, a, b: fused(k, (a, d), b),
    "tfusedmuladdrelu": lambda k, d, a, b: relu(fused(k, (a, d), b)).astype(NUMPY[k]),
}


UNARY = {
    "tabs": both(np.abs, abs),
    "texp": both(np.exp, None),
    "tlog": both(np.log, None),
    "tsqrt": both(np.sqrt, None),
    "trsqrt": both(lambda a: 1 / np.sqrt(a.astype(np.float64)), None),
    "trecip": both(lambda a: 1 / a, lambda a: a if abs(a) == 1 else 0),
    "tneg": both(np.negative, lambda a: -a),
    "trelu": both(relu, lambda a: max(a, 0)),
    "tnot": lambda k, a: ~a,
}


SCALAR = {
    "tadds": add,
    "tsubs": sub,
    "tmuls": mul,
    "tdivs": div,
    "tdivs_rev": lambda k, a, s: div(k, s, a),
    "tmaxs": greater,
    "tmins": less,
    "tlrelu": lambda k, a, s: np.where(nb.compute(k, a) > 0, a, mul(k, a, s)),
    "tands": BINARY["tand"],
    "tors": BINARY["tor"],
    "txors": BINARY["txor"],
    "tshls": shifts(True),
    "tshrs": shifts(False),
    "trems": floored,
    "tfmods": truncated,
    "tpows": pow_,
}


EXPAND = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": div,
    "max": greater,
    "min": less,
    "expdif": lambda k, a, b: both(np.exp, None)(k, sub(k, a, b)),
}


PART = {"tpartadd": add, "tpartmul": mul, "tpartmax": greater, "tpartmin": less}


# What hardware and simulators approximate: relative error of f32.
APPROXIMATE = {
    "texp": 4e-7,
    "tlog": 4e-7,
    "trsqrt": 2e-7,
    "tpow": 4e-7,
    "tpows": 4e-7,
    "trowexpandexpdif": 4e-7,
    "tcolexpandexpdif": 4e-7,
}


POSITIVE = ("tlog", "tsqrt", "trsqrt")


def tile(kind, shape):
    """A box of at least the given columns whose rows are multiples of 32 bytes."""
    rows, cols, vr, vc = shape
    unit = max(1, 256 // BITS[kind])
    return Tile(kind, rows, -(-cols // unit) * unit, (vr, vc))


def values(mnemonic, operand, kind, rng, shape):
    if mnemonic in POSITIVE:
        return nb.random(kind, rng, shape, 0.01, 9.0)
    if mnemonic in ("tshl", "tshr", "tshls", "tshrs") and operand == "src1":
        return rng.integers(0, BITS[kind] + 2, shape).astype(NUMPY[kind])
    if mnemonic in ("tpow", "tpows"):
        if kind in nb.FLOATS:
            return nb.random(kind, rng, shape, 0.2, 3.0)
        return rng.integers(0 if kind in nb.UNSIGNED else -3, 7, shape).astype(NUMPY[kind])
    v = nb.random(kind, rng, shape)
    if (
        operand != "src"
        and operand != "src0"
        and mnemonic.rstrip("s") in ("tdiv", "trem", "tfmod", "trowexpanddiv", "tcolexpanddiv")
    ):
        v[v == 0] = 1
    if mnemonic in ("tdivs_rev", "trecip"):
        v[v == 0] = 1
    return v


def scalar_bits(kind, scalar):
    """A Scalar operand: the bits of f32, or the integer."""
    return int(np.float32(scalar).view(np.uint32)) if kind in nb.FLOATS else int(scalar) & 0xFFFFFFFF


def check(mnemonic, kind, got, expected, before, valid, note=""):
    """Asserts the valid region as expected and the rest of the box unchanged."""
    vr, vc = valid
    full = before.copy()
    full[:vr, :vc] = expected
    if mnemonic in APPROXIMATE or mnemonic.startswith("trem") or mnemonic.startswith("tfmod"):
        relative = max(APPROXIMATE.get(mnemonic, 1e-6), {"f16": 1e-3, "bf16": 8e-3}.get(kind, 0))
        if kind in nb.FLOATS:
            np.testing.assert_allclose(
                got[:vr, :vc].astype(np.float64),
                expected.astype(np.float64),
                rtol=relative,
                atol=relative,
                err_msg=f"{mnemonic} {kind} {note}",
            )
            full[:vr, :vc] = got[:vr, :vc]
    same = (got == full) | ((got != got) & (full != full))
    assert same.all(), (
        f"{mnemonic} {kind} {note}: {np.argwhere(~same)[:4]} got {got[~same][:4]}, expected {full[~same][:4]}"
    )


def elementwise(mnemonic, arch, kinds, rng):
    kind, sources = (
        kinds[0],
        [o["name"] for o in TABLE.operands(mnemonic) if o["kind"] == "Tile" and o["name"] != "dst"],
    )
    function = {**BINARY, **UPDATE, **UNARY, **SCALAR}[mnemonic]
    has_scalar = mnemonic in SCALAR
    for number, shape in enumerate(SHAPES):
        t = tile(kind, shape)
        tiles = {name: (t, values(mnemonic, name, kind, rng, (t.rows, t.cols))) for name in ["dst", *sources]}
        attributes, extra = {}, []
        if has_scalar:
            scalar = {"tshls": 3, "tshrs": 2, "tpows": 2, "tdivs": 3, "trems": 3, "tfmods": 3}.get(
                mnemonic, 5 if kind not in nb.FLOATS else 1.375
            )
            attributes["scalar"] = scalar_bits(kind, scalar)
            extra = [np.full((t.rows, t.cols), scalar, np.float32).astype(NUMPY[kind])]
        # In place: dst aliases each source in turn, in different shapes.
        aliases = {} if number % 3 == 0 or mnemonic in UPDATE else {sources[number % len(sources)]: "dst"}
        for source in aliases:
            tiles["dst"] = tiles[source]
        vr, vc = t.valid
        operands = ([tiles["dst"][1]] if mnemonic in UPDATE else []) + [tiles[s][1] for s in sources]
        expected = function(kind, *(x[:vr, :vc] for x in operands + extra))
        boxes, _ = run_vector(arch, mnemonic, tiles, attributes, aliases)
        check(mnemonic, kind, boxes["dst"], expected, tiles["dst"][1], (vr, vc), f"{shape} in place {aliases}")


def expand(mnemonic, arch, kinds, rng):
    kind, by_row = kinds[0], mnemonic.startswith("trow")
    operation = mnemonic[len("trowexpand") :]
    for number, shape in enumerate(SHAPES):
        t = tile(kind, shape)
        vr, vc = t.valid
        if by_row and number % 2:  # a column
            rows = -(-vr // 32) * 32
            small = Tile(kind, rows, 1, (vr, 1), "DN")
        elif by_row:  # a block per row: of copies, or, with two operands, of values that repeat along the row
            small = Tile(kind, t.rows, 256 // BITS[kind], (vr, 256 // BITS[kind]))
        else:
            small = Tile(kind, 1, t.cols, (1, vc))
        v = values(mnemonic, "src1", kind, rng, (small.rows, small.cols))
        if by_row and not operation:
            v[:] = v[:, :1]
        name = "src1" if operation else "src"
        tiles = {"dst": (t, nb.random(kind, rng, (t.rows, t.cols)))}
        if operation:
            tiles["src0"] = (t, nb.random(kind, rng, (t.rows, t.cols)))
        tiles[name] = (small, v)
        aliases = {"src0": "dst"} if operation and number % 3 == 1 else {}
        if aliases:
            tiles["dst"] = tiles["src0"]
        spread = np.tile(v[:vr], -(-vc // small.cols))[:, :vc] if by_row else np.broadcast_to(v[:1, :vc], (vr, vc))
        expected = EXPAND[operation](kind, tiles["src0"][1][:vr, :vc], spread) if operation else spread
        boxes, _ = run_vector(arch, mnemonic, tiles, {}, aliases)
        check(mnemonic, kind, boxes["dst"], expected, tiles["dst"][1], (vr, vc), f"{shape} in place {aliases}")


def part(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    for a, b in (((5, 29), (3, 13)), ((3, 13), (5, 29)), ((2, 29), (5, 7)), ((5, 29), (5, 29))):
        dst = tile(kind, (6, 32, 5, 29))
        tiles = {
            name: (Tile(kind, dst.rows, dst.cols, valid), nb.random(kind, rng, (dst.rows, dst.cols)))
            for name, valid in (("dst", (5, 29)), ("src0", a), ("src1", b))
        }
        expected = np.zeros((5, 29), NUMPY[kind])
        x, y = tiles["src0"][1], tiles["src1"][1]
        combined = PART[mnemonic](kind, x, y)
        for r, c in np.ndindex(5, 29):
            in_a, in_b = r < a[0] and c < a[1], r < b[0] and c < b[1]
            expected[r, c] = combined[r, c] if in_a and in_b else x[r, c] if in_a else y[r, c] if in_b else 0
        aliases = {"src0": "dst"} if a == b else {"src1": "dst"} if b == (5, 29) else {}
        for source in aliases:
            tiles["dst"] = tiles[source]
        boxes, _ = run_vector(arch, mnemonic, tiles, {}, aliases)
        check(mnemonic, kind, boxes["dst"], expected, tiles["dst"][1], (5, 29), f"{a} {b}")


def part_arg(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    better = np.greater if mnemonic.endswith("max") else np.less
    for a, b in (((5, 29), (3, 13)), ((2, 29), (5, 7)), ((5, 29), (5, 29))):
        dst, index = tile(kind, (6, 32, 5, 29)), Tile("u32", 6, 32, (5, 29))
        made = lambda t, valid: (Tile(t.type, t.rows, t.cols, valid), nb.random(t.type, rng, (t.rows, t.cols)))
        tiles = {
            "dst": made(dst, (5, 29)),
            "dstIndices": made(index, (5, 29)),
            "src0": made(dst, a),
            "src1": made(dst, b),
            "indices0": made(index, a),
            "indices1": made(index, b),
        }
        tiles["src1"][1][:, ::4] = tiles["src0"][1][:, ::4]  # ties
        expected, indices = np.zeros((5, 29), NUMPY[kind]), np.zeros((5, 29), np.uint32)
        for r, c in np.ndindex(5, 29):
            in_a, in_b = r < a[0] and c < a[1], r < b[0] and c < b[1]
            first = in_a and (not in_b or better(tiles["src0"][1][r, c], tiles["src1"][1][r, c]))
            if first or in_b:
                n = 0 if first else 1
                expected[r, c], indices[r, c] = tiles[f"src{n}"][1][r, c], tiles[f"indices{n}"][1][r, c]
        boxes, _ = run_vector(arch, mnemonic, tiles)
        check(mnemonic, kind, boxes["dst"], expected, tiles["dst"][1], (5, 29))
        check(mnemonic, "u32", boxes["dstIndices"], indices, tiles["dstIndices"][1], (5, 29))


def reduce(mnemonic, arch, kinds, rng):
    by_row = mnemonic.startswith("trow")
    operation, _, with_values = mnemonic[4:].partition("_")
    out, kind = (kinds[0], kinds[-1]) if "arg" in mnemonic else (kinds[0], kinds[0])
    for number, shape in enumerate(SHAPES):
        t = tile(kind, shape)
        vr, vc = t.valid
        x = nb.random(kind, rng, (t.rows, t.cols))
        if operation == "prod" and kind in nb.FLOATS:
            x = (np.sign(x.astype(np.float32)) * (1 + np.abs(x.astype(np.float32)) / 64)).astype(NUMPY[kind])
            x[x == 0] = 1
        if by_row:
            dst = Tile(out, -(-vr // 32) * 32, 1, (vr, 1), "DN") if number % 2 else tile(out, (t.rows, 1, vr, 1))
        else:
            dst = tile(out, (1, t.cols, 1, vc))
        before = nb.random(out, rng, (dst.rows, dst.cols))
        v, axis = x[:vr, :vc], 1 if by_row else 0
        tolerance = 0
        if operation.startswith("arg"):
            wide = v.astype(np.float64) if kind in nb.FLOATS else v.astype(object).astype(np.float64)
            expected = (np.argmax if operation == "argmax" else np.argmin)(wide, axis).astype(NUMPY[out])
        elif operation in ("max", "min"):
            expected = (np.max if operation == "max" else np.min)(v, axis)
        elif kind not in nb.FLOATS:
            exact = v.astype(object)
            expected = nb.wrap(kind, exact.sum(axis) if operation == "sum" else np.prod(exact, axis))
        elif by_row and operation == "sum":  # f32 inside, any order; one rounding
            expected = v.astype(np.float64).sum(axis).astype(np.float32).astype(NUMPY[kind])
            tolerance = np.abs(v.astype(np.float64)).sum(axis) * 4e-7 + (
                0 if kind == "f32" else np.abs(expected.astype(np.float64)) * 1e-3
            )
        else:  # sequentially, in the type
            f = add if operation == "sum" else mul
            steps = v if axis == 0 else v.T
            total = steps[0]
            for step in steps[1:]:
                total = f(kind, total, step)
            expected = total
            if not np.isfinite(expected.astype(np.float32)).all():
                continue
        tiles = {"dst": (dst, before), "src": (t, x)}
        if with_values:  # a column next to a row of indices, and vice versa
            if not by_row:
                best = tile(kind, (1, t.cols, 1, vc))
            elif number % 2:
                best = Tile(kind, vr, 256 // BITS[kind], (vr, 1))
            else:
                best = Tile(kind, -(-vr // 32) * 32, 1, (vr, 1), "DN")
            tiles["values"] = (best, nb.random(kind, rng, (best.rows, best.cols)))
        boxes, _ = run_vector(arch, mnemonic, tiles)
        expected = expected.reshape(dst.valid)
        if with_values:
            picked = np.take_along_axis(v, expected.astype(np.int64), axis)
            check(mnemonic, kind, boxes["values"], picked, tiles["values"][1], best.valid, str(shape))
        if np.any(tolerance):
            got = boxes["dst"][: dst.valid[0], : dst.valid[1]]
            assert (
                np.abs(got.astype(np.float64) - expected.astype(np.float64)) <= tolerance.reshape(dst.valid)
            ).all(), (mnemonic, kind, shape)
            expected = got
        check(mnemonic, out, boxes["dst"], expected, before, dst.valid, str(shape))


RELATIONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def packed(bits, mask, before):
    """A mask's box: the bits of each row from the lowest on; the last partial element is zero-filled."""
    result = before.copy()
    width = BITS[mask.type]
    for r, row in enumerate(bits):
        for e in range(-(-row.size // width)):
            result[r, e] = sum(int(b) << i for i, b in enumerate(row[e * width : (e + 1) * width]))
    return result


def compare(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    for number, shape in enumerate(SHAPES):
        t = tile(kind, shape)
        vr, vc = t.valid
        mask = Tile("u32" if number % 2 else "u8", t.rows, 64)
        before = nb.random(mask.type, rng, (mask.rows, mask.cols), 0)
        a, b = (nb.random(kind, rng, (t.rows, t.cols)) for _ in range(2))
        tiles, attributes = {"dst": (mask, before)}, {"mode": list(RELATIONS)[number]}
        if mnemonic == "tcmp":
            b[::2] = a[::2]
            tiles.update(src0=(t, a), src1=(t, b))
            other = b[:vr, :vc]
        else:
            tiles.update(src=(t, a))
            attributes["scalar"] = scalar_bits(kind, 1)
            a[:, ::3] = 1
            other = np.ones((vr, vc), NUMPY[kind])
        boxes, _ = run_vector(arch, mnemonic, tiles, attributes)
        expected = packed(RELATIONS[attributes["mode"]](a[:vr, :vc], other), mask, before)
        assert (boxes["dst"] == expected).all(), (mnemonic, kind, shape)


def select(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    for number, shape in enumerate(SHAPES):
        t = tile(kind, shape)
        vr, vc = t.valid
        mask = Tile("u32" if number % 2 else "u8", t.rows, 64)
        bits = rng.integers(0, 2, (vr, vc)).astype(bool)
        m = packed(bits, mask, np.zeros((mask.rows, mask.cols), NUMPY[mask.type]))
        before, a, b = (nb.random(kind, rng, (t.rows, t.cols)) for _ in range(3))
        tiles, attributes = {"dst": (t, before), "mask": (mask, m)}, {}
        if mnemonic == "tsel":
            tiles.update(src0=(t, a), src1=(t, b))
        else:
            tiles.update(src=(t, a))
            attributes["scalar"] = scalar_bits(kind, 3)
            b[:] = 3
        aliases = {} if number % 2 else {("src" if mnemonic == "tsels" else "src1" if number % 4 else "src0"): "dst"}
        for source in aliases:
            tiles["dst"] = tiles[source]
            before = tiles[source][1]
        boxes, _ = run_vector(arch, mnemonic, tiles, attributes, aliases)
        check(mnemonic, kind, boxes["dst"], np.where(bits, a[:vr, :vc], b[:vr, :vc]), before, (vr, vc), str(shape))


def pair_sum(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    for shape in SHAPES:
        t = tile(kind, shape)
        vr, vc = t.valid
        x = nb.random(kind, rng, (t.rows, t.cols))
        v = x[:vr, :vc]
        expected = np.zeros((t.rows, t.cols), NUMPY[kind])
        expected[:vr, : vc // 2] = add(kind, v[:, 0 : vc // 2 * 2 : 2], v[:, 1::2])
        if vc % 2:
            expected[:vr, vc // 2] = v[:, -1]
        for aliases in ({}, {"src": "dst"}):
            boxes, _ = run_vector(
                arch,
                mnemonic,
                {"dst": (t, x if aliases else nb.random(kind, rng, x.shape)), "src": (t, x)},
                {},
                aliases,
            )
            assert (boxes["dst"] == expected).all(), (kind, shape)


def axpy(mnemonic, arch, kinds, rng):
    to, kind = kinds
    for shape in SHAPES:
        t, d = tile(kind, shape), tile(to, shape)
        vr, vc = t.valid
        x, before, scalar = nb.random(kind, rng, (t.rows, t.cols)), nb.random(to, rng, (d.rows, d.cols)), 1.375
        product = (nb.compute(kind, x)[:vr, :vc] * np.float32(scalar)).astype(NUMPY[to])
        boxes, _ = run_vector(
            arch, mnemonic, {"dst": (d, before), "src": (t, x)}, {"scalar": scalar_bits("f32", scalar)}
        )
        check(mnemonic, to, boxes["dst"], add(to, before[:vr, :vc], product), before, (vr, vc))


FAMILIES = [
    ({*BINARY, *UPDATE, *UNARY, *SCALAR}, elementwise),
    ({m for m in TABLE.rows if m.startswith(("trowexpand", "tcolexpand"))}, expand),
    ({*PART}, part),
    ({"tpartargmax", "tpartargmin"}, part_arg),
    (
        {
            f"t{d}{o}"
            for d in ("row", "col")
            for o in ("sum", "max", "min", "prod", "argmax", "argmin", "argmax_values", "argmin_values")
        },
        reduce,
    ),
    ({"tcmp", "tcmps"}, compare),
    ({"tsel", "tsels"}, select),
    ({"tpairreducesum"}, pair_sum),
    ({"taxpy"}, axpy),
]


CASES = {mnemonic: f for names, f in FAMILIES for mnemonic in names}
