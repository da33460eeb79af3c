"""Expected results of kernel @k of instructions.pto, computed with numpy."""

import sys

import numpy as np

x, y, bits, back, even, total, pairs = (
    np.load(f"{sys.argv[1]}.{name}.npy")[0] for name in "x y bits back even sum sorted".split()
)
down = (100 - np.arange(32)).astype(np.int16)
np.testing.assert_array_equal(bits, down ^ (down << 1))
np.testing.assert_array_equal(back, x[::-1])
np.testing.assert_array_equal(even, x[::2])
expected = x - np.float32(2) + y
expected[5] = 7
np.testing.assert_array_equal(total, expected)
order = np.argsort(-x, kind="stable")
np.testing.assert_array_equal(pairs[::2], x[order])
np.testing.assert_array_equal(pairs[1::2].view(np.uint32), order.astype(np.uint32))
print("same")
