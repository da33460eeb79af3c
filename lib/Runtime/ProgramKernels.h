// What the programs of a .pmodel call: its nets, and rows of tensors without a way over the host.
#ifndef PTO_MLIR_LIB_RUNTIME_PROGRAMKERNELS_H
#define PTO_MLIR_LIB_RUNTIME_PROGRAMKERNELS_H

#include "DeviceTensor.h"
#include "IndexCheck.h"

#include <deque>
#include <map>

namespace pto_mlir::runtime {

/// Nets of the file, each prepared when a program is loaded; what is no net runs on the host.
class ProgramKernels : public bytecode::HostProvider {
public:
  static Result<std::shared_ptr<ProgramKernels>> make(LoadedModel &model);
  Result<std::shared_ptr<bytecode::Kernel>> resolve(const bytecode::KernelKey &key, const std::string &name) override;

  void beginRun();
  /// What the first task that failed in this run said.
  std::string failureText() const;
  Status forEachCalled(const std::function<Status(VM &, const pmodel::VariantDesc &)> &visit);

  /// A variant of a net, with its last call's tensors, which debug tensors may lie in.
  struct Net {
    const pmodel::VariantDesc *variant = nullptr;
    std::unique_ptr<VM> vm;
    std::vector<std::shared_ptr<DeviceTensor>> ports;
    bool isCalled = false;
  };

  /// Queues a copy of a tensor to host memory, which is kept for the run.
  Status copyToHost(const DeviceTensor &from, std::byte *to, uint64_t bytes, std::shared_ptr<std::byte[]> owner);
  /// Has a net's index checked as soon as it is there: the run fails where an element names no row.
  Status check(IndexUse index);

private:
  explicit ProgramKernels(LoadedModel &model) : HostProvider([](const std::string &) {}), memory(model) {}

  TensorMemory memory;
  tasks::KernelId copyKernel = tasks::kNoKernel, checkKernel = tasks::kNoKernel;
  std::vector<std::shared_ptr<std::byte[]>> inFlight; // host memory of this run's copies
  std::deque<IndexUse> checks;                        // of this run
  FirstFailure taskFailure;
  std::map<const pmodel::VariantDesc *, std::unique_ptr<Net>> nets;
};

} // namespace pto_mlir::runtime

#endif
