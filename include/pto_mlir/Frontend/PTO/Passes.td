//===- Passes.td - from .pto text to the functions that every pto pass takes ------------------------------===//
#ifndef PTO_MLIR_FRONTEND_PTO_PASSES_TD
#define PTO_MLIR_FRONTEND_PTO_PASSES_TD

include "mlir/Pass/PassBase.td"

def PTOCheckLevel : Pass<"pto-check-level", "::mlir::ModuleOp"> {
  let summary = "refuse what the level of a .pto does not allow";
  let description = [{
    Levels 1 and 2 leave addresses to the planner: no `addr`, no `tassign`, no `reserve_buffer` with a base. At level 3 every
    `alloc_tile` has an address. A function marked `pto.entry` (or the only one that is defined) returns nothing, and no
    function calls itself. Operands of `tload` that ask for padding have no instruction.
  }];
  let options = [Option<"level", "level", "int64_t", "2", "1, 2 or 3">];
}

def PTOCheckQueues : Pass<"pto-check-queues", "::mlir::ModuleOp"> {
  let summary = "refuse queues whose two sides contradict";
  let description = [{
    Ops that open a queue on the same reserved buffer (`reserve_buffer` here, `import_reserved_buffer` there) are its two sides. All their
    pushes, pops and frees have split 0, or all have split 1 or 2, and `nosplit` says the same. Without a `flag_base` the local
    address is that of a reserved buffer, and the other side exists.
  }];
}

def PTOConvertMemRefs : Pass<"pto-convert-memrefs", "::mlir::ModuleOp"> {
  let summary = "memrefs at tile ops to tiles, pointers and views";
  let description = [{
    A `memref.alloc` in a local memory becomes an `alloc_tile` whose rows are all dimensions but the last, in the layout that a `bind_tile`
    of it names, else in the one that its memory's instructions expect. An argument in global memory becomes a `!pto.ptr` with a view of
    the memref's sizes and strides, `memref.reinterpret_cast` of it a view. A memref that another op uses stays.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::pto_mlir::pto::PTODialect"];
}

def PTOBindScales : Pass<"pto-bind-scales", "::mlir::ModuleOp"> {
  let summary = "tell the scales of products from the fixpipe's descriptors";
  let description = [{
    The text calls both `scaling`. A tile that products take scales from gets the attribute `pto.scales` ("left" or "right") on its
    `alloc_tile`, which decides about its memory and the engine that fills it. Tiles that `tget_scale_addr` binds to one operand become one
    tile. A `textract` into scales that no product takes goes.
  }];
}

def PTODropSigns : Pass<"pto-drop-signs", "::mlir::ModuleOp"> {
  let summary = "scalars of ui8 to ui64 to signless integers";
  let description = [{
    Values and arguments only; element types of tiles, views and pointers keep their sign, which decides how an instruction reads them.
    An `unrealized_conversion_cast` from i32 to ui32 is then from i32 to i32 and goes.
  }];
}

def PTOInferLayout : Pass<"pto-infer-layout", "::mlir::ModuleOp"> {
  let summary = "give every view of global memory a layout";
  let description = [{
    A view whose sizes and strides are constants is nz when its last dimensions are [.., 16, c0] of 512 bytes in one run, dn
    when its columns are contiguous, else nd. A view of one column, which is both, is dn when a column-major tile is moved to or from it.
    A layout in the text that contradicts is an error.
  }];
}

def PTOLowerEvents : Pass<"pto-lower-events", "::mlir::ModuleOp"> {
  let summary = "record_event, wait_event and barrier_sync to flags and barriers of engines";
  let description = [{
    ```mlir
    pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, <EVENT_ID0>]
    // becomes
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    ```
  }];
}

def PTOJoinCores : Pass<"pto-join-cores", "::mlir::ModuleOp"> {
  let summary = "functions for both kinds of core that make one kernel; queues as values";
  let description = [{
    `aic_initialize_pipe`, `aiv_initialize_pipe` and their pushes, pops and frees become `initialize_l2g2l_pipe`, `tpush`, `tpop` (of a
    `declare_tile`) and `tfree`; queues without a `flag_base` get one, the same on both sides. Two functions that share a queue's reserved buffer
    become parts of one kernel, named after the cube core's; a kernel's tile arguments become tiles of its own; where another function calls them, their bodies go into sections.
    `set_ffts` vanishes with its argument: the device keeps the semaphores. Queues from core to core (l2l) are refused.
  }];
  let options = [Option<"addressed", "addressed", "bool", "false", "the text has the addresses of tiles (level 3)">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PTOOrderCores : Pass<"pto-order-cores", "::mlir::ModuleOp"> {
  let summary = "order the cores of a kernel whose text names none";
  let description = [{
    A function without sections, queues and flags between cores is written as if one core had all engines; what its cube and its vector core store for each other
    goes through global memory. Before an op of one core that touches what the other has touched since they last met, one of them writing, and at the end
    of loops that hold both, the two meet: each raises a flag for the other and waits for the other's. `pto.ordered` marks the function.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PTOSplitCores : Pass<"pto-split-cores", "::mlir::ModuleOp"> {
  let summary = "one function per kind of core";
  let description = [{
    A function without `pto.kernel_kind` becomes one or two with it. What stands in `section.cube` or `section.vector` goes to
    that core; elsewhere an op goes to the core that has its engine and its tiles; scalar code goes to both. The parts of a
    kernel are named by `pto.part_of`. Calls are inlined before; private functions and functions with results, which are no kernels, vanish.
    A vector kernel that knows of one core only (no `get_subblock_idx`, no queues, no semaphores) is executed by the first vector core of each block;
    beside a cube core or with semaphores, which count both vector cores, the first one stores; after pto-order-cores the second one only meets.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def PTOHideHelpers : Pass<"pto-hide-helpers", "::mlir::ModuleOp"> {
  let summary = "make functions private that other functions call";
  let description = [{
    Such a function is no kernel unless it is marked as one (`pto.entry`, `hacc.entry`); private, it vanishes once its calls are inlined.
  }];
}

def PTOCheckControlFlow : Pass<"pto-check-control-flow", "::mlir::ModuleOp"> {
  let summary = "refuse control flow that has no form in command streams";
  let description = [{ What remains must be `scf.for`, `scf.while` and `scf.if`: regions of one block, and no `scf.parallel`. }];
}

def PTOSimplifyRegions : Pass<"pto-simplify-regions", "::mlir::ModuleOp"> {
  let summary = "scf.index_switch to scf.if, scf.execute_region of one block to its ops";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

#endif
