"""Inputs of slots.pto, and what its kernels should compute."""

import sys

import numpy as np

command, prefix = sys.argv[1:]
rng = np.random.default_rng(1)
x = rng.standard_normal((128, 64)).astype(np.float32)
a = rng.standard_normal((32, 64)).astype(np.float16)
b = rng.standard_normal((64, 32)).astype(np.float16)
if command == "make":
    for name, value in {"x": x, "a": a, "b": b}.items():
        np.save(f"{prefix}.{name}.npy", value)
    sys.exit()

blocks = x.reshape(8, 16, 64)
even = np.zeros_like(blocks)
even[[0, 2, 4, 5, 6, 7]] = 2 * blocks[[0, 2, 4, 5, 6, 7]]
negated = np.zeros_like(blocks)
negated[:, :12] = -blocks[:, :12]
wanted = {"y": 2 * x, "z": 3 * x, "w": 4 * x, "s": 4 * x, "u": even.reshape(128, 64), "v": negated.reshape(128, 64)}
for name, value in wanted.items():
    got = np.load(f"{prefix}.{name}.npy")
    assert np.array_equal(got, value), (name, np.argwhere(got != value)[:4])
c = np.load(f"{prefix}.c.npy")
assert np.allclose(c, a.astype(np.float64) @ b.astype(np.float64), atol=1e-4), np.abs(c).max()
print("same")
