//===- SyncConflicts.h - which ops of a kernel touch the same bytes ------*- C++ -*-===//
#ifndef PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_SYNCCONFLICTS_H
#define PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_SYNCCONFLICTS_H

#include "Accesses.h"

#include <vector>

namespace pto_mlir::pto {

/// Rows of bits, all of one width.
class BitRows {
public:
  BitRows() = default;
  BitRows(size_t rows, size_t width) : words((width + 63) / 64), data(rows * words) {}
  uint64_t *row(size_t r) { return data.data() + r * words; }
  const uint64_t *row(size_t r) const { return data.data() + r * words; }
  size_t wordsPerRow() const { return words; }
  void set(size_t r, size_t bit) { row(r)[bit / 64] |= uint64_t(1) << bit % 64; }
  bool test(size_t r, size_t bit) const { return row(r)[bit / 64] >> bit % 64 & 1; }
  /// row(r) |= from
  void add(size_t r, const uint64_t *from) {
    uint64_t *to = row(r);
    for (size_t w = 0; w < words; ++w)
      to[w] |= from[w];
  }
  bool operator==(const BitRows &other) const { return data == other.data; }

private:
  size_t words = 0;
  std::vector<uint64_t> data;
};

/// Of an op inside of sections: the kind of core that executes it.
enum class Section : uint8_t { none, cube, vector };

/// An op that an engine executes.
struct EngineOp {
  mlir::Operation *op;
  Pipe pipe;
  Section section;
  llvm::SmallVector<Access> accesses;
  /// Loops whose trips alternate the buffers that the op touches. Trips of different parity count as different ops,
  /// called items: item `firstItem + sum((trip of loop k mod 2) << k)`.
  llvm::SmallVector<mlir::scf::ForOp, 1> turns;
  size_t firstItem;

  size_t numItems() const { return size_t(1) << turns.size(); }
};

/// Which ops of a kernel may touch the same bytes, one of them writing. Ops of one engine are among them.
class SyncConflicts {
public:
  /// Numbers the items of `ops`, which are in program order.
  explicit SyncConflicts(std::vector<EngineOp> &ops);

  size_t numItems() const { return items; }
  /// Sets a bit per op in conflict with op `i` whatever the trips, and a bit per op in conflict with it for some trips
  /// only.
  void findOps(size_t i, std::vector<uint64_t> &always, std::vector<uint64_t> &byTurn) const;
  /// Is `item`, one of op `i`, in conflict with one of `others`, a bit per item?
  bool anyOf(size_t i, size_t item, const uint64_t *others) const;

private:
  size_t getParity(size_t i, size_t item, size_t access) const;

  const std::vector<EngineOp> &ops;
  size_t items = 0;
  std::vector<Access> accesses;                         // no two are alike
  std::vector<llvm::SmallVector<size_t, 4>> accessesOf; // of each op
  BitRows alwaysOps, turnOps;                           // of each access
  BitRows itemRows;                                     // of each access, at trips of parity 0 and 1
};

} // namespace pto_mlir::pto

#endif
