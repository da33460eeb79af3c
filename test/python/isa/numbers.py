"""Test values, and number formats that numpy lacks: HiFloat8, 4-bit floats, rounding modes, casts that wrap."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np

from .machine import NUMPY

FLOATS = ("f32", "f16", "bf16")
UNSIGNED = ("u8", "u16", "u32", "u64")


def _hif8(code):
    """HiFloat8 as published: sign, dot field, exponent with a hidden leading one, mantissa."""
    sign, rest = -1.0 if code & 128 else 1.0, f"{code & 127:07b}"
    if rest.startswith("0000"):
        mantissa = int(rest[4:], 2)
        return sign * 2.0 ** (mantissa - 23) if mantissa else (np.nan if code & 128 else 0.0)
    for dot, width in (("11", 4), ("10", 3), ("01", 2), ("001", 1), ("0001", 0)):
        if rest.startswith(dot):
            break
    field, mantissa = rest[len(dot) : len(dot) + width], rest[len(dot) + width :]
    exponent = 0
    if width:
        exponent = int("1" + field[1:], 2) * (-1 if field[0] == "1" else 1)
    if exponent == 15 and mantissa == "1":
        return sign * np.inf
    return sign * 2.0**exponent * (1 + int(mantissa, 2) / 2 ** len(mantissa))


TABLES = {
    "hif8": np.array([_hif8(c) for c in range(256)]),
    "f8E8M0": np.array([2.0 ** (c - 127) for c in range(255)] + [np.nan]),
    "f4E2M1": np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6]),
    "f4E1M2": np.array([0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, -0.0, -0.25, -0.5, -0.75, -1, -1.25, -1.5, -1.75]),
    "i4": np.array([0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1], float),
}


def decode(kind, values):
    """Elements as float64 (exact)."""
    return TABLES[kind][values] if kind in TABLES else np.asarray(values).astype(np.float64)


def random(kind, rng, shape, low=-4.0, high=4.0):
    """Random elements of a type: floats in [low, high), integers over their range or 1000 times that."""
    if kind in ("f8E4M3FN", "f8E5M2", "hif8"):
        codes = rng.integers(0, 256, shape).astype(np.uint8)
        bad = ~np.isfinite(decode(kind, codes.view(NUMPY[kind]) if kind != "hif8" else codes))
        codes[bad] = 0x31
        return codes if kind == "hif8" else codes.view(NUMPY[kind])
    if kind in TABLES:
        return rng.integers(0, 120 if kind == "f8E8M0" else 16, shape).astype(np.uint8)
    dtype = NUMPY[kind]
    if kind in FLOATS:
        return rng.uniform(low, high, shape).astype(np.float32).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(max(info.min, int(low * 1000)), min(info.max, int(high * 1000)), shape, endpoint=True).astype(
        dtype
    )


def compute(kind, values):
    """Values in the compute type of their element type: f32 for the short floats, otherwise unchanged."""
    return values.astype(np.float32) if kind in ("f16", "bf16") else values


def rounded(x, mode):
    """Rounds to integral values by an ISA mode."""
    x = np.asarray(x, np.float64)
    if mode == "rint":
        return np.rint(x)
    if mode == "round":
        return np.where(x < 0, -np.floor(-x + 0.5), np.floor(x + 0.5))
    if mode == "floor":
        return np.floor(x)
    if mode == "ceil":
        return np.ceil(x)
    if mode == "odd":
        t = np.trunc(x)
        return np.where((t == x) | (np.fmod(t, 2) != 0), t, t + np.copysign(1, x))
    return np.trunc(x)


def nearest_code(kind, values):
    """Codes of the nearest elements of a type of TABLES, saturating, by exhaustive search: ties to the even code, for
    hif8 away from 0."""
    table = TABLES[kind]
    finite = [c for c in range(len(table)) if np.isfinite(table[c])]
    result = np.zeros(np.shape(values), np.uint8)
    top = max(abs(table[c]) for c in finite)
    for at, x in np.ndenumerate(np.clip(np.asarray(values, np.float64), -top, top)):
        # Only the 4-bit floats have signed zeros here.
        codes = [c for c in finite if np.signbit(table[c]) == np.signbit(x)] if kind.startswith("f4") else finite
        best = min(codes, key=lambda c: (abs(table[c] - x), -abs(table[c]) if kind == "hif8" else c & 1))
        result[at] = best
    return result


def neighbours(kind, number):
    """The greatest element of f32, f16 or bf16 at most `number` (a Fraction), and the least one at least it; infinities
    included."""
    short = kind != "f32"
    bits, dtype = (np.uint16, NUMPY[kind]) if short else (np.uint32, np.float32)
    top = {"f32": 0x7F800000, "f16": 0x7C00, "bf16": 0x7F80}[kind]
    value = lambda code: Fraction(float(np.array(code, bits).view(dtype)))
    size, low, high = abs(number), 0, top  # codes of magnitudes; infinity is above every number
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if value(middle) <= size else (low, middle)
    if value(low) == size:
        high = low
    sign = 1 << 31 if kind == "f32" else 1 << 15
    return (low, high, sign if number < 0 else 0, value(low), value(high) if high < top else None, bits, dtype)


def directed(kind, x, mode):
    """A number as an element of f32, f16 or bf16, rounded once by `mode`, computed with exact fractions."""
    if isinstance(x, float) and not math.isfinite(x):
        return np.array(x, np.float32).astype(NUMPY[kind])
    number = Fraction(x)
    low, high, sign, below, above, bits, dtype = neighbours(kind, number)
    code = low
    if low != high:
        if above is None:  # as if the exponent range were unbounded
            above = below + (below - Fraction(float(np.array(low - 1, bits).view(dtype))))
        middle, size = (below + above) / 2, abs(number)
        nearest = high if size > middle else low if size < middle else (low if low % 2 == 0 else high)
        away = high if size >= middle else low
        code = {
            "none": nearest,
            "rint": nearest,
            "round": away,
            "floor": high if number < 0 else low,
            "ceil": high if number > 0 else low,
            "trunc": low,
            "odd": low if low % 2 else high,
        }[mode]
    return np.array(code | sign, bits).view(dtype)


def convert(to, values, saturate=False, mode="rint"):
    """Numbers as elements of `to`; out-of-range floats follow IEEE (or the format) unless `saturate`."""
    if to in FLOATS and mode not in ("none", "rint"):
        top = float(ml_dtypes.finfo(NUMPY[to]).max)
        flat = [min(max(v, -top), top) if saturate else v for v in np.asarray(values).ravel().tolist()]
        return np.array([directed(to, v, mode) for v in flat], NUMPY[to]).reshape(np.shape(values))
    values = np.asarray(values, np.float64)
    if to in TABLES:
        return nearest_code(to, rounded(values, mode) if to == "i4" else values)
    dtype = NUMPY[to]
    if to in ("f8E4M3FN", "f8E5M2"):
        top = float(ml_dtypes.finfo(dtype).max)
        return (np.clip(values, -top, top) if saturate else values).astype(np.float32).astype(dtype)
    if to in FLOATS:
        if saturate:
            top = float(ml_dtypes.finfo(dtype).max)
            values = np.clip(values, -top, top)
        with np.errstate(over="ignore"):
            return values.astype(np.float32).astype(dtype)
    info = np.iinfo(dtype)
    exact = [int(v) for v in rounded(values, mode).ravel()]
    return np.array([min(max(v, info.min), info.max) if saturate else v for v in exact], object).reshape(values.shape)


def wrap(kind, values):
    """Python integers as elements of an integer type, truncated to its low bits."""
    dtype = NUMPY[kind]
    bits = np.iinfo(dtype).bits
    unsigned = np.array([int(v) % (1 << bits) for v in np.asarray(values, object).ravel()], np.uint64).reshape(
        np.shape(values)
    )
    return unsigned.astype(np.dtype(f"u{bits // 8}")).view(dtype)
