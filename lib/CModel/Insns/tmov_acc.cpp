#include "Arithmetic/AccCast.h"
#include "Insns/Insns.h"
#include "Tiles/MapLine.h"

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
    size_t pitch = dst.is(isa::Layout::NZ) ? 16 : dst.cols;
    for (uint32_t c = 0; c < dst.validCols; c += 16) { // 16 columns are contiguous on both sides
      uint32_t n = std::min(16u, dst.validCols - c);
      T *to = &dst.at<T>(0, c);
      const float *from = &src.at<float>(0, c);
      for (uint32_t r = 0; r < dst.validRows; ++r, to += pitch, from += 16) {
        float value[16];
        forBlocks(n, [&](size_t i) { value[i] = relu && from[i] < 0.0f ? 0.0f : from[i]; });
        if constexpr (std::is_same_v<T, Half>)
          narrow(to, value, n);
        else
          forBlocks(n, [&](size_t i) { to[i] = store<T>(value[i]); });
      }
    }
  });
  if (!legal)
    core.fault(FaultKind::IllegalType, std::string("no move of f32 to ") + isa::elementName(dst.type));
}

} // namespace pto_mlir::cmodel
