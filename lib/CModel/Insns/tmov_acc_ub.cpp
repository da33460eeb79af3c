#include "Arithmetic/AccCast.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMovAccUb &insn, Core &core) {
  LocalTile src = core.tile(insn.src, isa::Memory::L0C);
  if (core.faulted())
    return;
  bool relu = insn.relu == isa::ReluMode::relu;
  moveToVectorCores(core, insn.dst, src, insn.cores, [&](const LocalTile &dst, AccHalf half) {
    Types<float, Half, BFloat, int32_t>::visit(dst.type, [&]<class T>() {
      for (uint32_t r = 0; r < dst.validRows; ++r)
        for (uint32_t c = 0; c < dst.validCols; ++c)
          dst.at<T>(r, c) = castAccumulator<T>(src, src.offset(half.row + r, half.col + c), relu);
    });
  });
}

} // namespace pto_mlir::cmodel
