//===- GlobalMemory.h - What launches read and write, and what of it misses L2 ------===//

#ifndef PTO_MLIR_COST_GLOBALMEMORY_H
#define PTO_MLIR_COST_GLOBALMEMORY_H

#include "pto_mlir/Cost/Playback.h"

namespace pto_mlir::cost {

/// `count` runs of `length` bytes whose beginnings lie `pitch` bytes apart.
struct ByteRuns {
  uint64_t begin;
  uint64_t length;
  int64_t pitch;
  uint64_t count;
};

/// Appends the runs of the first rows and columns of a view, whose registers are read and whose first element lies at
/// `base` (docs/commands.md, View).
void viewRuns(const isa::View &view, uint64_t base, uint64_t rows, uint64_t cols, std::vector<ByteRuns> &runs);

/// Appends the bytes that a transfer whose registers are read moves, and names them in its event; nothing for what only
/// indices in memory know. An argument stands for an address of its own.
void noteRuns(const isa::DecodedInsn &insn, Event &event, std::vector<ByteRuns> &runs);

/// What HBM moves in a launch, whose cores go on side by side: the lines that are read and not in L2, and those that L2
/// gives up after they were written. `runs` has the bytes of each core's transfers, which their events name.
HbmTraffic hbmTraffic(const ChipInfo &chip, std::span<const CoreLog> cores,
                      std::span<const std::vector<ByteRuns>> runs);

} // namespace pto_mlir::cost

#endif
