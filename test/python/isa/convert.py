"""Cases of conversions between element types: every pair, rounding mode and saturation; some fused with arithmetic."""

import numpy as np

from . import numbers as nb
from .elementwise import SHAPES, add, check, relu, scalar_bits, sub, tile
from .machine import BITS, NUMPY, run_vector

SPECIAL = {
    "ints": [
        2047,
        2049,
        4099,
        -2049,
        -4099,
        (1 << 24) + 1,
        (1 << 24) + 3,
        -(1 << 24) - 1,
        (1 << 31) - 1,
        -(1 << 31),
        (1 << 25) + 2,
        (1 << 53) + 1,
        (1 << 62) + (1 << 38),
        -(1 << 62) - 1,
        (1 << 63) - 1,
        -(1 << 63),
    ],
    "f32": [
        1 + 2.0**-11,
        -1 - 2.0**-11,
        1 + 3 * 2.0**-11,
        1 + 2.0**-8,
        1 + 3 * 2.0**-8,
        65519.9,
        65520,
        -65520,
        70000,
        1e-8,
        -(2.0**-25),
        3.4e38,
        -3.4e38,
        0.1,
        np.inf,
        -np.inf,
    ],
    "bf16": [70000, -70000, 1e-8, 65536, 3e38],
    "f16": [65504],
}


MODES = ["none", "rint", "round", "floor", "ceil", "trunc", "odd"]


def cvt(mnemonic, arch, kinds, rng):
    to, kind = kinds
    small = to in nb.TABLES or kind in nb.TABLES
    for number, shape in enumerate(SHAPES[:4] if small else SHAPES):
        for mode in MODES if number == 2 and not small else ["rint"]:
            t, d = tile(kind, shape), tile(to, shape)
            vr, vc = t.valid
            x = nb.random(kind, rng, (t.rows, t.cols), *((0, 9) if to in nb.UNSIGNED else (-7, 7)))
            if kind in nb.FLOATS and number % 2:  # halves: ties
                x = (np.round(x.astype(np.float32) * 2) / 2).astype(NUMPY[kind])
            if (
                number == 2
                and to in nb.FLOATS
                and not small
                and not kind.startswith("f8")
                and not (kind == to == "f32")
            ):  # ties, ends of ranges, numbers of many digits
                special = SPECIAL[kind if kind in nb.FLOATS else "ints"]
                special = [
                    v
                    for v in special
                    if kind in nb.FLOATS or np.iinfo(NUMPY[kind]).min <= v <= np.iinfo(NUMPY[kind]).max
                ]
                x[0, : len(special)] = np.array(special, NUMPY[kind])
            saturate = number == 1
            if saturate and kind in nb.FLOATS:
                x[0, :3] = [60000, -60000, 300] if kind == "f16" else [1e30, -1e30, 300]
            before = nb.random(to, rng, (d.rows, d.cols))
            v = nb.decode(kind, x[:vr, :vc]) if kind not in ("i64", "u64") else x[:vr, :vc].astype(object)
            if kind in nb.FLOATS and to in nb.FLOATS:
                integral = kind == to == "f32" and mode != "none"
                expected = (
                    nb.convert(to, nb.rounded(v, mode), saturate) if integral else nb.convert(to, v, saturate, mode)
                )
            elif to in nb.FLOATS or to in ("f8E4M3FN", "f8E5M2") or to in nb.TABLES:
                expected = nb.convert(
                    to,
                    v if to in nb.FLOATS else v.astype(np.float64),
                    saturate or to in ("f4E2M1", "f4E1M2", "i4") or to == "hif8",
                    mode,
                )
            elif kind in nb.FLOATS:
                expected = nb.wrap(to, nb.convert(to, v, saturate, mode))
            else:
                exact = x[:vr, :vc].astype(object)
                if saturate:
                    info = np.iinfo(NUMPY[to])
                    exact = np.clip(exact, info.min, info.max)
                expected = nb.wrap(to, exact)
            aliases = {"src": "dst"} if number == 3 and BITS[to] == BITS[kind] and not small else {}
            if aliases:
                before = x.view(NUMPY[to])
            boxes, _ = run_vector(
                arch,
                mnemonic,
                {"dst": (d, before), "src": (t, x)},
                {"rounding": mode, "saturate": "on" if saturate or to == "hif8" else "off"},
                aliases,
            )
            check(mnemonic, to, boxes["dst"], expected, before, (vr, vc), f"from {kind} {mode} {shape}")


def relu_convert(mnemonic, arch, kinds, rng):
    to, kind, _ = kinds
    f = add if "add" in mnemonic else sub
    for shape in SHAPES:
        t, d = tile(kind, shape), tile(to, shape)
        vr, vc = t.valid
        a, b = (
            nb.random(kind, rng, (t.rows, t.cols), *((-0.1, 0.1) if kind == "i16" else (-100, 100))) for _ in range(2)
        )
        before = nb.random(to, rng, (d.rows, d.cols))
        value = relu(f(kind, a[:vr, :vc], b[:vr, :vc]))
        expected = nb.convert(to, value.astype(np.float64), to == "i8")
        boxes, _ = run_vector(arch, mnemonic, {"dst": (d, before), "src0": (t, a), "src1": (t, b)})
        check(mnemonic, to, boxes["dst"], expected.astype(NUMPY[to]), before, (vr, vc))


def add_dequantise(mnemonic, arch, kinds, rng):
    for shape in SHAPES:
        t, d = tile("i32", shape), tile("f16", shape)
        vr, vc = t.valid
        a, b = (nb.random("i32", rng, (t.rows, t.cols)) for _ in range(2))
        before, scale = nb.random("f16", rng, (d.rows, d.cols)), np.float32(0.0173)
        expected = relu(scale * (a + b)[:vr, :vc].astype(np.float32)).astype(np.float16)
        boxes, _ = run_vector(
            arch, mnemonic, {"dst": (d, before), "src0": (t, a), "src1": (t, b)}, {"scale": scalar_bits("f32", scale)}
        )
        check(mnemonic, "f16", boxes["dst"], expected, before, (vr, vc))


FAMILIES = [
    ({"tcvt"}, cvt),
    ({"taddreluconv", "tsubreluconv"}, relu_convert),
    ({"tadddeqrelu"}, add_dequantise),
]
CASES = {mnemonic: f for names, f in FAMILIES for mnemonic in names}
