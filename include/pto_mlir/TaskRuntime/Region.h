// Regions of memory that tasks access.
#ifndef PTO_MLIR_TASKRUNTIME_REGION_H
#define PTO_MLIR_TASKRUNTIME_REGION_H

#include <cstdint>

namespace pto_mlir::tasks {

/// `rows` runs of `rowBytes` bytes, `pitch` bytes apart, all within [begin, end). In bytes and absolute addresses, so
/// that views with different element types and base pointers compare. Not initialised by default, since a task has
/// dozens.
struct Region {
  uint64_t begin, end;
  uint64_t pitch, rowBytes, rows;

  static Region bytes(uint64_t begin, uint64_t size) { return {begin, begin + size, size, size, size ? 1u : 0u}; }

  /// The bytes of a strided view. `strides` are in elements and may be negative or zero. Exact when the view consists
  /// of equidistant rows; otherwise an enclosing region.
  static Region view(uint64_t address, uint32_t elementBytes, unsigned rank, const int64_t *shape,
                     const int64_t *strides);

  bool empty() const { return rows == 0; }
  uint64_t span() const { return end - begin; }
};

/// Whether the regions may share a byte: exact for intervals and for rows of the same pitch, otherwise conservative (by
/// their intervals).
bool overlap(const Region &a, const Region &b);
/// Whether `outer` is known to contain every byte of `inner`; conservative.
bool covers(const Region &outer, const Region &inner);

} // namespace pto_mlir::tasks

#endif
