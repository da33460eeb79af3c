//===- System.td - Flags, barriers, pipes between cores, arrays --------------===//

#ifndef PYPTO_SYSTEM
#define PYPTO_SYSTEM

include "pypto/ir/ops/OpBase.td"

class System<string n, dag p, string b, string s> : PlOp<n, p, RuleNone, b> {
  let spaces = ["system"];
  let summary = s;
}
def : System<"sync_src", (ops Kw<"PipeType">:$set_pipe, Kw<"PipeType">:$wait_pipe, Kw<"int">:$event_id), "set_flag", "set_pipe raises an event for wait_pipe">;
def : System<"sync_dst", (ops Kw<"PipeType">:$set_pipe, Kw<"PipeType">:$wait_pipe, Kw<"int">:$event_id), "wait_flag", "wait_pipe waits for an event of set_pipe">;
def : System<"bar_v", (ops), "barrier", "all earlier work of the vector pipe is done">;
def : System<"bar_m", (ops), "barrier", "all earlier work of the cube pipe is done">;
def : System<"bar_all", (ops), "barrier", "all earlier work is done">;
def : System<"fence", (ops), "fence.barrier_all", "earlier writes to global memory come first for other cores">;
def : System<"cacheinvalid", (ops TensorOpt:$tensor, TupleOpt:$shapes, TupleOpt:$offsets), "cmo.cacheinvalid", "later reads see what other cores wrote">;
def : System<"sync_set", (ops Kw<"int">:$event_id, Kw<"PipeType">:$pipe, Kw<"int", "2">:$ffts_mode, Kw<"CoreType", "None">:$core_type), "sync.set", "raises an event for other cores">;
def : System<"sync_wait", (ops Kw<"int">:$event_id, Kw<"PipeType">:$pipe, Kw<"int", "2">:$ffts_mode, Kw<"CoreType", "None">:$core_type), "sync.wait", "waits for an event of other cores">;
def : System<"set_ffts", (ops Tensor:$workspace), "", "memory of the events between cores, which the device has itself">;
def : System<"syncall", (ops TensorOpt:$gm_workspace, IndexOpt:$used_cores, Kw<"str", "mix">:$core_type, Kw<"str", "hard">:$mode), "syncall", "all blocks meet">;

class Block<string n, string s> : PlOp<n, (ops), RuleIndex, n> {
  let summary = s;
}
def : Block<"get_block_idx", "index of this block in its launch">;
def : Block<"get_block_num", "blocks of the launch">;
def : Block<"get_subblock_idx", "index of this vector core in its block">;

class Push<string n, string s> : PlOp<n, (ops X:$tile, Kw<"int", "0">:$split, Kw<"int", "None">:$lane_stride, Kw<"int", "0">:$id), RuleNone, n> {
  let summary = s;
}
class Pop<string n, string space, string s> : PlOp<n, (ops Tuple:$shape, Kw<"dtype">:$dtype, Kw<"int", "0">:$split, Kw<"int", "None">:$lane_stride, Kw<"int", "0">:$id, Kw<"MemorySpace", space>:$target_memory), RuleShape, n> {
  let summary = s;
}
class Free<string n, string s> : PlOp<n, (ops X:$tile, Kw<"int", "0">:$split, Kw<"int", "0">:$id), RuleNone, n> {
  let summary = s;
}
def : Push<"tpush_to_aiv", "hands a tile to the vector cores">;
def : Push<"tpush_to_aic", "hands a tile to the cube core">;
def : Pop<"tpop_from_aic", "Vec", "the next tile from the cube core">;
def : Pop<"tpop_from_aiv", "Mat", "the next tile from the vector cores">;
def : Free<"tfree_to_aic", "gives a slot back to the cube core">;
def : Free<"tfree_to_aiv", "gives a slot back to the vector cores">;

class Lanes<string n, Rule r, string s> : PlOp<n, (ops X:$x, IndexOpt:$lane, Kw<"SplitMode", "NONE">:$mode), r>, Both {
  let summary = s;
}
def : Lanes<"aiv_shard", RuleShard, "what a vector core has of a value of the cube core, in pl.split_aiv">;
def : Lanes<"aic_gather", RuleJoin, "what the cube core gets of the values of both vector cores, in pl.split_aiv">;

class InitializePipe<string n> : PlOp<n, (ops IndexOpt:$c2v_consumer_buf, IndexOpt:$v2c_consumer_buf, Kw<"int">:$dir_mask, Kw<"int">:$slot_size, Kw<"int", "None">:$slot_num, Kw<"int", "None">:$local_slot_num, Kw<"int", "0">:$id), RuleNone, n> {
  let spaces = ["system"];
  let aliases = ["pl." # n];
  let summary = "a queue of slots between the cores of a block; dir_mask is 1 cube to vector, 2 vector to cube, 3 both";
}
def : InitializePipe<"aic_initialize_pipe">;
def : InitializePipe<"aiv_initialize_pipe">;
class Scalar_<string n, dag p, string e, string b, string s> : PlOp<n, p, RuleIndex, b> {
  let spaces = ["system"];
  let element = e;
  let aliases = ["pl." # n];
  let summary = s;
}
def : Scalar_<"reserve_buffer", (ops Kw<"str">:$name, Kw<"int">:$size, Kw<"int", "None">:$base), "INT32", "reserve_buffer", "the address of a named buffer that a peer can import">;
def : Scalar_<"import_peer_buffer", (ops Kw<"str">:$name, Kw<"str">:$peer_func), "INT32", "import_reserved_buffer", "the address of a buffer that another function reserved">;
def : Scalar_<"available_cluster_count", (ops), "INT32", "", "cube cores of this device">;
def : Scalar_<"available_aiv_count", (ops), "INT32", "", "vector cores of this device">;
def : Scalar_<"task_invalid", (ops), "TASK_ID", "", "no task">;
def : Scalar_<"task_dummy", (ops AnyOpt:$deps), "TASK_ID", "", "a task without work that ends behind the tasks of `deps`">;

class Array_<string n, dag p, Rule r, string b, string s> : PlOp<n, p, r, b> {
  let spaces = ["array"];
  let summary = s;
}
def : Array_<"create", (ops Index:$extent, Kw<"dtype">:$dtype), RuleArray, "declare_local_array", "an array of scalars">;
def : Array_<"get_element", (ops Array:$array, Index:$index), RuleElement, "local_array_get", "one element">;
def : Array_<"update_element", (ops Array:$array, Index:$index, Scalar:$value), RuleLike, "local_array_set", "the array with one element replaced">;

#endif // PYPTO_SYSTEM
