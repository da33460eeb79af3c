//===- Cores.h - which core executes an op -----------------------------*- C++ -*-===//
#ifndef PTO_MLIR_LIB_FRONTEND_PTO_CORES_H
#define PTO_MLIR_LIB_FRONTEND_PTO_CORES_H

#include "pto_mlir/Dialect/PTO/IR/PTO.h"

namespace pto_mlir::pto {

/// On a kernel: pto-order-cores has put meetings of its cores into it.
inline constexpr llvm::StringLiteral kOrderedAttr = "pto.ordered";

/// The core that executes the op; nothing when either may (scalar code, queries, flags between engines that both have).
std::optional<KernelKind> coreOf(mlir::Operation *op);

/// Whether one of these ops stands in `op`.
template <typename... Ops> bool has(mlir::Operation *op) {
  return op
      ->walk([](mlir::Operation *inner) {
        return mlir::isa<Ops...>(inner) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace pto_mlir::pto

#endif
