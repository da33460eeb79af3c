// Who touched each byte last: what the checked mode knows about a stretch of memory.
#ifndef PTO_MLIR_CMODEL_CHECKED_SHADOW_H
#define PTO_MLIR_CMODEL_CHECKED_SHADOW_H

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace pto_mlir::cmodel {

/// Engines of a core, at most. An engine of a launch is named by core * maxEngines + its place in the core.
inline constexpr uint32_t maxEngines = 8;
/// Of each engine of the cores that run together, how many of its events are known to be over.
using Clock = std::vector<uint32_t>;

/// An access as others see it: who, and when in that engine's own count (from 1).
struct Event {
  uint32_t engine = 0, time = 0;
  uint32_t core() const { return engine / maxEngines; }
};

/// What an engine knows: a clock that begins with engine `first`. Engines before it belong to cores that have ended;
/// nothing orders those.
struct Known {
  const uint32_t *times;
  uint32_t first;
  bool has(uint32_t engineInGroup, uint32_t time) const { return times[engineInGroup] >= time; }
};

/// The first pair of accesses that nothing orders.
struct Conflict {
  bool found = false;
  uint64_t byte = 0;
  Event other;
  bool otherWrites = false;
};

/// Last write and last reads of each byte. A cell stands for 32 bytes as long as its written bytes have one writer and
/// its read bytes the same readers; else it is kept byte by byte. After an ordered write earlier accesses need not be
/// known: whoever comes after the write comes after them (after an addition they are); so does a read that comes after
/// another one stand for it. Groups of cores come one after the other and are not ordered at all.
class AccessShadow {
public:
  explicit AccessShadow(uint64_t bytes) : cells((bytes + 31) / 32) {}

  /// Notes that `event`, which knows `known`, reads (writes, adds to) bytes [begin, begin + length); fills `conflict`
  /// unless it is found already. Additions of different cores do not conflict.
  void read(uint64_t begin, uint64_t length, const Event &event, const Known &known, Conflict &conflict);
  void write(uint64_t begin, uint64_t length, const Event &event, const Known &known, bool add, Conflict &conflict);
  /// Forgets everything.
  void clear();

private:
  /// Engines are counted from `owner`, the first one of the group that was here last.
  struct Cell {
    uint32_t writeTime = 0, writeMask = 0, readMask = 0; // a bit per byte
    uint32_t readTime[2] = {0, 0};                       // 0: no reader
    uint32_t owner = 0;
    uint16_t writer = 0, reader[2] = {0, 0};
    bool added : 1 = false, split : 1 = false, rare : 1 = false; // rare: there is more in `rarities`
    bool isPlain() const { return !split && !rare; }
    bool isFresh() const { return (writeMask | readMask) == 0; }
  };
  struct Past {
    uint16_t engine;
    bool add;
    uint32_t time;
  };
  /// What few cells have.
  struct Rarity {
    std::vector<Past> more;                 // readers beyond two, additions of other cores of the group
    uint32_t otherReads = 0, otherAdds = 0; // bytes that other groups read, added to
    uint32_t otherEngine = 0;               // the last of them
  };

  template <class F> void forCells(uint64_t begin, uint64_t length, F &&f);
  void touch(uint64_t byte, Cell &cell, uint32_t mask, const Event &event, const Known &known, bool write, bool add,
             Conflict &conflict);
  void compare(uint64_t byte, const Cell &cell, uint32_t mask, const Event &event, const Known &known, bool write,
               bool add, Conflict &conflict);
  bool staysWhole(uint64_t byte, const Cell &cell, uint32_t mask, const Event &event, const Known &known, bool write,
                  bool add);
  void addReader(uint64_t byte, Cell &cell, uint16_t engine, uint32_t time, const Known &known);
  void dropRarity(uint64_t byte, Cell &cell);
  void splitCell(uint64_t index, Cell &cell);

  std::vector<Cell> cells;
  std::unordered_map<uint64_t, std::array<Cell, 32>> bytesOf; // of cells that are split
  std::unordered_map<uint64_t, Rarity> rarities;              // by first byte
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
