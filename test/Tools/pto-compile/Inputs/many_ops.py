"""Writes a straight-line kernel of 10 000 ops on twenty tiles: usage many_ops.py OUT.pto."""

import sys

TILE, PART = "!pto.tile_buf<vec, 16x64xf32>", "!pto.partition_tensor_view<16x64xf32>"
lines = [
    "func.func @many(%p: !pto.ptr<f32>) {",
    *(f"  %c{n} = arith.constant {n} : index" for n in (0, 1, 16, 64)),
    "  %v = pto.make_tensor_view %p, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<16x64xf32>",
    f"  %q = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c16, %c64] : !pto.tensor_view<16x64xf32> -> {PART}",
    *(f"  %t{i} = pto.alloc_tile : {TILE}" for i in range(20)),
]
for i in range(10000):
    a, b, c = i % 20, (7 * i + 3) % 20, (11 * i + 5) % 20
    if i % 10 == 0:
        lines.append(f"  pto.tload ins(%q : {PART}) outs(%t{a} : {TILE})")
    elif i % 10 == 9:
        lines.append(f"  pto.tstore ins(%t{a} : {TILE}) outs(%q : {PART})")
    else:
        lines.append(f"  pto.tadd ins(%t{a}, %t{b} : {TILE}, {TILE}) outs(%t{c} : {TILE})")
with open(sys.argv[1], "w") as file:
    file.write("\n".join([*lines, "  return", "}"]) + "\n")
