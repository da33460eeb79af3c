// Who touched each byte last: what the checked mode knows about a stretch of memory.
#ifndef PTO_MLIR_CMODEL_CHECKED_SHADOW_H
#define PTO_MLIR_CMODEL_CHECKED_SHADOW_H

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace pto_mlir::cmodel {

/// Engines of a core, at most.
inline constexpr unsigned maxEngines = 6;
/// Of every engine, how many of its events are known to be over.
using Clock = std::array<uint32_t, maxEngines>;

/// An access as others see it: who, and when in that engine's own count (from 1).
struct Event {
  uint16_t core = 0;
  uint8_t engine = 0;
  uint32_t time = 0;
};

/// The first pair of accesses that nothing orders.
struct Conflict {
  bool found = false;
  uint64_t byte = 0;
  Event other;
  bool otherWrites = false;
};

/// Last write and last reads of each byte. A cell stands for 32 bytes as long as its written bytes have one writer and its read bytes the
/// same readers; else it is kept byte by byte. After an ordered write earlier accesses need not be known: whoever comes after the write
/// comes after them. (After an addition they are.) Cores of one launch are not ordered at all; they come one after the other.
class AccessShadow {
public:
  explicit AccessShadow(uint64_t bytes) : cells((bytes + 31) / 32) {}

  /// Notes that `event`, which knows `clock`, reads (writes, adds to) bytes [begin, begin + length); fills `conflict` unless it is found
  /// already. Additions of different cores do not conflict.
  void read(uint64_t begin, uint64_t length, const Event &event, const Clock &clock, Conflict &conflict);
  void write(uint64_t begin, uint64_t length, const Event &event, const Clock &clock, bool add, Conflict &conflict);
  /// Forgets everything.
  void clear();

private:
  struct Cell {
    std::array<uint32_t, maxEngines> reads{}; // of `core`
    uint32_t writeTime = 0, writeMask = 0, readMask = 0; // a bit per byte
    uint16_t core = 0;                                   // of the write, if any, and of the reads
    uint8_t writer = 0;
    bool added = false, split = false;
    uint16_t otherCore = 0;
    uint32_t otherReads = 0, otherAdds = 0; // bytes that other cores read, added to; the last of them is otherCore
  };

  template <class F> void forCells(uint64_t begin, uint64_t length, F &&f);
  void touch(uint64_t byte, Cell &cell, uint32_t mask, const Event &event, const Clock &clock, bool write, bool add, Conflict &conflict);
  static void compare(uint64_t byte, const Cell &cell, uint32_t mask, const Event &event, const Clock &clock, bool write, bool add,
                      Conflict &conflict);
  static bool staysWhole(const Cell &cell, uint32_t mask, const Event &event, bool write, bool add);
  void splitCell(uint64_t index, Cell &cell);

  std::vector<Cell> cells;
  std::unordered_map<uint64_t, std::array<Cell, 32>> bytesOf; // of cells that are split
  uint64_t dirtyBegin = UINT64_MAX, dirtyEnd = 0;             // cells
};

/// Which bytes hold something that was written.
class DefinedShadow {
public:
  explicit DefinedShadow(uint64_t bytes) : masks((bytes + 31) / 32) {}
  void set(uint64_t begin, uint64_t length, bool defined);
  /// The first byte that was never written; `begin + length` when all were.
  uint64_t firstUndefined(uint64_t begin, uint64_t length) const;
  void clear();

private:
  std::vector<uint32_t> masks;
  uint64_t dirtyEnd = 0; // cells
};

} // namespace pto_mlir::cmodel

#endif
