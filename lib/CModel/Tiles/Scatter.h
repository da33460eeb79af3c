// Scatter of elements within local memory.
#ifndef PTO_MLIR_CMODEL_SCATTER_H
#define PTO_MLIR_CMODEL_SCATTER_H

#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

/// dst[indices(r, c)] = src(r, c) in row-major order, so the last element written to an index remains. Faults on an
/// index outside dst.
template <class Insn> void scatter(const Insn &insn, Core &core) {
  LocalTile dst = core.wholeTile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  LocalTile indices = core.tile(insn.indices, isa::Memory::UB);
  if (core.faulted())
    return;
  if (src.type != dst.type || !indices.covers(src))
    return core.fault(FaultKind::IllegalShape,
                      "dst and src differ in type, or there are fewer indices than elements of src");
  Carriers::visit(carrier(dst.type), [&]<class T>() {
    uint32_t size = dst.rows * dst.cols;
    T *to = dst.as<T>();
    for (uint32_t r = 0; r < src.validRows; ++r) {
      const uint32_t *index = indices.row<uint32_t>(r);
      const T *from = src.row<T>(r);
      for (uint32_t c = 0, n = src.validCols; c < n; ++c) {
        if (index[c] >= size)
          return core.fault(FaultKind::OutOfRange, "index " + std::to_string(index[c]) + " of a tile of " +
                                                       std::to_string(size) + " elements");
        to[index[c]] = from[c];
      }
    }
  });
}

} // namespace pto_mlir::cmodel

#endif
