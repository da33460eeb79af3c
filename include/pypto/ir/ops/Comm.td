//===- Comm.td - Ranks, windows, signals --------------------------------------===//
//
// `pypto.language.distributed` has these under upstream's names: pld.system.notify is comm.notify.
//
//===----------------------------------------------------------------------===//

#ifndef PYPTO_COMM
#define PYPTO_COMM

include "pypto/ir/ops/OpBase.td"

class Comm<string n, dag p, Rule r, string b, string s> : PlOp<n, p, r, b> {
  let spaces = ["comm"];
  let summary = s;
}
def : Comm<"world_size", (ops), RuleIndex, "", "ranks of the program; of its host level">;
def : Comm<"alloc_window_buffer", (ops Tuple:$shape, Kw<"dtype", "INT8">:$dtype), RuleWindow, "", "memory that every rank has a copy of, zero at first; of the host level">;
def : Comm<"window", (ops Tensor:$buffer, Tuple:$shape, Kw<"dtype">:$dtype), RuleWindow, "", "the rank's copy of a window buffer as a tensor; of the host level">;
def : Comm<"get_comm_ctx", (ops Tensor:$tensor), RuleLike, "", "the group of ranks that have a copy of a window">;
class Rank<string n, string s> : Comm<n, (ops Tensor:$ctx), RuleIndex, "", s> {
  let element = "INT32";
}
def : Rank<"rank", "number of this rank">;
def : Rank<"nranks", "how many ranks there are">;
def : Comm<"notify", (ops Tensor:$target, Index:$peer, Tuple:$offsets, Index:$value, Kw<"NotifyOp", "AtomicAdd">:$op), RuleNone, "comm.tnotify", "sets a signal cell of a peer, or adds to it, after all earlier writes">;
def : Comm<"wait", (ops Tensor:$signal, Tuple:$offsets, Index:$expected, Kw<"WaitCmp", "Eq">:$cmp), RuleNone, "comm.twait", "waits until a signal cell of this rank is expected, or at least that">;
def : Comm<"defer_wait", (ops Tensor:$signal, Tuple:$offsets, Index:$expected, Kw<"WaitCmp", "Eq">:$cmp), RuleNone, "comm.twait", "as wait, but only tasks that depend on this one wait, and others begin">;
def : Comm<"remote_load", (ops Tensor:$target, Index:$peer, Tuple:$offsets, Tuple:$shape, TupleOpt:$valid_shape, Kw<"MemorySpace", "Vec">:$target_memory), RuleLoad, "tload", "the window of a peer's copy at offsets, as a tile">;
def : Comm<"remote_store", (ops Any:$tile, Tensor:$target, Index:$peer, Tuple:$offsets, Kw<"AtomicType", "None_">:$atomic), RuleNone, "tstore", "writes a tile, or what a kernel has computed, to a peer's copy">;
defvar CHUNKS = (ops Kw<"int", "0">:$chunk_rows, Kw<"int", "0">:$chunk_cols, Kw<"bool", "False">:$pipeline);
def : Comm<"put", !con((ops Tensor:$dst, Index:$peer, Tensor:$src, TupleOpt:$dst_offsets, TupleOpt:$src_offsets, TupleOpt:$shape, Kw<"AtomicType", "None_">:$atomic), CHUNKS), RuleLike, "", "writes src to the peer's copy of dst"> {
  let like = "dst";
}
def : Comm<"get", !con((ops Tensor:$dst, Index:$peer, Tensor:$src, TupleOpt:$dst_offsets, TupleOpt:$src_offsets, TupleOpt:$shape), CHUNKS), RuleLike, "", "writes the peer's copy of src to dst"> {
  let like = "dst";
}
def : Comm<"barrier", (ops Tensor:$signal), RuleLike, "", "all ranks meet; signal has a cell for each rank and is left as it was"> {
  let like = "signal";
}
class Collective<string n, dag p, string s> : Comm<n, p, RuleLike, "", s> {
  let like = "target";
}
def : Collective<"allreduce", (ops Tensor:$target, TensorOpt:$signal, Kw<"ReduceOp", "Sum">:$op, Kw<"str", "mesh">:$mode, Kw<"int", "1">:$core_num), "every copy of target becomes the sum (or product, ..) of all">;
def : Collective<"broadcast", (ops Tensor:$target, Tensor:$signal, Kw<"int">:$root), "every copy of target becomes that of root">;
def : Collective<"allgather", (ops Tensor:$local, Tensor:$target, Tensor:$signal), "every copy of target gets local of each rank, in their order">;
def : Collective<"reduce_scatter", (ops Tensor:$target, Tensor:$signal, Kw<"ReduceOp", "Sum">:$op), "of the parts of target, one for each rank, that of this rank becomes the sum over all copies">;
def : Collective<"all_to_all", (ops Tensor:$input, Tensor:$target, Tensor:$signal), "part p of input goes to rank p, where it is the part of this rank in target">;
def : Collective<"all_to_all_v", (ops Tensor:$input, Tensor:$target, Tensor:$signal, Tensor:$send_counts, Tensor:$recv_counts), "all_to_all; rank p gets send_counts[p], how many rows of its part are meant, in its recv_counts">;

#endif // PYPTO_COMM
