#include "pto_mlir/TaskRuntime/Config.h"

#include <bit>
#include <string>

namespace pto_mlir::tasks {

Status Config::check() const {
  uint64_t total = 0;
  for (unsigned kind = 0; kind < kNumWorkerKinds; ++kind) {
    if (cores[kind] > kMaxCoresPerKind)
      return Failure{"cores[" + std::to_string(kind) + "] is " + std::to_string(cores[kind]) + ", at most " +
                     std::to_string(kMaxCoresPerKind) + " of a kind work"};
    total += cores[kind];
  }
  if (total == 0)
    return Failure{"cores names no core at all"};
  for (unsigned ring = 0; ring < kNumRings; ++ring) {
    std::string index = "[" + std::to_string(ring) + "]";
    if (!std::has_single_bit(window[ring]) || window[ring] > 1u << 24)
      return Failure{"window" + index + " is " + std::to_string(window[ring]) +
                     ", expected a power of two up to 16777216"};
    if (heapBytes[ring] % kOutputAlignment || heapBytes[ring] > uint64_t(1) << 46)
      return Failure{"heapBytes" + index + " is " + std::to_string(heapBytes[ring]) + ", expected a multiple of " +
                     std::to_string(kOutputAlignment) + " up to 2^46"};
    if (heapBase[ring] % kOutputAlignment)
      return Failure{"heapBase" + index + " is not aligned to " + std::to_string(kOutputAlignment) + " bytes"};
  }
  if (dependencyEntries == 0 || dependencyEntries >= 1u << 30)
    return Failure{"dependencyEntries is " + std::to_string(dependencyEntries) + ", expected 1 to 2^30 - 1"};
  if (tensorMapEntries == 0 || tensorMapEntries > 1u << 26)
    return Failure{"tensorMapEntries is " + std::to_string(tensorMapEntries) + ", expected 1 to 67108864"};
  if (maxScopeDepth == 0 || maxScopeDepth > 250)
    return Failure{"maxScopeDepth is " + std::to_string(maxScopeDepth) + ", expected 1 to 250"};
  if (schedulers > 64 || workerThreads > 1024)
    return Failure{"at most 64 schedulers and 1024 worker threads work"};
  if (firstTask == 0 || firstTask >= uint64_t(1) << 54)
    return Failure{"firstTask must be from 1 to 2^54"};
  return {};
}

} // namespace pto_mlir::tasks
