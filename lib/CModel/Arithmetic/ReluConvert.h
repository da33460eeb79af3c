// Elementwise operations followed by ReLU and a conversion to a narrower type (taddreluconv, tsubreluconv).
#ifndef PTO_MLIR_CMODEL_RELUCONVERT_H
#define PTO_MLIR_CMODEL_RELUCONVERT_H

#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

/// dst = cast(max(f(src0, src1), 0)). The result of f is rounded to the sources' type first; i8 rounds to nearest even
/// and saturates at 127.
template <class Insn, class F> void mapReluConvert(const Insn &insn, Core &core, F f) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), a = core.tile(insn.src0, isa::Memory::UB),
            b = core.tile(insn.src1, isa::Memory::UB);
  if (core.faulted() || !coverDst(core, dst, {&a, &b}))
    return;
  Types<float, Half, int16_t>::visit(a.type, [&]<class T>() {
    for (uint32_t r = 0; r < dst.validRows; ++r)
      for (uint32_t c = 0; c < dst.validCols; ++c) {
        auto value = Relu()(load(store<T>(f(load(a.row<T>(r)[c]), load(b.row<T>(r)[c])))));
        if constexpr (std::is_same_v<T, float>)
          dst.row<Half>(r)[c] = toHalf(value);
        else
          dst.row<int8_t>(r)[c] = int8_t(value < 127 ? std::nearbyint(float(value)) : 127.0f); // NaN gives 127
      }
  });
}

} // namespace pto_mlir::cmodel

#endif
