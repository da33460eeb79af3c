#include "Insns.h"
#include "Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TDequant &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  LocalTile scales = core.tile(insn.scales, isa::Memory::UB), offsets = core.tile(insn.offsets, isa::Memory::UB);
  if (core.faulted())
    return;
  if (src.validRows < dst.validRows || src.validCols < dst.validCols || scales.validRows < dst.validRows || offsets.validRows < dst.validRows ||
      scales.validCols == 0 || offsets.validCols == 0)
    return core.fault(FaultKind::IllegalShape, "src, scales or offsets are smaller than dst's valid region");
  bool legal = Types<int8_t, int16_t>::visit(src.type, [&]<class T>() {
    for (uint32_t r = 0; r < dst.validRows; ++r)
      for (uint32_t c = 0; c < dst.validCols; ++c)
        dst.row<float>(r)[c] = (float(src.row<T>(r)[c]) - offsets.at<float>(r, std::min(c, offsets.validCols - 1))) *
                               scales.at<float>(r, std::min(c, scales.validCols - 1));
  });
  if (!legal)
    illegalType(core, src.type);
}

} // namespace pto_mlir::cmodel
