#include "pto_mlir/PModel/Report.h"

#include "StateReport.h"
#include "pto_mlir/ByteCode/Serialize.h"
#include "pto_mlir/ByteCode/Text.h"
#include "pto_mlir/ISA/Operands.h"
#include "pto_mlir/PModel/Estimate.h"
#include "pto_mlir/PModel/Program.h"
#include "pto_mlir/PModel/Sizes.h"
#include "pto_mlir/PModel/Traffic.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <set>

namespace pto_mlir::pmodel {

namespace {

/// Appends formatted text (printf).
[[gnu::format(printf, 2, 3)]] void append(std::string &text, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  if (length > 0) {
    size_t old = text.size();
    text.resize(old + length + 1);
    std::vsnprintf(text.data() + old, length + 1, format, again);
    text.resize(old + length);
  }
  va_end(again);
}

std::string typeName(ElementType type) { return std::string(elementTypeName(type)); }

size_t widestName(const std::vector<TensorDesc> &inputs, const std::vector<TensorDesc> &outputs) {
  size_t width = 8;
  for (const TensorDesc &tensor : inputs)
    width = std::max(width, tensor.name.size());
  for (const TensorDesc &tensor : outputs)
    width = std::max(width, tensor.name.size());
  return width;
}

/// "1x512x384", with the sizes that are known at run time: "batch x tokens x 384".
std::string sizesText(const TensorDesc &tensor, const std::vector<std::string> &symbols) {
  if (tensor.sizes.empty())
    return shapeText(tensor.shape);
  std::string text;
  for (const bytecode::Size &size : tensor.sizes)
    text += (text.empty() ? "" : " x ") + bytecode::sizeText(size, symbols);
  return text;
}

void symbolLines(std::string &text, const VariantDesc &variant) {
  for (const SymbolDesc &symbol : variant.symbols) {
    append(text, "  size           %s: %llu to %llu", symbol.name.c_str(),
           static_cast<unsigned long long>(symbol.least), static_cast<unsigned long long>(symbol.greatest));
    if (symbol.multiple != 1)
      append(text, " in multiples of %llu", static_cast<unsigned long long>(symbol.multiple));
    text += ", at run time in one kernel each\n";
  }
}

void tensorLines(std::string &text, const char *title, const std::vector<TensorDesc> &tensors, size_t width,
                 const std::vector<std::string> &symbols) {
  append(text, "  %s\n", title);
  for (const TensorDesc &tensor : tensors) {
    append(text, "    %-*s  %-5s %s", static_cast<int>(width), tensor.name.c_str(), typeName(tensor.type).c_str(),
           sizesText(tensor, symbols).c_str());
    if (tensor.storageType != tensor.type)
      append(text, "  (stored as %s)", typeName(tensor.storageType).c_str());
    if (tensor.preset)
      text += "  (begins with the input of its name, or zeros)";
    if (tensor.indexBound != 0)
      append(text, tensor.arithmeticBound ? "  (below %llu in magnitude)" : "  (index of %llu rows)",
             static_cast<unsigned long long>(tensor.indexBound));
    const QuantizationDesc &quantization = tensor.quantization;
    if (quantization.scales.size() == 1)
      append(text, "  scale %g", quantization.scales[0]);
    else if (!quantization.scales.empty())
      append(text, "  %zu scales along dimension %d", quantization.scales.size(), quantization.axis);
    if (quantization.zeroPoints.size() == 1)
      append(text, ", zero point %d", quantization.zeroPoints[0]);
    text += "\n";
  }
}

uint64_t ioBytes(const VariantDesc &variant) {
  uint64_t bytes = 0;
  for (auto *tensors : {&variant.inputs, &variant.outputs})
    for (const TensorDesc &tensor : *tensors)
      bytes += *tensorBytes(tensor.storageType, tensor.shape);
  return bytes;
}

size_t countLaunches(const VariantDesc &variant) {
  auto program = decodeProgram(variant.program.code);
  if (!program)
    return 0;
  return std::count_if(program->begin(), program->end(), isLaunch);
}

void trafficLine(std::string &text, const VariantDesc &variant, const Result<std::vector<KernelTraffic>> &kernels) {
  auto traffic = kernels ? measureTraffic(variant, *kernels) : Result<VariantTraffic>(kernels.failure());
  if (!traffic) {
    append(text, "  traffic        not counted: %s\n", traffic.error().c_str());
    return;
  }
  append(text, "  traffic        %s read, %s written per inference; ideal %s (%.2fx)\n",
         bytesText(traffic->read).c_str(), bytesText(traffic->written).c_str(), bytesText(traffic->ideal).c_str(),
         traffic->ideal ? double(traffic->read + traffic->written) / traffic->ideal : 1.0);
  if (variant.state)
    append(text, "  state traffic  %llu bytes read, %llu bytes written per inference\n",
           static_cast<unsigned long long>(traffic->stateRead), static_cast<unsigned long long>(traffic->stateWritten));
}

void variantLines(std::string &text, const ModelDesc &model, const VariantDesc &variant,
                  const Result<std::vector<KernelTraffic>> &kernels) {
  size_t width = widestName(variant.inputs, variant.outputs);
  std::vector<std::string> symbols = symbolNames(variant);
  tensorLines(text, "inputs", variant.inputs, width, symbols);
  tensorLines(text, "outputs", variant.outputs, width, symbols);
  symbolLines(text, variant);
  append(text, "  program        %zu kernel launches, %zu bytes of bytecode\n", countLaunches(variant),
         variant.program.code.size());
  append(text, "  memory         workspace %s, inputs and outputs %s\n", bytesText(variant.workspaceBytes).c_str(),
         bytesText(ioBytes(variant)).c_str());
  text += stateUseText(model, variant);
  trafficLine(text, variant, kernels);
  if (variant.hostOps.empty())
    append(text, "  host ops       none: all computation runs on the engines\n");
  else
    append(text, "  host ops       %zu\n", variant.hostOps.size());
  for (const std::string &op : variant.hostOps)
    append(text, "    %s\n", op.c_str());
  if (!variant.debugTensors.empty() || !variant.absorbed.empty())
    append(text, "  debug tensors  %zu kept, %zu absorbed by folding or fusion\n", variant.debugTensors.size(),
           variant.absorbed.size());
}

struct EngineUse {
  uint64_t commands = 0, bytes = 0;
  size_t kernels = 0;
};

void engineLines(std::string &text, const std::vector<KernelDesc> &kernels) {
  std::map<std::pair<CoreKind, uint8_t>, EngineUse> engines;
  EngineUse total;
  size_t cube = 0, mixed = 0;
  for (const KernelDesc &kernel : kernels) {
    bool onCube = false, onVector = false;
    for (const StreamDesc &stream : kernel.streams) {
      (stream.coreKind == CoreKind::AIC ? onCube : onVector) = true;
      for (EngineUse *use : {&engines[{stream.coreKind, stream.pipe}], &total}) {
        use->commands += stream.numCommands;
        use->bytes += stream.words.size() * 4;
        ++use->kernels;
      }
    }
    cube += onCube && !onVector;
    mixed += onCube && onVector;
  }
  append(text, "\nkernels          %zu (%zu cube, %zu vector", kernels.size(), cube, kernels.size() - cube - mixed);
  if (mixed)
    append(text, ", %zu both", mixed);
  append(text, ")\n");
  append(text, "engine           commands        bytes   kernels\n");
  for (const auto &[engine, use] : engines) {
    const char *pipe = isa::pipeName(static_cast<isa::Pipe>(engine.second));
    append(text, "  %s %-9s %10llu %12llu %9zu\n", engine.first == CoreKind::AIC ? "AIC" : "AIV", pipe ? pipe : "?",
           static_cast<unsigned long long>(use.commands), static_cast<unsigned long long>(use.bytes), use.kernels);
  }
  append(text, "  %-13s %10llu %12llu\n", "all", static_cast<unsigned long long>(total.commands),
         static_cast<unsigned long long>(total.bytes));
}

void fileLines(std::string &text, const FileInfo &info) {
  auto line = [&](const char *name, uint64_t bytes) {
    append(text, "  %-13s %14s  %5.1f %%\n", name, bytesText(bytes).c_str(), 100.0 * bytes / info.fileBytes);
  };
  append(text, "\nfile             %s\n", bytesText(info.fileBytes).c_str());
  line("metadata", info.metadataBytes);
  line("commands", info.commandBytes);
  line("programs", info.programBytes);
  line("weights", info.weightBytes);
  line("padding", info.fileBytes - info.metadataBytes - info.commandBytes - info.programBytes - info.weightBytes);
}

} // namespace

std::string bytesText(uint64_t bytes) {
  std::string text;
  if (bytes < 1024)
    append(text, "%llu B", static_cast<unsigned long long>(bytes));
  else if (bytes < 1024 * 1024)
    append(text, "%.1f KiB", bytes / 1024.0);
  else if (bytes < uint64_t(1) << 30)
    append(text, "%.1f MiB", bytes / 1048576.0);
  else
    append(text, "%.2f GiB", bytes / 1073741824.0);
  return text;
}

/// The operations that a verified program calls on the host, each once.
static std::string hostOpsOf(const HostProgramDesc &program) {
  std::set<std::string> names;
  auto module = bytecode::deserialize(program.code.data(), program.code.size());
  for (const bytecode::Constant &constant : module->constants)
    if (auto *key = std::get_if<bytecode::KernelKey>(&constant); key && key->place() == "host")
      names.emplace(key->op());
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string infoReport(const ModelFile &file) {
  const ModelDesc &model = file.model();
  const FileInfo &info = file.info();
  std::string text;
  append(text, "%s\n", info.path.c_str());
  append(text, "  format         %u.%u, made by %s\n", info.formatMajor, info.formatMinor,
         model.producer.empty() ? "an unnamed producer" : model.producer.c_str());
  append(text, "  processor      %s, num_core %u\n", model.processor.c_str(), model.numCore);
  for (const HostProgramDesc &program : model.programs) {
    append(text, "  host program   '%s', %zu input(s), %zu output(s), runs %s below\n", program.name.c_str(),
           program.inputs.size(), program.outputs.size(), model.nets.empty() ? "kernels" : "nets");
    if (std::string ops = hostOpsOf(program); !ops.empty())
      append(text, "  on the host    %s\n", ops.c_str());
  }
  auto kernels = measureTraffic(model);
  for (const NetDesc &net : model.nets) {
    append(text, "\nnet '%s'%s%s\n", net.name.c_str(), net.quantize.empty() ? "" : ", quantize ", net.quantize.c_str());
    for (size_t v = 0; v < net.variants.size(); ++v) {
      if (net.variants.size() > 1)
        append(text, " variant %zu\n", v);
      variantLines(text, model, net.variants[v], kernels);
    }
    if (!net.preprocess.empty())
      append(text, "  pre-processing %s\n", net.preprocess.c_str());
  }
  text += stateText(model);
  engineLines(text, model.kernels);
  append(text, "\nweights          %zu, %s\n", model.weights.size(), bytesText(info.weightBytes).c_str());
  fileLines(text, info);
  return text;
}

Result<std::string> trafficReport(const ModelFile &file) {
  const ModelDesc &model = file.model();
  auto kernels = measureTraffic(model);
  const std::string &path = file.info().path;
  if (!kernels)
    return Failure{path + ": " + kernels.error()};
  if (model.nets.empty())
    return Failure{path + ": has no nets, so no launches whose traffic could be counted"};
  std::string text;
  for (const NetDesc &net : model.nets)
    for (size_t v = 0; v < net.variants.size(); ++v) {
      auto traffic = measureTraffic(net.variants[v], *kernels);
      if (!traffic)
        return Failure{path + ": " + traffic.error()};
      append(text, "net '%s', variant %zu: bytes per launch, in order\n", net.name.c_str(), v);
      append(text, "%12s %12s %12s %7s %5s  %s\n", "read", "written", "least", "ratio", "even", "kernel");
      for (const LaunchTraffic &launch : traffic->launches) {
        const KernelTraffic &kernel = (*kernels)[launch.kernel];
        append(text, "%12llu %12llu %12llu %6.2fx %4.0f%%  %s\n", static_cast<unsigned long long>(kernel.read()),
               static_cast<unsigned long long>(kernel.written()), static_cast<unsigned long long>(launch.least),
               launch.least ? double(kernel.read() + kernel.written()) / launch.least : 1.0, 100 / kernel.imbalance(),
               model.kernels[launch.kernel].name.c_str());
      }
      trafficLine(text, net.variants[v], kernels);
    }
  return text;
}

std::string estimateReport(const ModelFile &file) {
  const ModelDesc &model = file.model();
  const isa::ArchInfo *arch = isa::findArch(model.processor);
  if (!arch)
    return "no rates are known for the processor '" + model.processor + "'\n";
  std::string text;
  append(text, "%14s  %s\n", "cycles", "kernel");
  std::vector<std::vector<int64_t>> scalars = greatestScalars(model);
  for (const KernelDesc &kernel : model.kernels) {
    auto cycles = estimateCycles(kernel, isa::chipInfo(arch->arch), scalars[&kernel - model.kernels.data()]);
    if (cycles)
      append(text, "%14.1f  %s\n", *cycles, kernel.name.c_str());
    else
      append(text, "%14s  %s: %s\n", "-", kernel.name.c_str(), cycles.error().c_str());
  }
  return text;
}

std::string weightsReport(const ModelFile &file) {
  const ModelDesc &model = file.model();
  size_t width = 4;
  for (const WeightDesc &weight : model.weights)
    width = std::max(width, weight.name.size());
  std::string text;
  append(text, "%-*s  %-8s %-20s %12s %12s  %s\n", static_cast<int>(width), "name", "type", "shape", "offset", "bytes",
         "xxh3-64");
  for (size_t i = 0; i < model.weights.size(); ++i) {
    const WeightDesc &weight = model.weights[i];
    append(text, "%-*s  %-8s %-20s %12llu %12llu  %016llx\n", static_cast<int>(width), weight.name.c_str(),
           typeName(weight.type).c_str(), shapeText(weight.shape).c_str(),
           static_cast<unsigned long long>(file.layout().offsets[i]), static_cast<unsigned long long>(weight.size),
           static_cast<unsigned long long>(file.layout().hashes[i]));
  }
  return text;
}

std::string disassemblyReport(const ModelFile &file) {
  const ModelDesc &model = file.model();
  std::string text;
  // Parsed and verified when the file was opened, so this cannot fail.
  for (const HostProgramDesc &program : model.programs)
    text += "host program '" + program.name + "'\n" +
            bytecode::disassemble(*bytecode::deserialize(program.code.data(), program.code.size())) + "\n";
  for (const NetDesc &net : model.nets)
    for (size_t v = 0; v < net.variants.size(); ++v) {
      append(text, "program of net '%s', variant %zu\n", net.name.c_str(), v);
      text += disassembleProgram(model, net.variants[v]) + "\n";
    }
  for (const KernelDesc &kernel : model.kernels) {
    append(text, "kernel %s, %u arguments, ", kernel.name.c_str(), kernel.numArgs);
    if (kernel.numScalars)
      append(text, "%u scalars, ", kernel.numScalars);
    append(text, "%u block(s)\n", kernel.blocks);
    text += disassembleKernel(kernel) + "\n";
  }
  return text;
}

} // namespace pto_mlir::pmodel
