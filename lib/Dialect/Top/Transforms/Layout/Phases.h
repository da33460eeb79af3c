//===- Phases.h - the phases of top-layout ----------------------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_LAYOUT_PHASES_H
#define PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_LAYOUT_PHASES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace pto_mlir::top::layout {

/// Marks the permutes back to NCHW that this pass made: those may move down
/// through other ops, while a permute of the model keeps its place and name.
constexpr llvm::StringLiteral kOwnAttr = "top.layout_boundary";

/// [N, C, spatial..] -> [N, spatial.., C] and back, as `perm` attributes.
llvm::SmallVector<int64_t> toChannelsLast(int64_t rank);
llvm::SmallVector<int64_t> toChannelsFirst(int64_t rank);

/// `value` permuted: in the store for a constant, else by a top.permute.
mlir::Value permuted(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, llvm::ArrayRef<int64_t> perm);

/// A permute back to NCHW that the pass may move.
mlir::Value ownPermute(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);

/// The channels-last value under an own permute, or null.
mlir::Value underOwnPermute(mlir::Value value);

/// Location of the same tensor held channels-last.
mlir::Location channelsLastLoc(mlir::Location loc);

/// 1. Each op on feature maps computes channels-last, between two permutes.
void convertFeatureMaps(mlir::func::FuncOp func);

/// 2. Own permutes move down through ops that do not care, and cancel.
void populatePushPermutes(mlir::RewritePatternSet &patterns);

/// 3. A permute that moves only unit dimensions becomes a reshape; reshapes merge.
void populateReshapePermutes(mlir::RewritePatternSet &patterns);

} // namespace pto_mlir::top::layout

#endif // PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_LAYOUT_PHASES_H
