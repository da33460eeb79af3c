// Remainders: floored (the sign of the divisor) and truncated (the sign of the dividend). An integer divisor of 0 is a fault.
#ifndef PTO_MLIR_CMODEL_REMAINDER_H
#define PTO_MLIR_CMODEL_REMAINDER_H

#include "Map.h"

namespace pto_mlir::cmodel {

struct TruncatedRemainder {
  template <class T> T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fmod(a, b);
    else if constexpr (std::is_signed_v<T>)
      return b == -1 ? T(0) : T(a % b); // the least integer by -1 would trap
    else
      return T(a % b);
  }
};
struct FlooredRemainder {
  template <class T> T operator()(T a, T b) const {
    T r = TruncatedRemainder()(a, b);
    return r != T(0) && (r < T(0)) != (b < T(0)) ? T(r + b) : r;
  }
};

using Divisible = Types<float, Half, int16_t, uint16_t, int32_t, uint32_t>;

template <class Insn, class F> void mapRemainder(const Insn &insn, Core &core, F f) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), b = core.tile(insn.src1, isa::Memory::UB);
  if (core.faulted() || !sameShape(core, dst, {&b}))
    return;
  bool zero = false;
  Types<int16_t, uint16_t, int32_t, uint32_t>::visit(b.type, [&]<class T>() {
    for (uint32_t r = 0; r < dst.validRows; ++r)
      for (uint32_t c = 0; c < dst.validCols; ++c)
        zero |= b.at<T>(r, c) == 0;
  });
  if (zero)
    return core.fault(FaultKind::ZeroDivisor, "remainder by a tile that holds 0");
  mapBinary<Divisible>(insn, core, f);
}

template <class Insn, class F> void mapRemainderByScalar(const Insn &insn, Core &core, F f) {
  if (!isa::isFloat(insn.dst.type) && uint32_t(insn.scalar.value) == 0)
    return core.fault(FaultKind::ZeroDivisor, "remainder by 0");
  mapScalar<Divisible>(insn, core, f);
}

} // namespace pto_mlir::cmodel

#endif
