// The argument of the matrix micro-kernel.
#ifndef PTO_MLIR_CMODEL_MATMULTASK_H
#define PTO_MLIR_CMODEL_MATMULTASK_H

#include <cstddef>
#include <cstdint>

namespace pto_mlir::cmodel {

/// Contiguous columns of the left operand in each row of a box.
inline constexpr uint32_t leftGroup = 8;

/// dst[rows, cols] = acc (when not null) + bias row (when not null) + left[rows, depth] x right[depth, cols], `step`
/// values of k at a time: a product cut at any multiple of the step has the same bits.
template <class C> struct MatmulTask {
  uint32_t rows = 0, cols = 0, depth = 0;
  uint32_t step = leftGroup; ///< a multiple of leftGroup
  /// Element (i, k) is left[i / 16 * leftBlockStride + k / 8 * leftStride + i % 16 * 8 + k % 8]; whole boxes of 16 rows
  /// are readable.
  const C *left = nullptr;
  size_t leftBlockStride = 0, leftStride = 0;
  /// Panels of panelVectors() vectors, each [depth][vectors * lanes].
  const C *panels = nullptr;
  /// NZ16: element (i, j) is at j / 16 * dstRows * 16 + i * 16 + j % 16. `acc` may alias dst.
  C *dst = nullptr;
  size_t dstRows = 0;
  const C *acc = nullptr;
  size_t accRows = 0;
  const C *bias = nullptr;
};

// Internal linkage: sources compiled for different instruction sets include this.
/// Vectors in the next panel when `cols` columns remain: 3, or fewer to avoid a last panel of one vector.
static constexpr unsigned panelVectors(uint32_t cols, unsigned lanes) {
  uint32_t vectors = (cols + lanes - 1) / lanes;
  return vectors == 1 ? 1 : vectors == 2 || vectors == 4 ? 2 : 3;
}

/// The micro-kernel of this machine and the lanes of its panels.
struct MatmulKernel {
  unsigned lanes;
  void (*floats)(const MatmulTask<float> &);
  void (*integers)(const MatmulTask<int32_t> &);
};

/// Compiled for AVX-512 in MatmulAvx512.cpp; call only if the processor supports it.
MatmulKernel matmulKernelAvx512();

} // namespace pto_mlir::cmodel

#endif
