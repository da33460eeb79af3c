// The timing mode: kernels run as in functional mode; what each engine did is noted with its cost and played back when
// the launch is over, since only then is known how much the cores shared.
#ifndef PTO_MLIR_CMODEL_TIMING_TIMER_H
#define PTO_MLIR_CMODEL_TIMING_TIMER_H

#include "Checked/Accesses.h"
#include "Core.h"
#include "Observer.h"
#include "Program.h"
#include "Timing/Trace.h"
#include "pto_mlir/Cost/Cost.h"

#include <memory>
#include <unordered_map>

namespace pto_mlir::cmodel {

using isa::GlobalPath;

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
  struct Event {
    enum Kind : uint8_t { Work, Signal, Await, CrossRaise, CrossAwait } kind;
    GlobalPath path;
    bool depends;     // on what its engine has not finished yet
    bool drains;      // it waits for its engine to be done
    uint32_t op;      // in its stream
    uint32_t channel; // of Signal and Await: a flag or a queue; of CrossRaise: mode << 8 | id; of CrossAwait: id
    float head, work, tail;
    uint64_t bytes;
    uint32_t firstRun, endRun; // of the core's runs, of what moves
  };
  struct EngineLog {
    const Stream *stream;
    std::vector<Event> events;
    std::vector<std::pair<uint64_t, uint64_t>> fresh; // V: bytes of UB that were written since it was drained
  };
  struct CoreLog {
    CorePlace place;
    std::vector<EngineLog> engines;
    std::vector<ByteRuns> runs; // of global memory
  };
  struct EngineTime {
    /// When it can take the next instruction; when all it took has its results; cycles.
    double now = 0, done = 0, busy = 0, stalled = 0;
    double reading = 0, writing = 0; // global memory
    double lastEnd = -1e30;
  };
  struct Rates {
    double secondsPerByte[6] = {}; // by GlobalPath
  };

  /// Notes the runs of global memory that the instruction moves.
  void noteRuns(Core &core, CoreLog &log, Event &event);
  /// Which part of what the launch reads is not in L2, as the cores go on side by side.
  double missedPart() const;
  bool dependsOnFresh(EngineLog &log);
  /// The cycle at which `count` cores that run together have finished what they began at `begin`; times of their
  /// engines, core by core, go into `times`.
  double replay(const CoreLog *group, size_t count, const Rates &rates, double begin, std::vector<EngineTime> &times,
                const Kernel &kernel, Trace *trace);
  /// With so much from outside of L2, and so many cores that read and write at a time.
  Rates ratesFor(double cold, double readers, double writers) const;
  struct Replayed {
    double end = 0, reading = 0, writing = 0;
    double busy[PTO_NUM_ENGINES] = {}, stalled[PTO_NUM_ENGINES] = {};
    std::vector<double> coreSeconds;
  };
  Replayed replayAll(const Kernel &kernel, const Rates &rates, double begin, Trace *trace);

  const isa::ChipInfo &chip;
  std::unique_ptr<Trace> trace;
  double elapsed = 0; // cycles of all launches so far

  std::vector<CoreLog> cores; // of this launch
  std::vector<double> secondsOfCores;
  size_t firstOfGroup = 0; // of the cores that run now
  isa::DecodedInsn resolved;
  AccessList list;
};

} // namespace pto_mlir::cmodel

#endif
