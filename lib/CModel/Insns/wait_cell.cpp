#include "Insns/Insns.h"

#include "pto_mlir/ISA/Codec.h"

#include <cstring>

namespace pto_mlir::cmodel {

void execute(const isa::WaitCell &insn, Core &core) {
  GlobalView view = core.view(insn.src);
  if (core.faulted())
    return;
  if (!view.contains(0, 1, 0, 1, 0))
    return core.fault(FaultKind::OutOfRange, "the cell lies outside the argument");
  int32_t held = 0;
  std::memcpy(&held, view.base, sizeof held);
  if (!isa::satisfies(insn.mode, held, insn.value.value))
    return core.engine().block();
  core.counters.bytesRead += sizeof held;
}

} // namespace pto_mlir::cmodel
