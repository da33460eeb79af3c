#include "Cube/Matmul.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMatmulMxAcc &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::L0C);
  LocalTile acc = core.tile(insn.acc, isa::Memory::L0C);
  LocalTile a = core.tile(insn.a, isa::Memory::L0A), b = core.tile(insn.b, isa::Memory::L0B);
  LocalTile scalesA = core.tile(insn.scalesA, isa::Memory::SA), scalesB = core.tile(insn.scalesB, isa::Memory::SB);
  if (!core.faulted())
    matmulScaled(core, dst, &acc, a, scalesA, b, scalesB, nullptr);
}

} // namespace pto_mlir::cmodel
