"""Arguments and expected results of a5.pto, computed with numpy."""

import sys

import numpy as np

path = lambda name: f"{sys.argv[2]}.{name}.npy"
r = np.random.default_rng(5)
x = (r.standard_normal((2, 32)).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)  # bf16, truncated
w, h = r.standard_normal((8, 32)).astype(np.float32), r.integers(0, 1 << 16, (2, 64)).astype(np.uint16)
place = r.integers(-5, 300, (2, 32)).astype(np.int32)
if sys.argv[1] == "make":
    for name in ("x", "w", "h", "place"):
        np.save(path(name), globals()[name])
    sys.exit()
total, random, bins, picked, low = (np.load(path(name)) for name in "sum random bins picked low".split())
wide = (x.astype(np.uint32) << 16).view(np.float32)
np.testing.assert_array_equal((total.view(np.uint16).astype(np.uint32) << 16).view(np.float32), wide + wide)


def philox(counter, key):
    c, k = [counter, 0, 0, 0], [key, 0]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


np.testing.assert_array_equal(
    random.view(np.uint32), [[philox(row * 16 + lane, 77)[0] for lane in range(64)] for row in range(2)]
)
np.testing.assert_array_equal(bins, [np.cumsum(np.bincount(row >> 8, minlength=256)) for row in h])
np.testing.assert_array_equal(
    picked, w.ravel()[np.where(place < 0, 255, np.minimum(place, 255))]
)  # indices are unsigned
np.testing.assert_array_equal(low, place.astype(np.int16))
print("same")
