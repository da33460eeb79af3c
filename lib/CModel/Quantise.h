// What the fixpipe does with a quantisation descriptor (64 bits): f32 scale in bits 0-31, of which a descriptor in the fixpipe buffer counts bits
// 13-31 only; signed 9-bit offset in bits 37-45, added before rounding; bit 46: the result is signed.
#ifndef PTO_MLIR_CMODEL_QUANTISE_H
#define PTO_MLIR_CMODEL_QUANTISE_H

#include "Core.h"
#include "Element.h"
#include "SmallFloat.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace pto_mlir::cmodel {

struct QuantDescriptor {
  float scale;
  int32_t offset;
};

inline QuantDescriptor scalarDescriptor(uint64_t bits) {
  auto offset = int32_t(bits >> 37 & 0x1ff);
  return {std::bit_cast<float>(uint32_t(bits)), offset >= 256 ? offset - 512 : offset};
}
/// What counts of a descriptor in the fixpipe buffer.
inline uint64_t fixpipeDescriptor(uint64_t bits) { return bits & ~uint64_t(0x1fff); }
inline QuantDescriptor vectorDescriptor(uint64_t bits) { return scalarDescriptor(fixpipeDescriptor(bits)); }
/// The descriptor of two operands; a register may hold more than the 32 bits that count.
inline uint64_t descriptorBits(int64_t low, int64_t high) { return uint64_t(uint32_t(low)) | uint64_t(uint32_t(high)) << 32; }

/// Bits 32-35 of a descriptor: how far i32 is shifted on its way to i16, less 1.
inline unsigned descriptorShift(uint64_t bits) { return unsigned(bits >> 32 & 15) + 1; }

/// *to = cast(relu(accumulator element (r, c) * scale + offset)) as `type`. Integers are rounded to nearest even and clamped; f16 from i32 and
/// the types of 8 bits are clamped to their finite range. False where there is no such cast.
inline bool quantiseElement(const LocalTile &src, uint32_t r, uint32_t c, QuantDescriptor q, bool relu, isa::ElementType type, uint8_t *to) {
  float value = (src.type == isa::ElementType::f32 ? src.at<float>(r, c) : float(src.at<int32_t>(r, c))) * q.scale + float(q.offset);
  if (relu && value < 0)
    value = 0;
  auto clamped = [&](float low, float high) { return value > high ? high : value > low ? value : low; };
  switch (type) {
  case isa::ElementType::i8:
    value = std::nearbyint(value);
    *reinterpret_cast<int8_t *>(to) = int8_t(clamped(-128, 127));
    return true;
  case isa::ElementType::u8:
    value = std::nearbyint(value);
    *to = uint8_t(clamped(0, 255));
    return true;
  case isa::ElementType::f16:
    *reinterpret_cast<Half *>(to) = toHalf(src.type == isa::ElementType::i32 ? clamped(-65504, 65504) : value);
    return true;
  case isa::ElementType::bf16:
    *reinterpret_cast<BFloat *>(to) = store<BFloat>(value);
    return true;
  case isa::ElementType::f32:
    std::memcpy(to, &value, sizeof value);
    return true;
  case isa::ElementType::f8E4M3FN:
  case isa::ElementType::hif8:
    *to = encodeSmall(type, value, true);
    return true;
  default:
    return false;
  }
}

/// `*into += *value`, both of `type`; false for a type that cannot be added.
inline bool addElement(isa::ElementType type, uint8_t *into, const uint8_t *value) {
  return Types<float, Half, BFloat, int8_t, uint8_t>::visit(type, [&]<class T>() {
    T a, b;
    std::memcpy(&a, into, sizeof a);
    std::memcpy(&b, value, sizeof b);
    a = store<T>(load(a) + load(b));
    std::memcpy(into, &a, sizeof a);
  });
}

/// view(r, c) = quantiseElement of src(r, c), or +=, the descriptor of column c from `descriptorOf(c)`; src is NZ16 of f32 or i32.
template <class F> void storeQuantised(Core &core, const GlobalView &view, const LocalTile &src, bool relu, F descriptorOf, bool add = false) {
  if (!src.data || core.faulted() || src.validRows == 0 || src.validCols == 0)
    return;
  if (view.rows() < src.validRows || view.cols() < src.validCols)
    return core.fault(FaultKind::IllegalShape, "the view is smaller than the tile's valid region of " + std::to_string(src.validRows) + "x" +
                                                   std::to_string(src.validCols));
  for (uint32_t c = 0; c < src.validCols; ++c) {
    QuantDescriptor q = descriptorOf(c);
    for (uint32_t r = 0; r < src.validRows; ++r) {
      int64_t at = view.offset(r, c);
      if (!view.contains(at, 1, 0, 1, 0))
        return core.fault(FaultKind::OutOfRange, "element (" + std::to_string(r) + ", " + std::to_string(c) + ") of the view lies outside the argument");
      uint8_t value[8], *to = view.base + at * view.bytes;
      if (!quantiseElement(src, r, c, q, relu, view.type, add ? value : to) || (add && !addElement(view.type, to, value)))
        return core.fault(FaultKind::IllegalType, std::string("no quantised store of ") + isa::elementName(view.type));
    }
  }
  core.counters.bytesWritten += uint64_t(src.validRows) * src.validCols * view.bytes;
}

/// A part of a tile, mostly an accumulator: `rows` x `cols` elements from (srcRow, srcCol) go to (row, col) of another one.
struct PartMove {
  int64_t row, col, srcRow, srcCol, rows, cols;

  /// Does the part lie in both boxes? Faults otherwise.
  bool fits(Core &core, const LocalTile &dst, const LocalTile &src) const {
    auto within = [](int64_t first, int64_t count, uint32_t all) { return count >= 0 && count <= all && first >= 0 && first <= all - count; };
    if (within(row, rows, dst.rows) && within(col, cols, dst.cols) && within(srcRow, rows, src.validRows) && within(srcCol, cols, src.validCols))
      return true;
    core.fault(FaultKind::OutOfRange, std::to_string(rows) + "x" + std::to_string(cols) + " elements from (" + std::to_string(srcRow) + ", " +
                                          std::to_string(srcCol) + ") to (" + std::to_string(row) + ", " + std::to_string(col) +
                                          ") leave one of the tiles");
    return false;
  }
};

/// dst(row, col) = quantised src(srcRow, srcCol) with the descriptor `bits`. Faults where there is no such cast.
inline void moveQuantisedElement(Core &core, const LocalTile &dst, uint32_t row, uint32_t col, const LocalTile &src, uint32_t srcRow, uint32_t srcCol,
                                 uint64_t bits, bool relu) {
  uint8_t *to = dst.data + dst.offset(row, col) * dst.bytes;
  if (dst.type == isa::ElementType::i16 && src.type == isa::ElementType::i32) {
    int32_t value = src.at<int32_t>(srcRow, srcCol);
    *reinterpret_cast<int16_t *>(to) = int16_t((relu && value < 0 ? 0 : value) >> descriptorShift(bits));
  } else if (!quantiseElement(src, srcRow, srcCol, scalarDescriptor(bits), relu, dst.type, to)) {
    core.fault(FaultKind::IllegalType, std::string("no quantised move of ") + isa::elementName(dst.type));
  }
}

/// dst(part) = quantised src(part), dst NZ; `bitsOf(j)` is the descriptor of the part's column j.
template <class F>
void moveQuantised(Core &core, const LocalTile &dst, const LocalTile &src, const PartMove &part, bool relu, F bitsOf) {
  if (core.faulted() || !part.fits(core, dst, src))
    return;
  for (int64_t j = 0; j < part.cols; ++j)
    for (int64_t i = 0; i < part.rows && !core.faulted(); ++i)
      moveQuantisedElement(core, dst, uint32_t(part.row + i), uint32_t(part.col + j), src, uint32_t(part.srcRow + i), uint32_t(part.srcCol + j),
                           bitsOf(uint32_t(j)), relu);
}

} // namespace pto_mlir::cmodel

#endif
