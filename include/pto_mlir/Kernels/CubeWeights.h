//===- CubeWeights.h - order of packed filters ------------------*- C++ -*-===//
//
// A filter as the right operand of an img2col product: per group a row-major
// matrix [Kp, F] with row ((c1 * KH + kh) * KW + kw) * C0 + c0, channels padded
// with zeros to whole 32-byte blocks (C0 elements).
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_KERNELS_CUBEWEIGHTS_H
#define PTO_MLIR_KERNELS_CUBEWEIGHTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pto_mlir::cube {

/// Extents of a filter; `channels` and `features` count one group.
struct FilterShape {
  int64_t groups = 1, kernelH = 1, kernelW = 1, channels = 1, features = 1;
};

/// The memory layout of the unpacked filter.
enum class FilterLayout {
  HWCF, ///< [KH, KW, C, F], one group
  GFHWC ///< [G, F, KH, KW, C]
};

/// Rows of one group's packed matrix, for elements of `bytes` bytes.
int64_t packedRows(const FilterShape &shape, unsigned bytes);

/// Whether packing is the identity on the filter's data.
bool packingIsIdentity(const FilterShape &shape, FilterLayout layout, unsigned bytes);

/// Packs `source`, the whole filter in `layout`, with elements as opaque data. The result is [G, packedRows, F].
std::vector<uint8_t> packFilter(const uint8_t *source, const FilterShape &shape, FilterLayout layout, unsigned bytes);

} // namespace pto_mlir::cube

#endif // PTO_MLIR_KERNELS_CUBEWEIGHTS_H
