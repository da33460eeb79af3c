#include "Metadata.h"

#include "Layout.h"
#include "PModel_generated.h"

#include <algorithm>

namespace pto_mlir::pmodel {

namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::String;
using flatbuffers::Vector;

/// Whether a net has sizes that are known at run time only; readers before 2.2 would run it with the greatest.
bool hasSizes(const ModelDesc &model) {
  return std::any_of(model.nets.begin(), model.nets.end(), [](const NetDesc &net) {
    return std::any_of(net.variants.begin(), net.variants.end(),
                       [](const VariantDesc &variant) { return !variant.symbols.empty(); });
  });
}

/// Whether a net has outputs that begin with contents; readers before 2.3 would leave them as they are.
bool hasPresets(const ModelDesc &model) {
  auto isPreset = [](const TensorDesc &tensor) { return tensor.preset; };
  return std::any_of(model.nets.begin(), model.nets.end(), [&](const NetDesc &net) {
    return std::any_of(net.variants.begin(), net.variants.end(), [&](const VariantDesc &variant) {
      return std::any_of(variant.outputs.begin(), variant.outputs.end(), isPreset);
    });
  });
}

/// Whether several devices run a net; readers before 2.4 would run its launches one after another, and wait for ever.
bool hasRanks(const ModelDesc &model) {
  return std::any_of(model.nets.begin(), model.nets.end(), [](const NetDesc &net) {
    return std::any_of(net.variants.begin(), net.variants.end(),
                       [](const VariantDesc &variant) { return !variant.program.ranks.empty(); });
  });
}

/// Serialises the model in section order: streams by kernel, programs by net.
class MetadataWriter {
public:
  MetadataWriter(const ModelDesc &model, const KernelMerge &merge, const WeightLayout &layout)
      : model(model), merge(merge), layout(layout), builder(16384) {
    // Readers in other languages see every field, also those that equal the schema's default.
    builder.ForceDefaults(true);
  }

  flatbuffers::DetachedBuffer write(const SectionPlan &sections) {
    std::vector<Offset<fb::Kernel>> kernels;
    kernels.reserve(merge.stored.size());
    for (size_t place = 0; place < merge.stored.size(); ++place)
      kernels.push_back(writeKernel(model.kernels[merge.stored[place]], merge.sourceOps[place]));
    std::vector<Offset<fb::Weight>> weights;
    weights.reserve(model.weights.size());
    for (size_t i = 0; i < model.weights.size(); ++i)
      weights.push_back(writeWeight(i));
    auto nets = each<fb::Net>(model.nets, [&](auto &net) { return writeNet(net); });
    auto kernelVector = builder.CreateVector(kernels);
    auto weightVector = builder.CreateVector(weights);
    fb::Range commands(sections.commandsBegin, sections.commandsSize);
    fb::Range weightData(sections.weightsBegin, sections.weightsSize);
    fb::Range programs(sections.programsBegin, sections.programsSize);
    Offset<fb::HostProgram> program;
    std::vector<Offset<fb::HostProgram>> more;
    for (const HostProgramDesc &desc : model.programs) {
      auto name = string(desc.name);
      auto code = builder.CreateVector(desc.code);
      auto inputs = strings(desc.inputs);
      auto outputs = strings(desc.outputs);
      auto table = desc.presets.empty()
                       ? fb::CreateHostProgram(builder, name, code, inputs, outputs)
                       : fb::CreateHostProgram(builder, name, code, inputs, outputs, strings(desc.presets));
      if (&desc == &model.programs.front())
        program = table;
      else
        more.push_back(table);
    }
    Offset<Vector<Offset<fb::HostProgram>>> morePrograms;
    if (!more.empty())
      morePrograms = builder.CreateVector(more);
    Offset<Vector<Offset<fb::StateGroup>>> states;
    if (!model.states.empty())
      states = each<fb::StateGroup>(model.states, [&](const StateGroupDesc &group) { return writeState(group); });
    auto producer = string(model.producer);
    auto processor = string(model.processor);
    fb::FinishModelBuffer(builder, fb::CreateModel(builder, formatMajor, writtenMinor(model), minReaderMinor(model),
                                                   producer, processor, model.numCore, nets, kernelVector, weightVector,
                                                   &commands, &weightData, &programs, sections.commandsHash,
                                                   sections.programsHash, program, morePrograms, states));
    return builder.Release();
  }

private:
  Offset<String> string(const std::string &text) { return builder.CreateSharedString(text); }

  Offset<Vector<Offset<String>>> strings(const std::vector<std::string> &texts) {
    std::vector<Offset<String>> offsets;
    offsets.reserve(texts.size());
    for (const std::string &text : texts)
      offsets.push_back(string(text));
    return builder.CreateVector(offsets);
  }

  template <class Table, class Items, class Write> Offset<Vector<Offset<Table>>> each(const Items &items, Write write) {
    std::vector<Offset<Table>> offsets;
    offsets.reserve(items.size());
    for (auto &item : items)
      offsets.push_back(write(item));
    return builder.CreateVector(offsets);
  }

  static fb::ElementType type(ElementType type) { return static_cast<fb::ElementType>(type); }

  Offset<fb::Kernel> writeKernel(const KernelDesc &kernel, const std::vector<std::string> &sourceOps) {
    auto streams = each<fb::Stream>(kernel.streams, [&](const StreamDesc &stream) {
      fb::Range words(commandBytes, stream.words.size() * 4);
      commandBytes += words.size();
      std::vector<uint32_t> sourceWords, sources;
      for (auto [word, source] : stream.sources) {
        sourceWords.push_back(word);
        sources.push_back(source);
      }
      // An absent field saves the length and offset of an empty vector in every stream.
      auto table = [&](const std::vector<uint32_t> &numbers) {
        return numbers.empty() ? Offset<Vector<uint32_t>>() : builder.CreateVector(numbers);
      };
      auto wordsOfSources = table(sourceWords), numbersOfSources = table(sources);
      return fb::CreateStream(builder, static_cast<fb::CoreKind>(stream.coreKind), stream.pipe, &words,
                              stream.numCommands, wordsOfSources, numbersOfSources);
    });
    auto memory = each<fb::LocalMemoryUse>(kernel.localMemory, [&](const LocalMemoryUse &use) {
      return fb::CreateLocalMemoryUse(builder, string(use.space), use.bytes);
    });
    auto name = string(kernel.name);
    auto ops = strings(sourceOps), sources = strings(kernel.sources);
    flatbuffers::Optional<uint32_t> numScalars;
    if (kernel.numScalars)
      numScalars = kernel.numScalars;
    return fb::CreateKernel(builder, name, streams, kernel.numArgs, kernel.blocks, memory, kernel.numEvents, ops,
                            sources, numScalars);
  }

  Offset<fb::Weight> writeWeight(size_t index) {
    const WeightDesc &weight = model.weights[index];
    fb::Range data(layout.offsets[index], weight.size);
    auto name = string(weight.name);
    auto shape = builder.CreateVector(weight.shape);
    return fb::CreateWeight(builder, name, type(weight.type), shape, &data, layout.hashes[index]);
  }

  Offset<fb::Size> writeSize(const bytecode::Size &size) {
    return fb::CreateSize(builder, each<fb::SizeTerm>(size.terms, [&](const bytecode::SizeTerm &term) {
                            return fb::CreateSizeTerm(builder, term.coefficient, builder.CreateVector(term.symbols));
                          }));
  }

  Offset<fb::Tensor> writeTensor(const TensorDesc &tensor) {
    Offset<fb::Quantization> quantization;
    if (!tensor.quantization.scales.empty()) {
      auto scales = builder.CreateVector(tensor.quantization.scales);
      auto zeroPoints = builder.CreateVector(tensor.quantization.zeroPoints);
      quantization = fb::CreateQuantization(builder, scales, zeroPoints, tensor.quantization.axis);
    }
    auto name = string(tensor.name);
    auto shape = builder.CreateVector(tensor.shape);
    Offset<Vector<Offset<fb::Size>>> sizes;
    if (!tensor.sizes.empty())
      sizes = each<fb::Size>(tensor.sizes, [&](const bytecode::Size &size) { return writeSize(size); });
    return fb::CreateTensor(builder, name, type(tensor.type), shape, type(tensor.storageType), quantization,
                            tensor.indexBound, tensor.arithmeticBound, sizes,
                            tensor.preset ? flatbuffers::Optional<bool>(true) : flatbuffers::nullopt);
  }

  Offset<fb::DebugTensor> writeDebugTensor(const DebugTensorDesc &tensor) {
    auto name = string(tensor.name);
    auto shape = builder.CreateVector(tensor.shape);
    auto permutation = builder.CreateVector(tensor.permutation);
    auto onnxShape = builder.CreateVector(tensor.onnxShape);
    return fb::CreateDebugTensor(builder, name, type(tensor.type), shape, permutation, onnxShape,
                                 static_cast<fb::Region>(tensor.region), tensor.index, tensor.offset,
                                 tensor.indexBound);
  }

  Offset<fb::Program> writeProgram(const ProgramDesc &program) {
    fb::Range code(programBytes, program.code.size());
    programBytes += program.code.size();
    std::vector<uint32_t> kernels;
    kernels.reserve(program.kernels.size());
    for (uint32_t kernel : program.kernels)
      kernels.push_back(merge.index[kernel]);
    auto name = string(program.name);
    auto constants = builder.CreateVector(program.constants);
    auto kernelVector = builder.CreateVector(kernels);
    auto target = string(program.target);
    auto launchOps = strings(program.launchOps);
    auto list = [&](const std::vector<uint32_t> &numbers) {
      return numbers.empty() ? 0 : builder.CreateVector(numbers);
    };
    Offset<Vector<Offset<String>>> places;
    if (!program.places.empty())
      places = strings(program.places);
    auto ranks = list(program.ranks), launchPlaces = list(program.launchPlaces);
    auto scopes = list(program.launchScopes), tasks = list(program.launchTasks), edges = list(program.taskEdges);
    return fb::CreateProgram(builder, name, &code, program.numSlots, constants, kernelVector, target, launchOps, ranks,
                             program.windows, places, launchPlaces, scopes, tasks, edges);
  }

  Offset<fb::NetVariant> writeVariant(const VariantDesc &variant) {
    auto tensor = [&](const TensorDesc &tensor) { return writeTensor(tensor); };
    auto inputs = each<fb::Tensor>(variant.inputs, tensor);
    auto outputs = each<fb::Tensor>(variant.outputs, tensor);
    auto program = writeProgram(variant.program);
    auto debug = each<fb::DebugTensor>(variant.debugTensors,
                                       [&](const DebugTensorDesc &tensor) { return writeDebugTensor(tensor); });
    auto absorbed = strings(variant.absorbed);
    auto hostOps = strings(variant.hostOps);
    Offset<Vector<Offset<fb::Symbol>>> symbols;
    if (!variant.symbols.empty())
      symbols = each<fb::Symbol>(variant.symbols, [&](const SymbolDesc &symbol) {
        return fb::CreateSymbol(builder, string(symbol.name), symbol.least, symbol.greatest, symbol.multiple);
      });
    Offset<fb::StateUse> state;
    if (variant.state)
      state = fb::CreateStateUse(builder, variant.state->group, variant.state->rows, variant.state->limit);
    return fb::CreateNetVariant(builder, inputs, outputs, program, variant.workspaceBytes, debug, absorbed, hostOps,
                                state, symbols);
  }

  Offset<fb::StateGroup> writeState(const StateGroupDesc &group) {
    auto tensors = each<fb::StateTensor>(group.tensors, [&](const StateTensorDesc &tensor) {
      auto name = string(tensor.name), output = string(tensor.output), initial = string(tensor.initial);
      auto shape = builder.CreateVector(tensor.shape);
      return fb::CreateStateTensor(builder, name, output, type(tensor.type), shape, tensor.offset, tensor.places,
                                   tensor.sequenceAxis, initial);
    });
    auto name = string(group.name);
    return fb::CreateStateGroup(builder, name, group.bytes, tensors);
  }

  Offset<fb::Net> writeNet(const NetDesc &net) {
    auto variants =
        each<fb::NetVariant>(net.variants, [&](const VariantDesc &variant) { return writeVariant(variant); });
    auto name = string(net.name);
    auto quantize = string(net.quantize);
    auto preprocess = string(net.preprocess);
    return fb::CreateNet(builder, name, variants, quantize, preprocess);
  }

  const ModelDesc &model;
  const KernelMerge &merge;
  const WeightLayout &layout;
  FlatBufferBuilder builder;
  uint64_t commandBytes = 0;
  uint64_t programBytes = 0;
};

} // namespace

uint32_t minReaderMinor(const ModelDesc &model) {
  if (hasRanks(model))
    return 4;
  if (hasPresets(model))
    return 3;
  if (!model.states.empty() || hasSizes(model))
    return 2;
  return model.programs.size() > 1 ? 1 : 0;
}

uint32_t writtenMinor(const ModelDesc &model) { return std::max(oldestWrittenMinor, minReaderMinor(model)); }

flatbuffers::DetachedBuffer writeMetadata(const ModelDesc &model, const KernelMerge &merge, const WeightLayout &layout,
                                          const SectionPlan &sections) {
  return MetadataWriter(model, merge, layout).write(sections);
}

} // namespace pto_mlir::pmodel
