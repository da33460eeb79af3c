#include "Insns/Insns.h"
#include "Tiles/ArgReduce.h"

namespace pto_mlir::cmodel {

void execute(const isa::TColargmin &insn, Core &core) {
  argReduceColumns(insn, core, [](auto a, auto b) { return a < b; });
}

} // namespace pto_mlir::cmodel
