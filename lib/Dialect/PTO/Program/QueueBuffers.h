//===- QueueBuffers.h - which buffer a queue's tiles arrive in ---------*- C++ -*-===//
#ifndef PTO_MLIR_LIB_DIALECT_PTO_PROGRAM_QUEUEBUFFERS_H
#define PTO_MLIR_LIB_DIALECT_PTO_PROGRAM_QUEUEBUFFERS_H

#include "pto_mlir/Dialect/PTO/IR/PTOExtra.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace pto_mlir::pto {

/// "function/name" of the reserved buffer that an address is of, the same on both sides of a queue; empty for any other address.
inline std::string bufferOf(mlir::Value address) {
  if (!address)
    return "";
  if (auto reserve = address.getDefiningOp<ReserveBufferOp>())
    return (reserve->getParentOfType<mlir::func::FuncOp>().getName() + "/" + reserve.getName()).str();
  if (auto import = address.getDefiningOp<ImportReservedBufferOp>())
    return (import.getPeerFunc() + "/" + import.getName()).str();
  return "";
}

} // namespace pto_mlir::pto

#endif
