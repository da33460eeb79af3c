// Compiles one net without control flow, by the first of several plans that works.
#ifndef PTO_MLIR_LIB_COMPILER_DEPLOYNET_H
#define PTO_MLIR_LIB_COMPILER_DEPLOYNET_H

#include "pto_mlir/Compiler/ModelBuilder.h"

#include <algorithm>
#include <map>

namespace pto_mlir {

/// A tensor of the model that no kernel can compute.
struct Refusal {
  std::string limit;  ///< that the kernel hits
  unsigned times = 0; ///< how many plans have hit one
};
using RefusedTensors = std::map<std::string, Refusal, std::less<>>;
/// More refusals of one tensor bring no other plan: its op is decomposed, then it goes to the host.
inline constexpr unsigned kMostRefusals = 8;
/// How many refusals there are in all; grows with each plan that does not work.
inline unsigned countRefusals(const RefusedTensors &refused) {
  unsigned count = 0;
  for (const auto &[name, refusal] : refused)
    count += std::min(refusal.times, kMostRefusals);
  return count;
}

/// What a deployment reports beside its result.
struct DeployReport {
  Errors &errors;
  std::vector<std::string> &remarks;
  RefusedTensors &refused;
};

/// Compiles `module`, which stays as it is. Kernels are formed as large as they may be; where one of them cannot be
/// built, each is tried and split until its parts can, at last without joins and attention kernels. Nullopt with every
/// problem in the report if no plan works.
std::optional<BuiltModel> deployNet(mlir::ModuleOp module, const DeployOptions &options, DeployReport report);

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_COMPILER_DEPLOYNET_H
