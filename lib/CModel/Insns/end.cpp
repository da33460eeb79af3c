#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::End &insn, Core &core) {
  Engine &e = core.engine();
  LoopFrame &loop = e.loops.back();
  if (__builtin_add_overflow(loop.value, loop.step, &loop.value) || loop.value >= loop.ub) {
    e.loops.pop_back();
    return;
  }
  e.registers[loop.iv] = loop.value;
  e.next = loop.body;
}

} // namespace pto_mlir::cmodel
