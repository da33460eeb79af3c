//===- Scalars.h - Integers in 64-bit registers ---------------------------===//
//
// Registers have 64 bits; narrower integers are kept sign-extended (i1 as 0 or 1), floats as the bit pattern of f32.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_BACKEND_CODEGEN_SCALARS_H
#define PTO_MLIR_LIB_BACKEND_CODEGEN_SCALARS_H

#include "pto_mlir/Backend/CodegenContext.h"

namespace pto_mlir::backend {

/// Defines `result` as the low bits of `value`, brought back to its type's range.
llvm::LogicalResult narrow(mlir::Operation *op, CodegenContext &cg, isa::Value value, mlir::Type type,
                           mlir::Value result);
/// An operand as the number that it is when read without a sign; failure for one of 64 bits that may be negative.
llvm::LogicalResult zeroExtend(mlir::Operation *op, CodegenContext &cg, mlir::Value operand, isa::Value &out);
/// Bits of an integer; 64 of an index.
unsigned widthOf(mlir::Type type);

} // namespace pto_mlir::backend

#endif
