// One launch for two kernels.
#ifndef PTO_MLIR_LIB_KERNELS_JOINLAUNCHES_H
#define PTO_MLIR_LIB_KERNELS_JOINLAUNCHES_H

#include "pto_mlir/Dialect/Top/IR/Top.h"

namespace pto_mlir::kernels {

/// What makes `value`, through reshapes without other users; null where that is no launch, or has other users.
top::LaunchOp soleProducer(mlir::Value value);

/// `launch` reads operand `input` from `source`. One launch of `kernel` takes the place of both, with the inputs of
/// `source`, the other ones of `launch`, and outputs of the types `slots` before those of `launch`.
void joinLaunches(top::LaunchOp source, top::LaunchOp launch, unsigned input, mlir::StringAttr kernel,
                  llvm::ArrayRef<mlir::RankedTensorType> slots);

/// The same, with the inputs of `source` behind those of `launch`, whose first `oldSlots` outputs go.
void feedLaunch(top::LaunchOp source, top::LaunchOp launch, unsigned input, mlir::StringAttr kernel,
                llvm::ArrayRef<mlir::RankedTensorType> slots, unsigned oldSlots);

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_JOINLAUNCHES_H
