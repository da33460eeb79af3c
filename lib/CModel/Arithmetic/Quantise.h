// Quantisation by the fixpipe. A 64-bit descriptor holds an f32 scale in bits 0-31, a signed 9-bit offset in bits 37-45
// that is added before rounding, and in bit 46 whether the result is signed. Of a descriptor in the fixpipe buffer only
// bits 13-31 of the scale are used.
#ifndef PTO_MLIR_CMODEL_QUANTISE_H
#define PTO_MLIR_CMODEL_QUANTISE_H

#include "Arithmetic/SmallFloat.h"
#include "Machine/Core.h"
#include "Tiles/MapLine.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace pto_mlir::cmodel {

/// The decoded fields of a descriptor.
struct QuantDescriptor {
  float scale;
  int32_t offset;
};

inline QuantDescriptor scalarDescriptor(uint64_t bits) {
  auto offset = int32_t(bits >> 37 & 0x1ff);
  return {std::bit_cast<float>(uint32_t(bits)), offset >= 256 ? offset - 512 : offset};
}
/// The bits of a descriptor in the fixpipe buffer that the hardware uses.
inline uint64_t fixpipeDescriptor(uint64_t bits) { return bits & ~uint64_t(0x1fff); }
/// The descriptor held in two scalar operands; only the low 32 bits of each are used.
inline uint64_t descriptorBits(int64_t low, int64_t high) {
  return uint64_t(uint32_t(low)) | uint64_t(uint32_t(high)) << 32;
}

/// Right shift of the i32 to i16 conversion: bits 32-35 of a descriptor, plus 1.
inline unsigned descriptorShift(uint64_t bits) { return unsigned(bits >> 32 & 15) + 1; }

/// At most 16 columns of an accumulator, with the descriptor of each.
struct QuantRun {
  static constexpr uint32_t most = 16;
  float scale[most], offset[most];
  unsigned shift[most];
  bool relu;

  void set(uint32_t i, uint64_t bits) {
    QuantDescriptor q = scalarDescriptor(bits);
    scale[i] = q.scale, offset[i] = float(q.offset), shift[i] = descriptorShift(bits);
  }
};

/// Legal types of a quantised element; i16 is legal only from i32, by a shift.
using Quantised = Types<int8_t, uint8_t, Half, BFloat, float, E4M3, Hif8>;

/// to[i] = cast(relu(from[i] * scale[i] + offset[i])), i < n <= QuantRun::most. Integers are rounded to nearest even
/// and clamped; f16 from i32 and the 8-bit floats are clamped to their finite range. i16: relu(from[i]) >> shift[i].
template <class D, class S>
inline __attribute__((always_inline)) void quantiseRun(D *to, const S *from, const QuantRun &q, uint32_t n) {
  if constexpr (std::is_same_v<D, int16_t>) {
    for (uint32_t i = 0; i < n; ++i)
      to[i] = int16_t((q.relu && from[i] < 0 ? S(0) : from[i]) >> q.shift[i]);
  } else {
    // NaN passes through relu and becomes the least value where the type is clamped.
    float floor = q.relu ? 0 : -std::numeric_limits<float>::infinity();
    auto scaled = [&](size_t i) __attribute__((always_inline)) {
      float v = float(from[i]) * q.scale[i] + q.offset[i];
      return v < floor ? floor : v;
    };
    auto clamped = [](float v, float least, float greatest) __attribute__((always_inline)) {
      return v > greatest ? greatest : v > least ? v : least;
    };
    if constexpr (std::is_integral_v<D>) { // adding 1.5 * 2^23 rounds to an integer
      constexpr float least = std::numeric_limits<D>::min(), greatest = std::numeric_limits<D>::max();
      forBlocks(n, [&](size_t i) __attribute__((always_inline)) {
        to[i] = D(int32_t(clamped(scaled(i), least, greatest) + 0x1.8p23f - 0x1.8p23f));
      });
    } else if constexpr (std::is_same_v<D, E4M3> || std::is_same_v<D, Hif8>) {
      for (uint32_t i = 0; i < n; ++i)
        to[i].bits = encodeSmall(elementType<D>(), scaled(i), true);
    } else if constexpr (std::is_same_v<D, Half>) {
      float value[QuantRun::most];
      forBlocks(n, [&](size_t i) __attribute__((always_inline)) {
        value[i] = std::is_same_v<S, int32_t> ? clamped(scaled(i), -65504, 65504) : scaled(i);
      });
      narrow(to, value, n);
    } else {
      forBlocks(n, [&](size_t i) __attribute__((always_inline)) { to[i] = store<D>(scaled(i)); });
    }
  }
}

/// As quantiseRun, with a constant trip count for a full run, so that the compiler unrolls it.
template <class D, class S> inline void quantiseWhole(D *to, const S *from, const QuantRun &q, uint32_t n) {
  if (n == QuantRun::most)
    quantiseRun(to, from, q, QuantRun::most);
  else
    quantiseRun(to, from, q, n);
}

/// Calls f.operator()<D, S>() for the element types of the result and the accumulator; false if there is no such cast.
template <class F> inline bool visitQuantised(isa::ElementType to, isa::ElementType from, F &&f) {
  bool legal = false;
  Types<float, int32_t>::visit(from, [&]<class S>() {
    legal = Quantised::visit(to, [&]<class D>() { f.template operator()<D, S>(); });
    if constexpr (std::is_same_v<S, int32_t>)
      legal = legal || Types<int16_t>::visit(to, [&]<class D>() { f.template operator()<D, S>(); });
  });
  return legal;
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

/// view(r, c) = quantise(src(r, c)), or += when `add`; `bitsOf(c)` is the descriptor of column c, src is NZ16 of f32 or
/// i32. Faults on an illegal type, a view smaller than src, or an element outside the argument.
template <class F>
void storeQuantised(Core &core, const GlobalView &view, const LocalTile &src, bool relu, F bitsOf, bool add = false) {
  if (!src.data || core.faulted() || src.validRows == 0 || src.validCols == 0)
    return;
  if (view.rows() < src.validRows || view.cols() < src.validCols)
    return core.fault(FaultKind::IllegalShape, "the view is smaller than the tile's valid region of " +
                                                   std::to_string(src.validRows) + "x" + std::to_string(src.validCols));
  auto outside = [&](uint32_t r, uint32_t c) {
    core.fault(FaultKind::OutOfRange,
               "element (" + std::to_string(r) + ", " + std::to_string(c) + ") of the view lies outside the argument");
  };
  bool rows =
      view.layout == isa::Layout::ND && view.stride(0) == 1 && !add; // 16 columns follow one another on both sides
  std::vector<int64_t> rowOffsets(rows ? src.validRows : 0);
  for (uint32_t r = 0; r < rowOffsets.size(); ++r)
    if (rowOffsets[r] = view.offset(r, 0); !view.contains(rowOffsets[r], src.validCols, 1, 1, 0))
      return outside(r, 0);
  bool legal = visitQuantised(view.type, src.type, [&]<class D, class S>() {
    D *base = reinterpret_cast<D *>(view.base);
    QuantRun run;
    run.relu = relu;
    for (uint32_t c = 0; c < src.validCols; c += QuantRun::most) {
      uint32_t n = std::min(QuantRun::most, src.validCols - c);
      for (uint32_t i = 0; i < n; ++i)
        run.set(i, bitsOf(c + i));
      const S *from = src.as<S>() + src.offset(0, c);
      for (uint32_t r = 0; r < src.validRows; ++r, from += QuantRun::most) {
        if (rows) {
          quantiseWhole(base + rowOffsets[r] + c, from, run, n);
          continue;
        }
        D values[QuantRun::most];
        quantiseRun(values, from, run, n);
        for (uint32_t i = 0; i < n; ++i) {
          int64_t at = view.offset(r, c + i);
          if (!view.contains(at, 1, 0, 1, 0))
            return outside(r, c + i);
          if (!add)
            base[at] = values[i];
          else if (!addElement(view.type, reinterpret_cast<uint8_t *>(base + at),
                               reinterpret_cast<uint8_t *>(values + i)))
            return core.fault(FaultKind::IllegalType,
                              std::string("no atomic addition of ") + isa::elementName(view.type));
        }
      }
    }
  });
  if (!legal)
    return core.fault(FaultKind::IllegalType, std::string("no quantised store of ") + isa::elementName(view.type));
  core.counters.bytesWritten += uint64_t(src.validRows) * src.validCols * view.bytes;
}

/// A move of `rows` x `cols` elements between two tiles (usually from an accumulator): from (srcRow, srcCol) of src to
/// (row, col) of dst.
struct PartMove {
  int64_t row, col, srcRow, srcCol, rows, cols;

  /// Returns whether the part lies inside both tiles; faults otherwise.
  bool fits(Core &core, const LocalTile &dst, const LocalTile &src) const {
    auto within = [](int64_t first, int64_t count, uint32_t all) {
      return count >= 0 && count <= all && first >= 0 && first <= all - count;
    };
    if (within(row, rows, dst.rows) && within(col, cols, dst.cols) && within(srcRow, rows, src.validRows) &&
        within(srcCol, cols, src.validCols))
      return true;
    core.fault(FaultKind::OutOfRange, std::to_string(rows) + "x" + std::to_string(cols) + " elements from (" +
                                          std::to_string(srcRow) + ", " + std::to_string(srcCol) + ") to (" +
                                          std::to_string(row) + ", " + std::to_string(col) +
                                          ") leave one of the tiles");
    return false;
  }
};

/// dst(part) = quantise(src(part)); `bitsOf(j)` is the descriptor of column j of the part. Faults if there is no such
/// cast.
template <class F>
void moveQuantised(Core &core, const LocalTile &dst, const LocalTile &src, const PartMove &part, bool relu, F bitsOf) {
  if (core.faulted() || !part.fits(core, dst, src))
    return;
  // `group`: columns of dst that are contiguous; `pitch`: elements between consecutive rows of dst, 0 for layouts that
  // need the offset of each element.
  auto cols = uint32_t(part.cols), rows = uint32_t(part.rows);
  uint32_t group = dst.is(isa::Layout::NZ) ? 32 / dst.bytes : dst.is(isa::Layout::ND) ? dst.cols : 1;
  size_t pitch = dst.is(isa::Layout::NZ) ? group : dst.is(isa::Layout::ND) ? dst.cols : 0;
  bool legal = visitQuantised(dst.type, src.type, [&]<class D, class S>() {
    QuantRun run;
    run.relu = relu;
    for (uint32_t j = 0; j < cols;) {
      uint32_t to = uint32_t(part.col) + j, from = uint32_t(part.srcCol) + j;
      uint32_t n = std::min({QuantRun::most - from % QuantRun::most, group - to % group, cols - j});
      for (uint32_t i = 0; i < n; ++i)
        run.set(i, bitsOf(j + i));
      const S *line = src.as<S>() + src.offset(uint32_t(part.srcRow), from);
      D *out = rows ? dst.as<D>() + dst.offset(uint32_t(part.row), to) : nullptr;
      for (uint32_t i = 0; i < rows; ++i, line += QuantRun::most)
        quantiseWhole(pitch ? out + i * pitch : dst.as<D>() + dst.offset(uint32_t(part.row) + i, to), line, run, n);
      j += n;
    }
  });
  if (!legal)
    core.fault(FaultKind::IllegalType, std::string("no quantised move of ") + isa::elementName(dst.type));
}

} // namespace pto_mlir::cmodel

#endif
