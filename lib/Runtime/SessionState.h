#ifndef PTO_MLIR_LIB_RUNTIME_SESSIONSTATE_H
#define PTO_MLIR_LIB_RUNTIME_SESSIONSTATE_H

#include "ProgramRunner.h"
#include "VM.h"
#include "pto_mlir/Runtime/Session.h"

#include <mutex>
#include <optional>

namespace pto_mlir::runtime {

/// Members are destroyed in reverse order: programs and weights before the device that owns their memory.
struct Session::State {
  std::shared_ptr<const pmodel::ModelFile> file;
  const pmodel::NetDesc *net = nullptr;
  std::recursive_mutex mutex; // runWithDebug keeps it over its run
  std::unique_ptr<Device> device;
  std::unique_ptr<tasks::TaskRuntime> tasks; // null: launches run in order
  DeviceBuffer weights;
  std::vector<std::optional<uint32_t>> loaded; // device handles of the model's kernels
  std::vector<std::unique_ptr<VM>> programs;   // one per variant, made when first used
  std::unique_ptr<ProgramRunner> runner;       // for a model of several nets, instead of all the above but the file

  Status start(const SessionOptions &options);
  Status uploadWeights();
  /// Loads the kernels of a variant and prepares its program.
  Result<VM *> program(size_t variant);
  /// The variant that takes these inputs.
  Result<size_t> chooseVariant(const std::vector<InputTensor> &inputs) const;
  /// Copies the inputs in (narrowing where the net stores less) and runs.
  Status execute(VM &vm, const pmodel::VariantDesc &variant, const std::vector<InputTensor> &inputs);
  Result<HostTensor> fetchOutput(VM &vm, const pmodel::VariantDesc &variant, size_t output);
  Result<HostTensor> fetchDebugTensor(VM &vm, const pmodel::DebugTensorDesc &tensor);
};

} // namespace pto_mlir::runtime

#endif
