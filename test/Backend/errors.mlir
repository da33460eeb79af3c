// RUN: pto-opt %s --pto-print-commands --split-input-file --verify-diagnostics -o /dev/null

module {
  module @k attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @below {{expects attribute 'pto.pipe' with an engine of AIV}}
    func.func @m() attributes {pto.pipe = #pto.pipe<PIPE_M>} {
      return
    }
  }
}

// -----

module {
  module @k attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    func.func @v() attributes {pto.pipe = #pto.pipe<PIPE_V>} {
      // expected-error @below {{has no address; run pto-plan-local-memory first}}
      %t = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
      return
    }
  }
}

// -----

// Misaligned: detected by the stream verifier, reported at the op.
module {
  module @k attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    func.func @v() attributes {pto.pipe = #pto.pipe<PIPE_V>} {
      %a = arith.constant 16 : i64
      %t = pto.alloc_tile addr = %a : !pto.tile_buf<vec, 16x64xf32>
      // expected-error @below {{is illegal on a3: tneg: operand 'dst' has address 16, UB needs multiples of 32}}
      pto.tneg ins(%t : !pto.tile_buf<vec, 16x64xf32>) outs(%t : !pto.tile_buf<vec, 16x64xf32>)
      return
    }
  }
}

// -----

module {
  module @k attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    func.func @mte3(%p: !pto.ptr<f32>) attributes {pto.pipe = #pto.pipe<PIPE_MTE3>} {
      %a = arith.constant 0 : i64
      %t = pto.alloc_tile addr = %a : !pto.tile_buf<vec, 16x64xf32>
      // expected-error @below {{is executed by AIV V, but stands in the stream of AIV MTE3}}
      pto.tneg ins(%t : !pto.tile_buf<vec, 16x64xf32>) outs(%t : !pto.tile_buf<vec, 16x64xf32>)
      return
    }
  }
}

// -----

module {
  module @k attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    func.func @v(%x: f32) attributes {pto.pipe = #pto.pipe<PIPE_V>} {
      // expected-error @below {{has no instruction on a3}}
      %y = math.sqrt %x : f32
      return
    }
  }
}

// -----

module {
  module @k attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    func.func @v(%n: index, %x: !pto.ptr<f32>) attributes {pto.pipe = #pto.pipe<PIPE_V>} {
      %c0 = arith.constant 0 : index
      // expected-error @below {{hands on a value of type '!pto.ptr<f32>', command streams hand on numbers and tiles only}}
      %r = scf.for %i = %c0 to %n step %n iter_args(%s = %x) -> !pto.ptr<f32> {
        scf.yield %s : !pto.ptr<f32>
      }
      return
    }
  }
}

// -----

module {
  module @k attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    func.func @v(%n: index) attributes {pto.pipe = #pto.pipe<PIPE_V>} {
      %c5 = arith.constant 5 : index
      // expected-error @below {{is unsigned and its 64-bit operands are not known to be non-negative}}
      %r = arith.remui %n, %c5 : index
      return
    }
  }
}

// -----

// A column of a row-major tile has a pitch other than its length.
module {
  module @k attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    func.func @v() attributes {pto.pipe = #pto.pipe<PIPE_V>} {
      %a = arith.constant 0 : i64
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %t = pto.alloc_tile addr = %a : !pto.tile_buf<vec, 16x64xf32>
      // expected-error @below {{a row-major tile can only be cut into whole rows}}
      %s = pto.subset %t[%c0, %c32] sizes [16, 32] : !pto.tile_buf<vec, 16x64xf32>
      return
    }
  }
}
