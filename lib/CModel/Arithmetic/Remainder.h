// Division, and remainders of both signs: floored (sign of the divisor) and truncated (sign of the dividend). An
// integer division by 0 is a fault.
#ifndef PTO_MLIR_CMODEL_REMAINDER_H
#define PTO_MLIR_CMODEL_REMAINDER_H

#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

struct TruncatedRemainder {
  template <class T> T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fmod(a, b);
    else if constexpr (std::is_signed_v<T>)
      return b == -1 ? T(0) : T(a % b); // INT_MIN % -1 would trap
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

/// Faults and returns false if an integer divisor holds a 0 among its first rows x cols elements.
inline bool divides(Core &core, const LocalTile &divisor, uint32_t rows, uint32_t cols) {
  bool zero = false;
  auto search = [&]<class W>() {
    if constexpr (std::is_integral_v<W>)
      for (uint32_t r = 0; r < rows; ++r)
        for (uint32_t c = 0; c < cols; ++c)
          zero |= getWide<W>(divisor, r, c) == 0;
  };
  visitWide<Divisible>(divisor.type, search);
  if (zero)
    core.fault(FaultKind::ZeroDivisor, "the divisor tile holds a 0");
  return !zero;
}
inline bool divides(Core &core, isa::ElementType type, const isa::Value &scalar) {
  if (isa::isFloat(type) || scalarWide<int64_t>(type, scalar.value) != 0)
    return true;
  core.fault(FaultKind::ZeroDivisor, "the divisor is 0");
  return false;
}

/// Division and remainder of two tiles, and of a tile by a scalar; faults on an integer divisor of 0.
template <class Legal = Divisible, class Insn, class F> void mapDivision(const Insn &insn, Core &core, F f) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), b = core.tile(insn.src1, isa::Memory::UB);
  if (!core.faulted() && sameShape(core, dst, {&b}) && divides(core, b, dst.validRows, dst.validCols))
    mapBinary<Legal>(insn, core, f);
}
template <class Legal = Divisible, class Insn, class F> void mapDivisionByScalar(const Insn &insn, Core &core, F f) {
  if (divides(core, insn.dst.type, insn.scalar))
    mapScalar<Legal>(insn, core, f);
}

} // namespace pto_mlir::cmodel

#endif
