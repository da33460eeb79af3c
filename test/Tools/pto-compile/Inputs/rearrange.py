"""Arguments and expected results of rearrange.pto, computed with numpy."""

import sys

import numpy as np

names = "x y l0 l1 place scale shift wide found count merged moved bytes".split()
path = lambda name: f"{sys.argv[2]}.{name}.npy"
if sys.argv[1] == "make":
    r = np.random.default_rng(5)

    def run(first):
        record = np.zeros((32, 2), np.float32)
        record[:, 0] = -np.sort(-r.integers(-20, 20, 32) / 4)
        record[:, 1] = np.arange(first, first + 32, dtype=np.uint32).view(np.float32)
        return record.reshape(1, 64)

    values = [
        r.standard_normal((4, 32)).astype(np.float32),
        r.standard_normal((4, 32)).astype(np.float32),
        run(0),
        run(100),
        r.permutation(128).astype(np.int32).reshape(4, 32),
        (r.random((4, 1)) * 100).astype(np.float32),
        np.full((4, 1), 128, np.float32),
    ]
    for name, value in zip(names, values):
        np.save(path(name), value)
    sys.exit()
x, y, l0, l1, place, scale, shift, wide, found, count, merged, moved, data = (np.load(path(name)) for name in names)
np.testing.assert_array_equal(wide, np.concatenate([x, y], 1))
for r in range(4):
    columns = np.flatnonzero(x[r] > 0.5)
    assert count[r, 0] == columns.size
    np.testing.assert_array_equal(found[r], np.pad(columns + 100, (0, 32 - columns.size)))
records = np.concatenate([l0.reshape(32, 2), l1.reshape(32, 2)])
order = np.argsort(-records[:, 0], kind="stable")
assert merged.tobytes() == records[order].tobytes()
scattered = np.zeros(128, np.float32)
scattered[place.ravel()] = y.ravel()
np.testing.assert_array_equal(moved.ravel(), scattered)
np.testing.assert_array_equal(data, np.clip(np.rint(x * scale + shift), 0, 255).astype(np.uint8))
print("same")
