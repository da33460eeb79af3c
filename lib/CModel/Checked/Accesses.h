// The bytes that an instruction reads and writes, exactly.
#ifndef PTO_MLIR_CMODEL_CHECKED_ACCESSES_H
#define PTO_MLIR_CMODEL_CHECKED_ACCESSES_H

#include "Machine/Core.h"
#include "pto_mlir/Cost/GlobalMemory.h"
#include "pto_mlir/ISA/Codec.h"

#include <optional>
#include <vector>

namespace pto_mlir::cmodel {

using cost::ByteRuns;

/// `Lane` reads elements of which each decides one element of the result: one that nobody wrote harms only if its
/// result is used. `Touch` writes bytes that mean nothing afterwards: what a box holds beside the valid region.
enum class AccessKind : uint8_t { Read, Lane, Touch, Write, Add };
inline bool isWrite(AccessKind kind) { return kind >= AccessKind::Touch; }

struct Access {
  AccessKind kind;
  /// In global memory (addresses as the device's) or in `memory` of the core (addresses from its beginning).
  bool global;
  isa::Memory memory;
  size_t firstRun, endRun;
  /// The memory is that of the core with this number in the group, not the instruction's own.
  std::optional<size_t> peer = {};
};

/// Reads come before writes.
struct AccessList {
  std::vector<Access> accesses;
  std::vector<ByteRuns> runs;
  /// With Lane reads: the tiles that are read lane by lane, then dst. Fewer than two: dst is no such tile.
  std::vector<const isa::Tile *> lanes;
  void clear() {
    lanes.clear();
    accesses.clear();
    runs.clear();
  }
};

/// Appends the runs of rows [row, row + rows) and columns [col, col + cols) of a tile (layout formulas:
/// ISA/Operands.h).
void tileRuns(const isa::Tile &tile, uint64_t row, uint64_t col, uint64_t rows, uint64_t cols,
              std::vector<ByteRuns> &runs);

/// What `insn`, whose registers are read and which `core` could execute without a fault, touches; nothing for scalar
/// instructions other than load_scalar.
void collectAccesses(const isa::DecodedInsn &insn, Core &core, AccessList &out);

} // namespace pto_mlir::cmodel

#endif
