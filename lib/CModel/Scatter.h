// Elements to places that indices name.
#ifndef PTO_MLIR_CMODEL_SCATTER_H
#define PTO_MLIR_CMODEL_SCATTER_H

#include "Map.h"

namespace pto_mlir::cmodel {

/// The last of several elements for one place wins.
template <class Insn> void scatter(const Insn &insn, Core &core) {
  LocalTile dst = core.wholeTile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  LocalTile indices = core.tile(insn.indices, isa::Memory::UB);
  if (core.faulted())
    return;
  if (src.type != dst.type || indices.validRows < src.validRows || indices.validCols < src.validCols)
    return core.fault(FaultKind::IllegalShape, "dst and src differ in type, or there are fewer indices than elements of src");
  Carriers::visit(carrier(dst.type), [&]<class T>() {
    for (uint32_t r = 0; r < src.validRows; ++r)
      for (uint32_t c = 0; c < src.validCols; ++c) {
        uint32_t index = indices.row<uint32_t>(r)[c];
        if (index >= dst.rows * dst.cols)
          return core.fault(FaultKind::OutOfRange, "index " + std::to_string(index) + " of a tile of " + std::to_string(dst.rows * dst.cols) + " elements");
        dst.as<T>()[index] = src.row<T>(r)[c];
      }
  });
}

} // namespace pto_mlir::cmodel

#endif
