// What the C++ of PyPTO's orchestrators calls, over the task runtime (libpto_tasks.so): the calls of March 2026
// (PTO2Runtime, PTOParam, pto2_rt_submit_task) and today's (ChipTaskArgs, CoreTaskArgs, rt_submit_aiv_task).
//
// A task has a word per argument, in order: addresses of tensors, numbers; then the address of its tensors' `Tensor`s.
// Whoever runs an orchestrator registers the kernels, fills a PTO2Runtime, begins a run, calls
// `aicpu_orchestration_entry` and finishes the run (`pypto.runtime.orchestration` does).
#ifndef PTO_ORCHESTRATION_API_H
#define PTO_ORCHESTRATION_API_H

#include "pto_mlir/TaskRuntime/CApi.h"
#include "tensor.h"

#include <array>
#include <initializer_list>
#include <string.h>
#include <vector>

struct PTO2OrchestrationConfig {
  int expected_arg_count;
};

/// A run of an orchestrator. Plain data, filled by its caller.
struct PTO2Runtime {
  pto_tasks *tasks;
  const uint32_t *kernels; ///< the task runtime's number of each func_id
  uint32_t num_kernels;
  /// Zeros that live until the run has finished; null where there are none left.
  void *(*allocate)(void *user, uint64_t bytes);
  void *user;
  int failed;         ///< a call has failed; the later ones do nothing
  const char *reason; ///< of the first failure, in the orchestrator's own words; null where it has none
};

/// A task, or none.
struct PTO2TaskId {
  pto_task_id value = 0;
  static PTO2TaskId invalid() { return {}; }
  bool is_valid() const { return value != 0; }
};

enum PTO2WorkerType { PTO2_WORKER_CUBE = PTO_WORKER_CUBE, PTO2_WORKER_VECTOR = PTO_WORKER_VECTOR };
enum class PTO2ScopeMode { AUTO, MANUAL };

// Numbers.

template <class T> uint64_t to_u64(T value) {
  static_assert(sizeof(T) <= 8, "a number of a task has at most 64 bits");
  uint64_t word = 0;
  memcpy(&word, &value, sizeof value);
  return word;
}
template <class T> T from_u64(uint64_t word) {
  T value;
  memcpy(&value, &word, sizeof value);
  return value;
}
/// Division and remainder of integers rounded toward minus infinity, as PyPTO's `//` and `%`.
inline int64_t floor_div(int64_t a, int64_t b) { return a / b - ((a % b != 0) && ((a % b < 0) != (b < 0))); }
inline int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }
template <class A, class B> auto min_of(A a, B b) -> decltype(a + b) { return b < a ? b : a; }
template <class A, class B> auto max_of(A a, B b) -> decltype(a + b) { return a < b ? b : a; }

namespace pto_orchestration {

struct Argument {
  uint32_t kind = PTO_ARG_SCALAR; ///< PTO_ARG_..
  bool tracked = true;            ///< whether dependencies follow from the tensor
  Tensor tensor = {};
  uint64_t word = 0;
};

/// What a launch says beside its arguments.
struct Launch {
  const pto_task_id *after = nullptr;
  size_t numAfter = 0;
  uint32_t blocks = 1;
  pto_task_predicate predicate = {};
};

/// In the place of a kernel: a task without work.
constexpr int32_t kNoKernel = -2;

inline PTO2TaskId submit(PTO2Runtime *rt, int32_t id, uint32_t worker, const Argument *arguments, size_t count,
                         const Launch &launch) {
  if (rt->failed || (id != kNoKernel && (id < 0 || uint32_t(id) >= rt->num_kernels)) || count > 47) {
    rt->failed = 1;
    return {};
  }
  auto *tensors = static_cast<Tensor *>(rt->allocate(rt->user, (count ? count : 1) * sizeof(Tensor)));
  if (!tensors) {
    rt->failed = 1;
    return {};
  }
  pto_task_arg words[48] = {};
  for (size_t i = 0; i < count; ++i) {
    const Argument &argument = arguments[i];
    tensors[i] = argument.tensor;
    bool isTensor = argument.kind != PTO_ARG_SCALAR;
    words[i].kind = argument.tracked ? argument.kind : uint32_t(PTO_ARG_SCALAR);
    words[i].word = isTensor ? argument.tensor.buffer.addr : argument.word;
    words[i].bytes = isTensor ? argument.tensor.buffer.size : 0;
  }
  words[count].word = reinterpret_cast<uintptr_t>(tensors);
  pto_task_spec spec = {};
  spec.kernel = id == kNoKernel ? PTO_NO_KERNEL : rt->kernels[id];
  spec.worker_kind = worker;
  spec.blocks = launch.blocks;
  spec.args = words;
  spec.num_args = id == kNoKernel ? 0 : count + 1;
  spec.after = launch.after;
  spec.num_after = launch.numAfter;
  spec.predicate = launch.predicate;
  PTO2TaskId task;
  if (pto_tasks_submit(rt->tasks, &spec, &task.value) != 0)
    rt->failed = 1;
  return task;
}

/// The run that calls without a runtime belong to: that of the scope, or of the entry's arguments.
inline PTO2Runtime *&current() {
  static thread_local PTO2Runtime *runtime = nullptr;
  return runtime;
}

/// Ends the run, with the reason, where an extent or a view is not what the program needs.
inline void expect(bool holds, const char *reason) {
  PTO2Runtime *rt = current();
  if (holds || !rt || rt->failed)
    return;
  rt->failed = 1;
  rt->reason = reason;
}

inline Tensor create(PTO2Runtime *rt, Tensor tensor) {
  constexpr uint64_t most = uint64_t(1) << 40;
  uint64_t room = most / tensor.elementBytes();
  for (uint32_t axis = 0; axis < tensor.ndims; ++axis) {
    expect(tensor.shapes[axis] >= 1 && tensor.shapes[axis] <= room,
           "a tensor is made that is empty or has more than 1 TiB");
    room /= tensor.shapes[axis] ? tensor.shapes[axis] : 1;
  }
  void *memory = rt->failed ? nullptr : rt->allocate(rt->user, tensor.buffer.size);
  rt->failed = rt->failed || !memory;
  tensor.buffer.addr = reinterpret_cast<uintptr_t>(memory);
  return tensor;
}

/// The element of a tensor, when the tasks that write it have ended; 0 where one has failed.
template <class T> T read(PTO2Runtime *rt, const Tensor &tensor, std::initializer_list<int64_t> indices) {
  uint64_t address = tensor.buffer.addr + tensor.start_offset * sizeof(T);
  uint32_t axis = 0;
  for (int64_t index : indices) {
    if (axis >= tensor.ndims || index < 0 || uint64_t(index) >= tensor.shapes[axis])
      rt->failed = 1;
    address += uint64_t(index) * tensor.strides[axis++] * sizeof(T);
  }
  if (rt->failed || pto_tasks_wait_to_read(rt->tasks, address, sizeof(T)) != 0) {
    rt->failed = 1;
    return T();
  }
  T value;
  memcpy(&value, reinterpret_cast<const void *>(uintptr_t(address)), sizeof value);
  return value;
}

/// Opens a scope for its own lifetime.
struct ScopeGuard {
  explicit ScopeGuard(PTO2Runtime *rt) : rt(rt) { rt->failed = pto_tasks_scope_begin(rt->tasks) != 0 || rt->failed; }
  ScopeGuard(const ScopeGuard &) = delete;
  ~ScopeGuard() { rt->failed = pto_tasks_scope_end(rt->tasks) != 0 || rt->failed; }
  PTO2Runtime *rt;
};

// PTO2_SCOPE(rt) and PTO2_SCOPE() and PTO2_SCOPE(mode).
inline ScopeGuard scope(PTO2Runtime *rt) { return ScopeGuard(current() = rt); }
inline ScopeGuard scope(PTO2ScopeMode = PTO2ScopeMode::AUTO) { return ScopeGuard(current()); }

} // namespace pto_orchestration

#define PTO2_SCOPE(...) if (auto pto2_scope_guard = pto_orchestration::scope(__VA_ARGS__); true)

// March 2026.

using PTOParam = pto_orchestration::Argument;

template <class Extent>
Tensor make_tensor_external(void *address, const Extent *shapes, uint32_t ndims, DataType dtype) {
  return Tensor::at(reinterpret_cast<uintptr_t>(address), shapes, ndims, dtype);
}
inline PTOParam make_input_param(const Tensor &tensor) { return {PTO_ARG_INPUT, true, tensor}; }
inline PTOParam make_output_param(const Tensor &tensor) { return {PTO_ARG_OUTPUT, true, tensor}; }
inline PTOParam make_inout_param(const Tensor &tensor) { return {PTO_ARG_INOUT, true, tensor}; }
inline PTOParam make_scalar_param(uint64_t word) { return {PTO_ARG_SCALAR, true, {}, word}; }

inline void pto2_rt_submit_task(PTO2Runtime *rt, int32_t func_id, PTO2WorkerType worker, const PTOParam *params,
                                int32_t count) {
  (void)pto_orchestration::submit(rt, func_id, worker, params, size_t(count), {});
}
/// Memory of the run, in a scope.
template <class Extent> Tensor make_tensor(const Extent *shapes, uint32_t ndims, DataType dtype) {
  return pto_orchestration::create(pto_orchestration::current(), Tensor::at(0, shapes, ndims, dtype));
}
template <class T> T pto2_rt_read(PTO2Runtime *rt, const Tensor &tensor, std::initializer_list<int64_t> indices) {
  return pto_orchestration::read<T>(rt, tensor, indices);
}

// Today.

/// An argument of the chip: a tensor by reference.
class ChipTensorRef {
public:
  explicit ChipTensorRef(const Tensor &tensor) : tensor(&tensor) {}
  const Tensor &ref() const { return *tensor; }

private:
  const Tensor *tensor;
};

/// The arguments of an orchestrator: tensors, then numbers, each kind by itself. Plain data, filled by its caller.
struct ChipTaskArgs {
  const Tensor *tensors;
  const uint64_t *scalars;
  PTO2Runtime *runtime;

  /// Argument `index` among the tensors; also tells today's calls which run they belong to.
  ChipTensorRef tensor(uint32_t index) const {
    pto_orchestration::current() = runtime;
    return ChipTensorRef(tensors[index]);
  }
  uint64_t scalar(uint32_t index) const { return scalars[index]; }
};

struct TensorCreateInfo {
  Tensor tensor;
  template <class Extent>
  TensorCreateInfo(const Extent *shapes, uint32_t ndims, DataType dtype)
      : tensor(Tensor::at(0, shapes, ndims, dtype)) {}
};

/// Tensors that a call makes, and the task that makes them.
class TaskOutputTensors {
public:
  TaskOutputTensors(std::vector<Tensor> tensors, PTO2TaskId task) : tensors(std::move(tensors)), task(task) {}
  const Tensor &get_ref(size_t index) const { return tensors[index]; }
  PTO2TaskId task_id() const { return task; }

private:
  std::vector<Tensor> tensors;
  PTO2TaskId task;
};

template <class... Infos> TaskOutputTensors alloc_tensors(const Infos &...infos) {
  return {{pto_orchestration::create(pto_orchestration::current(), infos.tensor)...}, {}};
}

enum class PredicateOp : uint32_t {
  NE = PTO_IS_NOT,
  EQ = PTO_IS,
  GT = PTO_IS_ABOVE,
  LT = PTO_IS_BELOW,
  GE = PTO_IS_AT_LEAST,
  LE = PTO_IS_AT_MOST
};

/// An element of a tensor of signed integers, and what it is compared with.
struct CoreTaskPredicate {
  struct {
    const Tensor *tensor = nullptr;
    uint32_t ndims = 0;
    uint32_t indices[Tensor::kMostAxes] = {};
  } operand;
  PredicateOp op = PredicateOp::NE;
  int64_t target = 0;
};

class CoreTaskArgs {
public:
  void add_input(const Tensor &tensor) { arguments.push_back({PTO_ARG_INPUT, true, tensor}); }
  void add_output(const Tensor &tensor) { arguments.push_back({PTO_ARG_OUTPUT, true, tensor}); }
  void add_inout(const Tensor &tensor) { arguments.push_back({PTO_ARG_INOUT, true, tensor}); }
  void add_no_dep(const Tensor &tensor) { arguments.push_back({PTO_ARG_INPUT, false, tensor}); }
  void add_scalar(uint64_t word) { arguments.push_back({PTO_ARG_SCALAR, true, {}, word}); }
  /// Tasks that must have ended before this one begins; numbers of no task are left out.
  void set_dependencies(const PTO2TaskId *tasks, size_t count) {
    for (size_t i = 0; i < count; ++i)
      if (tasks[i].is_valid())
        after.push_back(tasks[i].value);
  }
  /// The task runs if the element compares with the target as said when it is due to start.
  void set_predicate(const CoreTaskPredicate &condition) {
    const Tensor &tensor = *condition.operand.tensor;
    uint64_t index = tensor.start_offset;
    for (uint32_t axis = 0; axis < condition.operand.ndims; ++axis) {
      bool isInside = axis < tensor.ndims && condition.operand.indices[axis] < tensor.shapes[axis];
      pto_orchestration::expect(isInside, "a predicate reads outside of its tensor");
      index += isInside ? condition.operand.indices[axis] * tensor.strides[axis] : 0;
    }
    uint64_t bytes = tensor.elementBytes();
    predicate = {tensor.buffer.addr + index * bytes, uint32_t(bytes), uint32_t(condition.op), condition.target};
  }
  /// How many blocks run the kernel. All begin at once or not: the kernels of a run do not wait for each other's
  /// blocks.
  struct LaunchSpec {
    void set_block_num(uint32_t count) { blocks = count; }
    void set_core_num(uint32_t count) { blocks = count; } // on a5
    void set_require_sync_start(bool) {}
    uint32_t blocks = 1;
  } launch_spec;

  std::vector<pto_orchestration::Argument> arguments;
  std::vector<pto_task_id> after;
  pto_task_predicate predicate = {};
};

inline TaskOutputTensors rt_submit(int32_t func_id, uint32_t worker, const CoreTaskArgs &args) {
  const pto_orchestration::Launch launch{args.after.data(), args.after.size(), args.launch_spec.blocks, args.predicate};
  PTO2TaskId task = pto_orchestration::submit(pto_orchestration::current(), func_id, worker, args.arguments.data(),
                                              args.arguments.size(), launch);
  return {{}, task};
}
inline TaskOutputTensors rt_submit_aic_task(int32_t id, const CoreTaskArgs &a) {
  return rt_submit(id, PTO_WORKER_CUBE, a);
}
inline TaskOutputTensors rt_submit_aiv_task(int32_t id, const CoreTaskArgs &a) {
  return rt_submit(id, PTO_WORKER_VECTOR, a);
}

/// The kernels of a task of both kinds of core, or of both vector cores.
struct MixedKernels {
  int32_t aic, aiv0, aiv1;
};
constexpr int32_t INVALID_KERNEL_ID = -1;

/// One task of all its kernels. What is registered for the first one runs the others too: they wait for each other.
inline TaskOutputTensors rt_submit_task(const MixedKernels &kernels, const CoreTaskArgs &args) {
  bool hasCube = kernels.aic != INVALID_KERNEL_ID;
  return rt_submit(hasCube ? kernels.aic : kernels.aiv0, hasCube ? PTO_WORKER_CUBE : PTO_WORKER_VECTOR, args);
}

/// A task without work, which ends behind those that it depends on.
inline TaskOutputTensors rt_submit_dummy_task(const CoreTaskArgs &args) {
  return rt_submit(pto_orchestration::kNoKernel, PTO_WORKER_VECTOR, args);
}

template <class T> T get_tensor_data(const Tensor &tensor, std::initializer_list<int64_t> indices) {
  return pto_orchestration::read<T>(pto_orchestration::current(), tensor, indices);
}

#endif // PTO_ORCHESTRATION_API_H
