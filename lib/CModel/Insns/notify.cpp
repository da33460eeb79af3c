#include "Insns/Insns.h"

#include <cstring>

namespace pto_mlir::cmodel {

void execute(const isa::Notify &insn, Core &core) {
  GlobalView view = core.view(insn.dst);
  if (core.faulted())
    return;
  if (!view.contains(0, 1, 0, 1, 0))
    return core.fault(FaultKind::OutOfRange, "the cell lies outside the argument");
  uint32_t value = uint32_t(insn.value.value);
  if (insn.mode == isa::NotifyMode::add) {
    uint32_t held = 0;
    std::memcpy(&held, view.base, sizeof held);
    value += held;
  }
  std::memcpy(view.base, &value, sizeof value);
  core.counters.bytesWritten += sizeof value;
}

} // namespace pto_mlir::cmodel
