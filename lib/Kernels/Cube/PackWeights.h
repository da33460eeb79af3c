//===- PackWeights.h - packed filters of a module's launches ----*- C++ -*-===//

#ifndef PTO_MLIR_LIB_KERNELS_CUBE_PACKWEIGHTS_H
#define PTO_MLIR_LIB_KERNELS_CUBE_PACKWEIGHTS_H

#include "Contraction.h"

#include "llvm/ADT/StringMap.h"

namespace pto_mlir::top {
class LaunchOp;
class WeightStore;
} // namespace pto_mlir::top

namespace pto_mlir::cube {

/// Packs filters; equal filters of several launches are packed once.
class WeightPacker {
public:
  explicit WeightPacker(top::WeightStore &store) : store(store) {}

  /// Replaces the filter operand of `launch` by its packed form. A filter that
  /// is no constant is an error on the launch.
  mlir::LogicalResult pack(top::LaunchOp launch, const Contraction &contraction);

  /// Replaces the scales of `launch` by the fixpipe's descriptors. Scales that are no constant, or that its buffer
  /// would cut, are an error on the launch.
  mlir::LogicalResult packScales(top::LaunchOp launch, const Contraction &contraction);

private:
  top::WeightStore &store;
  llvm::StringMap<std::string> packed;
};

} // namespace pto_mlir::cube

#endif // PTO_MLIR_LIB_KERNELS_CUBE_PACKWEIGHTS_H
