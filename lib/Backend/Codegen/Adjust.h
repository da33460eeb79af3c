//===- Adjust.h - Where an instruction is not just its op's operands ------===//
//
// Called between the binding of operands and the encoding, for the ops whose definition says PTO_AdjustedInsn.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_BACKEND_CODEGEN_ADJUST_H
#define PTO_MLIR_LIB_BACKEND_CODEGEN_ADJUST_H

#include "pto_mlir/Backend/CodegenContext.h"

namespace pto_mlir::backend {

/// A product is as large as its operands say: a result's tile may hold more rows and columns than it gets here.
mlir::LogicalResult adjust(mlir::Operation *op, CodegenContext &cg, isa::TMatmul &insn);
mlir::LogicalResult adjust(mlir::Operation *op, CodegenContext &cg, isa::TMatmulAcc &insn);
/// Scales lie in the memory of their operand's side.
mlir::LogicalResult adjust(mlir::Operation *op, CodegenContext &cg, isa::TMatmulMx &insn);
mlir::LogicalResult adjust(mlir::Operation *op, CodegenContext &cg, isa::TMatmulMxAcc &insn);
mlir::LogicalResult adjust(mlir::Operation *op, CodegenContext &cg, isa::TMatmulMxBias &insn);
/// Spreads as many columns as dst has; the source's tile holds them, whatever part of it is valid.
mlir::LogicalResult adjust(mlir::Operation *op, CodegenContext &cg, isa::TColexpand &insn);
/// An index counts elements, or rows where there is one for each row of the data.
mlir::LogicalResult adjust(mlir::Operation *op, CodegenContext &cg, isa::Mgather &insn);
mlir::LogicalResult adjust(mlir::Operation *op, CodegenContext &cg, isa::Mscatter &insn);

} // namespace pto_mlir::backend

#endif
