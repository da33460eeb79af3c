// Runs a model that is a VM program over several nets.
#ifndef PTO_MLIR_LIB_RUNTIME_PROGRAMRUNNER_H
#define PTO_MLIR_LIB_RUNTIME_PROGRAMRUNNER_H

#include "pto_mlir/ByteCode/Machine.h"
#include "pto_mlir/Runtime/Session.h"

#include <memory>
#include <vector>

namespace pto_mlir::runtime {

/// The file's host program with a session per net that it calls. The program's values live on the host; a net's inputs and outputs are
/// copied at every call.
class ProgramRunner {
public:
  /// `file` was verified and has a program.
  static Result<std::unique_ptr<ProgramRunner>> open(const pmodel::ModelFile &file, const DeviceOptions &device);

  /// Inputs by name, in any order (Session checked them); all outputs.
  Result<std::vector<HostTensor>> run(const std::vector<InputTensor> &inputs);

  /// What the program takes and gives, as a net of one variant; extents that are known at run time only are 0.
  const pmodel::NetDesc &net() const { return description; }
  const std::vector<std::unique_ptr<Session>> &sessions() const;

private:
  explicit ProgramRunner(bytecode::Machine machine) : machine(std::move(machine)) {}
  class Provider;
  std::shared_ptr<Provider> provider;
  bytecode::Machine machine;
  pmodel::NetDesc description;
};

} // namespace pto_mlir::runtime

#endif
