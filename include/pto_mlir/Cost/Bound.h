//===- Bound.h - The least that a computation takes -------------------------===//
//
// A roofline by the rates of the table: what no kernel can be faster than, for whoever judges kernels.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_COST_BOUND_H
#define PTO_MLIR_COST_BOUND_H

#include <string_view>

namespace pto_mlir::cost {

/// What has to be done, by whatever kernel.
struct Work {
  double bytesRead = 0, bytesWritten = 0; // global memory; each byte once
  double multiplications = 0;             // of matrix products and convolutions, on cube cores
  bool wide = false;                      // .. of f32; else of 16 bits
  double operations = 0;                  // elementwise, of f32, on vector cores
};

/// Seconds of one task on `blocks` blocks of an architecture of the table, which must be one: the dispatch, the starts
/// of a load and of a store, and the longest of what HBM, the cores' paths to it, the cube cores and the vector cores
/// take when work is shared evenly and all of them work side by side.
double lowerBound(std::string_view architecture, unsigned blocks, const Work &work);

/// Seconds that a launch takes beside its work: when the host waits for each, and as a task.
struct LaunchSeconds {
  double alone = 0, task = 0;
};
LaunchSeconds launchSeconds(std::string_view architecture);

} // namespace pto_mlir::cost

#endif
