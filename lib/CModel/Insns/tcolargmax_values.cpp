#include "Insns/Insns.h"
#include "Tiles/ArgReduce.h"

namespace pto_mlir::cmodel {

void execute(const isa::TColargmaxValues &insn, Core &core) {
  argReduceColumns(insn, core, [](auto a, auto b) { return a > b; });
  takeValues(insn, core, isa::Shape::colReduce);
}

} // namespace pto_mlir::cmodel
