#include "MergeKernels.h"

#include "Layout.h"

#include <algorithm>
#include <unordered_map>

namespace pto_mlir::pmodel {

namespace {

uint64_t kernelHash(const KernelDesc &kernel) {
  uint64_t hash = kernel.numArgs * 31 + kernel.blocks;
  for (const StreamDesc &stream : kernel.streams)
    hash = hash * 0x9e3779b97f4a7c15 + contentHash(stream.words.data(), stream.words.size() * 4);
  return hash;
}

bool sameStream(const StreamDesc &a, const StreamDesc &b) {
  return a.coreKind == b.coreKind && a.pipe == b.pipe && a.words == b.words;
}

bool sameKernel(const KernelDesc &a, const KernelDesc &b) {
  return a.numArgs == b.numArgs && a.numScalars == b.numScalars && a.blocks == b.blocks &&
         std::equal(a.streams.begin(), a.streams.end(), b.streams.begin(), b.streams.end(), sameStream);
}

} // namespace

KernelMerge mergeKernels(const std::vector<KernelDesc> &kernels) {
  KernelMerge merge;
  std::unordered_multimap<uint64_t, uint32_t> seen; // hash -> index into `stored`
  for (uint32_t k = 0; k < kernels.size(); ++k) {
    uint64_t hash = kernelHash(kernels[k]);
    auto [first, last] = seen.equal_range(hash);
    auto it = std::find_if(first, last,
                           [&](auto &entry) { return sameKernel(kernels[merge.stored[entry.second]], kernels[k]); });
    uint32_t place = it != last ? it->second : merge.stored.size();
    if (it == last) {
      seen.emplace(hash, place);
      merge.stored.push_back(k);
      merge.sourceOps.emplace_back();
    }
    merge.index.push_back(place);
    auto &ops = merge.sourceOps[place];
    ops.insert(ops.end(), kernels[k].sourceOps.begin(), kernels[k].sourceOps.end());
  }
  return merge;
}

} // namespace pto_mlir::pmodel
