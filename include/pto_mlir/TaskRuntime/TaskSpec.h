// What is submitted.
#ifndef PTO_MLIR_TASKRUNTIME_TASKSPEC_H
#define PTO_MLIR_TASKRUNTIME_TASKSPEC_H

#include "pto_mlir/TaskRuntime/Kernel.h"
#include "pto_mlir/TaskRuntime/Tensor.h"

#include <array>
#include <vector>

namespace pto_mlir::tasks {

/// A task runs only when the integer at `address` is (`negate`: is not) different from zero when it would start;
/// otherwise it completes without running and its consumers go on. No address: always.
struct Predicate {
  uint64_t address = 0;
  uint32_t bytes : 31 = 0; ///< 1, 2, 4 or 8
  uint32_t negate : 1 = 0;
};

/// The description of one task: a kernel, a kind of core, arguments in the order in which the kernel reads them.
/// Dependencies follow from the tensors; `after` adds others. May be used again after `submit`.
class TaskSpec {
public:
  explicit TaskSpec(KernelId kernel, WorkerKind kind = WorkerKind::Vector) : kernel(kernel), kind(kind) {}
  /// A task without a kernel that ends when its producers have ended.
  static TaskSpec barrier() { return TaskSpec(kNoKernel); }

  TaskSpec &input(const Tensor &tensor) { return addTensor(tensor, Reads); }
  /// Writes the tensor, whose old contents do not matter.
  TaskSpec &output(const Tensor &tensor) { return addTensor(tensor, Writes); }
  TaskSpec &inout(const Tensor &tensor) { return addTensor(tensor, Reads | Writes); }
  /// A new dense tensor, allocated by `submit` from the heap ring. `outputs()` has it afterwards.
  TaskSpec &allocate(uint32_t elementBytes, std::initializer_list<int64_t> shape);
  TaskSpec &scalar(uint64_t word);
  TaskSpec &after(TaskId producer) {
    explicitProducers.push_back(producer);
    return *this;
  }
  /// Runs `count` times, as blocks 0..count-1; a gang starts all of them together.
  TaskSpec &blocks(uint32_t count, bool gang = false) {
    numBlocks = count;
    isGang = gang;
    return *this;
  }
  /// Each block also keeps `count` vector cores while it runs (a kernel for both kinds of cores). Only virtual time
  /// holds them back: a thread that runs such a block does the work of all its cores.
  TaskSpec &companions(uint32_t count) {
    numCompanions = count;
    return *this;
  }
  /// Runs only when the first element of `flag`, an integer, is not zero (`negate`: is zero). The task waits for its
  /// writer.
  TaskSpec &onlyIf(const Tensor &flag, bool negate = false);
  /// A name for traces and reports instead of the kernel's; must outlive the run.
  TaskSpec &called(const char *name) {
    taskName = name;
    return *this;
  }

  /// Forgets arguments and producers, keeps kernel, kind and name.
  TaskSpec &clear() {
    numArgs = 0;
    numBlocks = 1;
    numCompanions = 0;
    isGang = tooManyArguments = false;
    predicate = {};
    explicitProducers.clear();
    allocated.clear();
    return *this;
  }

  /// The tensors that `allocate` asked for, in that order; valid after `submit`.
  const std::vector<Tensor> &outputs() const { return allocated; }

private:
  friend class TaskCore;
  enum ArgumentFlags : uint8_t { Reads = 1, Writes = 2, Allocates = 4, IsTensor = 8, Hidden = 16 };
  struct Argument {
    uint64_t word;
    Region region;
    uint64_t owner; ///< a task id
    uint8_t flags;
  };
  TaskSpec &addTensor(const Tensor &tensor, uint8_t flags);
  Argument *append();

  KernelId kernel;
  WorkerKind kind;
  bool isGang = false;
  bool tooManyArguments = false;
  uint32_t numBlocks = 1;
  uint32_t numCompanions = 0;
  uint32_t numArgs = 0;
  Predicate predicate;
  const char *taskName = nullptr;
  std::vector<TaskId> explicitProducers;
  std::vector<Tensor> allocated;
  /// One more than a kernel can have: the predicate's flag.
  Argument arguments[kMaxArguments + 1];
};

} // namespace pto_mlir::tasks

#endif
