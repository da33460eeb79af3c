// What the fixpipe does with a quantisation descriptor (64 bits): f32 scale in bits 0-31, of which a descriptor in the fixpipe buffer counts bits
// 13-31 only; signed 9-bit offset in bits 37-45, added before rounding; bit 46: the result is signed.
#ifndef PTO_MLIR_CMODEL_QUANTISE_H
#define PTO_MLIR_CMODEL_QUANTISE_H

#include "Core.h"
#include "Element.h"

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
inline QuantDescriptor vectorDescriptor(uint64_t bits) { return scalarDescriptor(bits & ~uint64_t(0x1fff)); }

/// view(r, c) = cast(relu(src(r, c) * scale + offset)), the scale of column c from `descriptorOf(c)`; src is NZ16 of f32 or i32, the view i8, u8
/// or f16. Integers are rounded to nearest even and clamped, f16 is clamped to its finite range.
template <class F> void storeQuantised(Core &core, const GlobalView &view, const LocalTile &src, bool relu, F descriptorOf) {
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
      float value = (src.type == isa::ElementType::f32 ? src.at<float>(r, c) : float(src.at<int32_t>(r, c))) * q.scale + float(q.offset);
      if (relu && value < 0)
        value = 0;
      auto clamped = [&](float low, float high) { return value > high ? high : value > low ? value : low; };
      uint8_t *to = view.base + at * view.bytes;
      switch (view.type) {
      case isa::ElementType::i8: {
        value = std::nearbyint(value);
        *reinterpret_cast<int8_t *>(to) = int8_t(clamped(-128, 127));
        break;
      }
      case isa::ElementType::u8:
        value = std::nearbyint(value);
        *to = uint8_t(clamped(0, 255));
        break;
      case isa::ElementType::f16:
        *reinterpret_cast<Half *>(to) = toHalf(clamped(-65504, 65504));
        break;
      default:
        return core.fault(FaultKind::IllegalType, std::string("no quantised store of ") + isa::elementName(view.type));
      }
    }
  }
  core.counters.bytesWritten += uint64_t(src.validRows) * src.validCols * view.bytes;
}

} // namespace pto_mlir::cmodel

#endif
