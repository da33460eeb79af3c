// Global memory traffic of kernels, counted from their command streams.
#ifndef PTO_MLIR_PMODEL_TRAFFIC_H
#define PTO_MLIR_PMODEL_TRAFFIC_H

#include "pto_mlir/ISA/Table.h"
#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Support/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pto_mlir::pmodel {

/// Bytes of one kernel argument, over all cores of one launch.
struct ArgumentTraffic {
  uint64_t read = 0;
  uint64_t written = 0;
};

/// Global memory traffic of one launch of a kernel, in bytes.
struct KernelTraffic {
  std::vector<ArgumentTraffic> arguments;
  std::vector<uint64_t> cores; ///< bytes moved by each core that runs the kernel, cube cores first
  size_t cubeCores = 0;        ///< how many of `cores` are cube cores

  uint64_t read() const;
  uint64_t written() const;
  /// Load imbalance: the bytes if every core moved as many as the most loaded one of its kind, divided by the actual
  /// bytes; 1 for an even split.
  double imbalance() const;
};

/// One launch of a program.
struct LaunchTraffic {
  uint32_t kernel = 0; ///< index into ModelDesc::kernels
  uint64_t least = 0;  ///< lower bound: the accessed bytes of its arguments, once each
};

/// One inference.
struct VariantTraffic {
  uint64_t read = 0;
  uint64_t written = 0;
  /// Lower bound for any fusion of the graph: inputs, outputs and the accessed parts of weights once each (a gather
  /// reads a few rows of its table). Intermediate tensors do not count.
  uint64_t ideal = 0;
  uint64_t stateRead = 0, stateWritten = 0; ///< the part that is in the state
  std::vector<LaunchTraffic> launches;
};

/// Executes the scalar part of the kernel's DMA streams on every core and sums up what each command moves. Fails when a
/// kernel is too long to be walked through. `scalars` are those of the launch.
Result<KernelTraffic> measureTraffic(const KernelDesc &kernel, const isa::ArchInfo &arch = isa::defaultArch(),
                                     const std::vector<int64_t> &scalars = {});

/// Sums over the launches of a program; `kernels` has the traffic of each kernel of the model.
Result<VariantTraffic> measureTraffic(const VariantDesc &variant, const std::vector<KernelTraffic> &kernels);
/// The traffic of every kernel of the model, at the greatest sizes.
Result<std::vector<KernelTraffic>> measureTraffic(const ModelDesc &model);

} // namespace pto_mlir::pmodel

#endif
