#include "Cube/Matmul.h"
#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::TMatmulBias &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::L0C), bias = core.tile(insn.bias, isa::Memory::BT);
  LocalTile a = core.tile(insn.a, isa::Memory::L0A), b = core.tile(insn.b, isa::Memory::L0B);
  if (!core.faulted())
    matmul(core, dst, nullptr, a, b, &bias);
}

} // namespace pto_mlir::cmodel
