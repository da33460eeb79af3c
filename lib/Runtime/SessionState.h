#ifndef PTO_MLIR_LIB_RUNTIME_SESSIONSTATE_H
#define PTO_MLIR_LIB_RUNTIME_SESSIONSTATE_H

#include "LoadedModel.h"
#include "ProgramRunner.h"
#include "pto_mlir/Runtime/Session.h"

#include <optional>

namespace pto_mlir::runtime {

/// Members are destroyed in reverse order: programs before the device that owns their memory.
struct Session::State : LoadedModel {
  const pmodel::NetDesc *net = nullptr;
  std::vector<std::unique_ptr<VM>> programs; // one per variant of the net, made when first used
  bool windowsKept = false;                  // from run to run
  LaunchWatch watch;                         // of launches on several devices; may be null
  const VM *ranked = nullptr;                // of `programs`: the last one that ran on several devices
  std::unique_ptr<ProgramRunner> runner;     // for a model of several nets, instead of `programs`

  /// Of the last run on several devices; null without one, and where the device does not measure it.
  const tasks::Trace *rankTrace() const {
    return runner ? runner->rankTrace() : ranked ? ranked->rankTrace() : nullptr;
  }
  /// The program of a variant, prepared on first use.
  Result<VM *> program(size_t variant);
  /// The net's use of state; null without.
  const pmodel::StateUseDesc *stateUse() const;
  /// The variant whose input shapes match.
  Result<size_t> chooseVariant(const std::vector<InputTensor> &inputs) const;
  /// Copies the inputs to the device, converted to their storage types.
  Status feed(VM &vm, const pmodel::VariantDesc &variant, const std::vector<InputTensor> &inputs);
  /// Zeros in the preset outputs that no input presets.
  Status clearPresets(VM &vm, const pmodel::VariantDesc &variant);
  /// Runs, and checks computed indices.
  Status execute(VM &vm, const pmodel::VariantDesc &variant);
  /// The named outputs in that order; all when `names` is empty.
  Result<std::vector<HostTensor>> fetchOutputs(VM &vm, const pmodel::VariantDesc &variant,
                                               const std::vector<std::string> &names);
  Result<HostTensor> fetchOutput(VM &vm, const pmodel::VariantDesc &variant, size_t output);
  /// Appends the tensors kept by a debug build that are not in `results` yet.
  Status fetchDebugTensors(VM &vm, const pmodel::VariantDesc &variant, std::vector<HostTensor> &results);
  Result<HostTensor> fetchDebugTensor(VM &vm, const pmodel::DebugTensorDesc &tensor);
};

} // namespace pto_mlir::runtime

#endif
