#include "Cube/Panels.h"
#include "pto_mlir/Support/MathExtras.h"

#include "Arithmetic/SmallFloat.h"
#include "Tiles/MapLine.h"
#include "Tiles/Transpose.h"

namespace pto_mlir::cmodel {
namespace {

/// Eight contiguous elements, widened to 32 bits.
template <class T> inline Words8 loadEight(const T *p) {
  Words8 v;
#if defined(__F16C__)
  if constexpr (std::is_same_v<T, Half>) {
    __m256 wide = widenEight(p);
    std::memcpy(&v, &wide, sizeof v);
    return v;
  }
#endif
  if constexpr (sizeof(T) == 4) {
    std::memcpy(&v, p, sizeof v);
  } else {
    Compute<T> wide[8];
    std::conditional_t<std::is_same_v<Compute<T>, float>, float, int32_t> out[8];
    for (int i = 0; i < 8; ++i)
      wide[i] = load(p[i]);
    for (int i = 0; i < 8; ++i)
      out[i] = wide[i];
    std::memcpy(&v, out, sizeof v);
  }
  return v;
}

} // namespace

template <class T, class C> void packLeft(MatmulTask<C> &task, PanelCache &cache, const LocalTile &a) {
  constexpr uint32_t c0 = 32 / sizeof(T), boxElements = 16 * c0;
  bool zz = a.is(isa::Layout::ZZ);
  size_t blockStride = zz ? size_t(a.cols) * 16 : boxElements, boxStride = zz ? boxElements : size_t(a.rows) * c0;
  if constexpr (std::is_same_v<T, C>) {
    task.left = a.as<C>();
    task.leftBlockStride = blockStride;
    task.leftStride = boxStride;
  } else {
    uint32_t blocks = (a.validRows + 15) / 16, boxes = (a.validCols + c0 - 1) / c0;
    task.leftBlockStride = size_t(boxes) * boxElements;
    task.leftStride = 16 * leftGroup;
    PanelCache::Entry &entry = cache.find(a);
    if (!entry.live) {
      entry.words.resize(blocks * task.leftBlockStride);
      uint32_t *out = entry.words.data();
      for (uint32_t i = 0; i < blocks; ++i)
        for (uint32_t j = 0; j < boxes; ++j, out += boxElements) {
          const T *box = a.as<T>() + i * blockStride + j * boxStride;
          for (uint32_t row = 0; row < 16; ++row)
            for (uint32_t k = 0; k < c0; k += 8) {
              Words8 v = loadEight(box + row * c0 + k);
              std::memcpy(out + k * 16 + row * 8, &v, sizeof v);
            }
        }
      entry.live = true;
    }
    task.left = reinterpret_cast<const C *>(entry.words.data());
  }
}

template <class T, class C> void packRight(MatmulTask<C> &task, PanelCache &cache, const LocalTile &b, unsigned lanes) {
  constexpr uint32_t k0 = 32 / sizeof(T);
  PanelCache::Entry &entry = cache.find(b);
  if (!entry.live) {
    uint32_t depth = b.validRows, cols = b.validCols;
    entry.words.resize(size_t(depth) * (roundUp(cols, lanes)));
    uint32_t *out = entry.words.data();
    for (uint32_t col = 0; col < cols;) {
      uint32_t width = panelVectors(cols - col, lanes) * lanes;
      for (uint32_t k = 0; k < depth; k += 8)
        for (uint32_t j = 0; j < width; j += 8) {
          // Element (k, n) lies in the box at row k / k0, with k innermost.
          const T *from = b.as<T>() + size_t(k / k0) * b.cols * k0 + size_t(col + j) * k0 + k % k0;
          Words8 columns[8];
          for (uint32_t i = 0; i < 8; ++i)
            columns[i] = loadEight(from + i * k0);
          uint32_t *to = out + size_t(k) * width + j;
          if (depth - k >= 8) {
            transposeEight(to, width, columns);
          } else {
            uint32_t rows[64];
            transposeEight(rows, 8, columns);
            for (uint32_t i = 0; i < depth - k; ++i)
              std::memcpy(to + i * width, rows + 8 * i, 32);
          }
        }
      out += size_t(depth) * width;
      col += width;
    }
    entry.live = true;
  }
  task.panels = reinterpret_cast<const C *>(entry.words.data());
}

#define PTO_INSTANTIATE(T, C)                                                                                          \
  template void packLeft<T, C>(MatmulTask<C> &, PanelCache &, const LocalTile &);                                      \
  template void packRight<T, C>(MatmulTask<C> &, PanelCache &, const LocalTile &, unsigned);
PTO_INSTANTIATE(float, float)
PTO_INSTANTIATE(Half, float)
PTO_INSTANTIATE(BFloat, float)
PTO_INSTANTIATE(int8_t, int32_t)
PTO_INSTANTIATE(E4M3, float)
PTO_INSTANTIATE(E5M2, float)
PTO_INSTANTIATE(Hif8, float)
#undef PTO_INSTANTIATE

} // namespace pto_mlir::cmodel
