#include "Cube/Matmul.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMatmulAcc &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::L0C), acc = core.tile(insn.acc, isa::Memory::L0C);
  LocalTile a = core.tile(insn.a, isa::Memory::L0A), b = core.tile(insn.b, isa::Memory::L0B);
  if (!core.faulted())
    matmul(core, dst, &acc, a, b, nullptr);
}

} // namespace pto_mlir::cmodel
