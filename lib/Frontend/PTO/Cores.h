//===- Cores.h - assignment of ops to cores -----------------------------*- C++ -*-===//
#ifndef PTO_MLIR_LIB_FRONTEND_PTO_CORES_H
#define PTO_MLIR_LIB_FRONTEND_PTO_CORES_H

#include "pto_mlir/Dialect/PTO/IR/PTO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pto_mlir::pto {

/// On a kernel: pto-order-cores has inserted barriers between its cores.
inline constexpr llvm::StringLiteral kOrderedAttr = "pto.ordered";

/// The core that executes the op; nullopt when either may (scalar code, queries, flags between engines of both).
std::optional<KernelKind> coreOf(mlir::Operation *op);

/// Whether a kernel has work for the cube core, and whether it has some for the vector core.
struct UsedCores {
  bool cube = false, vector = false;
};
UsedCores usedCores(mlir::func::FuncOp func);

/// Whether `op` contains one of these ops.
template <typename... Ops> bool has(mlir::Operation *op) {
  return op
      ->walk([](mlir::Operation *inner) {
        return mlir::isa<Ops...>(inner) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace pto_mlir::pto

#endif
