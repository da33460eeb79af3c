#include "Insns/Insns.h"
#include "Machine/Program.h"

namespace pto_mlir::cmodel {

void execute(const isa::BreakIfZero &insn, Core &core) {
  Engine &e = core.engine();
  if (insn.cond.value != 0)
    return;
  e.loops.pop_back();
  e.next = e.stream->ops[e.pc].target;
}

} // namespace pto_mlir::cmodel
