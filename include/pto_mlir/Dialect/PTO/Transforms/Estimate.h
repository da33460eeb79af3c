//===- Estimate.h - what a kernel takes, from its pto ops -----------------*- C++ -*-===//
//
// The one answer to "what would it cost": choosers that can build a candidate ask here before they keep it, and
// pto-estimate writes it beside every kernel. docs/timing.md says what it knows and what not.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_TRANSFORMS_ESTIMATE_H
#define PTO_MLIR_DIALECT_PTO_TRANSFORMS_ESTIMATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace pto_mlir::pto {

/// On a kernel function: cycles of a launch.
inline constexpr llvm::StringLiteral kEstimateAttr = "pto.estimate";

/// On an argument of a kernel function: the argument, itself or one before it, whose number stands for their common
/// tensor, and where in it this one begins, in bytes.
inline constexpr llvm::StringLiteral kSliceOfAttr = "pto.slice_of";

/// The functions of each kernel of a module, one per kind of core, by the name that launches have.
llvm::MapVector<mlir::StringAttr, llvm::SmallVector<mlir::func::FuncOp>> kernelParts(mlir::ModuleOp module);

/// Cycles of a launch on `blocks` blocks of the kernel whose functions (one per kind of core) these are, without what
/// every launch costs. Tiles need no addresses, engines no flags: a copy gets them. Nothing where a loop depends on
/// what lies in memory, or an op is no instruction of the table.
std::optional<double> estimateCycles(llvm::ArrayRef<mlir::func::FuncOp> parts, int64_t blocks);

} // namespace pto_mlir::pto

#endif
