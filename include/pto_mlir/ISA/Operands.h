//===- Operands.h - The operands of instructions --------------------------===//
//
// Enumerations come from the instruction table; the encodings are in docs/commands.md.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_ISA_OPERANDS_H
#define PTO_MLIR_ISA_OPERANDS_H

#include <cstddef>
#include <cstdint>

namespace pto_mlir::isa {

#include "pto_mlir/ISA/Enums.h.inc"

inline constexpr unsigned kNumRegisters = 64;
/// The most event ids, cross-core flags and vector cores of a block that commands can name; an architecture's row says
/// how many it has. A cube core with lane flags (mode lane) has kNumCrossIds for each vector core.
inline constexpr unsigned kNumFlagIds = 8, kNumCrossIds = 16, kMostVectorCores = 2;
/// The highest count of a cross-core flag.
inline constexpr unsigned kMostCrossRaises = 15;
inline constexpr unsigned kMaxRank = 5;
/// What `get` reads where a number is past the names of Query: the launch's scalar argument k.
inline constexpr unsigned kNumQueries = unsigned(Query::subblock_num) + 1;
constexpr Query scalarArgument(unsigned k) { return Query(kNumQueries + k); }
/// Slots whose register bits stand in the head word; a mask word follows only when a later slot is a register.
inline constexpr unsigned kHeadSlots = 8;
inline constexpr uint32_t kMaskWordBit = 1u << 10;
/// The maximum number of rows (DN or ZN tiles: columns) that one tload moves, and the maximum m, k and n of a product
/// (pto-isa 2.4, 3.8).
inline constexpr unsigned kMostLoadLinesUB = 4095, kMostLoadLinesL1 = 16384, kMostProductExtent = 4095;
inline constexpr unsigned kMaxTileAddress = (1u << 20) - 1;

/// An immediate, or the number of a register that holds the value.
struct Value {
  int64_t value = 0;
  bool isRegister = false;

  constexpr Value() = default;
  constexpr Value(int64_t immediate) : value(immediate) {}
  static constexpr Value reg(unsigned number) {
    Value result(number);
    result.isRegister = true;
    return result;
  }
  friend constexpr bool operator==(const Value &a, const Value &b) {
    return a.value == b.value && a.isRegister == b.isRegister;
  }
  friend constexpr bool operator!=(const Value &a, const Value &b) { return !(a == b); }
};

/// A tile in local memory. `rows` x `cols` is the allocated box of the layout formula (ND: row pitch = cols); only the
/// valid part is read or written. The address is in bytes.
struct Tile {
  ElementType type = ElementType::f32;
  Layout layout = Layout::ND;
  Pad pad = Pad::null;
  Value address;
  uint16_t rows = 0, cols = 0;
  Value validRows, validCols;
};

/// A strided view of kernel argument `arg`. The offset is in bytes, strides in elements, outermost dimension first.
struct View {
  uint8_t arg = 0;
  ElementType type = ElementType::f32;
  Layout layout = Layout::ND;
  uint8_t rank = 1;
  Value offset;
  Value sizes[kMaxRank], strides[kMaxRank];
};

/// Bits of an element; 4 to 64.
inline constexpr unsigned elementBits(ElementType type) { return kElementBits[unsigned(type)]; }
/// The name of an element type in messages and text ("f32").
inline constexpr const char *elementName(ElementType type) { return kElementTypeNames[unsigned(type)]; }
/// Whether the type is a float, 8- and 4-bit floats included.
inline constexpr bool isFloat(ElementType type) {
  switch (type) {
  case ElementType::i8:
  case ElementType::u8:
  case ElementType::i16:
  case ElementType::u16:
  case ElementType::i32:
  case ElementType::u32:
  case ElementType::i64:
  case ElementType::u64:
  case ElementType::i4:
    return false;
  default:
    return true;
  }
}
/// The name of a pipe; null if there is none with this number.
inline constexpr const char *pipeName(Pipe pipe) {
  return unsigned(pipe) < sizeof(kPipeNames) / sizeof(*kPipeNames) ? kPipeNames[unsigned(pipe)] : nullptr;
}

/// Rows and columns of the inner box of a layout; 1 x 1 for ND and DN. Elements must have 4 to 64 bits.
struct Box {
  unsigned rows, cols;
};
inline constexpr Box innerBox(Layout layout, ElementType type) {
  unsigned c0 = 256 / elementBits(type);
  switch (layout) {
  // Scales are stored in boxes of 32 bytes: two groups x 16 rows or columns.
  case Layout::NZ:
  case Layout::ZZ:
    return {16, type == ElementType::f8E8M0 ? 2 : c0};
  case Layout::ZN:
  case Layout::NN:
    return {type == ElementType::f8E8M0 ? 2 : c0, 16};
  case Layout::NZ16:
    return {16, 16};
  default:
    return {1, 1};
  }
}

/// Offset in elements of (row, col) in a box of rows x cols (layout formulas of pto-isa).
inline constexpr uint64_t elementOffset(Layout layout, ElementType type, uint64_t rows, uint64_t cols, uint64_t row,
                                        uint64_t col) {
  Box box = innerBox(layout, type);
  uint64_t size = uint64_t(box.rows) * box.cols;
  uint64_t br = row / box.rows, ir = row % box.rows, bc = col / box.cols, ic = col % box.cols;
  switch (layout) {
  case Layout::ND:
    return row * cols + col;
  case Layout::DN:
    return col * rows + row;
  case Layout::NZ:
  case Layout::NZ16:
    return bc * (rows * box.cols) + br * size + ir * box.cols + ic;
  case Layout::ZN:
    return br * (cols * box.rows) + bc * size + ic * box.rows + ir;
  case Layout::ZZ:
    return br * (cols * box.rows) + bc * size + ir * box.cols + ic;
  case Layout::NN:
    return bc * (rows * box.cols) + br * size + ic * box.rows + ir;
  }
  return 0;
}

/// loadLines: the number of rows (DN, ZN: columns) that a tload moves. mostLoadLines: its maximum for a tile in
/// `space`.
inline constexpr const Value &loadLines(const Tile &dst) {
  return dst.layout == Layout::DN || dst.layout == Layout::ZN ? dst.validCols : dst.validRows;
}
inline constexpr unsigned mostLoadLines(Memory space) {
  return space == Memory::UB ? kMostLoadLinesUB : kMostLoadLinesL1;
}

/// Bytes from a tile's address to the last byte of its valid region, whole boxes for boxed layouts; 0 if the region is
/// empty.
inline constexpr uint64_t tileExtent(Layout layout, ElementType type, uint64_t rows, uint64_t cols, uint64_t validRows,
                                     uint64_t validCols) {
  if (validRows == 0 || validCols == 0)
    return 0;
  Box box = innerBox(layout, type);
  uint64_t lastRow = (validRows - 1) / box.rows * box.rows, lastCol = (validCols - 1) / box.cols * box.cols;
  uint64_t elements = elementOffset(layout, type, rows, cols, lastRow, lastCol) + uint64_t(box.rows) * box.cols;
  return (elements * elementBits(type) + 7) / 8;
}

} // namespace pto_mlir::isa

#endif
