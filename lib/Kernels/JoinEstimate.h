//===- JoinEstimate.h - what joined kernels take ----------------*- C++ -*-===//
//
// Cycles of a block whose cube core and vector cores work side by side, by the prices of the architecture. They are
// compared with what the kernels take apart.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_JOINESTIMATE_H
#define PTO_MLIR_LIB_KERNELS_JOINESTIMATE_H

#include "Cube/Feed.h"
#include "Vector/Panels.h"

namespace pto_mlir::kernels {

/// A way in which a cube kernel makes its result.
struct Producer {
  cube::Contraction contraction;
  cube::CubeTiling tiling;
  cube::TileShapes shapes;
  size_t number; ///< of the tiling among all
};

class JoinEstimate {
public:
  using Panels = vector_kernels::Panels;
  JoinEstimate(const pto::Target &target, int64_t cores)
      : prices(target.name), lanes(double(target.vectorCores)), cores(double(cores)) {}

  double launch() const { return prices.launch(); }
  /// The vector kernel that follows on its own, and beside the product on the busiest block.
  double followerAlone(const Producer &producer, const Panels &panels) const;
  double followed(const Producer &producer, const Panels &panels) const;
  /// The vector kernel in front on its own, and of the left operands of the busiest block, whose panels take one way
  /// in, one computation and one way out after the other.
  double feederAlone(const Producer &producer, const Panels &panels) const;
  double feeder(const Producer &producer, const Panels &panels) const;
  /// What a tile and an element cost the vector cores that follow.
  cube::Follower follower(const Producer &producer, const Panels &panels) const;

private:
  /// Cycles of a vector core that takes `elements` in so many panels: what it computes beside what it moves, one panel
  /// after the other, and the first panel's way in and the last one's way out.
  double vector(const Panels &panels, double elements, double pieces, double gaps = 1) const;
  /// The part of it that computes; reductions of rows are not counted.
  double computing(const Panels &panels, double elements, double pieces, double gaps = 1) const;

  cost::Prices prices;
  double lanes, cores;
};

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_JOINESTIMATE_H
