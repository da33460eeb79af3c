"""Cases of quantisation: by scale and offset per row, and in groups of 32 with a shared exponent."""

import itertools
from dataclasses import replace

import numpy as np

from . import numbers as nb
from .elementwise import SHAPES, check, tile
from .machine import NUMPY, TABLE, Tile, run_vector
from .movement import made, same


def quantise(mnemonic, arch, kinds, rng):
    to = kinds[0]
    for number, shape in enumerate(SHAPES):
        src, dst = made(tile("f32", shape), rng, -50, 50), made(tile(to, shape), rng)
        vr, vc = dst[0].valid
        rows = max(1, vr - number % 2)  # rows behind the last multiplier use that one
        column = lambda: made(Tile("f32", -(-rows // 8) * 8, 1, (rows, 1), "DN"), rng)
        multipliers, offsets = column(), column()
        tiles, attributes = {"dst": dst, "src": src, "multipliers": multipliers}, {}
        spread = lambda t: t[1][np.minimum(np.arange(vr), rows - 1)]
        if mnemonic == "tquant":
            attributes["zeroPoint"] = 3
            shift = np.float32(3)
        else:
            tiles["offsets"] = offsets
            shift = spread(offsets)
        value = np.rint(src[1][:vr, :vc] * spread(multipliers) + shift)
        info = np.iinfo(NUMPY[to])
        boxes, _ = run_vector(arch, mnemonic, tiles, attributes)
        check(mnemonic, to, boxes["dst"], np.clip(value, info.min, info.max).astype(NUMPY[to]), dst[1], (vr, vc))


def dequantise(mnemonic, arch, kinds, rng):
    _, kind = kinds
    for number, shape in enumerate(SHAPES):
        src, dst = made(tile(kind, shape), rng), made(tile("f32", shape), rng)
        vr, vc = dst[0].valid
        cols = 1 if number % 2 else vc  # beyond the last column that one counts
        rows = dst[0].rows if cols > 1 else -(-vr // 8) * 8  # a column of each also stands alone
        params = [
            made(Tile("f32", rows, dst[0].cols if cols > 1 else 1, (vr, cols), "ND" if cols > 1 else "DN"), rng)
            for _ in range(2)
        ]
        at = np.minimum(np.arange(vc), cols - 1)
        expected = (src[1][:vr, :vc].astype(np.float32) - params[1][1][:vr, at]) * params[0][1][:vr, at]
        boxes, _ = run_vector(arch, mnemonic, {"dst": dst, "src": src, "scales": params[0], "offsets": params[1]})
        check(mnemonic, "f32", boxes["dst"], expected, dst[1], (vr, vc))


def quantise_mx(mnemonic, arch, kinds, rng):
    to, kind = kinds
    top, largest = (6.0, 2) if to == "f4E2M1" else (448.0, 8)
    # Groups along rows; in layout DN along columns, of which the expectation is the same of the transposed tiles.
    for down in (False, True):
        turn = lambda t, layout=None: (
            Tile(t.type, t.cols, t.rows, t.valid[::-1], layout or "DN")
            if down
            else replace(t, layout=layout or t.layout)
        )
        box = lambda made: (turn(made[0]), made[1].T if down else made[1])
        back = lambda values: values.T if down else values
        for rule, (rows, cols, vr, vc) in itertools.product(
            ("ocp", "nv"), ((1, 64, 1, 32), (3, 128, 3, 77), (8, 128, 8, 128), (20, 64, 20, 64))
        ):
            src = made(tile(kind, (rows, cols, vr, vc)), rng)
            src[1][0, :4] = [0, 1, 448, 6]
            src[1][-1, :32] = 0
            if rows == 20:
                src[1][3, 32:][5] = np.nan
            dst, exponents = (
                made(tile(to, (rows, cols, vr, vc)), rng),
                made(Tile("f8E8M0", rows, 32, (vr, -(-vc // 32))), rng),
            )
            most_of, scaling = (made(Tile("f32", rows, 8, (vr, -(-vc // 32))), rng) for _ in range(2))
            boxed = made(Tile("f8E8M0", -(-rows // 16) * 16, 4, (vr, -(-vc // 32)), "ZZ"), rng)
            expected, powers, greatest, scales = (
                np.zeros((vr, vc), NUMPY[to]),
                exponents[1].copy(),
                most_of[1].copy(),
                scaling[1].copy(),
            )
            x = src[1][:vr, :vc].astype(np.float64)
            for r, g in np.ndindex(vr, -(-vc // 32)):
                group = x[r, 32 * g : 32 * g + 32]
                most = np.abs(group).max()
                if np.isnan(most):
                    powers[r, g], greatest[r, g], scales[r, g] = 255, np.nan, np.nan
                    expected[r, 32 * g : 32 * g + 32] = (
                        nb.convert(to, np.full(group.size, np.nan))
                        if to != "f4E2M1"
                        else nb.convert(to, np.full(group.size, top))
                    )
                    continue
                if rule == "ocp" and to == "f4E2M1":  # bf16, cut
                    most = float((np.float32(most).view(np.uint32) & 0xFFFF0000).view(np.float32))
                greatest[r, g] = most
                if rule == "nv":
                    most = float(np.float32(most) / np.float32(top))
                power = int(np.floor(np.log2(most))) + 127 if most else 0
                power = (
                    max(power - largest, 0) if rule == "ocp" else power + (most > 0 and 2.0 ** (power - 127) != most)
                )
                powers[r, g], scales[r, g] = power, 2.0 ** (127 - power)
                scaled = np.clip(group * 2.0 ** (127 - power), -top, top)
                expected[r, 32 * g : 32 * g + 32] = nb.convert(to, scaled)
            tiles = {
                name: box(t)
                for name, t in {
                    "dst": dst,
                    "exponents": exponents,
                    "most": most_of,
                    "scaling": scaling,
                    "src": src,
                }.items()
            }
            if mnemonic.endswith("boxed"):
                tiles["boxed"] = turn(boxed[0], "NN" if down else "ZZ"), back(boxed[1])
            boxes, _ = run_vector(arch, mnemonic, tiles, {"rule": rule})
            same(back(boxes["exponents"]), powers, to, kind, rule)
            same(back(boxes["most"]), greatest, to, kind, rule)
            same(back(boxes["scaling"]), scales, to, kind, rule)
            if mnemonic.endswith("boxed"):
                whole = boxed[1].copy()
                whole[:vr, : -(-vc // 32)] = powers[:vr, : -(-vc // 32)]
                same(back(boxes["boxed"]), whole, to, kind, rule)
            check(mnemonic, to, back(boxes["dst"]), expected, dst[1], (vr, vc), rule)


FAMILIES = [
    ({"tquant", "tquant_asym"}, quantise),
    ({"tdequant"}, dequantise),
    ({"tquant_mx", "tquant_mx_boxed"}, quantise_mx),
]
CASES = {mnemonic: f for names, f in FAMILIES for mnemonic in names if mnemonic in TABLE.rows}
