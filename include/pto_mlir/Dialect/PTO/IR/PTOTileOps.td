//===- PTOTileOps.td - allocation and aliases of tiles -------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOTILEOPS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOTILEOPS_TD

include "pto_mlir/Dialect/PTO/IR/PTOOpBase.td"

def PTO_AllocTileOp : PTO_Op<"alloc_tile", [AttrSizedOperandSegments]>, PTO_NamesMemory {
  let summary = "a tile of local memory";
  let description = [{
    Without `addr` the planner chooses the address; `addr` is a byte offset in the memory of the tile. `valid_row` and
    `valid_col` are present exactly for the `?` of the type. May stand inside a loop.
    `%t = pto.alloc_tile valid_row = %n : !pto.tile_buf<vec, 32x64xf32, valid=?x64>`
  }];
  let arguments = (ins Optional<I64>:$addr, Optional<Index>:$valid_row, Optional<Index>:$valid_col);
  let results = (outs Res<PTO_TileBufType, "", [MemAlloc]>:$result);
  let assemblyFormat = [{
    (`addr` `=` $addr^)? (`valid_row` `=` $valid_row^)? (`valid_col` `=` $valid_col^)? attr-dict `:` qualified(type($result))
  }];
  let builders = [
    OpBuilder<(ins "TileBufType":$type), [{
      build($_builder, $_state, type, ::mlir::Value(), ::mlir::Value(), ::mlir::Value());
    }]>,
    OpBuilder<(ins "TileBufType":$type, "::mlir::Value":$validRow, "::mlir::Value":$validCol), [{
      build($_builder, $_state, type, ::mlir::Value(), validRow, validCol);
    }]>];
  let extraClassDeclaration = "TileBufType getTileType() { return ::llvm::cast<TileBufType>(getResult().getType()); }";
  let hasVerifier = 1;
}

def PTO_DeclareTileOp : PTO_Op<"declare_tile", [Pure]>, PTO_NamesMemory {
  let summary = "a tile without storage, for tpop and tassign";
  let results = (outs PTO_TileBufType:$result);
  let assemblyFormat = "attr-dict `->` qualified(type($result))";
}

def PTO_AllocMultiTileOp : PTO_Op<"alloc_multi_tile", [AttrSizedOperandSegments]>, PTO_NamesMemory {
  let summary = "local memory for tiles of one type that take turns";
  let description = [{
    `count` slots behind one another, each as large as one `alloc_tile`; operands as those of `alloc_tile`, the same for
    every slot. With `addr` a slot begins at every multiple of the tile's bytes behind it.
    `%m = pto.alloc_multi_tile : !pto.multi_tile_buf<vec, 32x64xf32, count=2>`
  }];
  let arguments = (ins Optional<I64>:$addr, Optional<Index>:$valid_row, Optional<Index>:$valid_col);
  let results = (outs Res<PTO_MultiTileBufType, "", [MemAlloc]>:$result);
  let assemblyFormat = [{
    (`addr` `=` $addr^)? (`valid_row` `=` $valid_row^)? (`valid_col` `=` $valid_col^)? attr-dict `:` qualified(type($result))
  }];
  let extraClassDeclaration = "TileBufType getTileType() { return getResult().getType().getSlotType(); }";
  let hasVerifier = 1;
}

class PTO_AliasOp<string mnemonic, list<Trait> traits = []>
    : PTO_Op<mnemonic, traits # [Pure, DeclareOpInterfaceMethods<PTO_AliasOpInterface>]>, PTO_NamesMemory;

def PTO_MultiTileGetOp : PTO_AliasOp<"multi_tile_get"> {
  let summary = "the tile in one slot of an alloc_multi_tile";
  let description = [{
    `%t = pto.multi_tile_get %m[%i] : !pto.multi_tile_buf<vec, 32x64xf32, count=2> -> !pto.tile_buf<vec, 32x64xf32>`, the
    slots counted from 0. In a loop, slot `iv mod count` lets an engine fill one slot while others still read another.
  }];
  let arguments = (ins PTO_MultiTileBufType:$source, Index:$slot);
  let results = (outs PTO_TileBufType:$result);
  let assemblyFormat = [{
    $source `[` $slot `]` attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def PTO_TAssignOp : PTO_AliasOp<"tassign"> {
  let summary = "the tile rebound to a byte address";
  let arguments = (ins PTO_TileBufType:$source, I64:$addr);
  let results = (outs PTO_TileBufType:$result);
  let assemblyFormat = "$source `,` $addr attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
}

def PTO_SubsetOp : PTO_AliasOp<"subset", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "a rectangular part of a tile";
  let description = [{
    `%s = pto.subset %t[%row, %col] sizes [8, 64] : !pto.tile_buf<vec, 32x64xf32>`. The result's type is inferred: its
    valid part is the overlap with the source's valid part. A column subset of an unboxed row-major tile loses the row
    pitch, so only full-width row subsets of such tiles mean what they say.
  }];
  let arguments = (ins PTO_TileBufType:$source, Variadic<Index>:$offsets, I64ArrayAttr:$sizes);
  let results = (outs PTO_TileBufType:$result);
  let assemblyFormat = "$source `[` $offsets `]` `sizes` $sizes attr-dict `:` qualified(type($source))";
  let builders = [OpBuilder<(ins "::mlir::Value":$source, "::mlir::ValueRange":$offsets, "::llvm::ArrayRef<int64_t>":$sizes), [{
    build($_builder, $_state, source, offsets, $_builder.getI64ArrayAttr(sizes));
  }]>];
  let hasVerifier = 1;
}

def PTO_SubViewOp : PTO_AliasOp<"subview", [AttrSizedOperandSegments]> {
  let summary = "a rectangular part of a tile, which keeps the pitch of the whole";
  let description = [{
    `%s = pto.subview %t[%row, %col] sizes [8, 64] valid [%n, %m] : !pto.tile_buf<vec, 32x128xf32> -> !pto.tile_buf<vec, 8x64xf32, valid=?x?>`.
    Without `valid` all of it is valid. The result's type may be left out; a valid extent that is a constant is then static.
  }];
  let arguments = (ins PTO_TileBufType:$source, Variadic<Index>:$offsets, Optional<Index>:$valid_row, Optional<Index>:$valid_col,
                       I64ArrayAttr:$sizes);
  let results = (outs PTO_TileBufType:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def PTO_TReshapeOp : PTO_AliasOp<"treshape", [PTO_PipeOpInterface]> {
  let summary = "the same bytes as a tile of another shape";
  let arguments = (ins PTO_TileBufType:$src);
  let results = (outs PTO_TileBufType:$result);
  let assemblyFormat = "$src attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
  let extraClassDeclaration = "Pipe getPipe() { return Pipe::PIPE_S; }";
  let hasVerifier = 1;
}

def PTO_BitcastOp : PTO_AliasOp<"bitcast"> {
  let summary = "the same bytes as a tile of another element type";
  let arguments = (ins PTO_TileBufType:$src);
  let results = (outs PTO_TileBufType:$result);
  let assemblyFormat = "$src attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def PTO_SetValidShapeOp : PTO_Op<"set_validshape">, PTO_NamesMemory {
  let summary = "set the valid part of a tile whose type says valid=?x?";
  let arguments = (ins Arg<PTO_TileBufType, "", [MemWrite]>:$source, Index:$valid_row, Index:$valid_col);
  let assemblyFormat = "$source `,` $valid_row `,` $valid_col attr-dict `:` qualified(type($source))";
  let hasVerifier = 1;
}

#endif
