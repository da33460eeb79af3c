"""Inputs and expected results of fixpipe.pto, computed with numpy."""

import sys

import numpy as np

what, stem = sys.argv[1:3]
if what == "make":
    rng = np.random.default_rng(7)
    for name in "ab":
        np.save(f"{stem}.{name}.npy", rng.integers(-9, 10, (32, 32)).astype(np.int8))
    words = (rng.integers(8, 64, 32) / 128).astype(np.float32).view(np.uint32).astype(np.uint64) | np.uint64(1 << 46)
    np.save(f"{stem}.s.npy", words.view(np.float32).reshape(1, 64))
    np.save(f"{stem}.x.npy", rng.integers(-200, 200, (16, 16)).astype(np.float32) / 4)
    np.save(f"{stem}.y.npy", rng.integers(1, 9, (16, 1)).astype(np.float32) / 4)
else:
    a, b, s, p, q, r, f, g, x, y, u = (np.load(f"{stem}.{name}.npy") for name in "abspqrfgxyu")
    product = a.astype(np.int64) @ b.astype(np.int64)
    narrow = lambda values: np.clip(np.rint(values), -128, 127)
    scales = s.view(np.uint64).astype(np.uint32).view(np.float32).reshape(1, 32)
    columns = narrow(product * scales)
    assert (p == columns).all() and (q == columns).all()
    word = product * 0.5 + 3  # 413373825024: the scale 0.5, the offset 3
    assert (r == (narrow(word) + narrow(np.maximum(word, 0))).astype(np.int64).astype(np.int8)).all()
    assert (f == np.maximum(product, 0).astype(np.float16)).all()
    assert (g[:20] == a[:20]).all() and (g[20:] == 0).all()
    assert (u == narrow(x * y)).all()
    print("same")
