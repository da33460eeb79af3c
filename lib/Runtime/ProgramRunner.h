// Runs a model whose VM program calls several nets.
#ifndef PTO_MLIR_LIB_RUNTIME_PROGRAMRUNNER_H
#define PTO_MLIR_LIB_RUNTIME_PROGRAMRUNNER_H

#include "LoadedModel.h"
#include "StateImpl.h"
#include "pto_mlir/ByteCode/Machine.h"

#include <functional>
#include <memory>
#include <vector>

namespace pto_mlir::runtime {

class ProgramKernels;

/// The programs of one name in a file, one per set of input shapes. Tensors passed between nets stay in device memory
/// without a copy. Calls are queued; the program waits only when it reads a tensor.
class ProgramRunner {
public:
  /// `model` has been started and its file contains programs; an empty `name` selects the first program's.
  static Result<std::unique_ptr<ProgramRunner>> open(LoadedModel &model, const std::string &name);
  ~ProgramRunner();

  /// Runs on inputs in any order, which Session has checked and used to select the variant, and on the state that its
  /// nets use (null without). Preset outputs may be among the inputs. Returns all outputs.
  Result<std::vector<HostTensor>> run(size_t variant, const std::vector<InputTensor> &inputs, ModelState::Impl *state);

  /// Inputs and outputs of the programs; dynamic extents are 0.
  const pmodel::NetDesc &net() const { return description; }
  /// Calls `visit` for every net that the last run called.
  Status forEachCalled(const std::function<Status(VM &, const pmodel::VariantDesc &)> &visit);

  const tasks::Trace *rankTrace() const;

private:
  ProgramRunner();
  Result<std::vector<HostTensor>> call(size_t variant, std::vector<bytecode::Value> arguments);
  LoadedModel *model = nullptr;
  std::shared_ptr<ProgramKernels> kernels;
  std::vector<bytecode::Machine> machines;       // one per variant
  std::vector<std::vector<std::string>> presets; // one per variant
  pmodel::NetDesc description;
};

} // namespace pto_mlir::runtime

#endif
