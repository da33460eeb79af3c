"""Cases of loads, stores and moves into L1, between every pair of layouts."""

import numpy as np
import pytest

from . import numbers as nb
from .cube import boxed, c0, up
from .elementwise import scalar_bits
from .machine import (
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
)
from .movement import made, same


def gather_into_l1(mnemonic, arch, kinds, rng):
    """Rows and elements of global memory by indices from global memory, with what is beyond; the rest of each last
    group of columns is 0."""
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


def insert_into_l1(mnemonic, arch, kinds, rng):
    """From the UB of both vector cores into parts of a tile of the cube core, which stores it once both flags are
    up."""
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


FAMILIES = [
    ({"mgather_l1"}, gather_into_l1),
    ({"tinsert_l1"}, insert_into_l1),
    ({"texpands_l1", "tfillpad_l1"}, fill_l1),
    ({"tload", "tstore"}, transfer),
]
CASES = {mnemonic: f for names, f in FAMILIES for mnemonic in names}
