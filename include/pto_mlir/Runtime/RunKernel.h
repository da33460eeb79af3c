// Runs one kernel of a .pmodel on its own, for development.
#ifndef PTO_MLIR_RUNTIME_RUNKERNEL_H
#define PTO_MLIR_RUNTIME_RUNKERNEL_H

#include "pto_mlir/Runtime/Device.h"
#include "pto_mlir/Runtime/Npy.h"

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace pto_mlir::pmodel {
class ModelFile;
}

namespace pto_mlir::runtime {

/// Memory that a launch reads and writes; the caller owns it.
struct KernelMemory {
  void *data = nullptr;
  uint64_t bytes = 0;
};

/// One kernel of a .pmodel, loaded on its own device. Thread-safe: launches are serialised.
class KernelSession {
public:
  /// `name` may be empty when the file has one kernel. The processor is taken from the file; `options.processor` is
  /// ignored.
  static Result<std::unique_ptr<KernelSession>> open(const std::string &model, const std::string &name,
                                                     DeviceOptions options);
  ~KernelSession();

  const pmodel::KernelDesc &kernel() const { return desc; }
  /// Whether any command of the kernel writes through pointer argument `argument`.
  bool isWritten(size_t argument) const { return writes[argument]; }
  /// Launches once and waits. `arguments` are the pointer arguments in order: all are copied to the device before the
  /// launch, and those that the kernel writes are copied back after it. `scalars` are the other arguments in order:
  /// integers, or the bit pattern of an f32. `blocks` 0: the number recorded in the file.
  Status run(std::span<const KernelMemory> arguments, const std::vector<int64_t> &scalars, uint32_t blocks = 0);
  /// Counters of all launches of the session.
  Result<pto_profile> profile();

private:
  KernelSession(std::shared_ptr<const pmodel::ModelFile> file, const pmodel::KernelDesc &kernel,
                std::unique_ptr<Device> device, uint32_t handle);

  std::mutex mutex;
  std::shared_ptr<const pmodel::ModelFile> file;
  const pmodel::KernelDesc &desc;
  std::unique_ptr<Device> device;
  uint32_t handle;
  std::vector<bool> writes; // by argument
};

/// The request of `runKernel`.
struct KernelRun {
  std::string model;               // path of the .pmodel
  std::string kernel;              // its name; empty: the only kernel, whose name is filled in
  std::vector<NpyArray> arguments; // as in KernelSession::run
  std::vector<int64_t> scalars;    // likewise
  /// 0: the number recorded in the file.
  uint32_t blocks = 0;
  DeviceOptions device;
};

/// Launches once and waits. `run.arguments` are updated with what the kernel wrote.
Result<pto_profile> runKernel(KernelRun &run);

} // namespace pto_mlir::runtime

#endif
