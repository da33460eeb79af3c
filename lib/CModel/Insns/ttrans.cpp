#include "Insns.h"
#include "Map.h"

namespace pto_mlir::cmodel {

void execute(const isa::TTrans &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (core.faulted())
    return;
  if (dst.type != src.type || src.validRows < dst.validCols || src.validCols < dst.validRows)
    return core.fault(FaultKind::IllegalShape, "dst is not the transposed of src in type and valid region");
  Carriers::visit(carrier(dst.type), [&]<class T>() {
    // Blocks keep both sides in the nearest cache.
    constexpr uint32_t block = 16;
    for (uint32_t r0 = 0; r0 < dst.validRows; r0 += block)
      for (uint32_t c0 = 0; c0 < dst.validCols; c0 += block)
        for (uint32_t r = r0; r < std::min(r0 + block, dst.validRows); ++r)
          for (uint32_t c = c0; c < std::min(c0 + block, dst.validCols); ++c)
            dst.row<T>(r)[c] = src.row<T>(c)[r];
  });
}

} // namespace pto_mlir::cmodel
