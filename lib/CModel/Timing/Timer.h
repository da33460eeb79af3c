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

namespace pto_mlir::cmodel {

using isa::GlobalPath;

/// Records events per engine and schedules them with cost::play at the end of a launch.
class Timer : public Observer {
public:
  /// `trace` may be null.
  Timer(isa::Arch arch, std::unique_ptr<Trace> trace);

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

  /// Records the runs of global memory that the instruction moves.
  void noteRuns(Core &core, std::vector<ByteRuns> &into, cost::Event &event);
  /// Writes engine events into the trace, if there is one.
  cost::Span tracer(const Kernel &kernel);

  const isa::ChipInfo &chip;
  std::unique_ptr<Trace> trace;
  double elapsed = 0; // cycles of all launches so far

  std::vector<cost::CoreLog> cores;        // of this launch
  std::vector<CoreNotes> notes;            // per core
  std::vector<std::vector<ByteRuns>> runs; // of global memory, per core
  std::vector<double> secondsOfCores;
  size_t firstOfGroup = 0; // index of the group's first core in `cores`
  isa::DecodedInsn resolved;
  AccessList list;
};

} // namespace pto_mlir::cmodel

#endif
