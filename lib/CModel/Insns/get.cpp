#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::Get &insn, Core &core) {
  int64_t &dst = core.engine().registers[insn.dst];
  switch (insn.what) {
  case isa::Query::block_idx:
    dst = core.block();
    break;
  case isa::Query::block_num:
    dst = core.launch().blocks;
    break;
  case isa::Query::subblock_idx:
    dst = core.subblock();
    break;
  case isa::Query::subblock_num:
    dst = core.subblocks();
    break;
  default: {
    uint32_t k = uint32_t(insn.what) - isa::kNumQueries;
    if (k >= core.launch().scalars.size())
      return core.fault(FaultKind::OutOfRange,
                        "scalar argument " + std::to_string(k) + " of " + std::to_string(core.launch().scalars.size()));
    dst = core.launch().scalars[k];
  }
  }
}

} // namespace pto_mlir::cmodel
