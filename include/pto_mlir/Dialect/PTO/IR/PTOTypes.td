//===- PTOTypes.td - types of the pto dialect ----------------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOTYPES_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOTYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "pto_mlir/Dialect/PTO/IR/PTOBase.td"
include "pto_mlir/Dialect/PTO/IR/PTOAttrs.td"

class PTO_Type<string name, string typeMnemonic> : TypeDef<PTO_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def PTO_PtrType : PTO_Type<"Ptr", "ptr"> {
  let summary = "Pointer into global memory: `!pto.ptr<f32>`";
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$elementType), [{
    return $_get(elementType.getContext(), elementType);
  }]>];
}

class PTO_ViewType<string name, string typeMnemonic> : PTO_Type<name, typeMnemonic> {
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType), [{
    return $_get(elementType.getContext(), shape, elementType);
  }]>];
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    bool hasStaticShape() const { return !::llvm::is_contained(getShape(), ::mlir::ShapedType::kDynamic); }
  }];
}
def PTO_TensorViewType : PTO_ViewType<"TensorView", "tensor_view"> {
  let summary = "Whole tensor in global memory: `!pto.tensor_view<64x?xf32>`, rank 1 to 5";
}
def PTO_PartitionTensorViewType : PTO_ViewType<"PartitionTensorView", "partition_tensor_view"> {
  let summary = "Part of a tensor view, operand of tload and tstore";
}

def PTO_TileBufType : PTO_Type<"TileBuf", "tile_buf"> {
  let summary = "Two-dimensional tile in one of a core's local memories";
  let description = [{
    `rows` x `cols` is the allocated box, `valid` the part that instructions work on (`?` = known at run time only).
    Compact text `!pto.tile_buf<vec, 16x64xf32, valid=?x60, blayout=col_major>`: keys in any order, printed in the fixed
    order valid, blayout, slayout, fractal, pad, compact and only where they differ from the default. The positional text
    `<loc=vec, dtype=f32, rows=16, cols=64, v_row=.., v_col=.., blayout=.., slayout=.., fractal=.., pad=..>` is read too.
    A `left` tile takes its block layout from the architecture, whatever the text says.
  }];
  let parameters = (ins "AddressSpace":$loc, "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$elementType,
                        "int64_t":$validRows, "int64_t":$validCols, "BLayout":$bLayout, "SLayout":$sLayout,
                        "int32_t":$fractal, "PadValue":$pad, "CompactMode":$compact);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilderWithInferredContext<(ins "AddressSpace":$loc, "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$elementType,
                       CArg<"BLayout", "BLayout::row_major">:$bLayout, CArg<"SLayout", "SLayout::none_box">:$sLayout,
                       CArg<"int32_t", "512">:$fractal), [{
      return $_get(elementType.getContext(), loc, rows, cols, elementType, rows, cols, bLayout, sLayout, fractal,
                   PadValue::Null, CompactMode::Null);
    }]>];
  let extraClassDeclaration = [{
    bool hasDynamicValidRows() const { return ::mlir::ShapedType::isDynamic(getValidRows()); }
    bool hasDynamicValidCols() const { return ::mlir::ShapedType::isDynamic(getValidCols()); }
    bool hasStaticValid() const { return !hasDynamicValidRows() && !hasDynamicValidCols(); }
    bool isBoxed() const { return getSLayout() != SLayout::none_box; }
    bool isRowMajor() const { return getBLayout() == BLayout::row_major; }
    /// Copies with one property changed; `ShapedType::kDynamic` stands for `?`.
    TileBufType withValid(int64_t rows, int64_t cols) const;
    TileBufType withPad(PadValue pad) const;
    TileBufType withElementType(::mlir::Type type) const;
    TileBufType withShape(int64_t rows, int64_t cols) const;
  }];
}

def PTO_MultiTileBufType : PTO_Type<"MultiTileBuf", "multi_tile_buf"> {
  let summary = "Slots, 2 to 16, for tiles of one type";
  let description = [{
    `!pto.multi_tile_buf<vec, 16x64xf32, count=2>`: the text of the slots' `tile_buf`, then how many there are. The tile's
    type in full, `!pto.multi_tile_buf<!pto.tile_buf<..>, count=2>`, is read too.
  }];
  let parameters = (ins "TileBufType":$slotType, "int64_t":$count);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def PTO_EventIdArrayType : PTO_Type<"EventIdArray", "eventid_array"> {
  let summary = "Array of event ids that are chosen at run time";
  let parameters = (ins "int64_t":$size);
  let assemblyFormat = "`<` $size `>`";
}

def PTO_TileType : PTO_Type<"Tile", "tile"> {
  let summary = "A tile without a memory: `!pto.tile<16x64xf32>`; no op takes one";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
}
def PTO_PipeType : PTO_Type<"PipeHandle", "pipe"> {
  let summary = "Queue of tiles between the cube core and the vector cores";
}
def PTO_AsyncSessionType : PTO_Type<"AsyncSession", "async_session"> {
  let summary = "Session of asynchronous copies";
}
def PTO_AsyncEventType : PTO_Type<"AsyncEvent", "async_event"> {
  let summary = "End of one asynchronous copy";
}

//===- constraints -------------------------------------------------------------===//

def PTO_TileLike : Type<CPred<"::llvm::isa<::pto_mlir::pto::TileBufType, ::pto_mlir::pto::PartitionTensorViewType, "
                              "::mlir::MemRefType, ::mlir::RankedTensorType>($_self)">,
                        "tile_buf, partition_tensor_view, memref or ranked tensor">;
/// A scalar operand of a tile instruction: a signless integer or a float, never index.
def PTO_Scalar : Type<CPred<"(::llvm::isa<::mlir::IntegerType, ::mlir::FloatType>($_self))">, "integer or float scalar">;
def PTO_TileOrScalar : AnyTypeOf<[PTO_TileLike, PTO_Scalar]>;
def PTO_PtrLike : Type<CPred<"::llvm::isa<::pto_mlir::pto::PtrType, ::mlir::MemRefType>($_self)">, "ptr or memref">;

#endif
