#include "Layout.h"
#include "pto_mlir/PModel/Builder.h"
#include "pto_mlir/Support/MathExtras.h"

#include <cstring>
#include <unordered_map>

namespace pto_mlir::pmodel {

WeightLayout layoutWeights(const std::vector<WeightDesc> &weights) {
  WeightLayout layout;
  layout.offsets.reserve(weights.size());
  layout.hashes.reserve(weights.size());
  std::unordered_multimap<uint64_t, size_t> seen;
  for (size_t i = 0; i < weights.size(); ++i) {
    const WeightDesc &weight = weights[i];
    uint64_t hash = contentHash(weight.data, weight.size);
    layout.hashes.push_back(hash);
    std::optional<uint64_t> offset;
    auto [first, last] = seen.equal_range(hash);
    for (auto it = first; it != last && !offset; ++it) {
      const WeightDesc &other = weights[it->second];
      if (other.size == weight.size && (weight.size == 0 || std::memcmp(other.data, weight.data, weight.size) == 0))
        offset = layout.offsets[it->second];
    }
    if (!offset) {
      bool large = weight.size >= largeWeightBytes;
      offset = roundUp(layout.totalBytes, large ? largeWeightAlignment : weightAlignment);
      layout.totalBytes = roundUp(*offset + weight.size, weightAlignment);
      seen.emplace(hash, i);
    }
    layout.offsets.push_back(*offset);
  }
  return layout;
}

} // namespace pto_mlir::pmodel
