"""Expected results of the kernel of quantise.pto, computed with numpy."""

import sys

import numpy as np

a, b, s, q, m, p, v = (np.load(f"{sys.argv[1]}.{name}.npy") for name in "absqmpv")
product = a.astype(np.float64) @ b.astype(np.float64)
value = product * 0.5 + 3
# Sums in f32 and float64 may round differently at a half.
assert np.abs(q - np.clip(np.maximum(value, 0), -128, 127)).max() < 0.51
assert np.abs(m - np.clip(value, -128, 127)).max() < 0.51
scales = s.astype(np.uint32).view(np.float32)
assert np.abs(v - np.clip(product * scales, -128, 127)).max() < 0.51
assert (p[:8] == 1).all() and (p[40:] == 1).all()
np.testing.assert_allclose(p[8:40], product, rtol=1e-3, atol=1e-3)
print("same")
