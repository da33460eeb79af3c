#include "Insns/Insns.h"
#include "Tiles/Expand.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRowexpand &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted() || !expandShapes(core, dst, nullptr, src, true))
    return;
  Carriers::visit(carrier(dst.type), [&]<class T>() {
    for (uint32_t r = 0; r < dst.validRows; ++r)
      std::fill_n(dst.row<T>(r), dst.validCols, T(src.as<T>()[r * rowStep(src)]));
  });
}

} // namespace pto_mlir::cmodel
