// An element of an accumulator as it leaves L0C without quantisation.
#ifndef PTO_MLIR_CMODEL_ACCCAST_H
#define PTO_MLIR_CMODEL_ACCCAST_H

#include "Arithmetic/Element.h"
#include "Machine/Core.h"

#include <cmath>

namespace pto_mlir::cmodel {

/// cast(relu(element number `at` of src)); src is f32 or i32. From i32 by way of f32; to i32 rounded to nearest even
/// and clamped, NaN is 0.
template <class T> inline T castAccumulator(const LocalTile &src, size_t at, bool relu) {
  if (src.type == isa::ElementType::i32) {
    int32_t value = src.as<int32_t>()[at];
    value = relu && value < 0 ? 0 : value;
    if constexpr (std::is_same_v<T, int32_t>)
      return value;
    else
      return store<T>(float(value));
  } else {
    float value = src.as<float>()[at];
    value = relu && value < 0 ? 0 : value;
    if constexpr (std::is_same_v<T, int32_t>)
      return std::isnan(value) ? 0 : int32_t(std::clamp(std::nearbyint(double(value)), -2147483648.0, 2147483647.0));
    else
      return store<T>(value);
  }
}

/// The part of an accumulator that one vector core of a block takes.
struct AccHalf {
  uint32_t subblock, row, col; // which core; its first row and column of src
};

/// Calls f(half) for each vector core that `cores` names; src's valid region is cut in the middle.
template <class F> inline void forTargetCores(isa::TargetCores cores, const LocalTile &src, F &&f) {
  using isa::TargetCores;
  if (cores != TargetCores::second)
    f(AccHalf{0, 0, 0});
  if (cores == TargetCores::first)
    return;
  f(AccHalf{1, cores == TargetCores::halfRows ? src.validRows / 2 : 0,
            cores == TargetCores::halfCols ? src.validCols / 2 : 0});
}

/// Resolves `dst` in the UB of each vector core that `cores` names, then moves: move(dst tile, half). A core
/// that does not take part in the launch has no memory: its half is dropped.
template <class F>
inline void moveToVectorCores(Core &core, const isa::Tile &dst, const LocalTile &src, isa::TargetCores cores,
                              F &&move) {
  forTargetCores(cores, src, [&](AccHalf half) {
    if (core.faulted())
      return;
    LocalTile to = core.peerTile(dst, isa::Memory::UB, half.subblock);
    if (core.faulted() || !to.data)
      return;
    if (uint64_t(half.row) + to.validRows > src.validRows || uint64_t(half.col) + to.validCols > src.validCols)
      return core.fault(FaultKind::IllegalShape, "the accumulator does not cover dst's valid region on each core");
    move(to, half);
  });
}

} // namespace pto_mlir::cmodel

#endif
