// pto_mlir._vm: VM programs for Python. pto_mlir/vm is the public interface.
#include "Arrays.h"
#include "pto_mlir/ByteCode/Machine.h"
#include "pto_mlir/ByteCode/Operands.h"
#include "pto_mlir/ByteCode/Serialize.h"
#include "pto_mlir/ByteCode/Text.h"
#include "pto_mlir/Runtime/QueuedProvider.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

namespace nb = nanobind;
using namespace pto_mlir;
using namespace pto_mlir::bytecode;

namespace {

/// An invalid program, or a failed run.
struct VMFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class T> T check(Result<T> result) {
  if (!result)
    throw VMFailure(result.error());
  return result.take();
}

/// A numpy array that shares the tensor's data and keeps it alive.
nb::object toArray(const TensorPtr &tensor) {
  std::vector<size_t> shape(tensor->shape.begin(), tensor->shape.end());
  auto *keeper = new TensorPtr(tensor);
  nb::capsule owner(keeper, [](void *pointer) noexcept { delete static_cast<TensorPtr *>(pointer); });
  return nb::ndarray<nb::numpy>(tensor->data.get(), shape.size(), shape.data(), owner, nullptr,
                                python::dtypeOf(tensor->element))
      .cast();
}

/// A tensor that shares an array's data and keeps it alive; numpy copies an array that is not row-major first.
TensorPtr toTensor(nb::handle object, const Type &type) {
  nb::module_ numpy = nb::module_::import_("numpy");
  nb::object dense = numpy.attr("ascontiguousarray")(object);
  // ascontiguousarray turns a scalar into a vector; restore the shape.
  dense = dense.attr("reshape")(numpy.attr("shape")(object));
  auto array = nb::cast<python::Array>(dense);
  auto tensor = std::make_shared<Tensor>();
  auto element = python::elementTypeOf(array);
  if (!element)
    throw VMFailure("this array type is not supported");
  // Types that numpy lacks are passed as unsigned integers of the same size.
  bool isCarrier = python::dtypeOf(type.element) == array.dtype();
  tensor->element = type.isTensor && isCarrier ? type.element : *element;
  for (size_t i = 0; i < array.ndim(); ++i)
    tensor->shape.push_back(array.shape(i));
  tensor->bytes = array.nbytes();
  auto *keeper = new nb::object(dense);
  tensor->data =
      std::shared_ptr<std::byte[]>(static_cast<std::byte *>(const_cast<void *>(array.data())), [keeper](std::byte *) {
        nb::gil_scoped_acquire gil;
        delete keeper;
      });
  return tensor;
}

nb::object toPython(const Value &value, const Type &type) {
  if (type.isTensor)
    return toArray(value.tensor);
  if (type.kind() == Kind::Float)
    return nb::float_(value.asDouble());
  if (type.width() == 1)
    return nb::bool_(value.bits != 0);
  return nb::int_(value.bits);
}

Value fromPython(nb::handle object, const Type &type) {
  if (type.isTensor)
    return Value::of(toTensor(object, type));
  if (type.kind() == Kind::Float) {
    double number = nb::cast<double>(nb::float_(object));
    return Value::number(type.width() == 32 ? double(float(number)) : number);
  }
  return Value::integer(nb::cast<int64_t>(nb::int_(object)));
}

nb::object attributeObject(const AttributeValue &value) {
  auto number = [](const Number &plain) { return std::visit([](auto x) { return nb::cast(x); }, plain); };
  if (auto *text = std::get_if<std::string>(&value))
    return nb::cast(*text);
  if (auto *list = std::get_if<std::vector<Number>>(&value)) {
    nb::list result;
    for (const Number &item : *list)
      result.append(number(item));
    return result;
  }
  return std::holds_alternative<int64_t>(value) ? nb::cast(std::get<int64_t>(value))
                                                : nb::cast(std::get<double>(value));
}

/// (callee, operand types, result types, attributes)
nb::tuple keyObject(const KernelKey &key) {
  auto texts = [](const std::vector<Type> &types) {
    nb::list list;
    for (const Type &type : types)
      list.append(typeText(type));
    return list;
  };
  nb::dict attributes;
  for (const auto &[name, value] : key.attributes)
    attributes[name.c_str()] = attributeObject(value);
  return nb::make_tuple(key.callee, texts(key.operands), texts(key.results), attributes);
}

/// Turns a Python exception into a failure of the instruction.
template <class Use> auto guarded(Use use) -> decltype(use()) {
  try {
    return use();
  } catch (nb::python_error &error) {
    return Failure{error.what()};
  } catch (const std::exception &error) {
    return Failure{error.what()};
  }
}

class PythonKernel : public Kernel {
public:
  PythonKernel(KernelKey key, nb::object function) : key(std::move(key)), function(std::move(function)) {}
  // Thread-safe: acquires the GIL.
  Status run(std::span<const Value> operands, std::span<Value> results) override {
    nb::gil_scoped_acquire gil;
    return guarded([&]() -> Status {
      nb::list arguments;
      for (size_t i = 0; i < operands.size(); ++i)
        arguments.append(toPython(operands[i], key.operands[i]));
      nb::object answer = function(*arguments);
      if (results.empty())
        return {};
      if (results.size() == 1) {
        results[0] = fromPython(answer, key.results[0]);
        return {};
      }
      if (nb::len(answer) != results.size())
        return Failure{"returned " + std::to_string(nb::len(answer)) + " results, expects " +
                       std::to_string(results.size())};
      for (size_t i = 0; i < results.size(); ++i)
        results[i] = fromPython(nb::object(answer[i]), key.results[i]);
      return {};
    });
  }

private:
  KernelKey key;
  nb::object function;
};

/// Resolves kernels by Python first, then among the host kernels.
class PythonProvider : public HostProvider {
public:
  PythonProvider(nb::object resolver, nb::dict externals, std::function<void(const std::string &)> print)
      : HostProvider(std::move(print)), resolver(std::move(resolver)), externals(std::move(externals)) {}

  Result<std::shared_ptr<Kernel>> resolve(const KernelKey &key, const std::string &name) override {
    return guarded([&]() -> Result<std::shared_ptr<Kernel>> {
      nb::object function = resolver(name, keyObject(key));
      if (!function.is_none())
        return std::shared_ptr<Kernel>(std::make_shared<PythonKernel>(key, function));
      if (key.place() == "host")
        return HostProvider::resolve(key, name);
      return Failure{"no kernel " + name + " is known, and none can be built from its name"};
    });
  }

  Result<TensorPtr> external(const std::string &name, const Type &type) override {
    if (!externals.contains(name.c_str()))
      return KernelProvider::external(name, type);
    return guarded([&]() -> Result<TensorPtr> { return toTensor(externals[name.c_str()], type); });
  }

private:
  nb::object resolver;
  nb::dict externals;
};

/// The provider of a machine: if the program has launches, they run as tasks on `threads` threads.
std::shared_ptr<KernelProvider> providerFor(const Module &module, nb::object resolver, nb::dict externals,
                                            nb::object print, uint32_t threads) {
  auto provider =
      std::make_shared<PythonProvider>(std::move(resolver), std::move(externals), [print](const std::string &line) {
        nb::gil_scoped_acquire gil;
        print(line);
      });
  if (!threads || !(module.capabilities & kAsynchronous))
    return provider;
  return check(runtime::QueuedProvider::make(std::move(provider), threads, /*mayBlock=*/true));
}

/// A machine for one module.
class PythonMachine {
public:
  PythonMachine(const Module &module, nb::object resolver, nb::dict externals, nb::object print, uint64_t maxJumps,
                uint32_t threads)
      : provider(providerFor(module, std::move(resolver), std::move(externals), std::move(print), threads)),
        machine(check(Machine::create(check(Program::load(module)), provider, {maxJumps}))) {}

  nb::list run(const std::string &name, nb::args arguments) {
    const Module &module = machine.program().module();
    size_t index = 0;
    while (index < module.functions.size() && module.functions[index].name != name)
      ++index;
    if (index == module.functions.size())
      throw VMFailure("the program has no function @" + name);
    const Function &function = module.functions[index];
    if (arguments.size() != function.parameters.size())
      throw VMFailure("@" + name + " takes " + std::to_string(function.parameters.size()) + " arguments, got " +
                      std::to_string(arguments.size()));
    std::vector<Value> values;
    values.reserve(arguments.size());
    for (size_t i = 0; i < arguments.size(); ++i)
      values.push_back(fromPython(arguments[i], module.types[function.parameters[i]]));
    auto run = [&] {
      // Kernels acquire the GIL on their own threads.
      nb::gil_scoped_release unlocked;
      auto results = machine.run(std::move(values), index);
      // After a failure launches may still be pending.
      Status finished = provider->wait(KernelProvider::kAllQueues);
      return results && !finished ? Result<std::vector<Value>>(finished.failure()) : std::move(results);
    };
    auto results = check(run());
    nb::list list;
    for (size_t i = 0; i < results.size(); ++i)
      list.append(toPython(results[i], module.types[function.results[i]]));
    return list;
  }

  void trace(nb::object sink) {
    if (sink.is_none())
      machine.trace({});
    else
      machine.trace([sink](const std::string &line) {
        nb::gil_scoped_acquire gil;
        sink(line);
      });
  }

private:
  std::shared_ptr<KernelProvider> provider;
  Machine machine;
};

nb::list constantList(const Module &module) {
  nb::list list;
  for (const Constant &constant : module.constants) {
    if (auto *scalar = std::get_if<ScalarConstant>(&constant))
      list.append(toPython({int64_t(scalar->bits), nullptr}, module.types[scalar->type]));
    else if (auto *text = std::get_if<TextConstant>(&constant))
      list.append(text->text);
    else if (auto *key = std::get_if<KernelKey>(&constant))
      list.append(mangle(*key));
    else
      list.append(constantText(module, constant));
  }
  return list;
}

/// (opcode, operands) of every instruction of every function; modules have no instructions with lists.
nb::list instructionList(const Module &module) {
  nb::list list;
  for (const Function &function : module.functions)
    for (const Instruction &insn : check(decodeAll(function.code))) {
      nb::list operands;
      visitOperands(insn, [&](auto, const auto &value) {
        if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(value)>>)
          operands.append(value);
      });
      list.append(nb::make_tuple(static_cast<unsigned>(insn.opcode), operands));
    }
  return list;
}

} // namespace

NB_MODULE(_vm, m) {
  nb::exception<VMFailure> vmError(m, "VMError");
  nb::class_<Module>(m, "Module")
      .def_prop_ro("target", [](const Module &module) { return module.target; })
      .def_prop_ro("variable_size", &Module::variableSize)
      .def_prop_ro("byte_size", &Module::byteSize)
      .def_prop_ro("capabilities", [](const Module &module) { return module.capabilities; })
      .def_prop_ro("functions",
                   [](const Module &module) {
                     std::vector<std::string> names;
                     names.reserve(module.functions.size());
                     for (const Function &function : module.functions)
                       names.push_back(function.name);
                     return names;
                   })
      .def_prop_ro("consts", &constantList)
      .def_prop_ro("instructions", &instructionList)
      .def("disassemble", [](const Module &module) { return disassemble(module); })
      .def("listing", [](const Module &module) { return listing(module); })
      .def("to_bytes",
           [](const Module &module) {
             std::vector<uint8_t> bytes = serialize(module);
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("__eq__", [](const Module &a, const Module &b) { return a == b; });
  // Python only gets verified modules.
  m.def("assemble", [](const std::string &text) { return check(Program::load(check(assemble(text)))).module(); });
  m.def("from_bytes", [](nb::bytes bytes) {
    return check(Program::load(check(deserialize(reinterpret_cast<const uint8_t *>(bytes.c_str()), bytes.size()))))
        .module();
  });
  m.def("demangle", [](const std::string &name) -> nb::object {
    auto key = demangle(name);
    return key ? nb::object(keyObject(*key)) : nb::none();
  });
  m.def("opcodes", [] {
    std::vector<std::tuple<std::string, unsigned>> rows;
    for (unsigned code = 0; code < 256; ++code)
      if (const OpcodeRow *row = findOpcode(uint8_t(code)))
        rows.emplace_back(std::string(row->mnemonic), code);
    return rows;
  });
  nb::class_<PythonMachine>(m, "Machine")
      .def(nb::init<const Module &, nb::object, nb::dict, nb::object, uint64_t, uint32_t>(), nb::arg("module"),
           nb::arg("resolver"), nb::arg("externals"), nb::arg("print"), nb::arg("max_jumps") = 0,
           nb::arg("threads") = 0)
      .def("run", &PythonMachine::run)
      .def("trace", &PythonMachine::trace, nb::arg("sink").none());
}
