#include "pto_mlir/TaskRuntime/Region.h"

#include <utility>

namespace pto_mlir::tasks {

Region Region::view(uint64_t address, uint32_t elementBytes, unsigned rank, const int64_t *shape,
                    const int64_t *strides) {
  // Dimensions with a stride other than 0, outermost first. A negative stride extends the region below `address`.
  struct Dim {
    uint64_t extent, stride;
  } dims[8];
  unsigned count = 0;
  uint64_t begin = address, size = elementBytes;
  for (unsigned i = 0; i < rank; ++i) {
    if (shape[i] <= 0)
      return {};
    if (shape[i] == 1 || strides[i] == 0)
      continue;
    uint64_t stride = (strides[i] < 0 ? -uint64_t(strides[i]) : uint64_t(strides[i])) * elementBytes;
    if (strides[i] < 0)
      begin -= stride * uint64_t(shape[i] - 1);
    size += stride * uint64_t(shape[i] - 1);
    dims[count++] = {uint64_t(shape[i]), stride};
  }
  for (unsigned i = 1; i < count; ++i) // insertion sort: usually sorted already
    for (unsigned k = i; k > 0 && dims[k - 1].stride < dims[k].stride; --k)
      std::swap(dims[k - 1], dims[k]);
  // Innermost first: contiguous dimensions collapse into the row.
  uint64_t rowBytes = elementBytes;
  while (count > 0 && dims[count - 1].stride <= rowBytes) {
    rowBytes += dims[count - 1].stride * (dims[count - 1].extent - 1);
    --count;
  }
  if (count == 0)
    return bytes(begin, size);
  // Equidistant rows: the outer dimensions must continue the same pitch.
  uint64_t pitch = dims[count - 1].stride, rows = dims[count - 1].extent;
  while (--count > 0) {
    if (dims[count - 1].stride != pitch * rows)
      return bytes(begin, size);
    rows *= dims[count - 1].extent;
  }
  return {begin, begin + size, pitch, rowBytes, rows};
}

namespace {

/// The first row and column of `other` in the rows of `grid`; valid only if no row of `other` wraps around a row of
/// `grid`.
struct Place {
  bool valid;
  int64_t row;
  uint64_t column, rows;
};

Place placeOn(const Region &grid, const Region &other) {
  // The difference modulo 2^64 as a signed number is correct for regions less than 2^63 apart.
  int64_t delta = int64_t(other.begin - grid.begin), pitch = int64_t(grid.pitch);
  int64_t row = delta / pitch, column = delta % pitch;
  if (column < 0) {
    column += pitch;
    --row;
  }
  if (other.rows == 1 || other.pitch == grid.pitch)
    return {uint64_t(column) + other.rowBytes <= grid.pitch, row, uint64_t(column), other.rows};
  return {false, 0, 0, 0};
}

} // namespace

bool overlap(const Region &a, const Region &b) {
  if (a.empty() || b.empty() || a.end <= b.begin || b.end <= a.begin)
    return false;
  if (a.rows == 1 && b.rows == 1)
    return true;
  const Region &grid = a.rows > 1 ? a : b, &other = a.rows > 1 ? b : a;
  Place place = placeOn(grid, other);
  if (!place.valid)
    return true;
  bool rows = place.row < int64_t(grid.rows) && place.row + int64_t(place.rows) > 0;
  return rows && place.column < grid.rowBytes;
}

bool covers(const Region &outer, const Region &inner) {
  if (inner.empty())
    return true;
  if (outer.empty() || outer.begin > inner.begin || outer.end < inner.end)
    return false;
  if (outer.rows == 1)
    return true;
  Place place = placeOn(outer, inner);
  return place.valid && place.row >= 0 && uint64_t(place.row) + place.rows <= outer.rows &&
         place.column + inner.rowBytes <= outer.rowBytes;
}

} // namespace pto_mlir::tasks
