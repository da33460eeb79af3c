#include "Insns/Insns.h"
#include "Tiles/Mask.h"

namespace pto_mlir::cmodel {

void execute(const isa::TGatherCmp &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), counts = core.tile(insn.counts, isa::Memory::UB),
            src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  if (dst.validRows < src.validRows || counts.validRows < src.validRows || counts.validCols < 1)
    return core.fault(FaultKind::IllegalShape, "dst or counts has fewer rows than src");
  using Findable = Types<float, Half, int32_t, int16_t>;
  Findable::visit(src.type, [&]<class T>() {
    auto scalar = scalarValue<T>(insn.scalar.value);
    withRelation(insn.mode, [&](auto relation) {
      for (uint32_t r = 0; r < src.validRows; ++r) {
        uint32_t found = 0;
        for (uint32_t c = 0; c < src.validCols && found < dst.validCols; ++c)
          if (relation(load(src.row<T>(r)[c]), scalar))
            dst.row<uint32_t>(r)[found++] = c + uint32_t(insn.offset.value);
        counts.as<uint32_t>()[r * rowStep(counts)] = found;
      }
    });
  });
}

} // namespace pto_mlir::cmodel
