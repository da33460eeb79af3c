// The launches of VM programs as tasks.
#ifndef PTO_MLIR_RUNTIME_QUEUEDPROVIDER_H
#define PTO_MLIR_RUNTIME_QUEUEDPROVIDER_H

#include "pto_mlir/ByteCode/Machine.h"
#include "pto_mlir/Runtime/FirstFailure.h"
#include "pto_mlir/TaskRuntime/TaskRuntime.h"

#include <deque>
#include <unordered_map>

namespace pto_mlir::runtime {

/// Kernels of another provider, which may be called by several threads at once. `launch` submits a task: those of a
/// queue run in order, those of two queues at the same time, and each after the launches that make its operands. A
/// launch with results that are no tensors of known shape runs before it returns. Not for several machines at once.
class QueuedProvider : public bytecode::KernelProvider {
public:
  /// `threads` host threads, the caller's among them while it waits; 0 = as many as the machine has. `mayBlock`:
  /// kernels wait for each other or for something outside; then so many launches run at the same time, each on a thread
  /// that is not the caller's.
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
  /// Operands are held until it has run; results are tensors without bytes until then.
  struct Launch {
    bytecode::Kernel *kernel;
    std::vector<bytecode::Value> operands, results;
  };
  explicit QueuedProvider(std::shared_ptr<bytecode::KernelProvider> kernels) : kernels(std::move(kernels)) {}
  Status finish();

  std::shared_ptr<bytecode::KernelProvider> kernels;
  std::unordered_map<const bytecode::Kernel *, std::vector<bytecode::Type>> resultTypes;
  std::deque<Launch> launches; // of the present run; tasks hold their addresses
  std::unordered_map<const bytecode::Tensor *, tasks::TaskId> makers;
  std::unordered_map<uint32_t, tasks::TaskId> last; // by queue
  tasks::TaskId fence;
  bool isOpen = false;
  FirstFailure failure;
  tasks::KernelId body = tasks::kNoKernel;
  std::unique_ptr<tasks::TaskRuntime> runtime; // ends before what its tasks use
};

} // namespace pto_mlir::runtime

#endif
