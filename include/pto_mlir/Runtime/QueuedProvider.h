// Runs the kernel launches of VM programs as tasks.
#ifndef PTO_MLIR_RUNTIME_QUEUEDPROVIDER_H
#define PTO_MLIR_RUNTIME_QUEUEDPROVIDER_H

#include "pto_mlir/ByteCode/Machine.h"
#include "pto_mlir/Runtime/FirstFailure.h"
#include "pto_mlir/TaskRuntime/TaskRuntime.h"

#include <deque>
#include <unordered_map>

namespace pto_mlir::runtime {

/// Wraps a provider whose kernels are thread-safe. `launch` submits a task: tasks of one queue run in order, tasks of
/// different queues concurrently, and each task after the launches that produce its operands. A launch is synchronous
/// when a result is not a tensor of static shape. Serves one machine at a time.
class QueuedProvider : public bytecode::KernelProvider {
public:
  /// `threads` host threads, including the caller's while it waits; 0 = as many as the machine has. `mayBlock`: kernels
  /// may wait for each other or for external events, so `threads` launches run concurrently and none of them on the
  /// caller's thread.
  static Result<std::shared_ptr<QueuedProvider>> make(std::shared_ptr<bytecode::KernelProvider> kernels,
                                                      uint32_t threads, bool mayBlock = false);
  ~QueuedProvider() override;

  Result<std::shared_ptr<bytecode::Kernel>> resolve(const bytecode::KernelKey &key, const std::string &name) override;
  Result<bytecode::TensorPtr> external(const std::string &name, const bytecode::Type &type) override {
    return kernels->external(name, type);
  }
  Status launch(bytecode::Kernel &kernel, uint32_t queue, std::span<const bytecode::Value> operands,
                std::span<bytecode::Value> results) override;
  Status wait(uint32_t queue) override;
  Status barrier() override;

private:
  /// Operands are kept alive until the kernel has run; results are tensors without data until then.
  struct Launch {
    bytecode::Kernel *kernel;
    std::vector<bytecode::Value> operands, results;
  };
  explicit QueuedProvider(std::shared_ptr<bytecode::KernelProvider> kernels) : kernels(std::move(kernels)) {}
  Status finish();

  std::shared_ptr<bytecode::KernelProvider> kernels;
  std::unordered_map<const bytecode::Kernel *, std::vector<bytecode::Type>> resultTypes;
  std::deque<Launch> launches; // of the current run; tasks hold their addresses
  std::unordered_map<const bytecode::Tensor *, tasks::TaskId> makers;
  std::unordered_map<uint32_t, tasks::TaskId> last; // by queue
  tasks::TaskId fence;
  bool isOpen = false;
  FirstFailure failure;
  tasks::KernelId body = tasks::kNoKernel;
  std::unique_ptr<tasks::TaskRuntime> runtime; // last member: destroyed before what its tasks use
};

} // namespace pto_mlir::runtime

#endif
