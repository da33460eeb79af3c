"""A kernel whose loop holds many ops that share a few tiles.

usage: large_loop.py OPS TILES
"""

import sys

ops, tiles = map(int, sys.argv[1:])
print("""!V = !pto.tile_buf<vec, 8x8xf32>
!G = !pto.partition_tensor_view<8x8xf32>
func.func @k(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %none = arith.constant 0 : i64
  %pv = pto.make_tensor_view %p, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
  %qv = pto.make_tensor_view %q, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf32>
  %g = pto.partition_view %pv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32> -> !G
  %o = pto.partition_view %qv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<8x8xf32> -> !G
  %core = pto.get_subblock_idx
  %here = arith.cmpi eq, %core, %none : i64
  %trips = arith.select %here, %n, %c0 : index""")
for t in range(tiles):
    print(f"  %t{t} = pto.alloc_tile : !V\n  pto.tload ins(%g : !G) outs(%t{t} : !V)")
print("  scf.for %i = %c0 to %trips step %c1 {")
for k in range(ops // 4):
    t, u = k % tiles, (k * 7 + 1) % tiles
    print(f"""    pto.tload ins(%g : !G) outs(%t{t} : !V)
    pto.tadd ins(%t{t}, %t{u} : !V, !V) outs(%t{u} : !V)
    pto.tabs ins(%t{u} : !V) outs(%t{t} : !V)
    pto.tstore ins(%t{t} : !V) outs(%o : !G)""")
print("  }\n  return\n}")
