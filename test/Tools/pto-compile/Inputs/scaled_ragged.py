"""Inputs and expected results of scaled-ragged-a5.pto, computed with ml_dtypes and numpy."""

import sys

import ml_dtypes
import numpy as np

what, stem = sys.argv[1:3]
if what == "make":
    rng = np.random.default_rng(12)
    for name, shape in (("a", (32, 100)), ("b", (100, 32))):
        np.save(f"{stem}.{name}.npy", rng.integers(-8, 9, shape).astype(ml_dtypes.float8_e4m3fn).view(np.int8))
    codes = {"s": rng.integers(124, 130, (32, 4)), "t": rng.integers(124, 130, (4, 32))}
    # The low byte of an element belongs to the even group.
    np.save(f"{stem}.s.npy", (codes["s"][:, 0::2] | codes["s"][:, 1::2] << 8).astype(np.uint16))
    np.save(f"{stem}.t.npy", (codes["t"][0::2] | codes["t"][1::2] << 8).astype(np.uint16))
else:
    a, b, s, t, c, d = (np.load(f"{stem}.{name}.npy") for name in "abstcd")
    a, b = (x.view(ml_dtypes.float8_e4m3fn).astype(np.float64) for x in (a, b))
    s = np.stack([s & 255, s >> 8], 2).reshape(32, 4)
    t = np.stack([t & 255, t >> 8], 1).reshape(4, 32)
    scale = lambda codes, axis: np.repeat(2.0 ** (codes.astype(np.float64) - 127), 32, axis)
    a, b = a * scale(s, 1)[:, :100], b * scale(t, 0)[:100]
    assert (c == a @ b).all()
    assert (d == a[2:3, 64:96] @ b[64:96]).all()
    print("same")
