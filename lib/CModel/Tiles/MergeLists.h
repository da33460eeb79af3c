// Merge of sorted lists of 8-byte records (score, index).
#ifndef PTO_MLIR_CMODEL_MERGELISTS_H
#define PTO_MLIR_CMODEL_MERGELISTS_H

#include "Tiles/Map.h"

#include <cstring>

namespace pto_mlir::cmodel {

/// Merges `lists` into dst by descending score (ties: the earlier list first), until dst is full, all lists are
/// exhausted or, with `exhausted`, one of them is. Returns the number of records taken from each, 16 bits per list. dst
/// must not overlap a list.
template <size_t N> int64_t mergeLists(Core &core, const LocalTile &dst, const LocalTile (&lists)[N], bool exhausted) {
  if (core.faulted())
    return 0;
  uint32_t width = 8 / dst.bytes, taken[N] = {};
  for (const LocalTile &list : lists)
    if (list.validRows != 1 || list.validCols % width || list.validCols / width > 0xffff ||
        !disjointOrSame(dst, list) || dst.data == list.data) {
      core.fault(FaultKind::IllegalShape, "a list is no row of whole records, or dst lies over it");
      return 0;
    }
  Floats::visit(dst.type, [&]<class T>() {
    for (uint32_t at = 0; at + width <= dst.validCols; at += width) {
      int best = -1;
      float score = 0;
      bool ended = false;
      for (size_t i = 0; i < N; ++i) {
        if (taken[i] * width >= lists[i].validCols) {
          ended = true;
          continue;
        }
        float candidate = load(lists[i].template as<T>()[taken[i] * width]);
        if (best < 0 || candidate > score)
          best = int(i), score = candidate;
      }
      if (best < 0 || (exhausted && ended))
        break;
      std::memcpy(dst.as<T>() + at, lists[best].template as<T>() + taken[best] * width, 8);
      ++taken[best];
    }
  });
  int64_t counts = 0;
  for (size_t i = 0; i < N; ++i)
    counts |= int64_t(taken[i]) << 16 * i;
  return counts;
}

} // namespace pto_mlir::cmodel

#endif
