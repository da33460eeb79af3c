// Element casts of the fixpipe's unquantised paths, and the split of an accumulator over the two vector cores.
#ifndef PTO_MLIR_CMODEL_ACCCAST_H
#define PTO_MLIR_CMODEL_ACCCAST_H

#include "Arithmetic/Element.h"
#include "Machine/Core.h"

#include <cmath>

namespace pto_mlir::cmodel {

/// cast(relu(src[at])) for an accumulator of f32 or i32. i32 to a float goes through f32; f32 to i32 rounds to nearest
/// even and saturates, and NaN becomes 0.
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

/// The share of an accumulator that goes to one vector core of the block.
struct AccHalf {
  uint32_t subblock, row, col; // index of the vector core; first row and column of src
};

/// Calls f(half) for each vector core selected by `cores`; halfRows and halfCols split src's valid region in the
/// middle.
template <class F> inline void forTargetCores(isa::TargetCores cores, const LocalTile &src, F &&f) {
  using isa::TargetCores;
  if (cores != TargetCores::second)
    f(AccHalf{0, 0, 0});
  if (cores == TargetCores::first)
    return;
  f(AccHalf{1, cores == TargetCores::halfRows ? src.validRows / 2 : 0,
            cores == TargetCores::halfCols ? src.validCols / 2 : 0});
}

/// Resolves `dst` in the UB of each vector core selected by `cores` and calls move(dst tile, half). A core that is not
/// part of the launch has no memory; its half is dropped.
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
