//===- Carried.h - Values that ops with regions hand on -------------------===//

#ifndef PTO_MLIR_LIB_BACKEND_CODEGEN_CARRIED_H
#define PTO_MLIR_LIB_BACKEND_CODEGEN_CARRIED_H

#include "pto_mlir/Backend/CodegenContext.h"

namespace pto_mlir::backend {

/// The registers in which a value is handed on: one for a number; for a tile its address and the valid extents that its
/// type leaves open.
struct Carried {
  mlir::Type type;
  llvm::SmallVector<uint8_t, 3> registers;
};

/// Registers for one value of each type, live until `op` has been generated; failure for a type without registers.
llvm::FailureOr<llvm::SmallVector<Carried>> allocateCarried(mlir::Operation *op, CodegenContext &cg,
                                                            mlir::TypeRange types);
/// carried = values, all at once.
llvm::LogicalResult assignCarried(mlir::Operation *op, CodegenContext &cg, mlir::ValueRange values,
                                  llvm::ArrayRef<Carried> carried);
/// From here on `values` stand for the registers.
llvm::LogicalResult defineCarried(mlir::Operation *op, CodegenContext &cg, mlir::ValueRange values,
                                  llvm::ArrayRef<Carried> carried);

/// The operand for a tile of this type without address and dynamic valid extents (those are -1).
llvm::FailureOr<TileDesc> describeTile(mlir::Operation *op, pto::TileBufType type);

} // namespace pto_mlir::backend

#endif
