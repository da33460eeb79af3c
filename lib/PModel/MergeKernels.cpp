#include "MergeKernels.h"

#include "Layout.h"
#include "pto_mlir/ByteCode/Serialize.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

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

/// The kernels that host programs submit, by name.
static std::unordered_set<std::string> submitted(const ModelDesc &model) {
  std::unordered_set<std::string> names;
  for (const HostProgramDesc &program : model.programs) {
    auto module = bytecode::deserialize(program.code.data(), program.code.size());
    for (size_t i = 0; module && i < module->constants.size(); ++i)
      if (auto *key = std::get_if<bytecode::KernelKey>(&module->constants[i]); key && bytecode::directionsOf(*key))
        names.emplace(key->op());
  }
  return names;
}

KernelMerge mergeKernels(const ModelDesc &model) {
  const std::vector<KernelDesc> &kernels = model.kernels;
  std::unordered_set<std::string> named = submitted(model);
  KernelMerge merge;
  std::unordered_multimap<uint64_t, uint32_t> seen; // hash -> index into `stored`
  for (uint32_t k = 0; k < kernels.size(); ++k) {
    uint64_t hash = kernelHash(kernels[k]);
    auto [first, last] = seen.equal_range(hash);
    auto it = std::find_if(first, last, [&](auto &entry) {
      const KernelDesc &other = kernels[merge.stored[entry.second]];
      return !named.count(kernels[k].name) && !named.count(other.name) && sameKernel(other, kernels[k]);
    });
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
