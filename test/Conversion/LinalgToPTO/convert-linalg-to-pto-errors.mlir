// RUN: pto-opt %s --split-input-file --convert-linalg-to-pto --verify-diagnostics

// expected-error @below {{is a kernel on tensors: run bufferize-vector-kernels first}}
func.func private @tensors(%x: tensor<4xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  return
}

// -----

#id = affine_map<(d0) -> (d0)>
!vector = memref<16xf32, #pto.address_space<vec>>

func.func private @no_instruction(%x: memref<16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %0 = memref.alloc() : !vector
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%0 : !vector) {
  ^bb0(%a: f32):
    // expected-error @below {{has no tile instruction}}
    %1 = math.sin %a : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

func.func private @not_staged(%x: memref<16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // expected-error @below {{has an operand outside of the unified buffer; run tile-vector-kernels first}}
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : memref<16xf32>) {
  ^bb0(%a: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

func.func private @part_of_rows(%x: memref<4x8xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %0 = memref.alloc() : memref<4x16xf32, #pto.address_space<vec>>
  // expected-error @below {{takes a part of a tile that does not consist of whole rows}}
  %1 = memref.subview %0[0, 8] [4, 8] [1, 1] : memref<4x16xf32, #pto.address_space<vec>>
      to memref<4x8xf32, strided<[16, 1], offset: 8>, #pto.address_space<vec>>
  memref.copy %x, %1 : memref<4x8xf32> to memref<4x8xf32, strided<[16, 1], offset: 8>, #pto.address_space<vec>>
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @shift_by_a_tile(%x: memref<4x32xi32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %0 = memref.alloc() : memref<4x32xi32, #pto.address_space<vec>>
  memref.copy %x, %0 : memref<4x32xi32> to memref<4x32xi32, #pto.address_space<vec>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : memref<4x32xi32, #pto.address_space<vec>>) outs(%0 : memref<4x32xi32, #pto.address_space<vec>>) {
  ^bb0(%a: i32, %b: i32):
    // expected-error @below {{shifts by something else than a constant}}
    %r = arith.shli %a, %b : i32
    linalg.yield %r : i32
  }
  return
}
