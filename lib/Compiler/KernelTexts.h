// Kernels of users as pto functions, one per kind of core.
#ifndef PTO_MLIR_LIB_COMPILER_KERNELTEXTS_H
#define PTO_MLIR_LIB_COMPILER_KERNELTEXTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "pto_mlir/Compiler/KernelBodies.h"
#include "pto_mlir/Dialect/PTO/IR/Target.h"

namespace pto_mlir {

/// Of a `.pto` function: the operator that it computes, and a function type of its tensors.
inline constexpr llvm::StringLiteral kOpAttr = "pto.op", kOpTypesAttr = "pto.op_types";

/// All dialects; contexts made from it parse tiles for `target`.
mlir::DialectRegistry registryFor(const pto::Target &target);

/// Lowers to one function per kernel and kind of core; false after an error.
bool lowerToFunctions(mlir::ModuleOp module);

/// The kernel that a function of a lowered module is, or is a part of.
llvm::StringRef kernelOf(mlir::func::FuncOp func);

/// The kernel `name` of a lowered module, alone.
std::string printKernel(mlir::ModuleOp module, llvm::StringRef name);

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_COMPILER_KERNELTEXTS_H
