// RUN: pto-opt %s --pto-convert-memrefs -split-input-file -verify-diagnostics

!G = memref<2x3x4x5x6x7xf32, strided<[10000, 3000, 700, 100, 10, 1]>, #pto.address_space<gm>>
!V = !pto.tile_buf<vec, 1x8xf32>
func.func @rank(%g: !G, %v: !V) {
  // expected-error @-1 {{makes a memref of rank 6 in global memory, which has to be 1 to 5 once gapless dimensions are joined}}
  pto.tload ins(%g : !G) outs(%v : !V)
  return
}

// -----

func.func @strides() {
  // expected-error @below {{a tile has constant sizes and no strides of its own}}
  %a = memref.alloc() : memref<16x16xf32, strided<[32, 1]>, #pto.address_space<vec>>
  pto.texp ins(%a : memref<16x16xf32, strided<[32, 1]>, #pto.address_space<vec>>) outs(%a : memref<16x16xf32, strided<[32, 1]>, #pto.address_space<vec>>)
  return
}

// -----

!M = memref<16x16xf32, #pto.address_space<vec>>
func.func @valid(%n: index) {
  %a = memref.alloc() : !M
  // expected-error @below {{has a valid part that is known at run time only; pto.alloc_tile valid_row = .. valid_col = .. takes one}}
  %b = pto.bind_tile %a, %n, %n {config = #pto.tile_buf_config<blayout=0 : i32, slayout=0 : i32, s_fractal_size=512, pad=0 : i32>} : !M -> !M
  pto.texp ins(%b : !M) outs(%b : !M)
  return
}

// -----

!G = memref<?x16xf32, #pto.address_space<gm>>
!V = !pto.tile_buf<vec, 16x16xf32>
func.func @sizes(%g: !G, %v: !V) {
  // expected-error @-1 {{a memref of constant sizes and strides can be an argument, else a !pto.ptr}}
  pto.tload ins(%g : !G) outs(%v : !V)
  return
}

// -----

#gm = #pto.address_space<gm>
!B = memref<16x16xf32, strided<[16, 1]>, #gm>
func.func @bound_in_global_memory(%g: memref<16x16xf32, #gm>, %v: !pto.tile_buf<vec, 16x16xf32>) {
  %view = memref.reinterpret_cast %g to offset: [0], sizes: [16, 16], strides: [16, 1] : memref<16x16xf32, #gm> to !B
  // expected-error @below {{takes a memref in local memory, got 'memref<16x16xf32, strided<[16, 1]>, #pto.address_space<gm>>'}}
  %b = pto.bind_tile %view {config = #pto.tile_buf_config<blayout=0 : i32, slayout=0 : i32, s_fractal_size=512, pad=0 : i32>} : !B -> !B
  pto.tload ins(%b : !B) outs(%v : !pto.tile_buf<vec, 16x16xf32>)
  return
}
