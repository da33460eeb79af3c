//===- Passes.td - passes inside the pto dialect --------------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_TRANSFORMS_PASSES_TD
#define PTO_MLIR_DIALECT_PTO_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PTOBindBlocks : Pass<"pto-bind-blocks", "::mlir::ModuleOp"> {
  let summary = "replace block queries by what is known when the number of blocks is fixed";
  let description = [{
    The number of blocks of a model is chosen when it is compiled, so kernels need not compute with it: `get_block_num` becomes a
    constant, `get_block_idx` too when there is one block, and the number of vector cores of a block is 2 in a vector kernel. Streams get
    shorter; a kernel that went through this pass must be launched on that many blocks.

    ```mlir
    %n = pto.get_block_num            // num-core=4
    // becomes
    %n = arith.constant 4 : i64
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [
    Option<"numCore", "num-core", "int64_t", "0", "Number of blocks of every launch; 0 leaves the queries in place">,
  ];
}

def PTOEstimate : Pass<"pto-estimate", "::mlir::ModuleOp"> {
  let summary = "write beside every kernel what it takes";
  let description = [{
    Each kernel function gets `pto.estimate`, the cycles of a launch without what every launch costs, as the simulator's timing mode
    would have it: the ops of a copy that has addresses and flags are walked through for every core, loop by loop (`estimateCycles`
    in Estimate.h, docs/timing.md). A kernel whose loops depend on what lies in memory gets none.

    ```mlir
    func.func @k(%arg0: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>, pto.estimate = 4.2e+02 : f64}
    ```
  }];
  let options = [
    Option<"numCore", "num-core", "int64_t", "1", "Number of blocks of every launch">,
  ];
}

def PTOMultiBuffer : Pass<"pto-multi-buffer", "::mlir::ModuleOp"> {
  let summary = "mark tiles that two halves of memory should serve in turn";
  let description = [{
    A tile that is allocated in an `scf.for`, is written before it is read in each trip, and is touched by more than one
    engine gets `pto.buffers = 2`, as long as all tiles of the function, so doubled, fit their memory: one engine may then
    fill a half while another works on the other half. Where not all fit, those of the innermost loops come first.
    Reserved buffers count as taken. Functions with flags or barriers of their own, and those that give a queue's buffer
    an address, are left alone.

    ```mlir
    scf.for %i = %c0 to %c8 step %c1 {
      %t = pto.alloc_tile {pto.buffers = 2 : i32} : !pto.tile_buf<vec, 16x64xf32>
    ```
  }];
}

def PTOPlanLocalMemory : Pass<"pto-plan-local-memory", "::mlir::ModuleOp"> {
  let summary = "give every alloc_tile its address";
  let description = [{
    Every tile gets its own bytes, in the order of first use, when all fit beside the reserved buffers; else tiles whose
    lifetimes do not overlap share bytes, and where that does not suffice the result of a vector instruction takes the
    bytes of an operand of its type that nobody reads afterwards. A tile with `pto.buffers = 2` gets two halves that alternate with the trips of its loop: the address is then
    computed in the loop, and the attribute `pto.base` keeps where the first half begins.

    The slots of a `pto.alloc_multi_tile` lie behind one another and live as long as any of them. Each `pto.multi_tile_get` becomes
    an `alloc_tile` at the address of its slot: with `pto.base` and `pto.buffers` where the slots take turns with the trips of its loop, with
    `pto.ring` (first byte and bytes of all slots) where its number is not known otherwise. See docs/rationale-sync.md.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [
    Option<"assemblerLimits", "assembler-limits", "bool", "false", "Where tiles exceed a core's memory as we use it, plan with the size that the public assembler uses">,
    Option<"sharedOnly", "shared-only", "bool", "false", "Place only tiles that the other kind of core writes">,
  ];
}

def PTOInsertSync : Pass<"pto-insert-sync", "::mlir::ModuleOp"> {
  let summary = "order the engines by flags";
  let description = [{
    Two ops of different engines that touch the same bytes, one of them writing, are ordered: a `set_flag` after the first
    and a `wait_flag` before the second, in the innermost block that holds both. In a loop the reverse order is kept by a
    second flag, raised once before the outermost loop and consumed once after it. Where the bytes belong to a tile of two
    halves, each half has a flag of its own (`set_flag_dyn`, `wait_flag_dyn`). See docs/rationale-sync.md.

    The pass proves that its flags order every two such ops and that none is raised twice, and drops those without which the
    proof still holds.

    A function that already has flags is left alone. Where control flow is not made of `scf.for` and `scf.if`, a
    `pto.barrier <PIPE_ALL>` follows each op instead.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PTOInsertBarriers : Pass<"pto-insert-barriers", "::mlir::ModuleOp"> {
  let summary = "order the ops of each engine by barriers";
  let description = [{
    For C++ of the ISA's library only: there an engine may begin an op before the one in front has ended, whereas the
    engines of a command stream work in order. Two ops of one engine that touch the same bytes, one of them writing, get a
    `pto.barrier` of that engine between them. S needs none. A function that has flags or barriers is left alone: its
    author ordered it. Runs before `pto-insert-sync`.
  }];
}

def PTOLowerCoreSync : Pass<"pto-lower-core-sync", "::mlir::ModuleOp"> {
  let summary = "sync.set and sync.wait to cross-core flags";
  let description = [{
    ```mlir
    pto.sync.wait <PIPE_V>, 3
    // becomes, on a3
    pto.cross_wait <PIPE_S>, %c3     // and a token from S for every other engine of the function
    ```
    On a3 `sync.set` has `ffts_mode` 2 unless it says otherwise. On a5 a set on FIX goes to both vector cores.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PTOSliceEngines : Pass<"pto-slice-engines", "::mlir::ModuleOp"> {
  let summary = "one function per engine";
  let description = [{
    `func @k` with a `pto.kernel_kind` becomes `module @k` of functions `@s @v @m @mte1 @mte2 @mte3 @fix`, each with the ops
    of its engine, the flags that the engine sets or waits for, and the loops and scalar code that these need. Engines
    without an op of their own vanish.
  }];
}

def PTOCheckSync : Pass<"pto-check-sync", "::mlir::ModuleOp"> {
  let summary = "execute the flags of sliced kernels and report what they leave unordered";
  let description = [{
    Interprets the scalar code of each engine's function for one core, matches sets with waits, and derives what happens
    before what. Reported as errors: conflicting accesses of two engines that nothing orders, a flag that may be raised
    twice, waits that are never served, flags that are left over.
  }];
  let options = [
    Option<"block", "block", "int64_t", "0", "Number of the block that is executed">,
    Option<"blockNum", "block-num", "int64_t", "1", "Number of blocks of the launch">,
    Option<"subblock", "subblock", "int64_t", "0", "Number of the vector core that is executed">,
  ];
}

def PTOPlaceReserved : Pass<"pto-place-reserved", "::mlir::ModuleOp"> {
  let summary = "give reserved buffers their addresses";
  let description = [{
    A `reserve_buffer` with `auto = true` gets the lowest multiple of 256 at which it meets no tile of its function; tiles must
    have their addresses. It becomes `auto = false` with that `base`, and grows where the tiles that queues put there need more.
  }];
}

def PTOLowerPipes : Pass<"pto-lower-pipes", "::mlir::ModuleOp"> {
  let summary = "queues between cores to slots in global memory and cross-core flags";
  let description = [{
    Works on functions with `pto.kernel_kind` whose reserved buffers have addresses. The n-th `tpush` stores its tile to slot n rem slots of the queue's
    global memory and raises flag F; the n-th `tpop` waits for F and loads into place n rem (local slots) of the consumer's buffer; `tfree` raises F + 1
    for every `period`-th tile (half of the slots), which the producer waits for before it overwrites a slot, and at its end. With both directions
    the one to the cube core uses F + 2, F + 3 and the second half of the memory. Split 1 or 2: each vector core moves its half of the rows or columns.
    Split 0: both vector cores get the whole tile, and what the kernel stores is stored by the first of them.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def PTOLowerBarriers : Pass<"pto-lower-barriers", "::mlir::ModuleOp"> {
  let summary = "a barrier of all engines to flags";
  let description = [{
    `pto.barrier <PIPE_ALL>` becomes a meeting: each engine of the function raises a flag to the first one, which waits for all of them and
    raises one back. Flag 7 of these pairs is taken for it; a function that uses it otherwise is refused. The barrier of one engine is
    nothing, because an engine executes in order.
  }];
}

#endif
