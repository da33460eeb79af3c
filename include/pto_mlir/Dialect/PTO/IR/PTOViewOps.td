//===- PTOViewOps.td - pointers and views of global memory ---------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOVIEWOPS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOVIEWOPS_TD

include "pto_mlir/Dialect/PTO/IR/PTOOpBase.td"

def PTO_MakeTensorViewOp : PTO_Op<"make_tensor_view", [Pure, AttrSizedOperandSegments,
    TypesMatchWith<"pointer and view have the same element type", "result", "ptr",
                   "::pto_mlir::pto::PtrType::get(::llvm::cast<::pto_mlir::pto::TensorViewType>($_self).getElementType())">]>,
      PTO_NamesMemory {
  let summary = "describe global memory behind a pointer as a tensor of rank 1 to 5";
  let description = [{
    Sizes and strides count elements, outermost dimension first. Example:
    `%v = pto.make_tensor_view %p, shape = [%c64, %c32], strides = [%c32, %c1] : !pto.tensor_view<64x32xf32>`
  }];
  let arguments = (ins PTO_PtrType:$ptr, Variadic<Index>:$shape, Variadic<Index>:$strides, OptionalAttr<PTO_LayoutAttr>:$layout);
  let results = (outs PTO_TensorViewType:$result);
  let assemblyFormat = [{
    $ptr `,` `shape` `=` `[` $shape `]` `,` `strides` `=` `[` $strides `]` attr-dict `:` qualified(type($result))
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$ptr, "::mlir::ValueRange":$shape, "::mlir::ValueRange":$strides), [{
    build($_builder, $_state, result, ptr, shape, strides, LayoutAttr());
  }]>];
  let hasVerifier = 1;
}

def PTO_PartitionViewOp : PTO_Op<"partition_view", [Pure, AttrSizedOperandSegments]>, PTO_NamesMemory {
  let summary = "a rectangular part of a tensor view";
  let description = [{
    `%p = pto.partition_view %v, offsets = [%r, %c0], sizes = [%c16, %c32] : !pto.tensor_view<64x32xf32> -> !pto.partition_tensor_view<16x32xf32>`
  }];
  let arguments = (ins PTO_TensorViewType:$source, Variadic<Index>:$offsets, Variadic<Index>:$sizes);
  let results = (outs PTO_PartitionTensorViewType:$result);
  let assemblyFormat = [{
    $source `,` `offsets` `=` `[` $offsets `]` `,` `sizes` `=` `[` $sizes `]` attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def PTO_GetTensorViewDimOp : PTO_Op<"get_tensor_view_dim", [Pure]>, PTO_NamesMemory {
  let summary = "size of one dimension of a view";
  let arguments = (ins PTO_TensorViewType:$view, Index:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$view `,` $dim attr-dict `:` qualified(type($view)) `->` type($result)";
}

def PTO_AddPtrOp : PTO_Op<"addptr", [Pure, AllTypesMatch<["ptr", "result"]>]>, PTO_NamesMemory {
  let summary = "advance a pointer by a number of elements";
  let arguments = (ins PTO_PtrType:$ptr, Index:$offset);
  let results = (outs PTO_PtrType:$result);
  // The one op whose types are printed stripped (`<f32> -> <f32>`), as the assembler does; both texts are read.
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($ptr) `->` type($result)";
}

def PTO_LoadScalarOp : PTO_PipeOp<"load_scalar", "PIPE_S">, PTO_Insns<["LOAD_SCALAR"]>, PTO_Cpp<["$ptr[$offset]"]> {
  let ownTypes = "pointers have any element type";
  let summary = "read one element of global memory";
  let arguments = (ins Arg<PTO_PtrLike, "read", [MemRead]>:$ptr, Index:$offset);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$ptr `[` $offset `]` attr-dict `:` qualified(type($ptr)) `->` type($value)";
  let hasVerifier = 1;
}

def PTO_StoreScalarOp : PTO_PipeOp<"store_scalar", "PIPE_S">, PTO_Insns<["STORE_SCALAR"]>, PTO_Cpp<["$ptr[$offset] = $value"]> {
  let ownTypes = "pointers have any element type";
  let summary = "write one element of global memory";
  let arguments = (ins Arg<PTO_PtrLike, "written", [MemWrite]>:$ptr, Index:$offset, AnyType:$value);
  let assemblyFormat = "$value `,` $ptr `[` $offset `]` attr-dict `:` qualified(type($ptr)) `,` type($value)";
  let hasVerifier = 1;
}

#endif
