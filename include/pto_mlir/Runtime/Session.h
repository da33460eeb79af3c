// Runs the nets of a .pmodel.
#ifndef PTO_MLIR_RUNTIME_SESSION_H
#define PTO_MLIR_RUNTIME_SESSION_H

#include "pto_mlir/PModel/Reader.h"
#include "pto_mlir/Runtime/Device.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pto_mlir::runtime {

enum class Schedule {
  Tasks,   ///< through the task runtime: launches that share no memory may overlap
  InOrder, ///< one launch after the other
};

struct SessionOptions {
  /// `processor` is taken from the file.
  DeviceOptions device;
  /// Which net of the file; empty = its only net.
  std::string net;
  /// Devices and modes that only run whole launches run them in order.
  Schedule schedule = Schedule::Tasks;
  /// Keep what `writeTrace` needs of the last run.
  bool trace = false;
  /// Where the device measures its own time, tasks run in virtual time, on a machine of so many blocks, one cube core
  /// and two vector cores each; at most 128.
  uint32_t virtualBlocks = 24;
};

/// A tensor that the caller owns, dense and row-major.
struct InputTensor {
  std::string_view name;
  ElementType type = ElementType::F32;
  std::vector<uint64_t> shape;
  const void *data = nullptr;
};

/// A tensor that a run made, dense and row-major.
struct HostTensor {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<uint64_t> shape;
  std::unique_ptr<std::byte[]> data;
  uint64_t bytes = 0;
};

/// What the launches of one kernel cost.
struct KernelProfile {
  std::string name;
  std::vector<std::string> tensors; // that they compute
  pto_profile counts = {};
};

/// A net that is ready to run: kernels loaded, weights uploaded, buffers allocated, all once. Calls from several
/// threads wait for each other.
class Session {
public:
  /// Opens and checks the file, loads the device, uploads the weights (checking each one's hash).
  static Result<std::unique_ptr<Session>> open(const std::string &path, const SessionOptions &options = {});
  ~Session();

  const pmodel::NetDesc &net() const;
  const pmodel::ModelFile &file() const;
  const char *deviceName() const;
  /// Inputs and outputs of the net's first variant; other variants differ in shapes only.
  const std::vector<pmodel::TensorDesc> &inputs() const { return net().variants.front().inputs; }
  const std::vector<pmodel::TensorDesc> &outputs() const { return net().variants.front().outputs; }

  /// Whether `run` would accept these: each input once, right type, shapes of one variant. The failure says what is
  /// expected.
  Status checkInputs(const std::vector<InputTensor> &inputs) const;
  /// Whether the net has outputs of these names.
  Status checkOutputs(const std::vector<std::string> &names) const;

  /// Runs the net and returns the named outputs in that order (none named: all).
  Result<std::vector<HostTensor>> run(const std::vector<InputTensor> &inputs,
                                      const std::vector<std::string> &names = {});

  /// Runs the net and returns all outputs, then every tensor that a debug build keeps, in ONNX's layout (bf16 as f32).
  Result<std::vector<HostTensor>> runWithDebug(const std::vector<InputTensor> &inputs);

  /// What running cost since the last reset.
  Result<pto_profile> profile(bool reset = false);
  /// The same kernel by kernel, in the file's order; kernels that no used variant launches are left out.
  Result<std::vector<KernelProfile>> profileKernels(bool reset = false);

  /// Whether `writeTrace` and `traceReport` have something to show after a run.
  bool traced() const;
  /// Writes the last run for Perfetto or chrome://tracing: orchestrator, schedulers, each core, dependencies as flows,
  /// queue depths. Fails without `SessionOptions::trace` or without tasks.
  Status writeTrace(const std::string &path) const;
  /// Its critical path, idle cores and longest kernels, for a terminal.
  Result<std::string> traceReport() const;

private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace pto_mlir::runtime

#endif
