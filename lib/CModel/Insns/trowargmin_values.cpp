#include "Insns/Insns.h"
#include "Tiles/ArgReduce.h"

namespace pto_mlir::cmodel {

void execute(const isa::TRowargminValues &insn, Core &core) {
  argReduceRows(insn, core, [](auto a, auto b) { return a < b; });
  takeValues(insn, core, isa::Shape::rowReduce);
}

} // namespace pto_mlir::cmodel
