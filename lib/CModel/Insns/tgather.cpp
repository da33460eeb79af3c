#include "Insns.h"
#include "Map.h"

namespace pto_mlir::cmodel {

// Indices count the elements of src's box row by row; one outside gives 0.
void execute(const isa::TGather &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.wholeTile(insn.src, isa::Memory::UB);
  LocalTile indices = core.tile(insn.indices, isa::Memory::UB);
  if (core.faulted())
    return;
  if (src.type != dst.type || indices.validRows < dst.validRows || indices.validCols < dst.validCols)
    return core.fault(FaultKind::IllegalShape, "dst and src differ in type, or there are fewer indices than elements of dst");
  Carriers::visit(carrier(dst.type), [&]<class T>() {
    for (uint32_t r = 0; r < dst.validRows; ++r)
      for (uint32_t c = 0; c < dst.validCols; ++c) {
        uint32_t index = indices.row<uint32_t>(r)[c];
        dst.row<T>(r)[c] = index < src.rows * src.cols ? src.as<T>()[index] : T(0);
      }
  });
}

} // namespace pto_mlir::cmodel
