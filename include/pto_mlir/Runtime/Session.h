// Runs the nets of a .pmodel.
#ifndef PTO_MLIR_RUNTIME_SESSION_H
#define PTO_MLIR_RUNTIME_SESSION_H

#include "pto_mlir/PModel/Reader.h"
#include "pto_mlir/Runtime/Device.h"
#include "pto_mlir/Runtime/ModelState.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace pto_mlir::runtime {

/// How the launches of a net are ordered.
enum class Schedule {
  Tasks,   ///< through the task runtime: launches that share no memory may overlap
  InOrder, ///< one launch after the other
};

/// How a session is opened.
struct SessionOptions {
  /// `processor` is taken from the file.
  DeviceOptions device;
  /// Which net of the file; empty = its only net.
  std::string net;
  /// A device or mode that only supports whole launches uses InOrder.
  Schedule schedule = Schedule::Tasks;
  /// Record the last run for `writeTrace`.
  bool trace = false;
  /// Blocks of the simulated machine, one cube core and two vector cores each, at most 128. Used where the device
  /// measures its own time, so that tasks run in virtual time.
  uint32_t virtualBlocks = 24;
};

/// Memory of the caller that holds an input, an output or both.
struct NamedMemory {
  std::string_view name;
  void *data = nullptr;
  uint64_t bytes = 0;
  std::vector<uint64_t> shape = {}; ///< where the program leaves extents to the run
};

/// Counters of the launches of one kernel.
struct KernelProfile {
  std::string name;
  std::vector<std::string> tensors; // names of the tensors it computes
  pto_profile counts = {};
};

/// A net that is ready to run: kernels are loaded, weights uploaded and buffers allocated once. Thread-safe: calls are
/// serialised.
class Session {
public:
  /// Opens and verifies the file, loads the device and uploads the weights, checking the hash of each.
  static Result<std::unique_ptr<Session>> open(const std::string &path, const SessionOptions &options = {});
  ~Session();

  const pmodel::NetDesc &net() const;
  const pmodel::ModelFile &file() const;
  const char *deviceName() const;
  /// Inputs and outputs of the net's first variant; other variants differ in shapes only.
  const std::vector<pmodel::TensorDesc> &inputs() const { return net().variants.front().inputs; }
  const std::vector<pmodel::TensorDesc> &outputs() const { return net().variants.front().outputs; }

  /// Whether `run` would accept these inputs: each input once, with its type, and shapes of one variant. A failure
  /// names what is expected.
  Status checkInputs(const std::vector<InputTensor> &inputs) const;
  /// The number of the variant that takes these inputs.
  Result<size_t> variantOf(const std::vector<InputTensor> &inputs) const;
  /// Checks that the net has outputs of these names.
  Status checkOutputs(const std::vector<std::string> &names) const;

  /// Runs the net and returns the named outputs in that order; all outputs when `names` is empty. A net with state
  /// reads and updates `state`, which `newState` of this session made; null is the session's own. A run that fails
  /// leaves its position.
  Result<std::vector<HostTensor>> run(const std::vector<InputTensor> &inputs,
                                      const std::vector<std::string> &names = {}, ModelState *state = nullptr);

  /// Runs a net with its inputs and outputs in the caller's memory: each of them once by its name, with its bytes.
  /// Preset outputs begin with what the memory holds. For nets and programs of one variant, without state and
  /// conversions.
  Status runInPlace(const std::vector<NamedMemory> &memory);

  /// Runs the net and returns all outputs, then every tensor kept by a debug build, in ONNX's layout (bf16 as f32).
  Result<std::vector<HostTensor>> runWithDebug(const std::vector<InputTensor> &inputs, ModelState *state = nullptr);

  /// Whether the net has state.
  bool hasState() const;
  /// Makes a state at position 0. It may outlive the session. Fails for a net without state.
  Result<std::unique_ptr<ModelState>> newState();
  /// The state of runs that are given none.
  Result<ModelState *> ownState();

  /// Execution counters since the last reset; `reset` clears them.
  Result<pto_profile> profile(bool reset = false);
  /// The same per kernel, in the file's order. Kernels that no variant used so far launches are left out.
  Result<std::vector<KernelProfile>> profileKernels(bool reset = false);

  /// Whether windows of a program of several ranks keep what they hold from one run to the next; else they are zero
  /// when a run begins.
  void keepWindows(bool keeps);
  /// What is told of each launch of later runs of a program of several ranks; null: nothing. Only devices that say when
  /// a launch begins run then.
  void watchLaunches(LaunchWatch seen);
  /// Whether runs are recorded for `writeTrace` and `traceReport`.
  bool traced() const;
  /// Writes the last run for Perfetto or chrome://tracing: orchestrator, schedulers, each core, dependencies as flows,
  /// queue depths. Fails without `SessionOptions::trace` or without tasks.
  Status writeTrace(const std::string &path) const;
  /// Critical path, idle cores and longest kernels of the last run, as text.
  Result<std::string> traceReport() const;

private:
  struct State;
  Status runProgramInPlace(const std::vector<NamedMemory> &memory);
  explicit Session(std::shared_ptr<State> state);
  /// The state of a run.
  Result<ModelState::Impl *> chooseState(ModelState *given);
  std::shared_ptr<State> state;
  std::mutex ownMutex;
  std::unique_ptr<ModelState> own; // made when first used
};

} // namespace pto_mlir::runtime

#endif
