// Every form of these ops parses, verifies and round-trips.
// RUN: pto-opt %s | FileCheck %s
// RUN: pto-opt %s | pto-opt | FileCheck %s

!H = !pto.tile_buf<vec, 32x32xf16>
!I = !pto.tile_buf<vec, 32x32xi32>
!S = !pto.tile_buf<vec, 32x32xi16>
!U = !pto.tile_buf<vec, 32x32xui8>
!V = !pto.tile_buf<vec, 32x32xf32>

// CHECK-LABEL: func.func @forms
func.func @forms(%h: !H, %h1: !H, %i: !I, %i1: !I, %i2: !I, %s: !S, %s1: !S, %s2: !S, %s3: !S, %u: !U, %v: !V, %v1: !V, %v2: !V, %v3: !V) {
  // CHECK: pto.tabs{{[^a-z_.]|$}}
  pto.tabs ins(%v : !V) outs(%v1 : !V)
  // CHECK: pto.texp{{[^a-z_.]|$}}
  pto.texp ins(%v : !V) outs(%v1 : !V)
  // CHECK: pto.tlog{{[^a-z_.]|$}}
  pto.tlog ins(%v : !V) outs(%v1 : !V)
  // CHECK: pto.tsqrt{{[^a-z_.]|$}}
  pto.tsqrt ins(%v : !V) outs(%v1 : !V)
  // CHECK: pto.trsqrt{{[^a-z_.]|$}}
  pto.trsqrt ins(%v : !V) outs(%v1 : !V)
  // CHECK: pto.trecip{{[^a-z_.]|$}}
  pto.trecip ins(%v : !V) outs(%v1 : !V)
  // CHECK: pto.tneg{{[^a-z_.]|$}}
  pto.tneg ins(%v : !V) outs(%v1 : !V)
  // CHECK: pto.trelu{{[^a-z_.]|$}}
  pto.trelu ins(%v : !V) outs(%v1 : !V)
  // CHECK: pto.trsqrt{{[^a-z_.]|$}}
  pto.trsqrt ins(%v, %v2 : !V, !V) outs(%v1 : !V)
  // CHECK: pto.tnot{{[^a-z_.]|$}}
  pto.tnot ins(%s : !S) outs(%s1 : !S)
  // CHECK: pto.tadd{{[^a-z_.]|$}}
  pto.tadd ins(%v, %v1 : !V, !V) outs(%v2 : !V)
  // CHECK: pto.tsub{{[^a-z_.]|$}}
  pto.tsub ins(%v, %v1 : !V, !V) outs(%v2 : !V)
  // CHECK: pto.tmul{{[^a-z_.]|$}}
  pto.tmul ins(%v, %v1 : !V, !V) outs(%v2 : !V)
  // CHECK: pto.tmax{{[^a-z_.]|$}}
  pto.tmax ins(%v, %v1 : !V, !V) outs(%v2 : !V)
  // CHECK: pto.tmin{{[^a-z_.]|$}}
  pto.tmin ins(%v, %v1 : !V, !V) outs(%v2 : !V)
  // CHECK: pto.tdiv{{[^a-z_.]|$}}
  pto.tdiv ins(%v, %v1 : !V, !V) outs(%v2 : !V)
  // CHECK: pto.tfmod{{[^a-z_.]|$}}
  pto.tfmod ins(%v, %v1 : !V, !V) outs(%v2 : !V)
  // CHECK: pto.tpartadd{{[^a-z_.]|$}}
  pto.tpartadd ins(%v, %v1 : !V, !V) outs(%v2 : !V)
  // CHECK: pto.tpartmul{{[^a-z_.]|$}}
  pto.tpartmul ins(%v, %v1 : !V, !V) outs(%v2 : !V)
  // CHECK: pto.tpartmax{{[^a-z_.]|$}}
  pto.tpartmax ins(%v, %v1 : !V, !V) outs(%v2 : !V)
  // CHECK: pto.tpartmin{{[^a-z_.]|$}}
  pto.tpartmin ins(%v, %v1 : !V, !V) outs(%v2 : !V)
  // CHECK: pto.tmuladddst{{[^a-z_.]|$}}
  pto.tmuladddst ins(%v, %v1 : !V, !V) outs(%v2 : !V)
  // CHECK: pto.tand{{[^a-z_.]|$}}
  pto.tand ins(%s, %s1 : !S, !S) outs(%s2 : !S)
  // CHECK: pto.tor{{[^a-z_.]|$}}
  pto.tor ins(%s, %s1 : !S, !S) outs(%s2 : !S)
  // CHECK: pto.txor{{[^a-z_.]|$}}
  pto.txor ins(%s, %s1, %s2 : !S, !S, !S) outs(%s3 : !S)
  // CHECK: pto.tshl{{[^a-z_.]|$}}
  pto.tshl ins(%i, %i1 : !I, !I) outs(%i2 : !I)
  // CHECK: pto.tshr{{[^a-z_.]|$}}
  pto.tshr ins(%i, %i1 : !I, !I) outs(%i2 : !I)
  // CHECK: pto.trem{{[^a-z_.]|$}}
  pto.trem ins(%v, %v1, %v2 : !V, !V, !V) outs(%v3 : !V)
  // CHECK: pto.taddc{{[^a-z_.]|$}}
  pto.taddc ins(%v, %v1, %v2 : !V, !V, !V) outs(%v3 : !V)
  // CHECK: pto.tsubc{{[^a-z_.]|$}}
  pto.tsubc ins(%v, %v1, %v2 : !V, !V, !V) outs(%v3 : !V)
  // CHECK: pto.tprelu{{[^a-z_.]|$}}
  pto.tprelu ins(%v, %v1, %u : !V, !V, !U) outs(%v2 : !V)
  // CHECK: pto.tsel{{[^a-z_.]|$}}
  pto.tsel ins(%u, %v, %v1, %v2 : !U, !V, !V, !V) outs(%v3 : !V)
  // CHECK: pto.tcvt{{[^a-z_.]|$}}
  pto.tcvt ins(%v {rmode = #pto<round_mode RINT>} : !V) outs(%h : !H)
  // CHECK: pto.tcvt{{[^a-z_.]|$}}
  pto.tcvt ins(%v, %h1 {rmode = #pto<round_mode FLOOR>, sat_mode = #pto<saturation_mode OFF>} : !V, !H) outs(%h : !H)
  // CHECK: pto.tcvt{{[^a-z_.]|$}}
  pto.tcvt ins(%v : !V) outs(%i : !I)
  // CHECK: pto.tcmp{{[^a-z_.]|$}}
  pto.tcmp ins(%v, %v1 {cmpMode = #pto<cmp lt>} : !V, !V) outs(%u : !U)
  // CHECK: pto.tadd{{[^a-z_.]|$}}
  "pto.tadd"(%v, %v1, %v2) : (!V, !V, !V) -> ()
  return
}
