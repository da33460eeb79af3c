#include "Insns/Insns.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TCi &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB);
  if (core.faulted())
    return;
  if (dst.validRows > 1)
    return core.fault(FaultKind::IllegalShape, "a tile of " + std::to_string(dst.validRows) + " rows, expects one");
  bool legal = Types<int16_t, uint16_t, int32_t, uint32_t>::visit(dst.type, [&]<class T>() {
    for (uint32_t c = 0; c < dst.validCols * dst.validRows; ++c)
      dst.as<T>()[c] =
          T(uint64_t(insn.start.value) + (insn.descending == isa::Switch::on ? uint64_t(0) - c : uint64_t(c)));
  });
  if (!legal)
    illegalType(core, dst.type);
}

} // namespace pto_mlir::cmodel
