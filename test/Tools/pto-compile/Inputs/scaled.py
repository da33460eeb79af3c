"""Inputs and expected results of scaled-a5.pto, computed with ml_dtypes and numpy."""

import sys

import ml_dtypes
import numpy as np

what, stem = sys.argv[1:3]
if what == "make":
    rng = np.random.default_rng(11)
    for name, shape in (("a", (32, 128)), ("b", (128, 32))):
        np.save(f"{stem}.{name}.npy", rng.integers(-8, 9, shape).astype(ml_dtypes.float8_e4m3fn).view(np.int8))
    np.save(f"{stem}.s.npy", rng.integers(124, 130, (32, 4)).astype(np.uint8))
    np.save(f"{stem}.t.npy", rng.integers(124, 130, (4, 32)).astype(np.uint8))
    np.save(f"{stem}.z.npy", rng.integers(-50, 50, (1, 32)).astype(np.float32))
else:
    a, b, s, t, z, c, d = (np.load(f"{stem}.{name}.npy") for name in "abstzcd")
    a, b = (x.view(ml_dtypes.float8_e4m3fn).astype(np.float64) for x in (a, b))
    scale = lambda codes, axis: np.repeat(2.0 ** (codes.astype(np.float64) - 127), 32, axis)
    product = (a * scale(s, 1)) @ (b * scale(t, 0))
    assert (c == product + z).all()
    assert (d == 2 * product).all()
    print("same")
