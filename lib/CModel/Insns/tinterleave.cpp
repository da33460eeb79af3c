#include "Insns/Insns.h"
#include "Tiles/Interleave.h"

namespace pto_mlir::cmodel {

void execute(const isa::TInterleave &insn, Core &core) {
  byHalves(insn, core, [](auto *d0, auto *d1, const auto *s0, const auto *s1, uint32_t half) {
    for (uint32_t c = 0; c < half; ++c) {
      d0[2 * c] = s0[c];
      d0[2 * c + 1] = s1[c];
      d1[2 * c] = s0[half + c];
      d1[2 * c + 1] = s1[half + c];
    }
  });
}

} // namespace pto_mlir::cmodel
