//===- Movement.td - Creation, loads, stores, moves, views -----------------===//

#ifndef PYPTO_MOVEMENT
#define PYPTO_MOVEMENT

include "pypto/ir/ops/OpBase.td"

def : PlOp<"load", (ops Tensor:$tensor, Tuple:$offsets, Tuple:$shapes, TupleOpt:$valid_shape, Kw<"MemorySpace", "Vec">:$target_memory, Kw<"bool", "False">:$clamp), RuleLoad, "tload"> {
  let summary = "the window of a tensor at offsets, as a tile";
}
def : PlOp<"store", (ops X:$tile, Tuple:$offsets, Tensor:$out, TupleOpt:$shapes, Kw<"AtomicType", "None_">:$atomic, Kw<"bool", "False">:$relu), RuleLike, "tstore"> {
  let like = "out";
  let summary = "writes a tile to the window of out at offsets; relu, for tiles in Acc: the greater of it and 0; the result is out";
}
def : PlOp<"create", (ops Tuple:$shape, Kw<"dtype">:$dtype, Kw<"MemorySpace", "Vec">:$target_memory, Kw<"bool", "False">:$transpose, Kw<"bool", "False">:$flat_layout), RuleShape, "alloc_tile"> {
  let aliases = ["tile.create_tile", "pl.create_tile"];
  let summary = "a tile whose elements nobody has written";
}
def : PlOp<"create_tensor", (ops Tuple:$shape, Kw<"dtype">:$dtype, Kw<"TensorLayout", "ND">:$layout, Kw<"bool", "False">:$manual_dep, Kw<"number", "None">:$init_value), RuleShape> {
  let spaces = ["tensor"];
  let aliases = ["tensor.create", "pl.create_tensor"];
  let summary = "a tensor in global memory";
}
def : PlOp<"create_l1", (ops Tuple:$shape, Kw<"dtype">:$dtype, Kw<"bool", "False">:$transpose, Kw<"MemorySpace", "Mat">:$target_memory), RuleShape, "alloc_tile"> {
  let aliases = ["pl.create_l1"];
  let summary = "a tile in Mat";
}
def : PlOp<"full", (ops Tuple:$shape, Kw<"dtype">:$dtype, Scalar:$value), RuleShape, "texpands">, Both {
  let aliases = ["pl.full"];
  let summary = "all elements value";
}
def : PlOp<"move", (ops X:$tile, Kw<"MemorySpace">:$target_memory, Kw<"TileLayout", "None">:$blayout, Kw<"TileLayout", "None">:$slayout), RuleMove, "tmov"> {
  let summary = "a copy in another memory space";
}
def : PlOp<"assemble", (ops X:$target, X:$source, Tuple:$offset, Kw<"AtomicType", "None_">:$atomic), RuleLike, "">, Both {
  let summary = "target with the window at offset replaced by source";
}
def : PlOp<"slice", (ops X:$x, Tuple:$shape, Tuple:$offset, TupleOpt:$valid_shape, TupleOpt:$drop_dims, Kw<"PadValue", "null">:$pad_value, Kw<"bool", "False">:$clamp), RuleView, "subview">, Both {
  let summary = "a window of x";
}
def : PlOp<"extract", (ops X:$src, Index:$row, Index:$col, Tuple:$shape, Kw<"MemorySpace">:$target_memory), RuleShape, "textract"> {
  let summary = "a copy of a window of src in another memory space";
}
def : PlOp<"img2col", (ops X:$src, Index:$row, Index:$col, Tuple:$shape, Tuple:$kernel, Tuple:$strides, Tuple:$dilations, Tuple:$pads, Tuple:$image, Kw<"int">:$channels, Kw<"MemorySpace", "Left">:$target_memory), RuleShape, "timg2col"> {
  let summary = "the window at row, col of an image's columns, the left operand of a convolution; src is in Mat, a row for each point of image";
}
def : PlOp<"gather_row", (ops X:$dst, Any:$src, Tuple:$dst_offset, Tuple:$src_offset, Tuple:$shapes, TupleOpt:$valid_shape, Kw<"bool", "False">:$transpose), RuleLike, "tload">, Both {
  let summary = "dst with rows of src at dst_offset";
}
def : PlOp<"concat", (ops X:$a, X:$b), RuleConcat, "tconcat">, Both {
  let summary = "columns of a, then of b";
}
def : PlOp<"ci", (ops Scalar:$start, Tuple:$shape, Kw<"dtype", "INT32">:$dtype, Kw<"bool", "False">:$descending), RuleShape, "tci">, Both {
  let aliases = ["pl.arange", "tile.arange", "tensor.arange"];
  let summary = "start, start + 1, .. along columns; descending counts down";
}
def : PlOp<"tri", (ops Index:$diagonal, Tuple:$shape, TupleOpt:$valid_shape, Kw<"dtype", "INT32">:$dtype, Kw<"bool", "False">:$upper), RuleShape, "ttri"> {
  let aliases = ["pl.tri"];
  let summary = "1 on one side of a diagonal, 0 on the other";
}
def : PlOp<"random", (ops Scalar:$key0, Scalar:$key1, Scalar:$c0, Scalar:$c1, Scalar:$c2, Scalar:$c3, Tuple:$shape, TupleOpt:$valid_shape, Kw<"dtype", "UINT32">:$dtype, Kw<"int", "10">:$rounds), RuleShape, "trandom">, Both, OnA5 {
  let aliases = ["pl.random"];
  let summary = "a counter-based stream of random words";
}
def : PlOp<"fillpad", (ops X:$x, Kw<"PadValue", "zero">:$pad_value), RuleFill, "tfillpad">, Both {
  let summary = "x with its invalid part filled; all of it becomes valid";
}
def : PlOp<"fillpad_inplace", (ops X:$x, Kw<"PadValue", "zero">:$pad_value), RuleFill, "tfillpad"> {
  let summary = "fillpad in the same buffer";
}
def : PlOp<"fillpad_expand", (ops X:$x, Tuple:$shape, Kw<"PadValue", "zero">:$pad_value), RuleFill, "tfillpad_expand">, Both {
  let summary = "x in a larger box, filled";
}
def : PlOp<"read", (ops X:$x, Tuple:$indices), RuleElement, "tgetval">, Both {
  let summary = "one element";
}
def : PlOp<"write", (ops X:$x, Tuple:$indices, Scalar:$value), RuleLike, "tsetval">, Both {
  let summary = "x with one element replaced";
}
def : PlOp<"dim", (ops Tensor:$tensor, Index:$axis), RuleIndex> {
  let spaces = ["tensor"];
  let summary = "the extent of an axis at run time";
}
def : PlOp<"set_validshape", (ops X:$x, Index:$rows, Index:$cols), RuleValid, "set_validshape">, Both {
  let summary = "the same storage with another valid extent";
}
def : PlOp<"reshape", (ops X:$x, Tuple:$shape), RuleView, "treshape">, Both {
  let summary = "the same elements in row-major order as another shape";
}
def : PlOp<"transpose", (ops X:$x, Index:$axis1, Index:$axis2, XOpt:$tmp_tile), RuleTranspose, "ttrans">, Both {
  let summary = "a copy with two axes swapped";
}
def : PlOp<"transpose_view", (ops X:$tile), RuleTranspose> {
  let summary = "the same bytes read as transposed";
}
def : PlOp<"reinterpret_view", (ops X:$x, Kw<"dtype">:$dtype, TupleOpt:$shape), RuleReinterpret>, Both {
  let summary = "the same bytes as elements of another type";
}
def : PlOp<"view", (ops Tensor:$tensor, TupleOpt:$shape, TupleOpt:$valid_shape, Kw<"TensorLayout", "ND">:$layout), RuleView> {
  let spaces = ["tensor"];
  let summary = "the same memory with another shape or layout";
}

#endif // PYPTO_MOVEMENT
