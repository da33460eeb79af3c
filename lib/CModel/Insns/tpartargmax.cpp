#include "Insns/Insns.h"
#include "Tiles/PartArg.h"

namespace pto_mlir::cmodel {

void execute(const isa::TPartargmax &insn, Core &core) {
  mapPartArg(insn, core, [](auto a, auto b) { return a > b; });
}

} // namespace pto_mlir::cmodel
