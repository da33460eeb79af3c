#include "pto_mlir/PModel/Assembler.h"

#include "pto_mlir/ByteCode/Serialize.h"
#include "pto_mlir/PModel/Program.h"
#include "pto_mlir/Support/FreeName.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace pto_mlir::pmodel {

namespace {

constexpr uint32_t unused = UINT32_MAX;

bool sameCommands(const KernelDesc &a, const KernelDesc &b) {
  auto same = [](const StreamDesc &x, const StreamDesc &y) {
    return x.coreKind == y.coreKind && x.pipe == y.pipe && x.words == y.words;
  };
  return a.numArgs == b.numArgs && a.numScalars == b.numScalars && a.blocks == b.blocks &&
         std::equal(a.streams.begin(), a.streams.end(), b.streams.begin(), b.streams.end(), same);
}

/// A name not in `taken`: `name`, else name_2, name_3, ... The kernels of thousands of versions have one name:
/// `numbers` holds the last number that each name was given.
std::string nameBeside(const std::unordered_map<std::string, uint32_t> &taken,
                       std::unordered_map<std::string, unsigned> &numbers, const std::string &name) {
  if (!taken.count(name))
    return name;
  unsigned &next = numbers.try_emplace(name, 1).first->second;
  return freeName(name, [&](const std::string &each) { return taken.count(each) != 0; }, ++next);
}

/// The weight that contains an argument of a verified program.
std::optional<uint32_t> weightAt(const ModelPart &part, const VMArgument &argument) {
  const std::vector<uint64_t> &offsets = part.layout->offsets;
  for (uint32_t i = 0; i < offsets.size(); ++i)
    if (argument.offset >= offsets[i] && argument.offset - offsets[i] <= part.model->weights[i].size &&
        argument.bytes <= part.model->weights[i].size - (argument.offset - offsets[i]))
      return i;
  return std::nullopt;
}

/// Names of the kernels (`submitted`), else of the nets, that a verified program names.
std::vector<std::string> calledBy(const HostProgramDesc &program, bool submitted) {
  std::vector<std::string> names;
  auto module = bytecode::deserialize(program.code.data(), program.code.size());
  for (const bytecode::Constant &constant : module->constants)
    if (auto *key = std::get_if<bytecode::KernelKey>(&constant);
        key && key->place() == "device" && bytecode::directionsOf(*key).has_value() == submitted)
      names.emplace_back(key->op());
  return names;
}

std::vector<std::string> calledNets(const HostProgramDesc &program) { return calledBy(program, false); }

/// The program with its nets, and the kernels that it submits, renamed.
HostProgramDesc renamed(HostProgramDesc program, const std::unordered_map<std::string, std::string> &names,
                        const std::unordered_map<std::string, std::string> &kernels) {
  auto module = bytecode::deserialize(program.code.data(), program.code.size());
  for (bytecode::Constant &constant : module->constants)
    if (auto *key = std::get_if<bytecode::KernelKey>(&constant); key && key->place() == "device")
      key->callee = "device." + (bytecode::directionsOf(*key) ? kernels : names).at(std::string(key->op()));
  program.code = bytecode::serialize(*module);
  return program;
}

} // namespace

ModelPart::ModelPart(std::shared_ptr<const ModelFile> file)
    : model(file, &file->model()), layout(file, &file->layout()), name(file->info().path), file(file) {}

ModelPart::ModelPart(ModelDesc made, std::string name)
    : model(std::make_shared<const ModelDesc>(std::move(made))),
      layout(std::make_shared<const WeightLayout>(layoutWeights(model->weights))), name(std::move(name)) {}

uint32_t ModelAssembler::addKernel(const KernelDesc &kernel) {
  auto known = kernelNames.find(kernel.name);
  if (known != kernelNames.end() && sameCommands(model.kernels[known->second], kernel))
    return known->second;
  uint32_t index = model.kernels.size();
  model.kernels.push_back(kernel);
  model.kernels.back().name = nameBeside(kernelNames, kernelNumbers, kernel.name);
  kernelNames[model.kernels.back().name] = index;
  return index;
}

uint32_t ModelAssembler::addWeight(const WeightDesc &weight, uint64_t hash) {
  auto known = weightNames.find(weight.name);
  if (known != weightNames.end()) {
    const WeightDesc &other = model.weights[known->second];
    if (weightHashes[known->second] == hash && other.type == weight.type && other.shape == weight.shape &&
        (weight.size == 0 || std::memcmp(other.data, weight.data, weight.size) == 0))
      return known->second;
  }
  uint32_t index = model.weights.size();
  model.weights.push_back(weight);
  model.weights.back().name = nameBeside(weightNames, weightNumbers, weight.name);
  weightNames[model.weights.back().name] = index;
  weightHashes.push_back(hash);
  return index;
}

Status ModelAssembler::collectWeights(Source &source, const VariantDesc &variant) {
  const ModelPart &part = source.part;
  source.weightMap.assign(part.model->weights.size(), unused);
  auto program = decodeProgram(variant.program.code);
  if (!program)
    return program.failure();
  uint32_t weightsSlot = EntrySlots(variant).weights();
  for (const VMInstruction &insn : *program) {
    if (std::count(insn.slots.begin(), insn.slots.end(), weightsSlot))
      return Failure{part.name + ": a host op reads the whole weights section, which ties it to this file"};
    for (const VMArgument &argument : insn.arguments) {
      if (argument.slot != weightsSlot)
        continue;
      auto weight = weightAt(part, argument);
      if (!weight)
        return Failure{part.name + ": an argument lies in no weight"};
      uint32_t &place = source.weightMap[*weight];
      if (place != unused)
        continue;
      if (Status status = part.file ? part.file->checkWeight(*weight) : Status(); !status)
        return status;
      place = addWeight(part.model->weights[*weight], part.layout->hashes[*weight]);
    }
  }
  return {};
}

Status ModelAssembler::adopt(const ModelDesc &from, const std::string &name) {
  if (model.processor.empty()) {
    model.producer = from.producer;
    model.processor = from.processor;
    model.numCore = from.numCore;
  } else if (model.processor != from.processor || model.numCore != from.numCore) {
    return Failure{name + ": is for " + from.processor + " with " + std::to_string(from.numCore) +
                   " core(s), the first file for " + model.processor + " with " + std::to_string(model.numCore)};
  }
  return {};
}

Status ModelAssembler::add(const ModelPart &part, size_t netIndex, size_t variantIndex, const std::string &newName) {
  const ModelDesc &from = *part.model;
  if (Status status = adopt(from, part.name); !status)
    return status;
  const NetDesc &net = from.nets[netIndex];
  const std::string &name = newName.empty() ? net.name : newName;
  auto known =
      std::find_if(model.nets.begin(), model.nets.end(), [&](const NetDesc &other) { return other.name == name; });
  if (known == model.nets.end()) {
    model.nets.push_back({name, {}, net.quantize, net.preprocess});
    known = std::prev(model.nets.end());
  } else if (known->quantize != net.quantize || known->preprocess != net.preprocess) {
    return Failure{part.name + ": net '" + net.name +
                   "' differs in quantisation or pre-processing from the net of that name"};
  }

  Source source{static_cast<size_t>(known - model.nets.begin()), known->variants.size(), part, {}};
  VariantDesc variant = net.variants[variantIndex];
  if (Status status = collectWeights(source, variant); !status)
    return status;
  for (uint32_t &kernel : variant.program.kernels)
    kernel = addKernel(from.kernels[kernel]);
  if (Status status = addState(part, variant); !status)
    return status;
  known->variants.push_back(std::move(variant));
  sources.push_back(std::move(source));
  return {};
}

Status ModelAssembler::addState(const ModelPart &part, VariantDesc &variant) {
  if (!variant.state)
    return {};
  StateGroupDesc group = part.model->states[variant.state->group];
  for (StateTensorDesc &tensor : group.tensors)
    if (!tensor.initial.empty()) {
      const std::vector<WeightDesc> &weights = part.model->weights;
      size_t i = std::find_if(weights.begin(), weights.end(), [&](auto &w) { return w.name == tensor.initial; }) -
                 weights.begin();
      if (Status status = part.file ? part.file->checkWeight(i) : Status(); !status)
        return status;
      tensor.initial = model.weights[addWeight(weights[i], part.layout->hashes[i])].name;
    }
  for (size_t i = 0; i < model.states.size(); ++i) {
    if (model.states[i].name != group.name)
      continue;
    if (model.states[i] != group)
      return Failure{part.name + ": the group of state '" + group.name + "' differs from the group of that name"};
    variant.state->group = i;
    return {};
  }
  variant.state->group = model.states.size();
  model.states.push_back(std::move(group));
  return {};
}

Status ModelAssembler::addPrograms(std::shared_ptr<const ModelFile> file, const std::vector<size_t> &programs) {
  const ModelDesc &from = file->model();
  std::unordered_map<std::string, uint32_t> taken;
  for (const NetDesc &net : model.nets)
    taken[net.name] = 0;
  std::unordered_map<std::string, unsigned> numbers;
  std::unordered_map<std::string, std::string> names;
  for (size_t program : programs) {
    for (const std::string &name : calledNets(from.programs[program])) {
      if (names.count(name))
        continue;
      names[name] = nameBeside(taken, numbers, name);
      taken[names[name]] = 0;
      auto net =
          std::find_if(from.nets.begin(), from.nets.end(), [&](const NetDesc &other) { return other.name == name; });
      for (size_t variant = 0; variant < net->variants.size(); ++variant)
        if (Status status = add(file, net - from.nets.begin(), variant, names[name]); !status)
          return status;
    }
    std::unordered_map<std::string, std::string> kernels;
    for (const std::string &name : calledBy(from.programs[program], true)) {
      auto kernel =
          std::find_if(from.kernels.begin(), from.kernels.end(), [&](auto &each) { return each.name == name; });
      kernels[name] = model.kernels[addKernel(*kernel)].name;
    }
    if (Status status = adopt(from, file->info().path); !status)
      return status;
    addProgram(renamed(from.programs[program], names, kernels));
  }
  return {};
}

Status ModelAssembler::relocate(const Source &source, const WeightLayout &layout) {
  VariantDesc &variant = model.nets[source.net].variants[source.variant];
  auto program = decodeProgram(variant.program.code);
  if (!program)
    return program.failure();
  uint32_t weightsSlot = EntrySlots(variant).weights();
  ProgramWriter writer;
  for (VMInstruction &insn : *program) {
    for (VMArgument &argument : insn.arguments) {
      if (argument.slot != weightsSlot)
        continue;
      uint32_t weight = *weightAt(source.part, argument);
      argument.offset =
          argument.offset - source.part.layout->offsets[weight] + layout.offsets[source.weightMap[weight]];
    }
    writer.append(insn);
  }
  variant.program.code = writer.take();
  return {};
}

Result<WriteSummary> ModelAssembler::write(const std::string &path) {
  WeightLayout layout = layoutWeights(model.weights);
  for (const Source &source : sources)
    if (Status status = relocate(source, layout); !status)
      return Failure{path + ": " + status.error()};
  return writeModel(model, layout, path);
}

/// Marks the nets that no host program of the file calls.
static std::vector<bool> standAlone(const ModelDesc &model) {
  std::vector<bool> alone(model.nets.size(), true);
  for (const HostProgramDesc &program : model.programs)
    for (const std::string &name : calledNets(program))
      for (size_t net = 0; net < model.nets.size(); ++net)
        alone[net] = alone[net] && model.nets[net].name != name;
  return alone;
}

static std::vector<size_t> allPrograms(const ModelDesc &model) {
  std::vector<size_t> all(model.programs.size());
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = i;
  return all;
}

Result<WriteSummary> combineModels(const std::vector<std::string> &paths, const std::string &output,
                                   std::optional<HostProgramDesc> program) {
  ModelAssembler assembler;
  for (const std::string &path : paths) {
    auto file = ModelFile::open(path);
    if (!file)
      return file.failure();
    const ModelDesc &model = (*file)->model();
    std::vector<bool> alone = standAlone(model);
    for (size_t net = 0; net < model.nets.size(); ++net)
      for (size_t variant = 0; alone[net] && variant < model.nets[net].variants.size(); ++variant)
        if (Status status = assembler.add(*file, net, variant); !status)
          return status.failure();
    if (Status status = assembler.addPrograms(*file, allPrograms(model)); !status)
      return status.failure();
  }
  if (program)
    assembler.addProgram(std::move(*program));
  return assembler.write(output);
}

Result<std::vector<std::string>> extractModels(const std::string &path, const std::string &folder) {
  auto file = ModelFile::open(path);
  if (!file)
    return file.failure();
  std::vector<std::string> written;
  const ModelDesc &model = (*file)->model();
  auto write = [&](const std::string &what, auto add) -> Status {
    std::string name = std::filesystem::path(path).stem().string() + "_" + what + ".pmodel";
    std::string target = (std::filesystem::path(folder) / name).string();
    ModelAssembler assembler;
    if (Status status = add(assembler); !status)
      return status;
    if (auto summary = assembler.write(target); !summary)
      return summary.failure();
    written.push_back(target);
    return {};
  };
  std::vector<bool> alone = standAlone(model);
  for (size_t net = 0; net < model.nets.size(); ++net)
    for (size_t variant = 0; alone[net] && variant < model.nets[net].variants.size(); ++variant)
      if (Status status = write("net" + std::to_string(net) + "_variant" + std::to_string(variant),
                                [&](ModelAssembler &assembler) { return assembler.add(*file, net, variant); });
          !status)
        return status.failure();
  for (size_t program = 0; program < model.programs.size(); ++program)
    if (Status status = write("program" + std::to_string(program),
                              [&](ModelAssembler &assembler) { return assembler.addPrograms(*file, {program}); });
        !status)
      return status.failure();
  return written;
}

} // namespace pto_mlir::pmodel
