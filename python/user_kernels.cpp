#include "user_kernels.h"

namespace nb = nanobind;
using namespace pto_mlir;

namespace {

using TypedShape = std::pair<std::string, std::vector<int64_t>>;

std::vector<TypedShape> tuplesOf(const std::vector<KernelTensor> &tensors) {
  std::vector<TypedShape> tuples;
  for (const KernelTensor &tensor : tensors)
    tuples.emplace_back(tensor.type, tensor.shape);
  return tuples;
}

using BodyTuple = std::tuple<std::string, std::vector<int64_t>, std::vector<int64_t>, std::vector<int64_t>>;
/// Bodies by processor, ports that are read, ports that are written.
using StepTuple = std::tuple<std::map<std::string, BodyTuple>, std::vector<int64_t>, std::vector<int64_t>>;
using KernelTuple = std::tuple<std::vector<TypedShape>, std::vector<TypedShape>, std::vector<StepTuple>>;

KernelTuple tupleOf(const UserKernel &kernel) {
  std::vector<StepTuple> steps;
  for (const KernelStep &step : kernel.steps) {
    std::map<std::string, BodyTuple> bodies;
    for (auto &[processor, body] : step.bodies)
      bodies[processor] = {body.text, body.pointers, body.offsets, body.scalars};
    steps.emplace_back(bodies, step.reads, step.writes);
  }
  return {tuplesOf(kernel.results), tuplesOf(kernel.slots), steps};
}

std::vector<KernelTensor> tensorsOf(const std::vector<TypedShape> &tuples) {
  std::vector<KernelTensor> tensors;
  for (auto &[type, shape] : tuples)
    tensors.push_back({type, shape});
  return tensors;
}

UserKernel kernelOf(const KernelTuple &tuple) {
  auto &[results, slots, steps] = tuple;
  UserKernel kernel{tensorsOf(results), tensorsOf(slots), {}};
  for (auto &[bodies, reads, writes] : steps) {
    KernelStep &step = kernel.steps.emplace_back(KernelStep{{}, reads, writes});
    for (auto &[processor, body] : bodies)
      step.bodies[processor] = {std::get<0>(body), std::get<1>(body), std::get<2>(body), std::get<3>(body)};
  }
  return kernel;
}

} // namespace

UserKernels kernelsOf(const std::set<std::string> &names, nb::object find) {
  UserKernels kernels{names, {}};
  kernels.find = [find](const std::string &name, const std::vector<KernelTensor> &inputs,
                        const KernelAttributes &attributes, std::string &problem) -> std::optional<UserKernel> {
    nb::gil_scoped_acquire locked;
    try {
      return kernelOf(nb::cast<KernelTuple>(find(name, tuplesOf(inputs), attributes)));
    } catch (nb::python_error &error) {
      problem = nb::cast<std::string>(nb::str(error.value()));
    } catch (const nb::cast_error &) {
      problem = "the function gives no kernel";
    }
    return std::nullopt;
  };
  return kernels;
}

void defineKernels(nb::module_ &m) {
  m.def("read_text_kernels", [](const std::string &file) {
    Errors errors;
    auto kernels = readTextKernels(file, errors);
    if (!kernels)
      fail(errors);
    nb::list result;
    for (const TextKernel &each : *kernels)
      result.append(nb::make_tuple(each.name, tuplesOf(each.inputs), tupleOf(each.kernel)));
    return result;
  });
  m.def("kernel_of_program", [](const nb::bytes &program, const std::string &processor,
                                const std::vector<std::string> &inputs, const std::vector<std::string> &outputs) {
    Errors errors;
    auto kernel = kernelOfProgram(std::string(program.c_str(), program.size()), processor, inputs, outputs, errors);
    if (!kernel)
      fail(errors);
    return tupleOf(*kernel);
  });
}
