#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TDequant &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  LocalTile scales = core.tile(insn.scales, isa::Memory::UB), offsets = core.tile(insn.offsets, isa::Memory::UB);
  if (core.faulted())
    return;
  if (!src.covers(dst) || scales.validRows < dst.validRows || offsets.validRows < dst.validRows ||
      scales.validCols == 0 || offsets.validCols == 0)
    return core.fault(FaultKind::IllegalShape, "src, scales or offsets are smaller than dst's valid region");
  bool legal = Types<int8_t, int16_t>::visit(src.type, [&]<class T>() {
    // The first `own` columns have parameters of their own; the rest share the last ones.
    uint32_t own = std::min(dst.validCols, std::max(scales.validCols, offsets.validCols) - 1);
    for (uint32_t r = 0; r < dst.validRows; ++r) {
      float *to = dst.row<float>(r);
      const T *from = src.row<T>(r);
      for (uint32_t c = 0; c < own; ++c)
        to[c] = (float(from[c]) - offsets.at<float>(r, std::min(c, offsets.validCols - 1))) *
                scales.at<float>(r, std::min(c, scales.validCols - 1));
      float offset = offsets.at<float>(r, offsets.validCols - 1), scale = scales.at<float>(r, scales.validCols - 1);
      forBlocks(dst.validCols - own, [=](size_t c) { to[own + c] = (float(from[own + c]) - offset) * scale; });
    }
  });
  if (!legal)
    illegalType(core, src.type);
}

} // namespace pto_mlir::cmodel
