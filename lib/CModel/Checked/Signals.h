// What signal cells order: a wait comes behind the notifications without which its cell would not satisfy it.
#ifndef PTO_MLIR_CMODEL_CHECKED_SIGNALS_H
#define PTO_MLIR_CMODEL_CHECKED_SIGNALS_H

#include "Checked/Shadow.h"
#include "pto_mlir/ISA/Insns.h"

#include <optional>
#include <unordered_map>

namespace pto_mlir::cmodel {

/// Takes over what another clock knows.
void join(Clock &into, const Clock &other);

/// The notifications of each cell. That a wait has passed says that those were there that it needs in every schedule:
/// of two ranks that each raise a cell by 1, a wait for 1 orders neither.
class Signals {
public:
  void clear() { cells.clear(); }
  /// `event` with its clock sets the cell at `address`, or adds to it; its value is `after` now.
  void notify(uint64_t address, isa::NotifyMode mode, int32_t value, int32_t after, const Event &event,
              const Clock &clock);
  /// A wait of an engine has passed: its clock joins those of the notifications that it needed.
  void wait(uint64_t address, isa::CellCompare mode, int64_t wanted, Clock &clock);

private:
  struct Note {
    isa::NotifyMode mode;
    int32_t value;
    Event event;
    Clock clock;

    /// Whether it comes behind the other one, or is it.
    bool isBehind(const Note &other) const { return clock[other.event.engine] >= other.event.time; }
  };
  struct Cell {
    std::optional<int32_t> first; ///< the value in front of the notes; unknown if the first one sets it
    Clock known;                  ///< of the notes that `first` holds
    std::vector<Note> notes;
  };

  /// The value that the cell has without a note and what comes behind that.
  static std::optional<int32_t> without(const Cell &cell, const Note &missing);

  std::unordered_map<uint64_t, Cell> cells;
};

} // namespace pto_mlir::cmodel

#endif
