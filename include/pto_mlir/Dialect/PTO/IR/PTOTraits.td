//===- PTOTraits.td - relations between the operands of pto ops ---------------===//
//
// Each trait is verified once, in PTOTraits.cpp, over the tile_buf operands of the op; operands of other types are left
// alone, as the assembler leaves them alone.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOTRAITS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOTRAITS_TD

include "mlir/IR/OpBase.td"

class PTO_Trait<string name> : NativeOpTrait<name> { let cppNamespace = "::pto_mlir::pto"; }

/// tile_row_major: every tile has blayout row_major.
def PTO_RowMajor : PTO_Trait<"RowMajorTiles">;
/// tile_same_dtype: all tiles have one element type.
def PTO_SameDType : PTO_Trait<"SameElementTypeTiles">;
/// tile_same_valid: all tiles have one valid shape; a dynamic extent equals anything.
def PTO_SameValid : PTO_Trait<"SameValidTiles">;
/// only_a5: the op exists on a5 only.
def PTO_OnlyA5 : PTO_Trait<"OnlyOnA5">;
/// dst_not_src: the destination is none of the sources.
def PTO_DistinctDst : PTO_Trait<"DistinctDestination">;

/// no operand is a tile without elements.
def PTO_FilledTiles : PTO_Trait<"FilledTiles">;

#endif
