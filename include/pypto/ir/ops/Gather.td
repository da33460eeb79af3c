//===- Gather.td - Sorting, gathering, scattering ---------------------------===//

#ifndef PYPTO_GATHER
#define PYPTO_GATHER

include "pypto/ir/ops/OpBase.td"

def : PlOp<"sort32", (ops X:$src, X:$idx), RuleSort32, "tsort32">, Both {
  let summary = "pairs of value and index, descending in groups of 32";
}
def : PlOp<"mrgsort", (ops X:$src0, XOpt:$src1, XOpt:$src2, XOpt:$src3, XOpt:$tmp, Kw<"bool", "False">:$exhausted, IndexOpt:$block_len), RuleMerge, "tmrgsort">, Both {
  let summary = "sorted runs merged: of one source by block_len, or of 2 to 4 sources";
}
def : PlOp<"gather", (ops X:$src, X:$idx, XOpt:$tmp), RuleGather, "tgather"> {
  let summary = "elements of src at flat indices";
}
def : PlOp<"gather_mask", (ops X:$src, Kw<"MaskPattern">:$mask_pattern, Kw<"dtype", "None">:$output_dtype), RuleEveryNth, "tgather"> {
  let summary = "the columns that a pattern selects";
}
def : PlOp<"gather_compare", (ops X:$src, Scalar:$kvalue, X:$tmp, Kw<"str", "eq">:$cmp_mode, Kw<"int", "0">:$offset, Kw<"int">:$out_cols, Kw<"dtype", "INT32">:$count_dtype), RuleIndicesCounts, "tgather"> {
  let summary = "indices of the elements that compare true, and how many";
}
def : PlOp<"gatherb", (ops X:$src, X:$byte_offsets, Kw<"dtype", "None">:$output_dtype), RuleBlocks, "tgatherb"> {
  let summary = "blocks of 32 bytes at byte offsets";
}
def : PlOp<"scatter", (ops X:$dst, X:$src, X:$idx), RuleLike, "tscatter"> {
  let summary = "dst with elements of src at flat indices";
}
def : PlOp<"scatter_mask", (ops X:$dst, X:$src, Kw<"MaskPattern">:$mask_pattern), RuleLike, "tscatter"> {
  let summary = "dst with the columns that a pattern selects taken from src";
}
def : PlOp<"gather", (ops X:$input, IndexOpt:$dim, XOpt:$index, ScalarOpt:$kvalue, Kw<"MaskPattern", "None">:$mask_pattern, Kw<"dtype", "None">:$output_dtype, Kw<"str", "eq">:$cmp_mode, Kw<"int", "None">:$out_cols, Kw<"int", "0">:$offset, Kw<"dtype", "INT32">:$count_dtype), RuleGatherAny> {
  let spaces = ["tensor"];
  let summary = "elements along dim at index, or the columns of a pattern, or the indices that compare true";
}
def : PlOp<"scatter", (ops X:$input, IndexOpt:$dim, XOpt:$index, XOpt:$src, XOpt:$dst, Kw<"MaskPattern", "None">:$mask_pattern), RuleScatterAny> {
  let spaces = ["tensor"];
  let summary = "input with elements of src along dim at index, or dst with the columns of a pattern taken from input";
}
def : PlOp<"scatter_update", (ops X:$input, Index:$dim, X:$index, X:$src), RuleLike>, Both {
  let summary = "input with rows of src at index";
}
def : PlOp<"mgather", (ops Tensor:$mem, Any:$idx, Kw<"str", "row">:$coalesce, TensorOpt:$scratch, TupleOpt:$valid_shape, Kw<"str", "undefined">:$gather_oob, Kw<"MemorySpace", "Vec">:$target_memory), RuleMemory> {
  let summary = "rows or elements of a tensor at indices";
}
def : PlOp<"mscatter", (ops X:$src, X:$idx, Tensor:$out), RuleLike, "mscatter"> {
  let like = "out";
  let summary = "writes elements to a tensor, whose elements the indices count";
}

#endif // PYPTO_GATHER
