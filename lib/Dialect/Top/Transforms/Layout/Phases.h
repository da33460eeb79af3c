//===- Phases.h - The phases of top-layout ----------------------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_LAYOUT_PHASES_H
#define PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_LAYOUT_PHASES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace pto_mlir::top::layout {

/// Marks permutes back to NCHW created by this pass. They may be sunk through other ops; a permute of the model keeps
/// its position and name.
constexpr llvm::StringLiteral kOwnAttr = "top.layout_boundary";

/// The order of dimensions in which feature maps are computed.
struct Order {
  /// Whether images are [N, W, H, C]: of a net whose images have any width, which stands outermost then
  /// (docs/sizes.md).
  bool columnsOuter = false;

  /// [N, C, spatial..] -> [N, spatial.., C] and back, as `perm` attributes.
  llvm::SmallVector<int64_t> toChannelsLast(int64_t rank) const;
  llvm::SmallVector<int64_t> toChannelsFirst(int64_t rank) const;
};

/// The order for a net: by the extents of its inputs that are known at run time.
Order orderFor(mlir::func::FuncOp func);

/// `value` permuted: a constant in the weight store, any other value by a top.permute.
mlir::Value permuted(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, llvm::ArrayRef<int64_t> perm);

/// Creates a permute back to NCHW that the pass may sink.
mlir::Value ownPermute(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, Order order);

/// The channels-last operand of a permute created by the pass, or null.
mlir::Value underOwnPermute(mlir::Value value, Order order);

/// Location of the same tensor held channels-last.
mlir::Location channelsLastLoc(mlir::Location loc);

/// 1. Converts ops on feature maps to channels-last, between two permutes.
void convertFeatureMaps(mlir::func::FuncOp func, Order order);

/// Whether a permute sinks through `op`, if the other operands allow it.
bool sinksThrough(mlir::Operation *op, Order order);

/// 2. Marks permutes of the model to channels-first that would cancel behind ops that they sink through, as the pass's
/// own. Returns the names of their results: those that no value has in the end are absorbed.
llvm::SmallVector<llvm::StringRef> adoptPermutes(mlir::func::FuncOp func, Order order);

/// 3. Sinks these permutes through layout-agnostic ops; inverse permutes cancel.
void populatePushPermutes(mlir::RewritePatternSet &patterns, Order order);

/// Likewise where a dimension goes into the batch or comes from it (top-decompose, of more than two spatial
/// dimensions).
void populateDepthPermutes(mlir::RewritePatternSet &patterns, Order order);

/// 4. Turns permutes that move only unit dimensions into reshapes, and merges reshapes.
void populateReshapePermutes(mlir::RewritePatternSet &patterns);

} // namespace pto_mlir::top::layout

#endif // PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_LAYOUT_PHASES_H
