#include "Insns/Insns.h"
#include "Machine/Program.h"

namespace pto_mlir::cmodel {

void execute(const isa::Loop &insn, Core &core) {
  Engine &e = core.engine();
  if (insn.step.value <= 0)
    return core.fault(FaultKind::LoopStep, "loop with step " + std::to_string(insn.step.value));
  if (insn.lb.value >= insn.ub.value) {
    e.next = e.stream->ops[e.pc].target;
    return;
  }
  e.registers[insn.iv] = insn.lb.value;
  e.loops.push_back({e.next, insn.iv, insn.lb.value, insn.ub.value, insn.step.value});
}

} // namespace pto_mlir::cmodel
