//===- Prices.h - What choosers ask before anything is built --------------===//
//
// The numbers of the instruction table and of an architecture's chip, in cycles of that chip, for whoever compares ways
// to build a kernel. No header of the table here (see Sketch.h).
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_COST_PRICES_H
#define PTO_MLIR_COST_PRICES_H

#include <cstdint>
#include <string_view>

namespace pto_mlir::cost {

/// The ways between a core and global memory, with the numbers of isa::GlobalPath.
enum class Way : uint8_t { ToUB = 1, ToL1, FromUB, FromL1, FromL0C };

class Prices {
public:
  /// Of an architecture of the table, which must be one.
  explicit Prices(std::string_view architecture);

  double seconds(double cycles) const;
  /// What a launch costs when launches are tasks, as in a session: the dispatch.
  double launch() const;
  /// To raise a flag between engines, or to pass it.
  double flag() const;
  /// Vector cores of the chip.
  int64_t vectorCores() const;

  /// Of a transfer, while all cores move bytes that lie in L2: before the first byte moves, per byte, and all of it.
  double start(Way way) const;
  double perByte(Way way) const;
  double transfer(Way way, double bytes) const { return start(way) + bytes * perByte(way); }
  /// Per byte while so many cores read, where HBM moves `hbm` bytes for each.
  double readPerByte(Way way, double readers, double hbm) const;
  /// What HBM moves for a run of so many bytes that begins with a line: whole lines.
  double wholeLines(double bytes) const;

  /// Per byte of whole boxes from L1 to L0A or L0B.
  double extractPerByte(bool right) const;
  /// Of a product beside its steps, and per step of 16 rows x 32 bytes of depth x 16 columns.
  double productHead() const;
  double productStep(bool f32) const;

  /// A vector instruction by its mnemonic, on its own, on tiles of rows x cols elements of `bytes` bytes without gaps;
  /// for reductions the shape is that of the source.
  double vector(std::string_view mnemonic, int64_t rows, int64_t cols, unsigned bytes) const;
  /// The sum of a tile's rows as pto::foldRows takes it.
  double foldedRows(int64_t rows, int64_t cols, unsigned bytes) const;
  /// One elementwise instruction of a chain in f32, of which each waits for the one before: what it costs beside its
  /// elements, and per element.
  double operation() const { return chainCycles; }
  double operationPerElement() const { return chainPerElement; }

private:
  unsigned arch; // isa::Arch
  double chainCycles, chainPerElement;
};

} // namespace pto_mlir::cost

#endif
