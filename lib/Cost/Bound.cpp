#include "pto_mlir/Cost/Bound.h"

#include "pto_mlir/Cost/Prices.h"
#include "pto_mlir/ISA/Table.h"

#include <algorithm>

namespace pto_mlir::cost {

double lowerBound(std::string_view architecture, unsigned blocks, const Work &work) {
  const isa::ArchInfo &arch = *isa::findArch(architecture);
  const isa::ChipInfo &chip = isa::chipInfo(arch.arch);
  Prices prices(architecture);
  bool isProduct = work.multiplications > 0;
  Way in = isProduct ? Way::ToL1 : Way::ToUB, out = isProduct ? Way::FromL0C : Way::FromUB;
  double cubes = blocks, vectors = double(blocks) * arch.vectorCores, movers = isProduct ? cubes : vectors;
  auto path = [&](Way way) { return movers * double(chip.pathBytesPerSecond[unsigned(way)]); };
  double reading = work.bytesRead / std::min<double>(chip.hbmBytesPerSecond, path(in));
  // What is written stays in L2.
  double writing = work.bytesWritten / std::min<double>(chip.l2BytesPerSecond, path(out));
  // A step takes 16 rows x 32 bytes of depth x 16 columns.
  double perStep = 16.0 * 16.0 * 32 / (work.wide ? 4 : 2);
  double multiplying = work.multiplications / perStep * prices.productStep(work.wide) / cubes / chip.clock;
  double computing = work.operations * prices.operationPerElement() / vectors / chip.clock;
  double starts = prices.launch() + prices.start(in) + prices.start(out);
  return starts / chip.clock + std::max({reading, writing, multiplying, computing});
}

LaunchSeconds launchSeconds(std::string_view architecture) {
  const isa::ChipInfo &chip = isa::chipInfo(isa::findArch(architecture)->arch);
  return {chip.launchSeconds, chip.dispatchSeconds};
}

} // namespace pto_mlir::cost
