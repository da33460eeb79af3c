// The kernels called by the programs of a .pmodel: its nets, and row accesses that stay in device memory.
#ifndef PTO_MLIR_LIB_RUNTIME_PROGRAMKERNELS_H
#define PTO_MLIR_LIB_RUNTIME_PROGRAMKERNELS_H

#include "DeviceTensor.h"
#include "IndexCheck.h"
#include "StateImpl.h"
#include "SubmittedKernel.h"

#include <deque>
#include <map>

namespace pto_mlir::runtime {

/// Resolves nets of the file, prepared when a program is loaded; other kernels run on the host.
class ProgramKernels : public bytecode::HostProvider {
public:
  static Result<std::shared_ptr<ProgramKernels>> make(LoadedModel &model);
  Result<std::shared_ptr<bytecode::Kernel>> resolve(const bytecode::KernelKey &key, const std::string &name) override;

  Result<int64_t> submit(bytecode::Kernel &kernel, std::span<const bytecode::Value> operands,
                         std::span<const int64_t> after) override;
  Result<int64_t> join(std::span<const int64_t> after) override;
  Result<bytecode::TensorPtr> view(bytecode::Tensor &tensor, uint64_t offset, std::vector<int64_t> shape) override;
  Result<bytecode::TensorPtr> reserve(ElementType element, std::vector<int64_t> shape) override;

  /// Waits for what a program of several devices has launched.
  Status finishRanks() { return memory.runRanks(); }
  /// What the last run of such a program did when; null for others, and where the device does not measure it.
  const tasks::Trace *rankTrace() { return memory.ranked().trace(); }
  /// `state`: what nets with state run on; null without.
  void beginRun(const ModelState::Impl *state);
  const ModelState::Impl *state() const { return runState; }
  /// The message of the first task that failed in this run; empty when none did.
  std::string failureText() const;
  Status forEachCalled(const std::function<Status(VM &, const pmodel::VariantDesc &)> &visit);

  /// A variant of a net. Keeps the tensors of the last call, which may hold debug tensors.
  struct Net {
    const pmodel::VariantDesc *variant = nullptr;
    std::unique_ptr<VM> vm;
    std::vector<std::shared_ptr<DeviceTensor>> ports;
    bool isCalled = false;
  };

  /// Queues a copy of a tensor to host memory; `owner` keeps that memory alive until the end of the run.
  Status copyToHost(const DeviceTensor &from, std::byte *to, uint64_t bytes, std::shared_ptr<std::byte[]> owner);
  /// Queues a bounds check of an index tensor after its producer; the run fails if an element is out of range.
  Status check(IndexUse index);

private:
  explicit ProgramKernels(LoadedModel &model) : HostProvider([](const std::string &) {}), memory(model) {}

  /// Tasks are numbered from 1 in each run; 0 has completed.
  int64_t remember(tasks::TaskId task);
  std::vector<tasks::TaskId> tasksOf(std::span<const int64_t> ids) const;

  TensorMemory memory;
  std::vector<tasks::TaskId> taskIds;
  std::vector<std::shared_ptr<SubmittedKernel>> submitted;
  tasks::KernelId copyKernel = tasks::kNoKernel, checkKernel = tasks::kNoKernel;
  std::vector<std::shared_ptr<std::byte[]>> inFlight; // host memory of this run's copies
  std::deque<IndexUse> checks;                        // of this run
  FirstFailure taskFailure;
  const ModelState::Impl *runState = nullptr; // of this run
  std::map<const pmodel::VariantDesc *, std::unique_ptr<Net>> nets;
};

} // namespace pto_mlir::runtime

#endif
