// Races between launches: accesses to global memory by launches that nothing orders.
#ifndef PTO_MLIR_CMODEL_CHECKED_TASKRACES_H
#define PTO_MLIR_CMODEL_CHECKED_TASKRACES_H

#include "Checked/Accesses.h"

#include <map>
#include <optional>
#include <span>
#include <string>

namespace pto_mlir::cmodel {

/// Keeps what each task accesses, as long as later launches may overlap it (may_overlap in DeviceABI.h).
class TaskRaces {
public:
  /// Of the launch that follows. Task 0 forgets all others: the launch is ordered behind everything.
  void next(uint32_t task, std::span<const uint32_t> others);
  void launchBegin(const std::string &kernel);
  void launchEnd() { current = nullptr, task = 0; }
  bool isActive() const { return current; }
  /// Notes an access of the running launch to bytes [begin, begin + length) by the command at `word` of `engine`
  /// ("AIV0.0 MTE3"). Says which byte another task accesses, and where, if both conflict.
  std::optional<std::string> access(uint64_t begin, uint64_t length, AccessKind kind, const std::string &engine,
                                    uint32_t word);

private:
  struct Place {
    std::string engine;
    uint32_t word;
    AccessKind kind;
    bool operator==(const Place &) const = default;
  };
  struct Range {
    uint64_t begin, end;
    uint32_t place;
  };
  struct Launch {
    uint32_t task;
    std::string kernel;
    std::vector<Place> places;
    std::vector<Range> ranges;
  };
  /// An earlier range that the running launch may overlap.
  struct Foreign {
    uint64_t begin, end, greatestEnd; // greatestEnd: of this range and those before it
    const Launch *launch;
    uint32_t place;
  };
  void note(uint64_t begin, uint64_t end, Place place);

  uint32_t task = 0;
  std::multimap<uint32_t, Launch> launches; // by task
  std::vector<uint32_t> others;
  std::vector<Foreign> foreign; // by begin
  Launch *current = nullptr;    // null: the running launch is ordered
};

} // namespace pto_mlir::cmodel

#endif
