#include "Arithmetic/Quantise.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TInsertAcc &insn, Core &core) {
  LocalTile dst = core.wholeTile(insn.dst, isa::Memory::L1), src = core.tile(insn.src, isa::Memory::L0C);
  if (core.faulted())
    return;
  PartMove part{insn.row.value, insn.col.value, 0, 0, src.validRows, src.validCols};
  if (!part.fits(core, dst, src))
    return;
  bool relu = insn.relu == isa::ReluMode::relu;
  for (uint32_t r = 0; r < src.validRows; ++r)
    for (uint32_t c = 0; c < src.validCols; ++c) {
      auto row = uint32_t(part.row + r), col = uint32_t(part.col + c);
      if (src.type == isa::ElementType::i32) {
        int32_t value = src.at<int32_t>(r, c);
        dst.at<int32_t>(row, col) = relu && value < 0 ? 0 : value;
        continue;
      }
      float value = src.at<float>(r, c);
      value = relu && value < 0 ? 0 : value;
      Types<float, Half, BFloat>::visit(dst.type, [&]<class T>() { dst.at<T>(row, col) = store<T>(value); });
    }
}

} // namespace pto_mlir::cmodel
