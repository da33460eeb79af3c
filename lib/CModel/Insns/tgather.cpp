#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

// Indices count the elements of src's box in row-major order; an out-of-bounds index gives 0.
void execute(const isa::TGather &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.wholeTile(insn.src, isa::Memory::UB);
  LocalTile indices = core.tile(insn.indices, isa::Memory::UB);
  if (core.faulted())
    return;
  if (src.type != dst.type || !indices.covers(dst))
    return core.fault(FaultKind::IllegalShape,
                      "dst and src differ in type, or there are fewer indices than elements of dst");
  Carriers::visit(carrier(dst.type), [&]<class T>() {
    uint32_t size = src.rows * src.cols;
    const T *from = src.as<T>();
    for (uint32_t r = 0; r < dst.validRows; ++r) {
      const uint32_t *index = indices.row<uint32_t>(r);
      T *to = dst.row<T>(r);
      for (uint32_t c = 0, n = dst.validCols; c < n; ++c)
        to[c] = index[c] < size ? from[index[c]] : T(0);
    }
  });
}

} // namespace pto_mlir::cmodel
