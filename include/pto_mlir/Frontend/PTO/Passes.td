//===- Passes.td - lowering of hand-written .pto text -----------------------------------------------------===//
#ifndef PTO_MLIR_FRONTEND_PTO_PASSES_TD
#define PTO_MLIR_FRONTEND_PTO_PASSES_TD

include "mlir/Pass/PassBase.td"

def PTOCheckLevel : Pass<"pto-check-level", "::mlir::ModuleOp"> {
  let summary = "reject ops that the level of a .pto does not allow";
  let description = [{
    Levels 1 and 2 leave addresses to the planner: no `addr`, no `tassign`, no `reserve_buffer` with a base. At level 3 every
    `alloc_tile` has an address. A function marked `pto.entry` (or the only one that is defined) has no results, and there is no
    recursion. Padding operands of `tload` are rejected: no instruction implements them.
  }];
  let options = [Option<"level", "level", "int64_t", "2", "1, 2 or 3">];
}

def PTOCheckQueues : Pass<"pto-check-queues", "::mlir::ModuleOp"> {
  let summary = "reject queues whose two sides are inconsistent";
  let description = [{
    Ops that open a queue on the same reserved buffer (`reserve_buffer` on one side, `import_reserved_buffer` on the other) are its two
    sides. All their pushes, pops and frees must have split 0, or all split 1 or 2, consistent with `nosplit`. Without a `flag_base` the
    local address must be that of a reserved buffer, and the other side must exist.
  }];
}

def PTOConvertMemRefs : Pass<"pto-convert-memrefs", "::mlir::ModuleOp"> {
  let summary = "convert memref operands of tile ops to tiles, pointers and views";
  let description = [{
    A `memref.alloc` in a local memory becomes an `alloc_tile` whose rows are all dimensions but the last, in the layout given by a
    `bind_tile` of it, else in the one expected by the instructions of its memory. An argument in global memory becomes a `!pto.ptr` with a
    view of the memref's sizes and strides; `memref.reinterpret_cast` of it becomes a view. A memref with other users is kept.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::pto_mlir::pto::PTODialect"];
}

def PTOBindScales : Pass<"pto-bind-scales", "::mlir::ModuleOp"> {
  let summary = "distinguish scales of matrix products from fixpipe descriptors";
  let description = [{
    The text uses the address space `scaling` for both. A tile used as scales of a product gets the attribute `pto.scales` ("left" or
    "right") on its `alloc_tile`, which determines its memory and the engine that fills it. Tiles bound to one operand by
    `tget_scale_addr` become one tile. A `textract` into scales without users is erased.
  }];
}

def PTODropSigns : Pass<"pto-drop-signs", "::mlir::ModuleOp"> {
  let summary = "convert unsigned scalars to signless integers";
  let description = [{
    Values and arguments only; element types of tiles, views and pointers keep their signedness, which instructions depend on.
    An `unrealized_conversion_cast` from i32 to ui32 becomes an identity and is erased.
  }];
}

def PTOInferLayout : Pass<"pto-infer-layout", "::mlir::ModuleOp"> {
  let summary = "infer the layout of every view of global memory";
  let description = [{
    A view whose sizes and strides are constants is nz when its last dimensions are [.., 16, c0] of 512 bytes in one run, dn
    when its columns are contiguous, else nd. A view of one column, which is both dn and nd, is dn when a column-major tile is moved to or from it.
    A conflicting layout in the text is an error.
  }];
}

def PTOLowerEvents : Pass<"pto-lower-events", "::mlir::ModuleOp"> {
  let summary = "lower record_event, wait_event and barrier_sync to flags and barriers of engines";
  let description = [{
    ```mlir
    pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, <EVENT_ID0>]
    // becomes
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    ```
  }];
}

def PTOJoinCores : Pass<"pto-join-cores", "::mlir::ModuleOp"> {
  let summary = "join functions for cube and vector cores to kernels; queues as values";
  let description = [{
    `aic_initialize_pipe`, `aiv_initialize_pipe` and their pushes, pops and frees become `initialize_l2g2l_pipe`, `tpush`, `tpop` (of a
    `declare_tile`) and `tfree`; queues without a `flag_base` get one, the same on both sides. Two functions that share a queue's reserved buffer
    become parts of one kernel, named after the cube core's; tile arguments of a kernel become local tiles; the bodies of functions that are called become sections.
    `set_ffts` is erased with its argument, since the device owns the semaphores. Queues from core to core (l2l) are rejected.
  }];
  let options = [Option<"addressed", "addressed", "bool", "false", "tile addresses are in the text (level 3)">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PTOQueuesForLibrary : Pass<"pto-queues-for-library", "::mlir::ModuleOp"> {
  let summary = "queues as the C++ library has them";
  let description = [{
    Queues become values, as by pto-join-cores, and `nosplit` where their tiles are whole; the functions stay. Reserved buffers, which
    pto-place-reserved has placed, become numbers. With whole tiles the first vector core of a block alone stores; where engines await flags
    of one core (a5), the library serves that core only, so it alone runs the function. What the library divides otherwise is an error: odd
    extents on the way to the cube core, whole tiles beside halves in one function of a5.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def PTOOrderCores : Pass<"pto-order-cores", "::mlir::ModuleOp"> {
  let summary = "synchronise the cores of a kernel written without cores";
  let description = [{
    A function without sections, queues and inter-core flags is written as if one core had all engines; its cube and vector cores exchange data
    through global memory. A barrier of the two cores (each sets a flag for the other and waits for the other's) is inserted before an op with a hazard
    against the other core's accesses since the last barrier, and at the end of loops with accesses of both. `pto.ordered` marks the function.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PTOSplitCores : Pass<"pto-split-cores", "::mlir::ModuleOp"> {
  let summary = "split functions by kind of core";
  let description = [{
    A function without `pto.kernel_kind` becomes one or two functions with it. Ops in `section.cube` or `section.vector` go to
    that core; others go to the core that has their engine and tiles; scalar code goes to both. `pto.part_of` names the kernel of a
    part. Calls must have been inlined; private functions and functions with results are not kernels and are erased.
    A vector kernel written for one core (no `get_subblock_idx`, no queues, no semaphores) is executed by the first vector core of each block.
    With a cube part or semaphores, which count both vector cores, both execute it but only the first stores; after pto-order-cores the second only synchronises.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def PTOHideHelpers : Pass<"pto-hide-helpers", "::mlir::ModuleOp"> {
  let summary = "make called functions private";
  let description = [{
    A called function is not a kernel unless marked as one (`pto.entry`, `hacc.entry`); as a private function it is erased after inlining.
  }];
}

def PTOCheckControlFlow : Pass<"pto-check-control-flow", "::mlir::ModuleOp"> {
  let summary = "reject control flow that command streams cannot express";
  let description = [{ The remaining control flow must be `scf.for`, `scf.while` and `scf.if`: regions of one block, and no `scf.parallel`. }];
}

def PTOSimplifyRegions : Pass<"pto-simplify-regions", "::mlir::ModuleOp"> {
  let summary = "lower scf.index_switch to scf.if, and inline scf.execute_region with one block";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

#endif
