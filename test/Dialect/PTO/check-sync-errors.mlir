// RUN: pto-opt %s -split-input-file -pto-check-sync -verify-diagnostics

!T = !pto.tile_buf<vec, 8x8xf32>
// The load and the instruction that reads its tile are unordered.
module @race attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  func.func @v() attributes {pto.pipe = #pto.pipe<PIPE_V>} {
    %a = arith.constant 0 : i64
    %t = pto.alloc_tile addr = %a : !T
    // expected-note @below {{the other access}}
    pto.tabs ins(%t : !T) outs(%t : !T)
    return
  }
  func.func @mte2(%g: !pto.partition_tensor_view<8x8xf32>) attributes {pto.pipe = #pto.pipe<PIPE_MTE2>} {
    %a = arith.constant 32 : i64
    %t = pto.alloc_tile addr = %a : !T
    // expected-error @below {{nothing orders this access of mte2 and one of v}}
    pto.tload ins(%g : !pto.partition_tensor_view<8x8xf32>) outs(%t : !T)
    return
  }
}

// -----

module @forever attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  func.func @v() attributes {pto.pipe = #pto.pipe<PIPE_V>} {
    // expected-error @below {{waits for ever for flag (PIPE_MTE2, PIPE_V, 3)}}
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID3>]
    return
  }
}

// -----

// expected-error @below {{flag (PIPE_V, PIPE_MTE2, 0) is left raised at the end of the kernel}}
module @left attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  func.func @v() attributes {pto.pipe = #pto.pipe<PIPE_V>} {
    pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
    return
  }
}

// -----

// The producer may run one token ahead of its consumer.
module @twice attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  func.func @v() attributes {pto.pipe = #pto.pipe<PIPE_V>} {
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    return
  }
  func.func @mte2() attributes {pto.pipe = #pto.pipe<PIPE_MTE2>} {
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    // expected-error @below {{may raise flag (PIPE_MTE2, PIPE_V, 0) before its last wait is over}}
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    return
  }
}

// -----

module @step attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  func.func @v() attributes {pto.pipe = #pto.pipe<PIPE_V>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    // expected-error @below {{expects a positive step and no results}}
    scf.for %i = %c0 to %c4 step %c0 {
      pto.barrier <PIPE_V>
    }
    return
  }
}

// -----

// The first token is never consumed.
module @unconsumed attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  func.func @mte2() attributes {pto.pipe = #pto.pipe<PIPE_MTE2>} {
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    // expected-error @below {{raises twice flag (PIPE_MTE2, PIPE_V, 0)}}
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    return
  }
}
