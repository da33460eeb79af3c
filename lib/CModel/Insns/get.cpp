#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::Get &insn, Core &core) {
  int64_t &dst = core.engine().registers[insn.dst];
  switch (uint32_t what = uint32_t(insn.what)) {
  case 0:
    dst = core.block();
    break;
  case 1:
    dst = core.launch().blocks;
    break;
  case 2:
    dst = core.subblock();
    break;
  case 3:
    dst = core.subblocks();
    break;
  default:
    if (what - 4 >= core.launch().scalars.size())
      return core.fault(FaultKind::OutOfRange, "scalar argument " + std::to_string(what - 4) + " of " +
                                                   std::to_string(core.launch().scalars.size()));
    dst = core.launch().scalars[what - 4];
  }
}

} // namespace pto_mlir::cmodel
