#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::Pop &insn, Core &core) {
  auto &fifo = core.fifo(core.engine().pipe);
  if (fifo.empty())
    return core.engine().block();
  core.engine().registers[insn.dst] = fifo.front();
  fifo.pop_front();
}

} // namespace pto_mlir::cmodel
