// Runs a model that is a VM program over several nets.
#ifndef PTO_MLIR_LIB_RUNTIME_PROGRAMRUNNER_H
#define PTO_MLIR_LIB_RUNTIME_PROGRAMRUNNER_H

#include "LoadedModel.h"
#include "pto_mlir/ByteCode/Machine.h"

#include <functional>
#include <memory>
#include <vector>

namespace pto_mlir::runtime {

class ProgramKernels;

/// The programs of one name in a file, one per set of input shapes. A net's inputs and outputs stay in device memory
/// and are never copied from net to net; calls are queued, and the program waits when it reads a tensor.
class ProgramRunner {
public:
  /// `model` is started, its file was verified and has programs; an empty name stands for the first one's.
  static Result<std::unique_ptr<ProgramRunner>> open(LoadedModel &model, const std::string &name);
  ~ProgramRunner();

  /// Inputs by name, in any order (Session checked them and chose the variant); all outputs.
  Result<std::vector<HostTensor>> run(size_t variant, const std::vector<InputTensor> &inputs);

  /// What the programs take and give; extents that are known at run time only are 0.
  const pmodel::NetDesc &net() const { return description; }
  /// `visit` gets every net that the last run called.
  Status forEachCalled(const std::function<Status(VM &, const pmodel::VariantDesc &)> &visit);

private:
  ProgramRunner();
  LoadedModel *model = nullptr;
  std::shared_ptr<ProgramKernels> kernels;
  std::vector<bytecode::Machine> machines; // one per variant
  pmodel::NetDesc description;
};

} // namespace pto_mlir::runtime

#endif
