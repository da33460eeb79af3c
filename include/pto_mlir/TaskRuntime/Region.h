// Which bytes a task touches.
#ifndef PTO_MLIR_TASKRUNTIME_REGION_H
#define PTO_MLIR_TASKRUNTIME_REGION_H

#include <cstdint>

namespace pto_mlir::tasks {

/// `rows` runs of `rowBytes` bytes, `pitch` bytes apart, all within [begin, end). Always in bytes and absolute
/// addresses, so views of other element types and other base pointers compare right. Not initialised by default: a task
/// has dozens.
struct Region {
  uint64_t begin, end;
  uint64_t pitch, rowBytes, rows;

  static Region bytes(uint64_t begin, uint64_t size) { return {begin, begin + size, size, size, size ? 1u : 0u}; }

  /// The bytes of a strided view. `strides` are in elements and may be negative or zero. Exact when the view is rows of
  /// one pitch, else the smallest such region (or interval) that holds it.
  static Region view(uint64_t address, uint32_t elementBytes, unsigned rank, const int64_t *shape,
                     const int64_t *strides);

  bool empty() const { return rows == 0; }
  uint64_t span() const { return end - begin; }
};

/// Whether the two may share a byte: exact for intervals and for rows of the same pitch, otherwise by their intervals.
bool overlap(const Region &a, const Region &b);
/// Whether `outer` surely holds every byte of `inner`.
bool covers(const Region &outer, const Region &inner);

} // namespace pto_mlir::tasks

#endif
