"""Cases of instructions that move, gather or generate elements in UB, and of global memory by index."""

import numpy as np

from . import numbers as nb
from .elementwise import RELATIONS, SHAPES, check, scalar_bits, tile
from .machine import BITS, NUMPY, TABLE, Fault, Tile, View, run_vector


def made(t, rng, *limits):
    return t, nb.random(t.type, rng, (t.rows, t.cols), *limits)


def same(got, expected, *what):
    equal = (got == expected) | ((got != got) & (expected != expected))
    assert equal.all(), (*what, np.argwhere(~equal)[:4].tolist(), got[~equal][:4], expected[~equal][:4])


def refuses(part, *arguments):
    try:
        run_vector(*arguments)
    except Fault as fault:
        assert part in str(fault), fault
    else:
        raise AssertionError(f"no fault '{part}'")


def move(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    for number, shape in enumerate(SHAPES):
        t = tile(kind, shape)
        layout = "DN" if number % 2 and t.rows * BITS[kind] % 256 == 0 else "ND"
        t = Tile(kind, t.rows, t.cols, t.valid, layout)
        dst, src = made(t, rng), made(t, rng)
        boxes, _ = run_vector(arch, mnemonic, {"dst": dst, "src": src})
        vr, vc = t.valid
        check(mnemonic, kind, boxes["dst"], src[1][:vr, :vc], dst[1], (vr, vc))


def fill(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    if kind in nb.TABLES or kind.startswith("f8"):
        return
    for shape in SHAPES:
        dst = made(tile(kind, shape), rng)
        boxes, _ = run_vector(arch, mnemonic, {"dst": dst}, {"scalar": scalar_bits(kind, 3)})
        check(mnemonic, kind, boxes["dst"], np.full(dst[0].valid, 3).astype(NUMPY[kind]), dst[1], dst[0].valid)


def pad(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    for number, name in enumerate(("null", "zero", "max", "min", "max")):
        t = tile(kind, SHAPES[number])
        dst, src = made(Tile(kind, t.rows + 2, t.cols, None, pad=name), rng), made(t, rng)
        value = 0
        if name in ("max", "min") and kind in nb.FLOATS:
            value = np.inf if name == "max" else -np.inf
        elif name in ("max", "min"):
            value = getattr(np.iinfo(NUMPY[kind]), name)
        expected = np.full(dst[1].shape, value).astype(NUMPY[kind])
        vr, vc = t.valid
        expected[:vr, :vc] = src[1][:vr, :vc]
        boxes, _ = run_vector(arch, mnemonic, {"dst": dst, "src": src})
        same(boxes["dst"], expected, kind, name)


def transpose(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    for rows, cols, vr, vc in ((16, 32, 1, 1), (48, 32, 41, 3), (16, 64, 13, 64), (32, 64, 32, 64)):
        t, d = tile(kind, (rows, cols, vr, vc)), tile(kind, (cols, rows, vc, vr))
        dst, src = made(d, rng), made(t, rng)
        boxes, _ = run_vector(arch, mnemonic, {"dst": dst, "src": src})
        check(mnemonic, kind, boxes["dst"], src[1][:vr, :vc].T, dst[1], (vc, vr))


def part(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    for row, col, vr, vc in ((0, 0, 1, 1), (2, 5, 3, 13), (1, 31, 7, 33)):
        small, large = tile(kind, (8, 40, vr, vc)), tile(kind, (10, 64, 10, 64))
        inserts = mnemonic.startswith("tinsert")
        dst, src = (made(large, rng), made(small, rng)) if inserts else (made(small, rng), made(large, rng))
        boxes, _ = run_vector(arch, mnemonic, {"dst": dst, "src": src}, {"row": row, "col": col})
        expected = dst[1].copy()
        if inserts:
            expected[row : row + vr, col : col + vc] = src[1][:vr, :vc]
        else:
            expected[:vr, :vc] = src[1][row : row + vr, col : col + vc]
        same(boxes["dst"], expected, kind, (row, col))
    refuses("leave", arch, mnemonic, {"dst": dst, "src": src}, {"row": 9, "col": 0})


def concat(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    for a, b, rows in ((1, 1, 1), (13, 18, 3), (32, 32, 8), (40, 7, 5)):
        dst, x, y = (made(tile(kind, (rows + 1, n, rows, n)), rng) for n in (a + b, a, b))
        tiles, attributes = {"dst": dst, "src0": x, "src1": y}, {}
        expected = dst[1].copy()
        if mnemonic == "tconcat":
            expected[:rows, :a], expected[:rows, a : a + b] = x[1][:rows, :a], y[1][:rows, :b]
        else:
            index = rng.choice(["u8", "i16", "u32"])
            size = BITS[index] // 8
            counts = [rng.integers(0, n + 1, rows) for n in (a, b)]
            for name, n, layout in (("bytes0", counts[0], "ND"), ("bytes1", counts[1], "DN")):
                t = (
                    Tile(index, rows + 1, 32 // size, (rows, 1))
                    if layout == "ND"
                    else Tile(index, 32, 1, (rows, 1), "DN")
                )
                v = np.zeros((t.rows, t.cols), NUMPY[index])
                v[:rows, 0] = n * size
                tiles[name] = (t, v)
            for r in range(rows):
                m, n = counts[0][r], counts[1][r]
                expected[r, : m + n] = np.concatenate([x[1][r, :m], y[1][r, :n]])
        boxes, _ = run_vector(arch, mnemonic, tiles, attributes)
        same(boxes["dst"], expected, kind, (a, b))


def interleave(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    for rows, cols, vr, vc in ((1, 32, 1, 2), (3, 64, 3, 38), (8, 64, 8, 64)):
        t = tile(kind, (rows, cols, vr, vc))
        d0, d1 = made(t, rng), made(t, rng)
        half = vc // 2
        if mnemonic == "tdeinterleave_one":
            src = made(tile(kind, (rows, 2 * cols, vr, 2 * vc)), rng)
            tiles = {"dst0": d0, "dst1": d1, "src": src}
            v = src[1][:vr, : 2 * vc]
            expected = v[:, 0::2], v[:, 1::2]
        else:
            s0, s1 = made(t, rng), made(t, rng)
            tiles = {"dst0": d0, "dst1": d1, "src0": s0, "src1": s1}
            x, y = s0[1][:vr, :vc], s1[1][:vr, :vc]
            if mnemonic == "tinterleave":
                expected = tuple(
                    np.stack([x[:, part], y[:, part]], 2).reshape(vr, vc) for part in (slice(0, half), slice(half, vc))
                )
            else:
                joined = np.concatenate([x, y], 1)
                expected = joined[:, 0::2], joined[:, 1::2]
        boxes, _ = run_vector(arch, mnemonic, tiles)
        for name, before, e in (("dst0", d0, expected[0]), ("dst1", d1, expected[1])):
            check(mnemonic, kind, boxes[name], e, before[1], (vr, vc))


def pack(mnemonic, arch, kinds, rng):
    to, kind = kinds
    for shape in SHAPES:
        src, dst = made(tile(kind, shape), rng, -60, 60), made(tile(to, shape), rng)
        vr, vc = dst[0].valid
        boxes, _ = run_vector(arch, mnemonic, {"dst": dst, "src": src})
        check(mnemonic, to, boxes["dst"], nb.wrap(to, src[1][:vr, :vc].astype(object)), dst[1], (vr, vc))


PATTERNS = {
    "p0101": (0, 2),
    "p1010": (1, 3),
    "p0001": (0,),
    "p0010": (1,),
    "p0100": (2,),
    "p1000": (3,),
    "p1111": (0, 1, 2, 3),
}


def masked(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    for number, (pattern, picks) in enumerate(PATTERNS.items()):
        for axis in ("cols", "rows"):
            whole, few = made(tile(kind, (7, 64, 5 + number % 3, 50)), rng), made(tile(kind, (7, 64, 7, 64)), rng)
            vr, vc = whole[0].valid
            places = [(r, c) for r in range(vr) for c in range(vc) if (r if axis == "rows" else c) % 4 in picks]
            flat = lambda i: divmod(i, few[0].cols)
            rank = {r: i for i, r in enumerate(r for r in range(vr) if r % 4 in picks)}
            at = [(rank[r], c) if axis == "rows" else flat(i) for i, (r, c) in enumerate(places)]
            attributes = {"pattern": pattern, "axis": axis}
            if mnemonic == "tgather_mask":
                expected = few[1].copy()
                for to, place in zip(at, places):
                    expected[to] = whole[1][place]
                boxes, _ = run_vector(arch, mnemonic, {"dst": few, "src": whole}, attributes)
            else:
                expected = whole[1].copy()
                expected[:vr, :vc] = np.zeros((), NUMPY[kind])
                for start, place in zip(at, places):
                    expected[place] = few[1][start]
                boxes, _ = run_vector(arch, mnemonic, {"dst": whole, "src": few}, attributes)
            same(boxes["dst"], expected, kind, pattern, axis)


def gather(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    for shape in SHAPES[:5]:
        t = tile(kind, shape)
        vr, vc = t.valid
        other = made(tile(kind, (32, 64, 32, 64)), rng)
        count = other[1].size
        index = Tile("u32" if shape[0] % 2 else "i32", t.rows, -(-t.cols // 8) * 8, (vr, vc))
        if mnemonic == "tgather":
            dst, indices = made(t, rng), rng.integers(0, count + 50, (index.rows, index.cols))
            v = indices[:vr, :vc]
            expected = np.where(v < count, other[1].ravel()[np.minimum(v, count - 1)], np.zeros((), NUMPY[kind]))
            boxes, _ = run_vector(arch, mnemonic, {"dst": dst, "src": other, "indices": (index, indices)})
            check(mnemonic, kind, boxes["dst"], expected, dst[1], (vr, vc))
        elif mnemonic == "tgatherb":
            block = 256 // BITS[kind]
            blocks = -(-vc // block)
            t = Tile(kind, t.rows, blocks * block, (vr, blocks * block))
            dst, offsets = made(t, rng), rng.integers(0, other[0].bytes // 32, (index.rows, index.cols)) * 32
            expected = dst[1].copy()
            for r, b in np.ndindex(vr, blocks):
                first = offsets[r, b] * 8 // BITS[kind]
                expected[r, b * block : (b + 1) * block] = other[1].ravel()[first : first + block]
            boxes, _ = run_vector(arch, mnemonic, {"dst": dst, "src": other, "offsets": (index, offsets)})
            same(boxes["dst"], expected, kind)
        else:
            src, indices = made(t, rng), rng.integers(0, count, (index.rows, index.cols))
            expected = other[1].copy()
            for place in np.ndindex(vr, vc):
                expected.ravel()[indices[place]] = src[1][place]
            boxes, _ = run_vector(arch, mnemonic, {"dst": other, "src": src, "indices": (index, indices)})
            same(boxes["dst"], expected, kind)


def gather_compare(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    for number, mode in enumerate(RELATIONS):
        src = made(tile(kind, (6, 48, 5, 45)), rng, *((-0.003, 0.003) if kind == "i32" else (-4, 4)))
        src[1][:, ::5] = 2
        width = 40 if number % 2 else 48
        dst, counts = made(Tile("i32", 6, 48, (5, width)), rng), made(Tile("u32", 8, 1, (5, 1), "DN"), rng)
        expected, numbers = dst[1].copy(), counts[1].copy()
        for r in range(5):
            found = np.flatnonzero(RELATIONS[mode](src[1][r, :45], np.array(2, NUMPY[kind])))[:width]
            expected[r, : found.size], numbers[r, 0] = found + 7, found.size
        boxes, _ = run_vector(
            arch,
            mnemonic,
            {"dst": dst, "counts": counts, "src": src},
            {"scalar": scalar_bits(kind, 2), "offset": 7, "mode": mode},
        )
        same(boxes["dst"], expected, kind, mode)
        same(boxes["counts"], numbers, kind, mode)


def sequence(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    for start, descending, vc in ((0, "off", 1), (5, "on", 13), (-3, "off", 64)):
        dst = made(tile(kind, (1, 64, 1, vc)), rng)
        expected = nb.wrap(kind, np.array([[start + (-j if descending == "on" else j) for j in range(vc)]], object))
        boxes, _ = run_vector(arch, mnemonic, {"dst": dst}, {"start": start, "descending": descending})
        check(mnemonic, kind, boxes["dst"], expected, dst[1], (1, vc))


def triangle(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    for diagonal, half in ((0, "lower"), (-2, "upper"), (3, "lower"), (1, "upper")):
        dst = made(tile(kind, (9, 32, 9, 17)), rng)
        ones = np.ones((9, 17))
        expected = np.tril(ones, diagonal) if half == "lower" else np.triu(ones, diagonal)
        boxes, _ = run_vector(arch, mnemonic, {"dst": dst}, {"diagonal": diagonal, "half": half})
        check(mnemonic, kind, boxes["dst"], expected.astype(NUMPY[kind]), dst[1], (9, 17))


def philox(counter, key, rounds):
    """Philox4x32 of Salmon et al. 2011, in Python's integers."""
    c, k, low = list(counter), list(key), 0xFFFFFFFF
    for _ in range(rounds):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & low, (a >> 32) ^ c[3] ^ k[1], a & low]
        k = [(k[0] + 0x9E3779B9) & low, (k[1] + 0xBB67AE85) & low]
    return c


def generate(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    # The published test vectors of the generator for 10 rounds.
    assert philox([0] * 4, [0, 0], 10) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert philox([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, 10) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    for rounds, cols, vr, vc in ((10, 256, 1, 256), (7, 320, 3, 300), (10, 16, 5, 13)):
        dst = made(tile(kind, (vr, cols, vr, vc)), rng)
        key, start = (123456, 0xFFFFFFF0), (0xFFFFFFFE, 0xFFFFFFFF, 5, 6)
        number, expected = sum(w << 32 * i for i, w in enumerate(start)), np.zeros((vr, vc), np.uint32)
        for r in range(vr):
            for first in range(0, vc, 256):
                for lane in range(64):
                    n = number + lane
                    block = philox([n >> 32 * i & 0xFFFFFFFF for i in range(4)], key, rounds)
                    for w in range(4):
                        if first + w * 64 + lane < vc:
                            expected[r, first + w * 64 + lane] = block[w]
                number += dst[0].cols // 4
        signed = lambda v: v - (1 << 32) if v >> 31 else v
        attributes = {"key0": signed(key[0]), "key1": signed(key[1]), "rounds": rounds} | {
            f"counter{i}": signed(w) for i, w in enumerate(start)
        }
        boxes, _ = run_vector(arch, mnemonic, {"dst": dst}, attributes)
        check(mnemonic, kind, boxes["dst"], expected.view(NUMPY[kind]), dst[1], (vr, vc))
    refuses("7 or 10", arch, mnemonic, {"dst": dst}, attributes | {"rounds": 8})


def histogram(mnemonic, arch, kinds, rng):
    _, kind = kinds
    size = BITS[kind] // 8
    for byte in range(size):
        rows, cols = 3, 64
        x = rng.integers(0, 1 << 8 * size, (rows, cols), np.uint64)
        prefix = rng.integers(0, 256, 3)
        for i in range(size - 1 - byte):  # most elements pass the filter
            shift = 8 * (size - 1 - i)
            fixed = x & ~np.uint64(255 << shift) | np.uint64(int(prefix[i]) << shift)
            x = np.where(rng.random((rows, cols)) < 0.8, fixed, x)
        filters = np.zeros((32, 1), np.uint8)
        filters[:3, 0] = prefix[0] if size == 2 else prefix
        expected = np.zeros((rows, 256), np.uint32)
        for r in range(rows):
            passed = [
                int(v)
                for v in x[r]
                if all(
                    int(v) >> 8 * (size - 1 - i) & 255 == (prefix[0] if size == 2 else prefix[i])
                    for i in range(size - 1 - byte)
                )
            ]
            expected[r] = np.cumsum(np.bincount([v >> 8 * byte & 255 for v in passed], minlength=256))
        dst = made(Tile("u32", rows, 264, (rows, 256)), rng)
        tiles = {
            "dst": dst,
            "src": (tile(kind, (rows, cols, rows, cols)), x.astype(NUMPY[kind])),
            "filter": (Tile("u8", 32, 1, (3, 1), "DN"), filters),
        }
        boxes, _ = run_vector(arch, mnemonic, tiles, {"byte": byte})
        check(mnemonic, "u32", boxes["dst"], expected, dst[1], (rows, 256))


def by_index(mnemonic, arch, kinds, rng):
    """Gather and scatter of global memory: out of bounds, by row and by element, with and without atomics."""
    kind = kinds[0]
    gathers = mnemonic == "mgather"
    for number, bounds in enumerate(("undefined", "clamp", "wrap", "zero" if gathers else "skip")):
        for unit in ("element", "row"):
            memory = nb.random(kind, rng, (20, 48))
            view = View(0, kind, (12, 32), (48, 1)) if unit == "row" else View(0, kind, (20, 48))
            count = 12 if unit == "row" else memory.size
            t = made(tile(kind, (5, 32, 4, 29)), rng)
            if unit == "row":
                index = Tile("i32", 8, 1, (4, 1), "DN")
            else:
                index = Tile("i32", 5, 32, (4, 29))
            indices = rng.integers(
                0 if bounds == "undefined" else -9,
                count if bounds == "undefined" else count + 9,
                (index.rows, index.cols),
            )
            atomic = (
                "none"
                if gathers or kind not in ("f32", "f16", "bf16", "i32", "i16", "u32")
                else ("none", "add", "max", "min")[number]
            )
            expected = t[1].copy() if gathers else memory.copy()
            for r, c in np.ndindex(4, 29):
                i = int(indices[r, 0] if unit == "row" else indices[r, c])
                huge = i if i >= 0 else i + (1 << 64)
                if huge >= count:
                    i = {"clamp": count - 1, "wrap": huge % count}.get(bounds, -1)
                place = (i, c) if unit == "row" else divmod(i, 48)
                if gathers:
                    expected[r, c] = memory[place] if i >= 0 else 0
                elif i >= 0:
                    old, new = expected[place], t[1][r, c]
                    with np.errstate(over="ignore"):
                        expected[place] = {"none": new, "add": old + new, "max": max(old, new), "min": min(old, new)}[
                            atomic
                        ]
            attributes = {"unit": unit, "bounds": bounds} | ({} if gathers else {"atomic": atomic})
            tiles = {"dst" if gathers else "src": t, "indices": (index, indices)}
            boxes, after = run_vector(
                arch, mnemonic, tiles, attributes, None, {"src" if gathers else "dst": (view, memory)}
            )
            got = boxes["dst"] if gathers else next(iter(after.values())).view(NUMPY[kind]).reshape(memory.shape)
            same(got, expected, kind, bounds, unit, atomic)
    indices[0, 0] = count
    name = "src" if gathers else "dst"
    refuses(
        "leaves the view", arch, mnemonic, tiles, attributes | {"bounds": "undefined"}, None, {name: (view, memory)}
    )


FAMILIES = [
    ({"tmov"}, move),
    ({"texpands"}, fill),
    ({"tfillpad"}, pad),
    ({"ttrans"}, transpose),
    ({"textract_ub", "tinsert_ub"}, part),
    ({"tconcat", "tconcat_counts"}, concat),
    ({"tinterleave", "tdeinterleave", "tdeinterleave_one"}, interleave),
    ({"tpack"}, pack),
    ({"tgather_mask", "tscatter_mask"}, masked),
    ({"tgather", "tgatherb", "tscatter", "tscatter_s"}, gather),
    ({"tgather_cmp"}, gather_compare),
    ({"tci"}, sequence),
    ({"ttri"}, triangle),
    ({"trandom"}, generate),
    ({"thistogram"}, histogram),
    ({"mgather", "mscatter"}, by_index),
]


CASES = {mnemonic: f for names, f in FAMILIES for mnemonic in names if mnemonic in TABLE.rows}
