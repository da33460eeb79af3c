#include "ReadMetadata.h"

#include <cstring>

namespace pto_mlir::pmodel {

namespace {

std::string text(const flatbuffers::String *string) { return string ? string->str() : std::string(); }

std::vector<std::string> texts(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> *strings) {
  std::vector<std::string> result;
  if (strings)
    for (const flatbuffers::String *string : *strings)
      result.push_back(text(string));
  return result;
}

ElementType elementType(fb::ElementType type) { return static_cast<ElementType>(type); }

/// Reads the tables depth first; stops at the first failure.
class MetadataReader {
public:
  MetadataReader(const Section &commands, const Section &programs, const Section &weights)
      : commands(commands), programs(programs), weights(weights) {}

  std::string failure;

  void read(const fb::Model &metadata, ModelDesc &model, WeightLayout &layout) {
    model.producer = text(metadata.producer());
    model.processor = text(metadata.processor());
    model.numCore = metadata.num_core();
    each(metadata.kernels(), model.kernels, [&](auto &table, KernelDesc &kernel) { readKernel(table, kernel); });
    each(metadata.weights(), model.weights,
         [&](auto &table, WeightDesc &weight) { readWeight(table, weight, layout); });
    each(metadata.nets(), model.nets, [&](auto &table, NetDesc &net) { readNet(table, net); });
    layout.totalBytes = weights.size;
    auto readProgram = [&](const fb::HostProgram &program, HostProgramDesc &desc) {
      desc = {text(program.name()), numbers(program.code()), texts(program.inputs()), texts(program.outputs()),
              texts(program.presets())};
    };
    each(metadata.more_host_programs(), model.programs, readProgram);
    if (const fb::HostProgram *program = metadata.host_program())
      readProgram(*program, *model.programs.emplace(model.programs.begin()));
    each(metadata.state_groups(), model.states, [&](auto &table, StateGroupDesc &group) { readState(table, group); });
  }

private:
  /// FlatBuffers' verifier checks that a vector lies in the buffer, but not that its 8-byte elements are aligned.
  template <class T> std::vector<T> numbers(const flatbuffers::Vector<T> *values) {
    if (!values || values->size() == 0)
      return {};
    if (reinterpret_cast<uintptr_t>(values->Data()) % alignof(T) != 0) {
      failure = "its metadata is not a valid FlatBuffer of a model: a vector is not aligned";
      return {};
    }
    return std::vector<T>(values->begin(), values->end());
  }

  template <class Tables, class Desc, class Read> void each(const Tables *tables, std::vector<Desc> &descs, Read read) {
    if (!tables)
      return;
    descs.resize(tables->size());
    for (size_t i = 0; i < descs.size() && failure.empty(); ++i)
      read(*tables->Get(i), descs[i]);
  }

  void readKernel(const fb::Kernel &table, KernelDesc &kernel) {
    kernel.name = text(table.name());
    kernel.numArgs = table.num_args();
    kernel.blocks = table.blocks();
    kernel.numEvents = table.num_events();
    kernel.numScalars = table.num_scalars().value_or(0);
    kernel.sourceOps = texts(table.source_ops());
    kernel.sources = texts(table.sources());
    each(table.local_memory(), kernel.localMemory,
         [](auto &entry, LocalMemoryUse &use) { use = {text(entry.space()), entry.bytes()}; });
    each(table.streams(), kernel.streams, [&](auto &entry, StreamDesc &stream) {
      stream.coreKind = static_cast<CoreKind>(entry.core_kind());
      stream.pipe = entry.pipe();
      stream.numCommands = entry.num_commands();
      std::vector<uint32_t> sourceWords = numbers(entry.source_words()), sources = numbers(entry.sources());
      if (sourceWords.size() != sources.size()) {
        failure = "kernel '" + kernel.name + "': its table of sources has " + std::to_string(sourceWords.size()) +
                  " words and " + std::to_string(sources.size()) + " sources";
        return;
      }
      for (size_t i = 0; i < sources.size(); ++i)
        stream.sources.emplace_back(sourceWords[i], sources[i]);
      const fb::Range *range = entry.words();
      if (!commands.holds(range) || range->size() % 4 != 0) {
        failure = "kernel '" + kernel.name + "': its commands lie outside their section";
        return;
      }
      stream.words.resize(range->size() / 4);
      if (!stream.words.empty())
        std::memcpy(stream.words.data(), commands.data + range->begin(), range->size());
    });
  }

  void readWeight(const fb::Weight &table, WeightDesc &weight, WeightLayout &layout) {
    weight.name = text(table.name());
    weight.type = elementType(table.type());
    weight.shape = numbers(table.shape());
    if (!weights.holds(table.data())) {
      failure = "weight '" + weight.name + "': lies outside the weights section";
      return;
    }
    weight.data = weights.data + table.data()->begin();
    weight.size = table.data()->size();
    layout.offsets.push_back(table.data()->begin());
    layout.hashes.push_back(table.hash());
  }

  void readTensor(const fb::Tensor &table, TensorDesc &tensor) {
    tensor.name = text(table.name());
    tensor.type = elementType(table.type());
    tensor.storageType = elementType(table.storage_type());
    tensor.shape = numbers(table.shape());
    tensor.indexBound = table.index_bound();
    tensor.arithmeticBound = table.arithmetic_bound();
    tensor.preset = table.preset().value_or(false);
    each(table.sizes(), tensor.sizes, [&](const fb::Size &entry, bytecode::Size &size) {
      each(entry.terms(), size.terms, [&](const fb::SizeTerm &term, bytecode::SizeTerm &desc) {
        desc = {term.coefficient(), numbers(term.symbols())};
      });
    });
    if (const fb::Quantization *quantization = table.quantization()) {
      tensor.quantization.scales = numbers(quantization->scales());
      tensor.quantization.zeroPoints = numbers(quantization->zero_points());
      tensor.quantization.axis = quantization->axis();
    }
  }

  void readDebugTensor(const fb::DebugTensor &table, DebugTensorDesc &tensor) {
    tensor.name = text(table.name());
    tensor.type = elementType(table.type());
    tensor.shape = numbers(table.shape());
    tensor.permutation = numbers(table.permutation());
    tensor.onnxShape = numbers(table.onnx_shape());
    tensor.region = static_cast<Region>(table.region());
    tensor.index = table.index();
    tensor.offset = table.offset();
    tensor.indexBound = table.index_bound();
  }

  void readProgram(const fb::Program &table, ProgramDesc &program) {
    program.name = text(table.name());
    program.numSlots = table.num_slots();
    program.constants = numbers(table.constants());
    program.kernels = numbers(table.kernels());
    program.target = text(table.target());
    program.launchOps = texts(table.launch_ops());
    program.ranks = numbers(table.ranks());
    program.windows = table.windows();
    program.places = texts(table.places());
    program.launchPlaces = numbers(table.launch_places());
    program.launchScopes = numbers(table.launch_scopes());
    program.launchTasks = numbers(table.launch_tasks());
    program.taskEdges = numbers(table.task_edges());
    if (!programs.holds(table.code())) {
      failure = "program '" + program.name + "': lies outside its section";
      return;
    }
    const uint8_t *code = programs.data + table.code()->begin();
    program.code.assign(code, code + table.code()->size());
  }

  void readNet(const fb::Net &table, NetDesc &net) {
    net.name = text(table.name());
    net.quantize = text(table.quantize());
    net.preprocess = text(table.preprocess());
    each(table.variants(), net.variants, [&](auto &entry, VariantDesc &variant) {
      auto read = [&](const fb::Tensor &table, TensorDesc &tensor) { readTensor(table, tensor); };
      each(entry.inputs(), variant.inputs, read);
      each(entry.outputs(), variant.outputs, read);
      readProgram(*entry.program(), variant.program);
      variant.workspaceBytes = entry.workspace_bytes();
      each(entry.debug_tensors(), variant.debugTensors,
           [&](const fb::DebugTensor &table, DebugTensorDesc &tensor) { readDebugTensor(table, tensor); });
      variant.absorbed = texts(entry.absorbed());
      variant.hostOps = texts(entry.host_ops());
      if (const fb::StateUse *use = entry.state())
        variant.state = {use->group(), use->rows(), use->limit()};
      each(entry.symbols(), variant.symbols, [](const fb::Symbol &table, SymbolDesc &symbol) {
        symbol = {text(table.name()), table.least(), table.greatest(), table.multiple()};
      });
    });
  }

  void readState(const fb::StateGroup &table, StateGroupDesc &group) {
    group.name = text(table.name());
    group.bytes = table.bytes();
    each(table.tensors(), group.tensors, [&](const fb::StateTensor &entry, StateTensorDesc &tensor) {
      tensor.name = text(entry.name());
      tensor.output = text(entry.output());
      tensor.type = elementType(entry.type());
      tensor.shape = numbers(entry.shape());
      tensor.offset = entry.offset();
      tensor.places = entry.places();
      tensor.sequenceAxis = entry.sequence_axis();
      tensor.initial = text(entry.initial());
    });
  }

  const Section &commands, &programs, &weights;
};

} // namespace

Status readModel(const fb::Model &metadata, const Section &commands, const Section &programs, const Section &weights,
                 ModelDesc &model, WeightLayout &layout) {
  MetadataReader reader(commands, programs, weights);
  reader.read(metadata, model, layout);
  if (!reader.failure.empty())
    return Failure{reader.failure};
  return {};
}

} // namespace pto_mlir::pmodel
