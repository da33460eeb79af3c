// A .pmodel loaded on a device.
#ifndef PTO_MLIR_LIB_RUNTIME_LOADEDMODEL_H
#define PTO_MLIR_LIB_RUNTIME_LOADEDMODEL_H

#include "VM.h"
#include "pto_mlir/PModel/Reader.h"
#include "pto_mlir/Runtime/Session.h"

#include <mutex>
#include <optional>

namespace pto_mlir::runtime {

/// Weights are uploaded once and kernels on first use; all nets of the file share both, and the task runtime. Members
/// are destroyed in reverse order: weights before the device that owns their memory.
struct LoadedModel {
  std::recursive_mutex mutex; // for the device; recursive: runWithDebug holds it while calling run
  std::shared_ptr<const pmodel::ModelFile> file;
  std::unique_ptr<Device> device;
  std::unique_ptr<tasks::TaskRuntime> tasks; // null: launches run in order
  DeviceBuffer weights;
  std::vector<std::optional<uint32_t>> loaded; // device handles of the model's kernels

  /// Opens the device and uploads the weights of `file`.
  Status start(const SessionOptions &options);
  /// Loads the kernels of a variant and prepares its program.
  Result<std::unique_ptr<VM>> prepare(const pmodel::VariantDesc &variant, Ports ports);
  /// The device's handle of a kernel of the file, loaded on its first use.
  Result<uint32_t> kernelHandle(uint32_t kernel);

private:
  Status uploadWeights();
};

} // namespace pto_mlir::runtime

#endif
