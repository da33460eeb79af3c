// The description of a task.
#ifndef PTO_MLIR_TASKRUNTIME_TASKSPEC_H
#define PTO_MLIR_TASKRUNTIME_TASKSPEC_H

#include "pto_mlir/TaskRuntime/Kernel.h"
#include "pto_mlir/TaskRuntime/Tensor.h"

#include <array>
#include <vector>

namespace pto_mlir::tasks {

/// How a predicate compares an integer with its target. The numbers are those of pto_task_predicate.
enum class Comparison : uint16_t { NotEqual, Equal, Greater, Less, GreaterEqual, LessEqual };

/// Conditional execution. When the task is due to start, the signed integer at `address` is read: the task runs if it
/// compares with `target` as said, and otherwise completes without running, as if it had succeeded. No address: always
/// runs.
struct Predicate {
  uint64_t address = 0;
  uint16_t bytes = 0; ///< 1, 2, 4 or 8
  Comparison comparison = Comparison::NotEqual;
  int64_t target = 0;

  bool holds(int64_t value) const;
};

/// The description of one task: a kernel, a kind of core, arguments in the order in which the kernel reads them.
/// Dependencies are inferred from the tensors; `after` adds explicit ones. May be reused after `submit`.
class TaskSpec {
public:
  explicit TaskSpec(KernelId kernel, WorkerKind kind = WorkerKind::Vector) : kernel(kernel), kind(kind) {}
  /// A task without a kernel; completes when its producers have completed.
  static TaskSpec barrier() { return TaskSpec(kNoKernel); }

  TaskSpec &input(const Tensor &tensor) { return addTensor(tensor, Reads); }
  /// Overwrites the tensor without reading it.
  TaskSpec &output(const Tensor &tensor) { return addTensor(tensor, Writes); }
  TaskSpec &inout(const Tensor &tensor) { return addTensor(tensor, Reads | Writes); }
  /// Adds a dense output tensor, allocated from the heap ring by `submit`; afterwards in `outputs()`.
  TaskSpec &allocate(uint32_t elementBytes, std::initializer_list<int64_t> shape);
  TaskSpec &scalar(uint64_t word);
  TaskSpec &after(TaskId producer) {
    explicitProducers.push_back(producer);
    return *this;
  }
  /// Runs the kernel `count` times, as blocks 0..count-1; the blocks of a gang start together.
  TaskSpec &blocks(uint32_t count, bool gang = false) {
    numBlocks = count;
    isGang = gang;
    return *this;
  }
  /// Each block also occupies `count` vector cores (mixed kernels). Modelled in virtual time only: otherwise one thread
  /// executes all cores of a block.
  TaskSpec &companions(uint32_t count) {
    numCompanions = count;
    return *this;
  }
  /// Sets the predicate: run only if the first element of `flag`, a signed integer, compares with `target` as said.
  /// Adds a dependency on the writer of `flag`.
  TaskSpec &onlyIf(const Tensor &flag, Comparison comparison = Comparison::NotEqual, int64_t target = 0);
  /// Sets the name used in traces and reports instead of the kernel's; must outlive the run.
  TaskSpec &called(const char *name) {
    taskName = name;
    return *this;
  }

  /// Clears arguments, producers and options; keeps kernel, kind and name.
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

  /// The tensors added by `allocate`, in that order; valid after `submit`.
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
  /// One more than a kernel may have: the predicate's flag.
  Argument arguments[kMaxArguments + 1];
};

} // namespace pto_mlir::tasks

#endif
