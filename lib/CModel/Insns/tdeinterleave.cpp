#include "Insns/Insns.h"
#include "Tiles/Interleave.h"

namespace pto_mlir::cmodel {

void execute(const isa::TDeinterleave &insn, Core &core) {
  byHalves(insn, core, [](auto *d0, auto *d1, const auto *s0, const auto *s1, uint32_t half) {
    for (uint32_t c = 0; c < half; ++c) {
      d0[c] = s0[2 * c];
      d1[c] = s0[2 * c + 1];
      d0[half + c] = s1[2 * c];
      d1[half + c] = s1[2 * c + 1];
    }
  });
}

} // namespace pto_mlir::cmodel
