// The timing mode: kernels run as in functional mode. The events of each engine are recorded with their cost and
// scheduled when the launch has ended, since only then is the sharing between cores known.
#ifndef PTO_MLIR_CMODEL_TIMING_TIMER_H
#define PTO_MLIR_CMODEL_TIMING_TIMER_H

#include "Checked/Accesses.h"
#include "Machine/Core.h"
#include "Machine/Observer.h"
#include "Machine/Program.h"
#include "Timing/Trace.h"
#include "pto_mlir/Cost/GlobalMemory.h"
#include "pto_mlir/Cost/Playback.h"

#include <memory>
#include <unordered_map>

namespace pto_mlir::cmodel {

using isa::GlobalPath;

/// Records events per engine and schedules them with cost::play at the end of a launch.
class Timer : public Observer {
public:
  /// `trace` may be null.
  Timer(isa::Arch arch, std::unique_ptr<Trace> trace);

  std::string ranksBegin(std::span<const RankLaunch> launches) override;
  void rankTurn(size_t launch) override { log = &logs[launch]; }
  void ranksEnd(std::span<pto_profile> costs) override;
  std::span<const RankTime> rankTimes() const override { return timesOfRanks; }
  void launchBegin(const LaunchState &launch) override;
  void launchEnd(const LaunchState &launch, pto_profile &cost) override;
  std::span<const double> coreSeconds() const override { return secondsOfCores; }
  void groupBegin(const std::vector<CorePlace> &places) override;
  void coreBegin(Core &core) override;
  void before(Core &core, const Op &op) override;
  void after(Core &core, const Op &op) override;

private:
  /// Per-core state besides the recorded events.
  struct CoreNotes {
    std::vector<const Stream *> streams; // of its engines
    std::vector<cost::Recorder> recorders;
  };

  struct LaunchLog {
    std::vector<cost::CoreLog> cores;
    std::vector<CoreNotes> notes;            // per core
    std::vector<std::vector<ByteRuns>> runs; // of global memory, per core
    size_t firstOfGroup = 0;                 // index of the group's first core in `cores`
  };
  /// The values of a signal cell behind its notes.
  struct Cell {
    uint32_t number = 0;
    std::vector<int32_t> values;
  };

  /// Records the runs of global memory that the instruction moves.
  void noteRuns(Core &core, std::vector<ByteRuns> &into, cost::Event &event);
  /// Records what the instruction does with a signal cell.
  void noteCell(Core &core, cost::Event &event);
  Cell &cellAt(const uint8_t *address);
  /// Writes engine events into the trace, if there is one. `who` stands in front of the names of cores.
  cost::Span tracer(const Kernel &kernel, const LaunchLog &of, const std::string &who = "");
  /// Adds what a launch took, and writes it into the trace.
  void finish(const LaunchState &launch, const cost::Playback &result, double begin, const std::string &who,
              pto_profile &profile);

  const isa::ChipInfo &chip;
  std::unique_ptr<Trace> trace;
  double elapsed = 0; // cycles of all launches so far

  LaunchLog alone;         // of a launch that is not one of several devices
  LaunchLog *log = &alone; // of the launch that runs
  std::vector<double> secondsOfCores;
  // --- of a run of several devices ---
  std::span<const RankLaunch> ranked;
  std::vector<LaunchLog> logs; // by launch
  std::unordered_map<const uint8_t *, Cell> cells;
  std::vector<RankTime> timesOfRanks;
  isa::DecodedInsn resolved;
  AccessList list;
};

} // namespace pto_mlir::cmodel

#endif
