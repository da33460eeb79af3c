"""Cases of sorting: 32 values at a time, and merges of sorted lists."""

import numpy as np

from . import numbers as nb
from .machine import BITS, NUMPY, TABLE, Tile, encode, reg, run_vector
from .movement import made


def records(kind, scores, indices):
    """(score, index) in 8 bytes, as elements of the type."""
    words = np.zeros((scores.size, 8), np.uint8)
    words[:, : BITS[kind] // 8] = scores.reshape(-1, 1).view(np.uint8)
    words[:, 4:] = indices.astype(np.uint32).reshape(-1, 1).view(np.uint8)
    return words.reshape(-1).view(NUMPY[kind])


def bits_equal(got, expected):
    assert got.tobytes() == np.ascontiguousarray(expected).tobytes()


def scores(kind, rng, n):
    return (rng.integers(-20, 20, n) / 4).astype(NUMPY[kind])  # many ties


def sort32(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    per = 64 // BITS[kind]
    for rows, cols, shared in ((1, 32, False), (3, 96, False), (8, 64, False), (4, 64, True)):
        x, index = scores(kind, rng, (rows, cols)), np.tile(np.arange(cols), (rows, 1))
        expected = np.zeros((rows, cols * per), NUMPY[kind])
        for r in range(rows):
            order = np.concatenate(
                [b + np.lexsort((index[r, b : b + 32], -x[r, b : b + 32].astype(float))) for b in range(0, cols, 32)]
            )
            expected[r] = records(kind, x[r, order], index[r, order])
        boxes, _ = run_vector(
            arch,
            mnemonic,
            {
                "dst": made(Tile(kind, rows, cols * per), rng),
                "src": (Tile(kind, rows, cols), x),
                "indices": (Tile("u32", 1 if shared else rows, cols), index[: 1 if shared else rows]),
            },
        )
        bits_equal(boxes["dst"], expected)


def sorted_list(kind, rng, n, first):
    x = -np.sort(-scores(kind, rng, n).astype(np.float32)).astype(NUMPY[kind])
    return x, np.arange(first, first + n)


def merge(mnemonic, arch, kinds, rng):
    kind = kinds[0]
    per = 64 // BITS[kind]
    for block, left in ((4, 0), (32, 4)):
        lists = [sorted_list(kind, rng, block, 100 * i) for i in range(8)]
        row = np.concatenate([records(kind, *pair) for pair in lists] + [nb.random(kind, rng, left * per)])
        expected = row.copy()
        for four in (0, 4):
            x, index = (np.concatenate([pair[i] for pair in lists[four : four + 4]]) for i in (0, 1))
            order = np.argsort(-x.astype(float), kind="stable")
            expected[four * block * per : (four + 4) * block * per] = records(kind, x[order], index[order])
        t = Tile(kind, 1, row.size)
        before = row.copy()
        boxes, _ = run_vector(arch, mnemonic, {"dst": (t, before), "src": (t, row)}, {"blockLength": block * per})
        bits_equal(boxes["dst"], expected)


def merge_lists(mnemonic, arch, kinds, rng):
    kind, n = kinds[0], int(mnemonic[-1])
    per = 64 // BITS[kind]
    for lengths, room, exhausted in (
        ((8, 8, 8, 8), 32, False),
        ((4, 32, 8, 16), 60, False),
        ((16, 4, 12, 8), 12, False),
        ((8, 4, 12, 8), 32, True),
    ):
        lists = [sorted_list(kind, rng, m, 100 * i) for i, m in enumerate(lengths[:n])]
        dst = made(Tile(kind, 1, room * per), rng)
        expected, taken, left = dst[1].copy(), 0, [list(zip(*pair)) for pair in lists]
        while taken < room and any(left) and not (exhausted and not all(left)):
            best = max((i for i in range(n) if left[i]), key=lambda i: (float(left[i][0][0]), -i))
            score, index = left[best].pop(0)
            expected[0, taken * per : (taken + 1) * per] = records(kind, np.array([score]), np.array([index]))
            taken += 1
        tiles = {"dst": dst} | {
            f"src{i}": (Tile(kind, 1, pair[0].size * per), records(kind, *pair)) for i, pair in enumerate(lists)
        }
        tiles |= {f"count{i}": made(Tile("i32", 1, 8), rng) for i in range(n)}

        def show(placed):  # the register's 16 bits per list, each in a tile of its own
            words = []
            for i in range(n):
                words += encode("shr", dst=10, lhs=reg(9), rhs=16 * i) + encode("and", dst=10, lhs=reg(10), rhs=0xFFFF)
                words += encode("texpands", dst=placed[f"count{i}"], scalar=reg(10))
            return words

        boxes, _ = run_vector(
            arch, mnemonic, tiles, {"counts": 9, "exhausted": "on" if exhausted else "off"}, then=show
        )
        bits_equal(boxes["dst"], expected)
        assert [boxes[f"count{i}"][0, 0] for i in range(n)] == [lengths[i] - len(left[i]) for i in range(n)]


FAMILIES = [
    ({"tsort32"}, sort32),
    ({"tmrgsort"}, merge),
    ({"tmrgsort2", "tmrgsort3", "tmrgsort4"}, merge_lists),
]
CASES = {mnemonic: f for names, f in FAMILIES for mnemonic in names if mnemonic in TABLE.rows}
