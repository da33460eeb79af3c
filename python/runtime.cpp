// pto_mlir._runtime: sessions for Python. pto_mlir/runtime.py wraps it in an interface like onnxruntime's.
#include "Arrays.h"
#include "pto_mlir/Runtime/RunKernel.h"
#include "pto_mlir/Runtime/Session.h"
#include "pto_mlir/Support/PackedBits.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

namespace nb = nanobind;
using namespace pto_mlir;

namespace {

/// Invalid arguments: names, types, shapes.
struct InvalidArgument : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Any other failure: the file, the device, a kernel fault.
struct RuntimeFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using python::Array;

/// The element type of an input. Integers stand in for types that numpy lacks, as in results.
ElementType elementType(const std::string &name, const Array &array, const std::vector<pmodel::TensorDesc> &inputs) {
  for (const pmodel::TensorDesc &input : inputs)
    if (input.name == name && !python::isOfNumpy(input.type) && array.dtype() == python::dtypeOf(input.type))
      return input.type;
  if (auto type = python::elementTypeOf(array))
    return *type;
  throw InvalidArgument("input '" + name + "': this array type is not supported");
}

/// Strings of an input: its name, shape and elements.
using Texts = std::vector<std::tuple<std::string, std::vector<uint64_t>, std::vector<nb::bytes>>>;

/// The result as an array that owns its data; of strings, the shape and the bytes of each, because numpy's arrays of
/// objects are made by pto_mlir/runtime.py.
nb::object toArray(runtime::HostTensor &tensor) {
  if (tensor.type == ElementType::String) {
    nb::list texts;
    for (const std::string &text : tensor.strings)
      texts.append(nb::bytes(text.data(), text.size()));
    return nb::make_tuple(nb::cast(tensor.shape), texts);
  }
  std::vector<size_t> shape(tensor.shape.begin(), tensor.shape.end());
  if (isPacked(tensor.type)) {
    uint64_t count = *numElements(tensor.shape);
    std::vector<std::byte> bytes =
        unpackBits(tensor.data.get(), elementBits(tensor.type), python::isSigned(tensor.type), count);
    tensor.data.reset(new std::byte[count]);
    std::copy(bytes.begin(), bytes.end(), tensor.data.get());
  }
  std::byte *data = tensor.data.release();
  nb::capsule owner(data, [](void *pointer) noexcept { delete[] static_cast<std::byte *>(pointer); });
  return nb::ndarray<nb::numpy>(data, shape.size(), shape.data(), owner, nullptr, python::dtypeOf(tensor.type)).cast();
}

nb::dict counts(const pto_profile &profile) {
  nb::dict dict;
  dict["launches"] = profile.launches;
  dict["instructions"] = profile.instructions;
  dict["gm_bytes_read"] = profile.gm_bytes_read;
  dict["gm_bytes_written"] = profile.gm_bytes_written;
  dict["host_seconds"] = profile.host_seconds;
  if (profile.cycles > 0) { // timing mode
    dict["cycles"] = profile.cycles;
    dict["seconds"] = profile.seconds;
    nb::dict busy, stalled;
    for (unsigned e = 0; e < PTO_NUM_ENGINES; ++e) {
      busy[runtime::kEngineNames[e]] = profile.engine_busy[e];
      stalled[runtime::kEngineNames[e]] = profile.engine_stalled[e];
    }
    dict["busy"] = busy;
    dict["stalled"] = stalled;
  }
  return dict;
}

/// One kernel of a file, loaded.
class Kernel {
public:
  Kernel(const std::string &path, const std::string &name, const std::string &device, const std::string &mode,
         uint32_t threads) {
    runtime::DeviceOptions options;
    options.device = device;
    options.mode = mode;
    options.threads = threads;
    nb::gil_scoped_release release;
    auto opened = runtime::KernelSession::open(path, name, options);
    if (!opened)
      throw RuntimeFailure(opened.error());
    session = opened.take();
  }

  std::string name() const { return session->kernel().name; }
  /// For each pointer argument, whether the kernel writes through it.
  std::vector<bool> writes() const {
    std::vector<bool> result;
    result.reserve(session->kernel().numArgs);
    for (size_t i = 0; i < session->kernel().numArgs; ++i)
      result.push_back(session->isWritten(i));
    return result;
  }

  /// `memory`: address and size in bytes of each buffer, kept alive by the caller.
  void run(const std::vector<std::pair<uintptr_t, uint64_t>> &memory, const std::vector<int64_t> &scalars,
           uint32_t blocks) {
    std::vector<runtime::KernelMemory> arguments;
    arguments.reserve(memory.size());
    for (auto [address, bytes] : memory)
      arguments.push_back({reinterpret_cast<void *>(address), bytes});
    nb::gil_scoped_release release;
    if (Status status = session->run(arguments, scalars, blocks); !status)
      throw RuntimeFailure(status.error());
  }

  nb::dict profile() {
    auto profile = session->profile();
    if (!profile)
      throw RuntimeFailure(profile.error());
    return counts(*profile);
  }

private:
  std::unique_ptr<runtime::KernelSession> session;
};

/// Elements of 2 or 4 bits, packed; fails on values that their type does not hold.
std::vector<std::byte> packed(const std::string &name, ElementType type, const Array &array) {
  auto *bytes = static_cast<const uint8_t *>(array.data());
  unsigned width = elementBits(type);
  std::vector<uint8_t> whole(bytes, bytes + array.size());
  std::vector<std::byte> result(ceilDiv(whole.size() * width, 8));
  packBits(whole.data(), width, whole.size(), result.data());
  std::vector<std::byte> held = unpackBits(result.data(), width, python::isSigned(type), whole.size());
  for (size_t i = 0; i < whole.size(); ++i)
    if (whole[i] != static_cast<uint8_t>(held[i])) {
      int value = python::isSigned(type) ? static_cast<int8_t>(whole[i]) : whole[i];
      throw InvalidArgument("input '" + name + "': element " + std::to_string(i) + " is " + std::to_string(value) +
                            ", which " + std::string(elementTypeName(type)) + " does not hold");
    }
  return result;
}

/// Feeds as the runtime takes them; `inputs` are the tensors that the net or the state has, `owned` keeps what had to
/// be copied.
std::vector<runtime::InputTensor> toTensors(const std::vector<std::pair<std::string, Array>> &feed,
                                            const std::vector<pmodel::TensorDesc> &inputs,
                                            std::vector<std::vector<std::byte>> &owned) {
  std::vector<runtime::InputTensor> tensors;
  for (const auto &[name, array] : feed) {
    runtime::InputTensor tensor;
    tensor.name = name;
    tensor.type = elementType(name, array, inputs);
    for (size_t i = 0; i < array.ndim(); ++i)
      tensor.shape.push_back(array.shape(i));
    tensor.data = array.data();
    if (isPacked(tensor.type)) {
      owned.push_back(packed(name, tensor.type, array));
      tensor.data = owned.back().data();
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

nb::list toList(std::vector<runtime::HostTensor> &tensors) {
  nb::list list;
  for (runtime::HostTensor &tensor : tensors) {
    std::string name = tensor.name;
    list.append(nb::make_tuple(name, toArray(tensor)));
  }
  return list;
}

/// What a net remembers from run to run.
class State {
public:
  explicit State(std::shared_ptr<runtime::ModelState> state) : state(std::move(state)) {}

  uint64_t position() const { return state->position(); }
  void truncate(uint64_t position) { check<InvalidArgument>(state->truncate(position)); }
  void reset() { check<RuntimeFailure>(state->reset()); }
  void save(const std::string &path) const { check<RuntimeFailure>(state->save(path)); }
  void load(const std::string &path) { check<RuntimeFailure>(state->load(path)); }
  State fork() const {
    auto copy = state->fork();
    if (!copy)
      throw RuntimeFailure(copy.error());
    return State(copy.take());
  }
  nb::list tensors() const {
    auto tensors = state->tensors();
    if (!tensors)
      throw RuntimeFailure(tensors.error());
    return toList(*tensors);
  }
  void assign(const std::vector<std::pair<std::string, Array>> &feed, uint64_t position) {
    std::vector<pmodel::TensorDesc> descs;
    for (const pmodel::StateTensorDesc &tensor : state->group().tensors) {
      descs.emplace_back();
      descs.back().name = tensor.name;
      descs.back().type = tensor.type;
    }
    std::vector<std::vector<std::byte>> owned;
    check<InvalidArgument>(state->assign(toTensors(feed, descs, owned), position));
  }
  /// Name, name of the new value, type, shape and axis of positions of each tensor.
  nb::list info() const {
    nb::list list;
    for (const pmodel::StateTensorDesc &tensor : state->group().tensors)
      list.append(nb::make_tuple(tensor.name, tensor.output, std::string(elementTypeName(tensor.type)), tensor.shape,
                                 tensor.sequenceAxis));
    return list;
  }
  runtime::ModelState *get() const { return state.get(); }

private:
  template <class Error> static void check(const Status &status) {
    if (!status)
      throw Error(status.error());
  }
  std::shared_ptr<runtime::ModelState> state;
};

/// An object that is copied without the interpreter's lock.
std::shared_ptr<nb::object> sharedObject(nb::object object) {
  return {new nb::object(std::move(object)), [](nb::object *held) {
            nb::gil_scoped_acquire acquire;
            delete held;
          }};
}

/// A net that is ready to run.
class Session {
public:
  Session(const std::string &path, const std::string &device, const std::string &mode, uint32_t threads,
          const std::string &net, bool inOrder, bool trace, uint32_t blocks) {
    runtime::SessionOptions options;
    options.device.device = device;
    options.device.mode = mode;
    options.device.threads = threads;
    options.net = net;
    options.schedule = inOrder ? runtime::Schedule::InOrder : runtime::Schedule::Tasks;
    options.trace = trace;
    options.virtualBlocks = blocks;
    nb::gil_scoped_release release;
    auto opened = runtime::Session::open(path, options);
    if (!opened)
      throw RuntimeFailure(opened.error());
    session = opened.take();
  }

  using TensorInfo = std::tuple<std::string, std::vector<uint64_t>, std::string>;
  std::vector<TensorInfo> inputs() const { return infos(session->inputs()); }
  std::vector<TensorInfo> outputs() const { return infos(session->outputs()); }

  nb::list run(const std::vector<std::string> &names, const std::vector<std::pair<std::string, Array>> &feed,
               const Texts &texts, bool debug, const State *state) {
    std::vector<std::vector<std::byte>> owned;
    std::vector<runtime::InputTensor> tensors = toTensors(feed, session->inputs(), owned);
    std::vector<std::vector<std::string_view>> views(texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto &[name, shape, elements] = texts[i];
      for (const nb::bytes &text : elements)
        views[i].emplace_back(text.c_str(), text.size());
      if (numElements(shape) != views[i].size())
        throw InvalidArgument("input '" + name + "': has another number of strings than its shape");
      tensors.push_back({name, ElementType::String, shape, views[i].data()});
    }
    runtime::ModelState *memory = state ? state->get() : nullptr;
    for (const Status &status : {session->checkInputs(tensors), session->checkOutputs(names)})
      if (!status)
        throw InvalidArgument(status.error());
    auto results = [&] {
      nb::gil_scoped_release release;
      return debug ? session->runWithDebug(tensors, memory) : session->run(tensors, names, memory);
    }();
    if (!results)
      throw RuntimeFailure(results.error());
    return toList(*results);
  }

  /// `memory`: name, address, size in bytes and shape of every input and output, kept alive by the caller.
  void runInPlace(const std::vector<std::tuple<std::string, uintptr_t, uint64_t, std::vector<uint64_t>>> &memory) {
    std::vector<runtime::NamedMemory> parts;
    parts.reserve(memory.size());
    for (const auto &[name, address, bytes, shape] : memory)
      parts.push_back({name, reinterpret_cast<void *>(address), bytes, shape});
    Status status;
    {
      nb::gil_scoped_release release;
      status = session->runInPlace(parts);
    }
    if (std::exception_ptr error = std::exchange(raised, nullptr))
      std::rethrow_exception(error);
    if (!status)
      throw RuntimeFailure(status.error());
  }

  bool hasState() const { return session->hasState(); }
  State newState() const {
    auto state = session->newState();
    if (!state)
      throw InvalidArgument(state.error());
    return State(state.take());
  }

  nb::dict profile(bool reset) {
    auto profile = session->profile(reset);
    if (!profile)
      throw RuntimeFailure(profile.error());
    return counts(*profile);
  }

  nb::list profileKernels(bool reset) {
    auto profiles = session->profileKernels(reset);
    if (!profiles)
      throw RuntimeFailure(profiles.error());
    nb::list list;
    for (const runtime::KernelProfile &profile : *profiles) {
      nb::dict dict = counts(profile.counts);
      dict["name"] = profile.name;
      nb::list tensors;
      for (const std::string &tensor : profile.tensors)
        tensors.append(tensor);
      dict["tensors"] = tensors;
      list.append(dict);
    }
    return list;
  }

  void keepWindows(bool keeps) { session->keepWindows(keeps); }

  /// Calls `seen(launch, ended, [bytes of each pointer])`; an exception of it is raised when the run has ended.
  void watchLaunches(const nb::object &seen) {
    runtime::LaunchWatch watch;
    if (!seen.is_none())
      watch = [this, called = sharedObject(seen)](size_t launch, bool ended, const runtime::LaunchMemory &memory) {
        nb::gil_scoped_acquire acquire;
        if (raised)
          return;
        try {
          nb::list parts;
          for (const std::vector<std::byte> &part : memory)
            parts.append(nb::bytes(reinterpret_cast<const char *>(part.data()), part.size()));
          (*called)(launch, ended, parts);
        } catch (...) {
          raised = std::current_exception();
        }
      };
    nb::gil_scoped_release release; // a run that holds the session calls Python
    session->watchLaunches(std::move(watch));
  }

  void writeTrace(const std::string &path) const {
    if (Status status = session->writeTrace(path); !status)
      throw RuntimeFailure(status.error());
  }

  std::string traceReport() const {
    auto report = session->traceReport();
    if (!report)
      throw RuntimeFailure(report.error());
    return report.take();
  }

  /// Facts about the net, for reports; the lists are of all nets that a host program may run.
  nb::dict info() const {
    const pmodel::NetDesc &net = session->net();
    nb::dict dict;
    dict["net"] = net.name;
    dict["quantize"] = net.quantize;
    dict["preprocess"] = net.preprocess;
    dict["processor"] = session->file().model().processor;
    dict["producer"] = session->file().model().producer;
    dict["device"] = session->deviceName();
    dict["traced"] = session->traced();
    nb::list absorbed, hostOps, kept;
    auto add = [&](const pmodel::VariantDesc &variant) {
      for (const std::string &name : variant.absorbed)
        absorbed.append(name);
      for (const std::string &text : variant.hostOps)
        hostOps.append(text);
      for (const pmodel::DebugTensorDesc &tensor : variant.debugTensors)
        kept.append(tensor.name);
    };
    if (session->file().model().programs.empty())
      add(net.variants.front());
    else
      for (const pmodel::NetDesc &each : session->file().model().nets)
        add(each.variants.front());
    dict["absorbed"] = absorbed;
    dict["host_ops"] = hostOps;
    dict["debug_tensors"] = kept;
    return dict;
  }

private:
  static std::vector<TensorInfo> infos(const std::vector<pmodel::TensorDesc> &tensors) {
    std::vector<TensorInfo> result;
    for (const pmodel::TensorDesc &tensor : tensors) {
      std::vector<uint64_t> shape = tensor.shape;
      for (size_t i = 0; i < tensor.sizes.size(); ++i)
        if (!tensor.sizes[i].isConstant())
          shape[i] = 0; // known at run time
      result.emplace_back(tensor.name, shape, std::string(elementTypeName(tensor.type)));
    }
    return result;
  }

  std::unique_ptr<runtime::Session> session;
  std::exception_ptr raised; // by the one that watches launches
};

} // namespace

NB_MODULE(_runtime, m) {
  nb::exception<InvalidArgument> invalidArgument(m, "InvalidArgument", PyExc_ValueError);
  nb::exception<RuntimeFailure> runtimeFailure(m, "RuntimeFailure", PyExc_RuntimeError);
  nb::class_<Kernel>(m, "Kernel")
      .def(nb::init<const std::string &, const std::string &, const std::string &, const std::string &, uint32_t>())
      .def("name", &Kernel::name)
      .def("writes", &Kernel::writes)
      .def("run", &Kernel::run)
      .def("profile", &Kernel::profile);
  nb::class_<State>(m, "State")
      .def("position", &State::position)
      .def("truncate", &State::truncate)
      .def("reset", &State::reset)
      .def("save", &State::save)
      .def("load", &State::load)
      .def("fork", &State::fork)
      .def("tensors", &State::tensors)
      .def("assign", &State::assign)
      .def("info", &State::info);
  nb::class_<Session>(m, "Session")
      .def(nb::init<const std::string &, const std::string &, const std::string &, uint32_t, const std::string &, bool,
                    bool, uint32_t>())
      .def("inputs", &Session::inputs)
      .def("outputs", &Session::outputs)
      .def("run", &Session::run, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none())
      .def("run_in_place", &Session::runInPlace)
      .def("has_state", &Session::hasState)
      .def("new_state", &Session::newState)
      .def("profile", &Session::profile)
      .def("profile_kernels", &Session::profileKernels)
      .def("keep_windows", &Session::keepWindows)
      .def("watch_launches", &Session::watchLaunches, nb::arg().none())
      .def("write_trace", &Session::writeTrace)
      .def("trace_report", &Session::traceReport)
      .def("info", &Session::info);
}
