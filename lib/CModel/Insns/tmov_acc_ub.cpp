#include "AccCast.h"
#include "Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMovAccUb &insn, Core &core) {
  LocalTile src = core.tile(insn.src, isa::Memory::L0C);
  if (core.faulted())
    return;
  bool relu = insn.relu == isa::ReluMode::relu;
  moveToVectorCores(core, insn.dst, src, insn.cores, [&](const LocalTile &dst, uint32_t r, uint32_t c, uint32_t fromRow, uint32_t fromCol) {
    Types<float, Half, BFloat, int32_t>::visit(
        dst.type, [&]<class T>() { dst.at<T>(r, c) = castAccumulator<T>(src, src.offset(fromRow, fromCol), relu); });
  });
}

} // namespace pto_mlir::cmodel
