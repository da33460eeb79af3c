//===- GlobalView.h - A view operand after its registers are read ---------===//
//
// A view operand after its registers are read: strided elements of one kernel argument.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_ISA_GLOBALVIEW_H
#define PTO_MLIR_ISA_GLOBALVIEW_H

#include "pto_mlir/ISA/Operands.h"

#include <algorithm>
#include <optional>

namespace pto_mlir::isa {

/// Sizes and strides count elements; the view's layout maps (row, column) to indices (docs/commands.md, View).
struct GlobalView {
  uint8_t *base = nullptr;    // element 0 of the view; null when the operand faulted
  int64_t begin = 0, end = 0; // the argument's bytes relative to base
  ElementType type{};
  Layout layout{};
  uint32_t bytes = 0; // of an element
  unsigned rank = 0;
  // Outermost first. Core::view bounds sizes by 2^31 and strides by 2^40, so that element offsets of a tile fit in 64
  // bits.
  int64_t sizes[5], strides[5];

  /// Whether a two-dimensional run of elements starting at `offset` lies within the argument.
  bool contains(int64_t offset, int64_t count0, int64_t stride0, int64_t count1, int64_t stride1) const {
    __int128 low = offset, high = offset;
    (stride0 < 0 ? low : high) += __int128(count0 - 1) * stride0;
    (stride1 < 0 ? low : high) += __int128(count1 - 1) * stride1;
    return low * bytes >= begin && (high + 1) * bytes <= end;
  }

  int64_t size(unsigned fromInner) const { return fromInner < rank ? sizes[rank - 1 - fromInner] : 1; }
  int64_t stride(unsigned fromInner) const { return fromInner < rank ? strides[rank - 1 - fromInner] : 0; }

  /// Rows and columns of the view (docs/commands.md, View).
  __int128 rows() const {
    if (layout == Layout::NZ)
      return __int128(size(2)) * size(1);
    return layout == Layout::DN ? size(1) : size(1) * leadingCount();
  }
  __int128 cols() const {
    if (layout == Layout::NZ)
      return __int128(size(4)) * size(3) * size(0);
    return layout == Layout::DN ? size(0) * leadingCount() : size(0);
  }
  __int128 leadingCount() const { return __int128(size(2)) * size(3) * size(4); }

  /// Offset of element (r, c) from base, in elements.
  int64_t offset(int64_t r, int64_t c) const {
    if (layout == Layout::NZ)
      return c % size(0) * stride(0) + r % size(1) * stride(1) + r / size(1) * stride(2) +
             c / size(0) % size(3) * stride(3) + c / size(0) / size(3) * stride(4);
    bool dn = layout == Layout::DN;
    int64_t major = dn ? c : r, minor = dn ? r : c;
    unsigned majorDim = dn ? 0 : 1, minorDim = dn ? 1 : 0;
    return minor * stride(minorDim) + major % size(majorDim) * stride(majorDim) + leading(major / size(majorDim));
  }

  /// Offset of the i-th index of the leading dimensions (row-major), in elements.
  int64_t leading(int64_t i) const {
    return i % size(2) * stride(2) + i / size(2) % size(3) * stride(3) + i / size(2) / size(3) * stride(4);
  }
};

} // namespace pto_mlir::isa

#endif
