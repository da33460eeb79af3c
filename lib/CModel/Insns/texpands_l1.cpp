#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TExpandsL1 &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::L1);
  if (core.faulted())
    return;
  using All = Types<float, Half, BFloat, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
  bool legal = All::visit(dst.type, [&]<class T>() {
    T value = store<T>(scalarValue<T>(insn.scalar.value));
    for (uint32_t r = 0; r < dst.validRows; ++r)
      for (uint32_t c = 0; c < dst.validCols; ++c)
        dst.at<T>(r, c) = value;
  });
  if (!legal)
    illegalType(core, dst.type);
}

} // namespace pto_mlir::cmodel
