"""Expected results of newer-a5.pto, computed with numpy."""

import sys

import numpy as np

x, blocks, mask, places, counts, copied, selected, ramp = map(np.load, sys.argv[1:])
for row, got, count in zip(x, places, counts):
    found = np.flatnonzero(row > 3)
    assert count[0] == len(found) and (got[: len(found)] == found).all() and (got[len(found) :] == -1).all()
assert (copied.ravel() == blocks).all()
bits = np.unpackbits(mask.view(np.uint8), axis=1, bitorder="little")[:, : x.shape[1]]
assert (selected == np.where(bits, x, 3)).all()
assert (ramp.ravel() == 7 + np.arange(32)).all()
print("same")
