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

/// One kernel of a .pmodel of any origin, loaded once on a device of its own. Several threads may launch it; launches
/// take turns.
class KernelSession {
public:
  /// `name` may be empty when the file has one kernel. The processor is the file's, not the options'.
  static Result<std::unique_ptr<KernelSession>> open(const std::string &model, const std::string &name,
                                                     DeviceOptions options);
  ~KernelSession();

  const pmodel::KernelDesc &kernel() const { return desc; }
  /// Whether the kernel has a command that writes through its pointer number `argument`.
  bool isWritten(size_t argument) const { return writes[argument]; }
  /// Launches once and waits. `arguments` are the kernel's pointers in its order: all go to the device before the
  /// launch, those that the kernel writes come back after it. `scalars` are its other arguments in its order: integers,
  /// or the bits of an f32. `blocks` 0: as many as the file says.
  Status run(std::span<const KernelMemory> arguments, const std::vector<int64_t> &scalars, uint32_t blocks = 0);
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

struct KernelRun {
  std::string model;               // path of the .pmodel
  std::string kernel;              // its name; empty: the only one, whose name it becomes
  std::vector<NpyArray> arguments; // as in KernelSession::run
  std::vector<int64_t> scalars;    // likewise
  /// 0: as many as the file says.
  uint32_t blocks = 0;
  DeviceOptions device;
};

/// Launches once and waits; `run.arguments` then hold what the kernel left.
Result<pto_profile> runKernel(KernelRun &run);

} // namespace pto_mlir::runtime

#endif
