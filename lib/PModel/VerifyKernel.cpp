#include "pto_mlir/PModel/Verifier.h"

#include <set>

namespace pto_mlir::pmodel {

Status verifyKernel(const KernelDesc &kernel, const std::string &processor) {
  if (kernel.numArgs > 255)
    return Failure{"has " + std::to_string(kernel.numArgs) + " arguments, a view can name 255"};
  if (kernel.blocks < 1 || kernel.blocks > 1024)
    return Failure{"runs on " + std::to_string(kernel.blocks) + " blocks, expects 1 to 1024"};
  std::set<std::pair<CoreKind, uint8_t>> engines;
  for (const StreamDesc &stream : kernel.streams)
    if (!engines.insert({stream.coreKind, stream.pipe}).second)
      return Failure{"two streams for one engine"};
  return {};
}

} // namespace pto_mlir::pmodel
