#include "Memory/Transfer.h"

#include "Arithmetic/AccCast.h"
#include "Tiles/MapLine.h"
#include "Tiles/Transpose.h"

#include <cstring>

namespace pto_mlir::cmodel {
namespace {

// The layout of a tile by major and minor index (ND: rows and columns, DN: columns and rows). Either
// linear: element (major, minor) is at major * pitch + minor * step, or
// grouped: it is at minor / group * groupPitch + major * group + minor % group.
struct Addressing {
  bool linear = false, grouped = false;
  size_t pitch = 0, step = 0, groupPitch = 0;
  uint32_t group = 0;
};

Addressing addressing(const LocalTile &t, bool majorIsRow) {
  using isa::Layout;
  if (t.is(Layout::ND))
    return {true, false, majorIsRow ? t.cols : size_t(1), majorIsRow ? size_t(1) : t.cols};
  if (t.is(Layout::DN))
    return {true, false, majorIsRow ? size_t(1) : t.rows, majorIsRow ? t.rows : size_t(1)};
  isa::Box box = isa::innerBox(t.layout, t.type);
  if (t.is(Layout::NZ) && majorIsRow)
    return {false, true, 0, 0, size_t(t.rows) * box.cols, box.cols};
  if (t.is(Layout::NZ16) && majorIsRow)
    return {false, true, 0, 0, size_t(t.rows) * 16, 16};
  if (t.is(Layout::ZN) && !majorIsRow)
    return {false, true, 0, 0, size_t(t.cols) * box.rows, box.rows};
  return {};
}

// Calls f(first major index, count, element offset in the view) for runs of majors with a common stride. Stops at a
// fault.
template <class F> void forRuns(Core &core, const GlobalView &view, uint32_t majors, uint32_t minors, F &&f) {
  bool dn = view.layout == isa::Layout::DN;
  int64_t inner = view.size(dn ? 0 : 1), majorStride = view.stride(dn ? 0 : 1), minorStride = view.stride(dn ? 1 : 0);
  for (uint32_t m = 0; m < majors;) {
    auto count = uint32_t(std::min<int64_t>(inner, majors - m));
    int64_t offset = view.leading(m / inner);
    if (!view.contains(offset, count, majorStride, minors, minorStride))
      return core.fault(FaultKind::OutOfRange, "rows " + std::to_string(m) + " to " + std::to_string(m + count - 1) +
                                                   " of the view leave the argument by its bounds of " +
                                                   std::to_string(view.end - view.begin) + " bytes");
    f(m, count, offset);
    m += count;
  }
}

// Calls f(first minor of a group, its minors, first major, number of majors) for a few majors at a time, so that cache
// lines of the row-major side are still cached when the next group reads the rest of them.
constexpr uint32_t fewMajors = 16;
template <class F> void forGroups(const Addressing &a, uint32_t minors, uint32_t majors, F &&f) {
  for (uint32_t m = 0; m < majors; m += fewMajors)
    for (uint32_t g = 0; g < minors; g += a.group)
      f(g, std::min(a.group, minors - g), m, std::min(fewMajors, majors - m));
}

bool covers(Core &core, const GlobalView &view, const LocalTile &t) {
  if (view.rows() >= t.validRows && view.cols() >= t.validCols)
    return true;
  core.fault(FaultKind::IllegalShape, "the view is smaller than the tile's valid region of " +
                                          std::to_string(t.validRows) + "x" + std::to_string(t.validCols));
  return false;
}

// Fallback for layouts without a faster path: element by element.
template <class F> void forElements(Core &core, const GlobalView &view, const LocalTile &t, F &&f) {
  for (uint32_t r = 0; r < t.validRows; ++r)
    for (uint32_t c = 0; c < t.validCols; ++c) {
      int64_t at = view.offset(r, c);
      if (!view.contains(at, 1, 0, 1, 0))
        return core.fault(FaultKind::OutOfRange, "element (" + std::to_string(r) + ", " + std::to_string(c) +
                                                     ") of the view lies outside the argument");
      f(at, t.offset(r, c));
    }
}

// Copies `count` groups of n < 32 / sizeof(T) elements, zero-padded to 32 contiguous bytes each. N is n where it is a
// compile-time constant, else 0.
template <size_t N, class T> void copyPartGroups(T *to, const T *from, size_t fromPitch, size_t count, size_t n) {
  constexpr size_t group = 32 / sizeof(T);
  for (size_t i = 0; i < count; ++i) {
    T buffer[group] = {};
    std::memcpy(buffer, from + i * fromPitch, (N ? N : n) * sizeof(T));
    std::memcpy(to + i * group, buffer, sizeof buffer);
  }
}

// Copies `count` runs of n elements; runs are `toPitch` and `fromPitch` elements apart.
template <class T> void copyRuns(T *to, size_t toPitch, const T *from, size_t fromPitch, size_t count, size_t n) {
  if (toPitch == n && fromPitch == n) {
    std::memcpy(to, from, count * n * sizeof(T));
    return;
  }
  if (n * sizeof(T) == 32) { // C0 groups
    for (size_t i = 0; i < count; ++i)
      std::memcpy(to + i * toPitch, from + i * fromPitch, 32);
    return;
  }
  for (size_t i = 0; i < count; ++i)
    std::memcpy(to + i * toPitch, from + i * fromPitch, n * sizeof(T));
}

// to[i * toPitch + j * toStep] = from[i * fromPitch + j * fromStep]
template <class T>
void copyStrided(T *to, size_t toPitch, size_t toStep, const T *from, size_t fromPitch, size_t fromStep,
                 uint32_t majors, uint32_t minors) {
  if (toStep == 1 && fromStep == 1)
    return copyRuns(to, toPitch, from, fromPitch, majors, minors);
  if (toPitch == 1 && fromPitch == 1)
    return copyRuns(to, toStep, from, fromStep, minors, majors);
  if (toPitch == 1 && fromStep == 1)
    return transpose(to, toStep, from, fromPitch, majors, minors);
  if (toStep == 1 && fromPitch == 1)
    return transpose(to, toPitch, from, fromStep, minors, majors);
  if (minors >= majors || majors < 4) {
    for (size_t i = 0; i < majors; ++i)
      for (size_t j = 0; j < minors; ++j)
        to[i * toPitch + j * toStep] = from[i * fromPitch + j * fromStep];
  } else {
    for (size_t j = 0; j < minors; ++j)
      for (size_t i = 0; i < majors; ++i)
        to[i * toPitch + j * toStep] = from[i * fromPitch + j * fromStep];
  }
}

template <class T> void loadTyped(Core &core, const LocalTile &dst, const GlobalView &view) {
  bool dn = view.layout == isa::Layout::DN;
  uint32_t majors = dn ? dst.validCols : dst.validRows, minors = dn ? dst.validRows : dst.validCols;
  Addressing a = view.layout == isa::Layout::NZ ? Addressing{} : addressing(dst, !dn);
  T *out = dst.as<T>();
  const T *base = reinterpret_cast<const T *>(view.base);
  if (!a.linear && !a.grouped)
    return forElements(core, view, dst, [&](int64_t from, size_t to) { out[to] = base[from]; });
  size_t majorStride = size_t(view.stride(dn ? 0 : 1)), minorStride = size_t(view.stride(dn ? 1 : 0));
  forRuns(core, view, majors, minors, [&](uint32_t first, uint32_t count, int64_t offset) {
    const T *from = base + offset;
    if (a.linear)
      return copyStrided(out + first * a.pitch, a.pitch, a.step, from, majorStride, minorStride, count, minors);
    // Four whole groups of a row at a time: reads whole cache lines.
    constexpr uint32_t together = 4, c0 = 32 / sizeof(T);
    uint32_t wide = minorStride == 1 && a.group == c0 ? minors / (together * c0) * (together * c0) : 0;
    for (uint32_t row = 0; row < count && wide > 0; row += fewMajors)
      for (uint32_t g = 0; g < wide; g += together * c0)
        for (uint32_t r = row; r < std::min(row + fewMajors, count); ++r) {
          const T *source = from + r * majorStride + g;
          T *to = out + g / c0 * a.groupPitch + size_t(first + r) * c0;
          for (uint32_t i = 0; i < together; ++i)
            std::memcpy(to + i * a.groupPitch, source + i * c0, 32);
        }
    forGroups(a, minors - wide, count, [&](uint32_t g, uint32_t n, uint32_t row, uint32_t rows) {
      g += wide;
      T *to = out + g / a.group * a.groupPitch + size_t(first + row) * a.group;
      if (n < a.group && minorStride == 1 && a.group * sizeof(T) == 32) {
        const T *group = from + row * majorStride + g;
        if (n == 3) // images with three channels
          copyPartGroups<3>(to, group, majorStride, rows, n);
        else
          copyPartGroups<0>(to, group, majorStride, rows, n);
        return;
      }
      copyStrided(to, a.group, 1, from + row * majorStride + g * minorStride, majorStride, minorStride, rows, n);
      if (n < a.group)
        for (size_t i = 0; i < rows; ++i)
          std::memset(static_cast<void *>(to + i * a.group + n), 0, (a.group - n) * sizeof(T));
    });
  });
}

template <class T> void storeTyped(Core &core, const GlobalView &view, const LocalTile &src) {
  bool dn = view.layout == isa::Layout::DN;
  uint32_t majors = dn ? src.validCols : src.validRows, minors = dn ? src.validRows : src.validCols;
  Addressing a = view.layout == isa::Layout::NZ ? Addressing{} : addressing(src, !dn);
  const T *in = src.as<T>();
  T *base = reinterpret_cast<T *>(view.base);
  if (!a.linear && !a.grouped)
    return forElements(core, view, src, [&](int64_t to, size_t from) { base[to] = in[from]; });
  size_t majorStride = size_t(view.stride(dn ? 0 : 1)), minorStride = size_t(view.stride(dn ? 1 : 0));
  forRuns(core, view, majors, minors, [&](uint32_t first, uint32_t count, int64_t offset) {
    T *to = base + offset;
    if (a.linear)
      return copyStrided(to, majorStride, minorStride, in + first * a.pitch, a.pitch, a.step, count, minors);
    forGroups(a, minors, count, [&](uint32_t g, uint32_t n, uint32_t row, uint32_t rows) {
      copyStrided(to + row * majorStride + g * minorStride, majorStride, minorStride,
                  in + g / a.group * a.groupPitch + size_t(first + row) * a.group, a.group, 1, rows, n);
    });
  });
}

// Converts one run of at most 16 accumulator elements.
template <class D, class S> inline void convertRun(D *to, const S *from, size_t n, bool relu) {
  S positive[16];
  if (relu) {
    forBlocks(n, [&](size_t i) { positive[i] = from[i] < S(0) ? S(0) : from[i]; });
    from = positive;
  }
  if constexpr (std::is_same_v<D, S>)
    std::memcpy(to, from, n * sizeof(D));
  else if constexpr (std::is_same_v<D, Half>)
    narrow(to, from, n);
  else
    forBlocks(n, [&](size_t i) { to[i] = store<D>(from[i]); });
}

template <size_t N, class D, class S> void convertRows(D *to, size_t pitch, const S *from, uint32_t rows, bool relu) {
  for (uint32_t r = 0; r < rows; ++r, to += pitch, from += 16)
    convertRun(to, from, N, relu);
}

template <class D> D sum(D a, D b) {
  if constexpr (std::is_integral_v<D>)
    return D(uint64_t(a) + uint64_t(b));
  else
    return store<D>(load(a) + load(b));
}

template <class D, class S>
void storeAccumulatorTyped(Core &core, const GlobalView &view, const LocalTile &src, bool relu, bool add) {
  const S *in = src.as<S>();
  D *base = reinterpret_cast<D *>(view.base);
  if (view.layout == isa::Layout::ND && view.stride(0) == 1 && !add)
    return forRuns(core, view, src.validRows, src.validCols, [&](uint32_t first, uint32_t count, int64_t offset) {
      size_t pitch = size_t(view.stride(1));
      Addressing a{false, true, 0, 0, size_t(src.rows) * 16, 16};
      forGroups(a, src.validCols, count, [&](uint32_t c, uint32_t n, uint32_t row, uint32_t rows) {
        const S *from = in + size_t(c) * src.rows + size_t(first + row) * 16;
        D *to = base + offset + row * pitch + c;
        if (n == 16)
          convertRows<16>(to, pitch, from, rows, relu);
        else if (n == 8)
          convertRows<8>(to, pitch, from, rows, relu);
        else
          for (uint32_t r = 0; r < rows; ++r)
            convertRun(to + r * pitch, from + r * 16, n, relu);
      });
    });
  forElements(core, view, src, [&](int64_t to, size_t from) {
    D value;
    convertRun(&value, in + from, 1, relu);
    base[to] = add ? sum(base[to], value) : value;
  });
}

/// Conversions between integers and floats, element by element; false if there is no such cast.
bool castAndStore(Core &core, const GlobalView &view, const LocalTile &src, bool relu, bool add) {
  return Types<float, Half, BFloat, int32_t>::visit(view.type, [&]<class T>() {
    T *base = reinterpret_cast<T *>(view.base);
    forElements(core, view, src, [&](int64_t to, size_t from) {
      T value = castAccumulator<T>(src, from, relu);
      base[to] = add ? sum(base[to], value) : value;
    });
  });
}

uint64_t payload(const LocalTile &t, uint32_t elementBytes) {
  return uint64_t(t.validRows) * t.validCols * elementBytes;
}

void mismatch(Core &core, isa::ElementType a, isa::ElementType b) {
  core.fault(FaultKind::IllegalType,
             std::string("no transfer between ") + isa::elementName(a) + " and " + isa::elementName(b));
}

} // namespace

void loadTile(Core &core, const LocalTile &dst, const GlobalView &view) {
  if (!dst.data || core.faulted() || dst.validRows == 0 || dst.validCols == 0)
    return;
  if (dst.type != view.type)
    return mismatch(core, view.type, dst.type);
  if (!covers(core, view, dst))
    return;
  Carriers::visit(carrier(dst.type), [&]<class T>() { loadTyped<T>(core, dst, view); });
  core.counters.bytesRead += payload(dst, view.bytes);
}

void storeTile(Core &core, const GlobalView &view, const LocalTile &src, bool add) {
  if (!src.data || core.faulted() || src.validRows == 0 || src.validCols == 0)
    return;
  if (src.type != view.type)
    return mismatch(core, src.type, view.type);
  if (!covers(core, view, src))
    return;
  core.counters.bytesWritten += payload(src, view.bytes);
  if (!add) {
    Carriers::visit(carrier(src.type), [&]<class T>() { storeTyped<T>(core, view, src); });
    return;
  }
  using Addable = Types<float, Half, BFloat, int8_t, int16_t, int32_t>;
  bool legal = Addable::visit(src.type, [&]<class T>() {
    T *base = reinterpret_cast<T *>(view.base);
    forElements(core, view, src, [&](int64_t to, size_t from) { base[to] = sum(base[to], src.as<T>()[from]); });
  });
  if (!legal)
    core.fault(FaultKind::IllegalType, std::string("no atomic addition of ") + isa::elementName(src.type));
}

void storeAccumulator(Core &core, const GlobalView &view, const LocalTile &src, bool relu, bool add) {
  if (!src.data || core.faulted() || src.validRows == 0 || src.validCols == 0 || !covers(core, view, src))
    return;
  using isa::ElementType;
  if (src.type == ElementType::f32 && view.type == ElementType::f32)
    storeAccumulatorTyped<float, float>(core, view, src, relu, add);
  else if (src.type == ElementType::f32 && view.type == ElementType::f16)
    storeAccumulatorTyped<Half, float>(core, view, src, relu, add);
  else if (src.type == ElementType::f32 && view.type == ElementType::bf16)
    storeAccumulatorTyped<BFloat, float>(core, view, src, relu, add);
  else if (src.type == ElementType::i32 && view.type == ElementType::i32)
    storeAccumulatorTyped<int32_t, int32_t>(core, view, src, relu, add);
  else if (!castAndStore(core, view, src, relu, add))
    return mismatch(core, src.type, view.type);
  core.counters.bytesWritten += payload(src, view.bytes);
}

void extractTile(Core &core, const LocalTile &dst, const LocalTile &src, int64_t row, int64_t col) {
  if (!dst.data || !src.data || dst.validRows == 0 || dst.validCols == 0)
    return;
  if (dst.type != src.type)
    return mismatch(core, src.type, dst.type);
  if (row < 0 || col < 0 || row + dst.validRows > src.rows || col + dst.validCols > src.cols)
    return core.fault(FaultKind::OutOfRange, "rows from " + std::to_string(row) + " and columns from " +
                                                 std::to_string(col) + " for " + std::to_string(dst.validRows) + "x" +
                                                 std::to_string(dst.validCols) + " leave the source of " +
                                                 std::to_string(src.rows) + "x" + std::to_string(src.cols));
  using isa::Layout;
  uint32_t c0 = 32 / dst.bytes;
  bool boxes = dst.type != isa::ElementType::f8E8M0; // boxes of 512 bytes; those of scales are smaller
  auto r0 = uint32_t(row), k0 = uint32_t(col);
  Carriers::visit(carrier(dst.type), [&]<class T>() {
    const T *from = src.as<T>();
    T *to = dst.as<T>();
    // NZ to ZZ or NZ, columns aligned to a group: whole groups of 32 bytes; 16 rows of a group are contiguous on both
    // sides.
    if (boxes && src.is(Layout::NZ) && (dst.is(Layout::ZZ) || dst.is(Layout::NZ)) && k0 % c0 == 0) {
      for (uint32_t r = 0; r < dst.validRows; r += 16) {
        uint32_t n = std::min(16u, dst.validRows - r);
        // Box (r / 16, c / c0) of ZZ, and of NZ.
        T *box = dst.is(Layout::ZZ) ? to + size_t(r) * dst.cols : to + size_t(r) * c0;
        size_t boxPitch = dst.is(Layout::ZZ) ? size_t(16) * c0 : size_t(dst.rows) * c0;
        for (uint32_t c = 0; c < dst.validCols; c += c0, box += boxPitch)
          std::memcpy(box, from + size_t(k0 + c) * src.rows + size_t(r0 + r) * c0, size_t(n) * 32);
      }
      return;
    }
    // ZN to ZN: the same with rows and columns exchanged.
    if (boxes && src.is(Layout::ZN) && dst.is(Layout::ZN) && r0 % c0 == 0) {
      for (uint32_t r = 0; r < dst.validRows; r += c0)
        std::memcpy(to + size_t(r) * dst.cols, from + size_t(r0 + r) * src.cols + size_t(k0) * c0,
                    size_t(dst.validCols) * 32);
      return;
    }
    // NZ to ZN: each group of columns is a [rows][c0] matrix, transposed into boxes of [16 columns][c0 rows].
    if (boxes && src.is(Layout::NZ) && dst.is(Layout::ZN)) {
      for (uint32_t r = 0; r < dst.validRows; r += c0) {
        uint32_t n = std::min(c0, dst.validRows - r);
        for (uint32_t c = 0; c < dst.validCols;) {
          uint32_t sc = k0 + c, width = std::min(c0 - sc % c0, dst.validCols - c); // up to the end of src's group
          const T *columns = from + size_t(sc / c0) * src.rows * c0 + size_t(r0 + r) * c0 + sc % c0;
          transpose(to + size_t(r) * dst.cols + size_t(c) * c0, c0, columns, c0, n, width);
          c += width;
        }
      }
      return;
    }
    for (uint32_t r = 0; r < dst.validRows; ++r)
      for (uint32_t c = 0; c < dst.validCols; ++c)
        to[dst.offset(r, c)] = from[src.offset(r0 + r, k0 + c)];
  });
}

} // namespace pto_mlir::cmodel
