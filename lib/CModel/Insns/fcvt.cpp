#include "Insns/Insns.h"

#include "pto_mlir/ISA/FloatScalar.h"

namespace pto_mlir::cmodel {

void execute(const isa::Fcvt &insn, Core &core) {
  core.engine().registers[insn.dst] = isa::castScalar(insn.cast, insn.src.value);
}

} // namespace pto_mlir::cmodel
