// Every form of these ops parses, verifies and round-trips.
// RUN: pto-opt %s | FileCheck %s
// RUN: pto-opt %s | pto-opt | FileCheck %s

!H = !pto.tile_buf<vec, 32x32xf16>
!I = !pto.tile_buf<vec, 32x32xi32>
!S = !pto.tile_buf<vec, 32x32xi16>
!U = !pto.tile_buf<vec, 32x32xui8>
!V = !pto.tile_buf<vec, 32x32xf32>

// CHECK-LABEL: func.func @forms
func.func @forms(%e: f32, %h: !H, %h1: !H, %i: !I, %i1: !I, %k: i16, %n: i32, %s: !S, %s1: !S, %s2: !S, %u: !U, %v: !V, %v1: !V, %v2: !V) {
  // CHECK: pto.tadds{{[^a-z_.]|$}}
  pto.tadds ins(%v, %e : !V, f32) outs(%v1 : !V)
  // CHECK: pto.tsubs{{[^a-z_.]|$}}
  pto.tsubs ins(%v, %e : !V, f32) outs(%v1 : !V)
  // CHECK: pto.tmuls{{[^a-z_.]|$}}
  pto.tmuls ins(%v, %e : !V, f32) outs(%v1 : !V)
  // CHECK: pto.tdivs{{[^a-z_.]|$}}
  pto.tdivs ins(%v, %e : !V, f32) outs(%v1 : !V)
  // CHECK: pto.tmaxs{{[^a-z_.]|$}}
  pto.tmaxs ins(%v, %e : !V, f32) outs(%v1 : !V)
  // CHECK: pto.tmins{{[^a-z_.]|$}}
  pto.tmins ins(%v, %e : !V, f32) outs(%v1 : !V)
  // CHECK: pto.tfmods{{[^a-z_.]|$}}
  pto.tfmods ins(%v, %e : !V, f32) outs(%v1 : !V)
  // CHECK: pto.taxpy{{[^a-z_.]|$}}
  pto.taxpy ins(%v, %e : !V, f32) outs(%v1 : !V)
  // CHECK: pto.tdivs{{[^a-z_.]|$}}
  pto.tdivs ins(%e, %v : f32, !V) outs(%v1 : !V)
  // CHECK: pto.tands{{[^a-z_.]|$}}
  pto.tands ins(%s, %k : !S, i16) outs(%s1 : !S)
  // CHECK: pto.tors{{[^a-z_.]|$}}
  pto.tors ins(%s, %k : !S, i16) outs(%s1 : !S)
  // CHECK: pto.txors{{[^a-z_.]|$}}
  pto.txors ins(%s, %k, %s1 : !S, i16, !S) outs(%s2 : !S)
  // CHECK: pto.tshls{{[^a-z_.]|$}}
  pto.tshls ins(%i, %n : !I, i32) outs(%i1 : !I)
  // CHECK: pto.tshrs{{[^a-z_.]|$}}
  pto.tshrs ins(%i, %n : !I, i32) outs(%i1 : !I)
  // CHECK: pto.trems{{[^a-z_.]|$}}
  pto.trems ins(%v, %e, %v1 : !V, f32, !V) outs(%v2 : !V)
  // CHECK: pto.tlrelu{{[^a-z_.]|$}}
  pto.tlrelu ins(%h, %e : !H, f32) outs(%h1 : !H)
  // CHECK: pto.taddsc{{[^a-z_.]|$}}
  pto.taddsc ins(%v, %e, %v1 : !V, f32, !V) outs(%v2 : !V)
  // CHECK: pto.tsubsc{{[^a-z_.]|$}}
  pto.tsubsc ins(%v, %e, %v1 : !V, f32, !V) outs(%v2 : !V)
  // CHECK: pto.tcmps{{[^a-z_.]|$}}
  pto.tcmps ins(%v, %e {cmpMode = #pto<cmp ge>} : !V, f32) outs(%u : !U)
  // CHECK: pto.tsels{{[^a-z_.]|$}}
  pto.tsels ins(%u, %v, %v1, %e : !U, !V, !V, f32) outs(%v2 : !V)
  // CHECK: pto.texpands{{[^a-z_.]|$}}
  pto.texpands ins(%e : f32) outs(%v : !V)
  // CHECK: pto.tci{{[^a-z_.]|$}}
  pto.tci ins(%n {descending = true} : i32) outs(%i : !I)
  return
}
