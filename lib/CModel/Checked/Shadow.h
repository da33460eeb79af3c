// Shadow memory of the checked mode: the last accesses of each byte, and which bytes are defined.
#ifndef PTO_MLIR_CMODEL_CHECKED_SHADOW_H
#define PTO_MLIR_CMODEL_CHECKED_SHADOW_H

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace pto_mlir::cmodel {

/// Upper bound of engines per core. Engine e of core c of a launch has the number c * maxEngines + e.
inline constexpr uint32_t maxEngines = 8;
/// A vector clock: per engine of the group, how many of its events happened before.
using Clock = std::vector<uint32_t>;

/// An event of an engine: the engine's number in the launch, and the event's number in that engine, from 1.
struct Event {
  uint32_t engine = 0, time = 0;
  uint32_t core() const { return engine / maxEngines; }
};

/// The vector clock of an engine, starting at engine `first` of the launch. Lower-numbered engines belong to cores that
/// have ended; nothing orders events with theirs.
struct Known {
  const uint32_t *times;
  uint32_t first;
  bool has(uint32_t engineInGroup, uint32_t time) const { return times[engineInGroup] >= time; }
};

/// The first pair of unordered accesses.
struct Conflict {
  bool found = false;
  uint64_t byte = 0;
  Event other;
  bool otherWrites = false;
};

/// The last write and the last reads of each byte. A cell represents 32 bytes as long as its written bytes have one
/// writer and its read bytes the same readers; otherwise it is split into bytes. An ordered write supersedes all
/// earlier accesses, since whatever happens after it happens after them; additions do not. An ordered read supersedes
/// earlier reads. Groups of cores run one after the other and are never ordered.
class AccessShadow {
public:
  explicit AccessShadow(uint64_t bytes) : cells((bytes + 31) / 32) {}

  /// Records that `event`, whose clock is `known`, reads (writes, adds to) bytes [begin, begin + length), and fills
  /// `conflict` unless one is already found. Additions of different cores do not conflict.
  void read(uint64_t begin, uint64_t length, const Event &event, const Known &known, Conflict &conflict);
  void write(uint64_t begin, uint64_t length, const Event &event, const Known &known, bool add, Conflict &conflict);
  /// Drops all records.
  void clear();

private:
  /// Engine numbers are relative to `owner`, the first engine of the group that accessed the cell last.
  struct Cell {
    uint32_t writeTime = 0, writeMask = 0, readMask = 0; // a bit per byte
    uint32_t readTime[2] = {0, 0};                       // 0: no reader
    uint32_t owner = 0;
    uint16_t writer = 0, reader[2] = {0, 0};
    bool added : 1 = false, split : 1 = false, rare : 1 = false; // rare: more in `rarities`
    bool isPlain() const { return !split && !rare; }
    bool isFresh() const { return (writeMask | readMask) == 0; }
  };
  struct Past {
    uint16_t engine;
    bool add;
    uint32_t time;
  };
  /// Records that few cells need.
  struct Rarity {
    std::vector<Past> more;                 // readers beyond two, additions of other cores of the group
    uint32_t otherReads = 0, otherAdds = 0; // bytes that other groups read, added to
    uint32_t otherEngine = 0;               // the last such engine
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

/// Which bytes have been written, and which of the others hold what a load found unwritten in global memory.
class DefinedShadow {
public:
  explicit DefinedShadow(uint64_t bytes) : masks((bytes + 31) / 32) {}
  /// Marks bytes [begin, begin + length) as defined or undefined.
  void set(uint64_t begin, uint64_t length, bool defined);
  /// The first byte that was never written; begin + length if there is none.
  uint64_t firstUndefined(uint64_t begin, uint64_t length) const;
  /// Marks bytes as undefined, brought by the load of this number, from 1; 0: by none.
  void setUnwritten(uint64_t begin, uint64_t length, uint32_t load);
  /// The load that brought an undefined byte; 0 if there is none.
  uint32_t loadOf(uint64_t byte) const { return loads.empty() ? 0 : loads[byte]; }
  /// The first undefined byte that a load brought; begin + length if there is none.
  uint64_t firstLoaded(uint64_t begin, uint64_t length) const;
  void clear();

private:
  std::vector<uint32_t> masks;
  std::vector<uint32_t> loads; // by byte; empty until the first such load
  uint64_t dirtyEnd = 0;       // cells
};

} // namespace pto_mlir::cmodel

#endif
