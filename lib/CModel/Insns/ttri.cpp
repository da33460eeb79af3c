#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TTri &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB);
  if (core.faulted())
    return;
  bool legal = Types<float, Half, BFloat, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>::visit(
      dst.type, [&]<class T>() {
        for (uint32_t r = 0; r < dst.validRows; ++r)
          for (uint32_t c = 0; c < dst.validCols; ++c) {
            int64_t edge = int64_t(r) + insn.diagonal.value;
            dst.row<T>(r)[c] =
                store<T>(Compute<T>(insn.half == isa::Triangle::lower ? int64_t(c) <= edge : int64_t(c) >= edge));
          }
      });
  if (!legal)
    illegalType(core, dst.type);
}

} // namespace pto_mlir::cmodel
