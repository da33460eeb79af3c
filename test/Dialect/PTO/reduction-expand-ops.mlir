// Every form of these ops parses, verifies and round-trips.
// RUN: pto-opt %s | FileCheck %s
// RUN: pto-opt %s | pto-opt | FileCheck %s

!C = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!CI = !pto.tile_buf<vec, 32x1xi32, blayout=col_major>
!R = !pto.tile_buf<vec, 1x32xf32>
!RI = !pto.tile_buf<vec, 1x32xi32>
!V = !pto.tile_buf<vec, 32x32xf32>

// CHECK-LABEL: func.func @forms
func.func @forms(%c: !C, %ci: !CI, %r: !R, %ri: !RI, %v: !V, %v1: !V, %v2: !V) {
  // CHECK: pto.trowsum{{[^a-z_.]|$}}
  pto.trowsum ins(%v, %v1 : !V, !V) outs(%c : !C)
  // CHECK: pto.trowmax{{[^a-z_.]|$}}
  pto.trowmax ins(%v, %v1 : !V, !V) outs(%c : !C)
  // CHECK: pto.trowmin{{[^a-z_.]|$}}
  pto.trowmin ins(%v, %v1 : !V, !V) outs(%c : !C)
  // CHECK: pto.trowprod{{[^a-z_.]|$}}
  pto.trowprod ins(%v, %v1 : !V, !V) outs(%c : !C)
  // CHECK: pto.trowargmax{{[^a-z_.]|$}}
  pto.trowargmax ins(%v, %v1 : !V, !V) outs(%ci : !CI)
  // CHECK: pto.trowargmin{{[^a-z_.]|$}}
  pto.trowargmin ins(%v, %v1 : !V, !V) outs(%ci : !CI)
  // CHECK: pto.tcolmax{{[^a-z_.]|$}}
  pto.tcolmax ins(%v : !V) outs(%r : !R)
  // CHECK: pto.tcolmin{{[^a-z_.]|$}}
  pto.tcolmin ins(%v : !V) outs(%r : !R)
  // CHECK: pto.tcolprod{{[^a-z_.]|$}}
  pto.tcolprod ins(%v : !V) outs(%r : !R)
  // CHECK: pto.tcolsum{{[^a-z_.]|$}}
  pto.tcolsum ins(%v : !V) outs(%r : !R)
  // CHECK: pto.tcolsum{{[^a-z_.]|$}}
  pto.tcolsum ins(%v, %v1 {isBinary = true} : !V, !V) outs(%r : !R)
  // CHECK: pto.tcolargmax{{[^a-z_.]|$}}
  pto.tcolargmax ins(%v, %v1 : !V, !V) outs(%ri : !RI)
  // CHECK: pto.tcolargmin{{[^a-z_.]|$}}
  pto.tcolargmin ins(%v, %v1 : !V, !V) outs(%ri : !RI)
  // CHECK: pto.tcolexpand{{[^a-z_.]|$}}
  pto.tcolexpand ins(%r : !R) outs(%v : !V)
  // CHECK: pto.tcolexpandadd{{[^a-z_.]|$}}
  pto.tcolexpandadd ins(%v, %r : !V, !R) outs(%v1 : !V)
  // CHECK: pto.tcolexpandsub{{[^a-z_.]|$}}
  pto.tcolexpandsub ins(%v, %r : !V, !R) outs(%v1 : !V)
  // CHECK: pto.tcolexpandmul{{[^a-z_.]|$}}
  pto.tcolexpandmul ins(%v, %r : !V, !R) outs(%v1 : !V)
  // CHECK: pto.tcolexpandmax{{[^a-z_.]|$}}
  pto.tcolexpandmax ins(%v, %r : !V, !R) outs(%v1 : !V)
  // CHECK: pto.tcolexpandmin{{[^a-z_.]|$}}
  pto.tcolexpandmin ins(%v, %r : !V, !R) outs(%v1 : !V)
  // CHECK: pto.tcolexpanddiv{{[^a-z_.]|$}}
  pto.tcolexpanddiv ins(%v, %r : !V, !R) outs(%v1 : !V)
  // CHECK: pto.tcolexpandexpdif{{[^a-z_.]|$}}
  pto.tcolexpandexpdif ins(%v, %r : !V, !R) outs(%v1 : !V)
  // CHECK: pto.trowexpand{{[^a-z_.]|$}}
  pto.trowexpand ins(%c : !C) outs(%v : !V)
  // CHECK: pto.trowexpandadd{{[^a-z_.]|$}}
  pto.trowexpandadd ins(%v, %c : !V, !C) outs(%v1 : !V)
  // CHECK: pto.trowexpandsub{{[^a-z_.]|$}}
  pto.trowexpandsub ins(%v, %c : !V, !C) outs(%v1 : !V)
  // CHECK: pto.trowexpandmul{{[^a-z_.]|$}}
  pto.trowexpandmul ins(%v, %c : !V, !C) outs(%v1 : !V)
  // CHECK: pto.trowexpanddiv{{[^a-z_.]|$}}
  pto.trowexpanddiv ins(%v, %c : !V, !C) outs(%v1 : !V)
  // CHECK: pto.trowexpandmax{{[^a-z_.]|$}}
  pto.trowexpandmax ins(%v, %c : !V, !C) outs(%v1 : !V)
  // CHECK: pto.trowexpandmin{{[^a-z_.]|$}}
  pto.trowexpandmin ins(%v, %c : !V, !C) outs(%v1 : !V)
  // CHECK: pto.trowexpandexpdif{{[^a-z_.]|$}}
  pto.trowexpandexpdif ins(%v, %c : !V, !C) outs(%v1 : !V)
  // CHECK: pto.trowexpandmul{{[^a-z_.]|$}}
  pto.trowexpandmul ins(%v, %c, %v2 : !V, !C, !V) outs(%v1 : !V)
  return
}
