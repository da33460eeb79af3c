// pto_mlir._compiler: the compiler as a Python module. Failures raise CompileError with one line per error.
#include "user_kernels.h"

#include "pto_mlir/Compiler/CompilePyPTO.h"
#include "pto_mlir/Compiler/Compiler.h"
#include "pto_mlir/Compiler/TopJIT.h"
#include "pto_mlir/Cost/Bound.h"
#include "pto_mlir/Frontend/ONNX/SupportedOps.h"
#include "pto_mlir/Frontend/ONNX/VersionLimits.h"
#include "pto_mlir/Support/Utf8.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace pto_mlir;

namespace {

nb::dict transform(const std::string &modelFile, const std::string &modelName,
                   const std::vector<InputShape> &inputShapes, const std::vector<std::string> &outputNames,
                   const std::string &mlirFile, const std::string &preprocess, int64_t maxExtent,
                   const std::map<std::string, std::vector<int64_t>> &sizes,
                   const std::map<std::string, std::array<int64_t, 3>> &ranges, const std::string &state,
                   int64_t stateLength, bool strictF64, const std::map<std::string, nb::bytes> &inputValues,
                   const std::set<std::string> &kernelNames, nb::object findKernel) {
  Errors errors;
  UserKernels kernels = kernelsOf(kernelNames, findKernel);
  std::optional<TransformSummary> summary;
  std::map<std::string, SizeRange> named;
  for (auto &[name, range] : ranges)
    named[name] = {range[0], range[1], range[2]};
  std::map<std::string, std::string> values;
  for (auto &[name, bytes] : inputValues)
    values[name] = {bytes.c_str(), bytes.size()};
  {
    nb::gil_scoped_release unlocked;
    summary = transformModel({modelFile, modelName, inputShapes, outputNames, mlirFile, preprocess, maxExtent, sizes,
                              named, state, stateLength, strictF64, values, kernels},
                             errors);
  }
  if (!summary)
    fail(errors);
  nb::dict result;
  result["nodes"] = summary->nodes;
  result["ops"] = summary->ops;
  result["weight_bytes"] = summary->weightBytes;
  nb::dict bounded;
  for (auto &[name, range] : summary->bounded)
    bounded[name.c_str()] = nb::make_tuple(range.least, range.greatest, range.multiple);
  result["bounded"] = bounded;
  result["remarks"] = summary->remarks;
  return result;
}

nb::dict deploy(const std::string &mlirFile, const std::string &modelFile, const std::string &quantize,
                const std::string &processor, unsigned numCore, bool debug, const std::string &dumpFolder,
                const std::string &emitFolder, bool emitExact, bool costRemarks) {
  Errors errors;
  std::optional<DeploySummary> summary;
  {
    nb::gil_scoped_release unlocked;
    summary = deployModel(
        {mlirFile, modelFile, quantize, processor, numCore, debug, dumpFolder, emitFolder, emitExact, costRemarks},
        errors);
  }
  if (!summary)
    fail(errors);
  nb::dict result;
  result["kernels"] = summary->kernels;
  result["launches"] = summary->launches;
  result["command_bytes"] = summary->commandBytes;
  result["weight_bytes"] = summary->weightBytes;
  result["file_bytes"] = summary->fileBytes;
  result["host_ops"] = summary->hostOps;
  result["absorbed"] = summary->absorbed;
  result["narrowed"] = summary->narrowed;
  result["clipped"] = summary->clipped;
  result["remarks"] = summary->remarks;
  result["emitted"] = summary->emitted;
  result["not_emitted"] = summary->notEmitted;
  result["rewritten"] = summary->rewritten;
  return result;
}

nb::dict describe(const std::string &mlirFile) {
  Errors errors;
  auto net = describeModel(mlirFile, errors);
  if (!net)
    fail(errors);
  auto list = [](const std::vector<NetTensor> &tensors) {
    nb::list result;
    for (const NetTensor &tensor : tensors)
      result.append(nb::make_tuple(tensor.name, tensor.shape, tensor.type));
    return result;
  };
  nb::dict result;
  result["inputs"] = list(net->inputs);
  result["outputs"] = list(net->outputs);
  nb::dict graph;
  for (const NetOp &op : net->graph)
    graph[nb::str(op.name.c_str(), op.name.size())] = nb::make_tuple(op.kind, op.inputs);
  result["graph"] = graph;
  nb::list states;
  for (const NetState &state : net->states)
    states.append(nb::make_tuple(state.tensor.name, state.tensor.shape, state.tensor.type, state.output, state.axis));
  result["states"] = states;
  result["state_rows"] = net->stateRows;
  result["has_position"] = net->hasPosition;
  result["preprocess"] = net->preprocess;
  result["absorbed"] = net->absorbed;
  return result;
}

/// A tensor passed between numpy and the compiler: name, numpy type name, shape, data.
using TensorTuple = std::tuple<std::string, std::string, std::vector<int64_t>, nb::bytes>;

/// What this machine's CPU has no code for: types that only engines and the host program compute in.
struct NotForThisCPU : CompileError {
  using CompileError::CompileError;
};

std::vector<TensorTuple> interpret(const std::string &mlirFile, const std::vector<TensorTuple> &feed, bool allTensors) {
  std::vector<HostTensor> inputs;
  inputs.reserve(feed.size());
  for (const auto &[name, type, shape, bytes] : feed)
    inputs.push_back({name, shape, type, std::vector<char>(bytes.c_str(), bytes.c_str() + bytes.size())});
  Errors errors;
  std::optional<std::vector<HostTensor>> outputs;
  {
    nb::gil_scoped_release unlocked;
    auto interpreter = TopJIT::load(mlirFile, allTensors, errors);
    if (!interpreter)
      throw NotForThisCPU(errors.empty() ? "" : escapeNonUtf8(errors.front()));
    outputs = interpreter->run(inputs, errors);
  }
  if (!outputs)
    fail(errors);
  std::vector<TensorTuple> result;
  for (const HostTensor &tensor : *outputs)
    result.emplace_back(tensor.name, tensor.type, tensor.shape, nb::bytes(tensor.bytes.data(), tensor.bytes.size()));
  return result;
}

/// What lib/Cost expects.
void checkProcessor(const std::string &name) {
  for (const ProcessorDescription &known : describeProcessors())
    if (known.name == name)
      return;
  fail({"processor '" + name + "' is not known"});
}

} // namespace

NB_MODULE(_compiler, m) {
  nb::exception<CompileError> compileError(m, "CompileError");
  nb::exception<NotForThisCPU> notForThisCPU(m, "NotForThisCPU", compileError);
  m.def("transform", &transform);
  defineKernels(m);
  m.def("deploy", &deploy);
  m.def("supported_ops", [] {
    std::vector<std::tuple<std::string, int, int>> ops;
    for (const onnx::SupportedOp &op : onnx::supportedOps())
      ops.emplace_back(op.name, op.firstOpset, op.lastOpset);
    return ops;
  });
  m.def("version_nodes", [] { return onnx::kVersionNodes; });
  m.def("describe", &describe);
  m.def("processors", [] {
    std::vector<std::tuple<std::string, unsigned, bool>> processors;
    for (const ProcessorDescription &processor : describeProcessors())
      processors.emplace_back(processor.name, processor.blocks, processor.testOnly);
    return processors;
  });
  m.def("lower_bound", [](const std::string &processor, unsigned blocks, double bytesRead, double bytesWritten,
                          double multiplications, bool wide, double operations) {
    checkProcessor(processor);
    return cost::lowerBound(processor, blocks, {bytesRead, bytesWritten, multiplications, wide, operations});
  });
  m.def("launch_seconds", [](const std::string &processor) {
    checkProcessor(processor);
    cost::LaunchSeconds seconds = cost::launchSeconds(processor);
    return std::tuple(seconds.alone, seconds.task);
  });
  m.def(
      "print_pypto",
      [](const nb::bytes &program, bool seed, const std::string &processor, bool slots) {
        Errors errors;
        auto text = printPyPTO(std::string(program.c_str(), program.size()), seed, slots, processor, errors);
        if (!text)
          fail(errors);
        return *text;
      },
      nb::arg("program"), nb::arg("seed"), nb::arg("processor") = "", nb::arg("slots") = false);
  m.def(
      "print_pypto_cpp",
      [](const nb::bytes &function, const std::string &options, const std::string &processor) {
        Errors errors;
        auto text = printPyPTOCpp(std::string(function.c_str(), function.size()), options, processor, errors);
        if (!text)
          fail(errors);
        return *text;
      },
      nb::arg("function"), nb::arg("options") = "", nb::arg("processor") = "");
  m.def(
      "orchestrate_pypto",
      [](const nb::bytes &program, const std::string &function, bool today, const std::string &processor) {
        Errors errors;
        auto made = orchestratePyPTO(std::string(program.c_str(), program.size()), function, today, processor, errors);
        if (!made)
          fail(errors);
        return std::tuple(made->code, made->kernels, made->isCube, made->withQueues,
                          nb::bytes(made->program.data(), made->program.size()),
                          nb::bytes(made->returned.data(), made->returned.size()), made->extents);
      },
      nb::arg("program"), nb::arg("function"), nb::arg("today") = false, nb::arg("processor") = "");
  m.def(
      "form_pypto",
      [](const nb::bytes &program, const std::string &processor) {
        Errors errors;
        auto made = formPyPTO(std::string(program.c_str(), program.size()), processor, errors);
        if (!made)
          fail(errors);
        return nb::bytes(made->data(), made->size());
      },
      nb::arg("program"), nb::arg("processor") = "");
  m.def(
      "expand_pypto",
      [](const nb::bytes &program, const std::string &processor) {
        Errors errors;
        auto made = expandPyPTOProgram(std::string(program.c_str(), program.size()), processor, errors);
        if (!made)
          fail(errors);
        return nb::bytes(made->data(), made->size());
      },
      nb::arg("program"), nb::arg("processor") = "");
  m.def(
      "trace_pypto",
      [](const nb::bytes &program, const std::string &processor) {
        Errors ignored; // expand_pypto raises them
        std::vector<std::pair<std::string, nb::bytes>> passes;
        for (auto &[name, made] : tracePyPTO(std::string(program.c_str(), program.size()), processor, ignored))
          passes.emplace_back(name, nb::bytes(made.data(), made.size()));
        return passes;
      },
      nb::arg("program"), nb::arg("processor") = "");
  m.def(
      "compile_pypto",
      [](const nb::bytes &program, const std::string &output, const std::string &processor, unsigned blocks,
         const std::map<std::string, int64_t> &sizes, unsigned ranks) {
        ProgramOptions options;
        options.output = output;
        options.processor = processor;
        options.blocks = blocks;
        options.sizes = sizes;
        options.ranks = ranks;
        Errors errors;
        std::string bytes(program.c_str(), program.size());
        bool done = false;
        {
          nb::gil_scoped_release unlocked;
          done = compilePyPTO(bytes, options, errors).has_value();
        }
        if (!done)
          fail(errors);
      },
      nb::arg("program"), nb::arg("output"), nb::arg("processor") = "", nb::arg("blocks") = 1,
      nb::arg("sizes") = std::map<std::string, int64_t>(), nb::arg("ranks") = 1);
  m.def(
      "list_pypto",
      [](const nb::bytes &program, const std::string &processor, const std::map<std::string, int64_t> &sizes,
         unsigned ranks) {
        ProgramOptions options;
        options.processor = processor;
        options.sizes = sizes;
        options.ranks = ranks;
        Errors errors;
        auto text = listPyPTO(std::string(program.c_str(), program.size()), options, errors);
        if (!text)
          fail(errors);
        return *text;
      },
      nb::arg("program"), nb::arg("processor") = "", nb::arg("sizes") = std::map<std::string, int64_t>(),
      nb::arg("ranks") = 1);
  m.def("interpret", &interpret);
}
