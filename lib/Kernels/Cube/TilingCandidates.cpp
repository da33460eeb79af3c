//===- TilingCandidates.cpp - sizes worth trying ---------------------------===//

#include "TilingCandidates.h"

#include <algorithm>
#include <array>

namespace pto_mlir::cube {

std::vector<int64_t> blockSizes(int64_t extent, int64_t limit, int64_t unit, size_t count) {
  static constexpr std::array<int64_t, 18> sizes = {1024, 768, 512, 448, 384, 320, 256, 224, 192,
                                                    160,  128, 112, 96,  80,  64,  48,  32,  16};
  std::vector<int64_t> result;
  for (int64_t size : sizes) {
    size = std::min(size, limit);
    int64_t blocks = ceilDiv(extent, size);
    int64_t even = roundUp(ceilDiv(extent, blocks), unit);
    if (even <= limit && result.size() < count && std::find(result.begin(), result.end(), even) == result.end())
      result.push_back(even);
  }
  return result;
}

std::vector<int64_t> slabSizes(int64_t extent) {
  std::vector<int64_t> result;
  for (int64_t blocks = 1; blocks <= extent; blocks *= 2) {
    int64_t size = ceilDiv(extent, blocks);
    if (result.empty() || result.back() != size)
      result.push_back(size);
  }
  if (result.back() != 1)
    result.push_back(1);
  return result;
}

int64_t baseKFor(const CubeProblem &problem, const CubeLimits &limits, int64_t baseM, int64_t baseN, int64_t panelK) {
  int64_t most = std::min(limits.l0a / (2 * baseM * problem.inBytes), limits.l0b / (2 * baseN * problem.inBytes));
  int64_t c0 = blockChannels(problem.inBytes);
  int64_t extent = std::min(panelK, problem.k);
  most = std::min(most, kMaxExtent);
  if (roundUp(extent, c0) <= most)
    return roundUp(extent, c0);
  // Several steps: whole 16-row boxes of the right panel, for any type.
  int64_t unit = std::max(c0, kFractal);
  most = most / unit * unit;
  if (most == 0)
    return 0;
  return std::min(most, roundUp(ceilDiv(extent, ceilDiv(extent, most)), unit));
}

std::vector<int64_t> panels(const CubeProblem &problem) {
  int64_t c0 = blockChannels(problem.inBytes);
  std::vector<int64_t> result;
  // One load reaches one strip.
  if (problem.patches && problem.patches->strips > 1)
    return {problem.patches->strip};
  if (const auto &image = problem.image) {
    // Every panel begins on a whole 16-row box of the right operand.
    int64_t perBlock = image->h.kernel * image->w.kernel * c0;
    int64_t unit = perBlock % kFractal == 0 ? 1 : 2;
    int64_t blocks = ceilDiv(problem.k, perBlock);
    result.push_back(blocks * perBlock);
    for (int64_t size = blocks; size > unit;) {
      size = roundUp(ceilDiv(size, 2), unit);
      if (size < blocks)
        result.push_back(size * perBlock);
    }
    return result;
  }
  result.push_back(roundUp(problem.k, c0));
  int64_t unit = std::max(c0, kFractal);
  for (int64_t size : {2048, 1024, 512, 256, 128, 64, 32})
    if (size < problem.k)
      result.push_back(roundUp(ceilDiv(problem.k, ceilDiv(problem.k, size)), unit));
  return result;
}

std::vector<int64_t> patchBlocks(const ConvPatches &patches, int64_t rows, int64_t limit) {
  std::vector<int64_t> result;
  for (int64_t count : slabSizes(rows))
    if (count * patches.width <= limit)
      result.push_back(count * patches.width);
  if (result.empty())
    result = blockSizes(patches.width, limit, 1, 4);
  return result;
}

} // namespace pto_mlir::cube
