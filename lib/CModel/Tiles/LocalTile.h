// A resolved tile operand: a checked pointer into a local memory, with shape and layout.
#ifndef PTO_MLIR_CMODEL_LOCALTILE_H
#define PTO_MLIR_CMODEL_LOCALTILE_H

#include "pto_mlir/ISA/Operands.h"

namespace pto_mlir::cmodel {

/// `rows` x `cols` is the allocated box; only the valid region is read or written.
struct LocalTile {
  uint8_t *data = nullptr; // null when the operand faulted
  isa::ElementType type{};
  isa::Layout layout{};
  isa::Pad pad{};
  uint32_t bytes = 0; // of an element; 0 for 4-bit types
  uint32_t rows = 0, cols = 0, validRows = 0, validCols = 0;

  size_t offset(uint32_t r, uint32_t c) const { return isa::elementOffset(layout, type, rows, cols, r, c); }
  /// Bytes from data to the end of the valid region (whole boxes).
  size_t extent() const {
    if (layout == isa::Layout::ND && bytes > 0 && validRows > 0 &&
        validCols > 0) // the usual case, without the divisions of the general formula
      return (size_t(validRows - 1) * cols + validCols) * bytes;
    return isa::tileExtent(layout, type, rows, cols, validRows, validCols);
  }
  template <class T> T *as() const { return reinterpret_cast<T *>(data); }
  template <class T> T &at(uint32_t r, uint32_t c) const { return as<T>()[offset(r, c)]; }
  /// Start of row r of an ND tile.
  template <class T> T *row(uint32_t r) const { return as<T>() + size_t(r) * cols; }
  bool is(isa::Layout l) const { return layout == l; }
  /// Whether its valid region is at least as large as that of `other`.
  bool covers(const LocalTile &other) const { return validRows >= other.validRows && validCols >= other.validCols; }
};

} // namespace pto_mlir::cmodel

#endif
