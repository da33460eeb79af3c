#include "AccCast.h"
#include "Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMovAcc &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::L1), src = core.tile(insn.src, isa::Memory::L0C);
  if (core.faulted())
    return;
  if (src.validRows < dst.validRows || src.validCols < dst.validCols)
    return core.fault(FaultKind::IllegalShape, "the accumulator does not cover dst's valid region");
  bool relu = insn.relu == isa::ReluMode::relu;
  bool wide = Types<float, int32_t>::visit(dst.type, [&]<class T>() {
    for (uint32_t r = 0; r < dst.validRows; ++r)
      for (uint32_t c = 0; c < dst.validCols; ++c)
        dst.at<T>(r, c) = castAccumulator<T>(src, src.offset(r, c), relu);
  });
  if (wide)
    return;
  bool legal = Types<Half, BFloat>::visit(dst.type, [&]<class T>() {
    for (uint32_t c = 0; c < dst.validCols; c += 16) { // 16 columns follow one another on both sides
      uint32_t n = std::min(16u, dst.validCols - c);
      for (uint32_t r = 0; r < dst.validRows; ++r) {
        T *to = &dst.at<T>(r, c);
        const float *from = &src.at<float>(r, c);
        for (uint32_t i = 0; i < n; ++i)
          to[i] = store<T>(relu && from[i] < 0.0f ? 0.0f : from[i]);
      }
    }
  });
  if (!legal)
    core.fault(FaultKind::IllegalType, std::string("no move of f32 to ") + isa::elementName(dst.type));
}

} // namespace pto_mlir::cmodel
