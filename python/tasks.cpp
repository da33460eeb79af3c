// pto_mlir._tasks: the task runtime as a Python module. Failures raise TaskError.
#include "pto_mlir/TaskRuntime/TaskRuntime.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <deque>

namespace nb = nanobind;
using namespace pto_mlir;
using namespace pto_mlir::tasks;

namespace {

struct TaskError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check(const Status &status) {
  if (!status)
    throw TaskError(status.error());
}

enum ArgumentMode { Scalar = 0, Input = 1, Output = 2, InOut = 3, Allocate = 4 };

/// mode, word (scalar or address), element bytes, shape, strides in elements, owner (a task id or 0).
using Argument = std::tuple<int, uint64_t, uint32_t, std::vector<int64_t>, std::vector<int64_t>, uint64_t>;

/// The uniform ABI of compiled kernels: one pointer to 64-bit words.
using NativeKernel = void (*)(int64_t *);

class Runtime {
public:
  Runtime(const std::vector<uint32_t> &cores, uint32_t window, uint64_t heapBytes, uint32_t schedulers,
          uint32_t workerThreads, bool virtualTime, bool trace, uint32_t hangMs) {
    if (cores.size() != kNumWorkerKinds)
      throw TaskError("cores needs four numbers, one per worker kind");
    Config config;
    std::copy(cores.begin(), cores.end(), config.cores.begin());
    config.window.fill(window);
    config.heapBytes.fill(heapBytes);
    config.schedulers = schedulers;
    config.workerThreads = workerThreads;
    config.mode = virtualTime ? Mode::VirtualTime : Mode::Threads;
    config.trace = trace;
    config.hangMs = hangMs;
    auto made = TaskRuntime::create(config);
    if (!made)
      throw TaskError(made.error());
    runtime = made.take();
  }
  ~Runtime() {
    // Running kernels need the GIL to complete.
    nb::gil_scoped_release unlocked;
    runtime.reset();
  }

  /// `body(payload, block, num_blocks, core)`; an integer result is the cost of the call in virtual time, in ns.
  uint32_t registerKernel(const std::string &name, nb::callable body, uint64_t costNs) {
    bodies.push_back(body);
    nb::callable &kept = bodies.back();
    return add(
        name,
        [this, &kept](KernelCall &call) {
          nb::gil_scoped_acquire locked;
          try {
            nb::object result = kept(payloads[call.args[call.numArgs - 1]], call.block, call.numBlocks, call.core);
            if (nb::isinstance<nb::int_>(result))
              call.costNs = nb::cast<uint64_t>(result);
          } catch (nb::python_error &error) {
            // Format the message, and release the Python objects, while holding the GIL.
            throw std::runtime_error(shortMessage(error));
          }
        },
        costNs);
  }

  uint32_t registerNative(const std::string &name, uint64_t address, uint64_t costNs) {
    auto function = reinterpret_cast<NativeKernel>(uintptr_t(address));
    if (!function)
      throw TaskError("kernel '" + name + "' has no address");
    return add(
        name,
        [function](KernelCall &call) {
          int64_t words[kMaxArguments];
          std::copy(call.args, call.args + call.numArgs - 1, words); // the last argument is the payload's index
          function(words);
        },
        costNs);
  }

  void begin() {
    nb::gil_scoped_release unlocked;
    check(runtime->begin());
  }

  std::tuple<uint64_t, std::vector<uint64_t>> submit(uint32_t kernel, uint32_t kind,
                                                     const std::vector<Argument> &arguments, nb::object payload,
                                                     const std::vector<uint64_t> &after, uint32_t blocks, bool gang,
                                                     const std::string &name) {
    TaskSpec spec(kernel, WorkerKind(uint8_t(std::min<uint32_t>(kind, 255))));
    for (const auto &[mode, word, elementBytes, shape, strides, owner] : arguments) {
      if (mode == Scalar) {
        spec.scalar(word);
        continue;
      }
      if (shape.size() > kMaxRank || shape.size() != strides.size())
        throw TaskError("a tensor has at most " + std::to_string(kMaxRank) + " dimensions and as many strides");
      if (mode == Allocate) {
        int64_t count = 1;
        for (int64_t extent : shape)
          if (extent < 0 || __builtin_mul_overflow(count, extent, &count))
            throw TaskError("an allocated tensor has an extent of " + std::to_string(extent) +
                            ", which is negative or too many elements");
        spec.allocate(elementBytes, {count});
        continue;
      }
      Tensor tensor;
      tensor.address = word;
      tensor.elementBytes = elementBytes;
      tensor.rank = uint32_t(shape.size());
      std::copy(shape.begin(), shape.end(), tensor.shape);
      std::copy(strides.begin(), strides.end(), tensor.strides);
      tensor.owner = TaskId{owner};
      mode == Input ? spec.input(tensor) : mode == Output ? spec.output(tensor) : spec.inout(tensor);
    }
    if (kernel != kNoKernel) {
      spec.scalar(payloads.size());
      payloads.push_back(payload);
    }
    for (uint64_t producer : after)
      spec.after(TaskId{producer});
    spec.blocks(blocks, gang);
    if (!name.empty()) {
      names.push_back(name);
      spec.called(names.back().c_str());
    }
    auto id = [&] {
      nb::gil_scoped_release unlocked;
      return runtime->submit(spec);
    }();
    if (!id)
      throw TaskError(id.error());
    std::vector<uint64_t> addresses;
    for (const Tensor &tensor : spec.outputs())
      addresses.push_back(tensor.address);
    return {id->value, addresses};
  }

  void scopeBegin() { check(runtime->scopeBegin()); }
  void scopeEnd() { check(runtime->scopeEnd()); }
  void wait(uint64_t task) {
    nb::gil_scoped_release unlocked;
    check(runtime->wait(TaskId{task}));
  }
  void finish() {
    Status status;
    {
      nb::gil_scoped_release unlocked;
      status = runtime->finish();
    }
    if (runtime->error().code != ErrorCode::HungKernel) {
      payloads.clear();
      names.clear();
    }
    check(status);
  }

  std::string state(uint64_t task) const { return std::string(taskStateName(runtime->state(TaskId{task}))); }
  int errorCode() const { return int(runtime->error().code); }

  nb::dict statistics() const {
    Statistics counted = runtime->statistics();
    nb::dict dict;
    dict["submitted"] = counted.submitted;
    dict["completed"] = counted.completed;
    dict["failed"] = counted.failed;
    dict["skipped"] = counted.skipped;
    dict["edges"] = counted.edges;
    dict["slot_reuses"] = counted.slotReuses;
    dict["blocked_ns"] = counted.blockedNs;
    return dict;
  }

  nb::list handshake() const {
    nb::list rows;
    for (const HandshakeRecord &row : runtime->handshake()) {
      nb::dict dict;
      dict["core"] = row.core;
      dict["core_type"] = std::string(workerKindName(row.kind));
      dict["aicpu_ready"] = row.aicpuReady;
      dict["aicore_done"] = row.aicoreDone;
      dict["control"] = row.control;
      dict["task_status"] = row.taskStatus;
      dict["tasks"] = row.tasks;
      rows.append(dict);
    }
    return rows;
  }

  std::string report() const { return runtime->trace().report(); }
  void writeTrace(const std::string &path) const { check(runtime->trace().writeJson(path)); }
  uint64_t makespanNs() const { return runtime->trace().summarize().makespan; }

private:
  uint32_t add(const std::string &name, KernelBody body, uint64_t costNs) {
    auto id = runtime->registerKernel(name, std::move(body), costNs);
    if (!id)
      throw TaskError(id.error());
    return *id;
  }

  /// "ValueError: text", without the traceback of the worker thread.
  static std::string shortMessage(nb::python_error &error) {
    nb::str text(error.value());
    nb::str type(error.type().attr("__name__"));
    return std::string(type.c_str()) + ": " + text.c_str();
  }

  std::unique_ptr<TaskRuntime> runtime;
  std::deque<nb::callable> bodies;
  std::deque<nb::object> payloads; ///< of the current run; accessed under the GIL
  std::deque<std::string> names;
};

} // namespace

NB_MODULE(_tasks, m) {
  nb::exception<TaskError> taskError(m, "TaskError", PyExc_RuntimeError);
  m.attr("NO_KERNEL") = kNoKernel;
  nb::class_<Runtime>(m, "Runtime")
      .def(nb::init<const std::vector<uint32_t> &, uint32_t, uint64_t, uint32_t, uint32_t, bool, bool, uint32_t>(),
           nb::arg("cores"), nb::arg("window") = 16384, nb::arg("heap_bytes") = uint64_t(64) << 20,
           nb::arg("schedulers") = 0, nb::arg("worker_threads") = 0, nb::arg("virtual_time") = false,
           nb::arg("trace") = false, nb::arg("hang_ms") = 60000)
      .def("register_kernel", &Runtime::registerKernel, nb::arg("name"), nb::arg("body"), nb::arg("cost_ns") = 1000)
      .def("register_native", &Runtime::registerNative, nb::arg("name"), nb::arg("address"), nb::arg("cost_ns") = 1000)
      .def("begin", &Runtime::begin)
      .def("submit", &Runtime::submit, nb::arg("kernel"), nb::arg("kind"), nb::arg("arguments"),
           nb::arg("payload").none(), nb::arg("after") = std::vector<uint64_t>(), nb::arg("blocks") = 1,
           nb::arg("gang") = false, nb::arg("name") = "")
      .def("scope_begin", &Runtime::scopeBegin)
      .def("scope_end", &Runtime::scopeEnd)
      .def("wait", &Runtime::wait)
      .def("finish", &Runtime::finish)
      .def("state", &Runtime::state)
      .def("error_code", &Runtime::errorCode)
      .def("statistics", &Runtime::statistics)
      .def("handshake", &Runtime::handshake)
      .def("report", &Runtime::report)
      .def("write_trace", &Runtime::writeTrace)
      .def("makespan_ns", &Runtime::makespanNs);
}
