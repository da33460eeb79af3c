// Code generation of every kernel, bytecode of the host program, and weights -> .pmodel.
#include "pto_mlir/Compiler/ModelBuilder.h"
#include "AddCode.h"

#include "pto_mlir/Backend/Backend.h"
#include "pto_mlir/Backend/Codegen.h"
#include "pto_mlir/Conversion/HostToVM/WeightBlobs.h"
#include "pto_mlir/Dialect/Top/IR/FileTypes.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Dialect/VM/IR/VM.h"
#include "pto_mlir/Dialect/VM/Transforms/ByteCodeConverter.h"

using namespace mlir;

namespace pto_mlir {
namespace {

std::vector<std::string> strings(ArrayAttr attr) {
  std::vector<std::string> list;
  if (attr)
    for (auto text : attr.getAsRange<StringAttr>())
      list.push_back(text.str());
  return list;
}

/// An input or output from the attribute {name, type, model_type, index_bound} set by convert-host-to-vm. Emits an
/// error and returns nullopt for a type that the file format lacks.
std::optional<pmodel::TensorDesc> tensorDesc(DictionaryAttr attr, Operation *where) {
  auto type = cast<RankedTensorType>(attr.getAs<TypeAttr>("type").getValue());
  auto model = attr.getAs<TypeAttr>("model_type");
  Type outside = model ? model.getValue() : type.getElementType();
  auto element = fileElementType(outside), storage = fileElementType(type.getElementType());
  if (!element || !storage) {
    where->emitError() << "\"" << attr.getAs<StringAttr>("name").getValue() << "\" has element type " << outside
                       << ", which a .pmodel cannot hold";
    return std::nullopt;
  }
  pmodel::TensorDesc desc;
  desc.name = attr.getAs<StringAttr>("name").str();
  desc.type = *element;
  desc.storageType = *storage;
  if (auto bound = attr.getAs<IntegerAttr>("index_bound"))
    desc.indexBound = bound.getInt();
  desc.arithmeticBound = attr.contains("arithmetic_bound");
  desc.preset = attr.contains("preset");
  desc.shape.assign(type.getShape().begin(), type.getShape().end());
  if (auto sizes = attr.getAs<AffineMapAttr>("sizes"))
    for (AffineExpr size : sizes.getValue().getResults())
      desc.sizes.push_back(vm::sizeOf(size).value_or(bytecode::Size{}));
  return desc;
}

/// A symbol from an entry of kSymbolsAttr.
pmodel::SymbolDesc symbolDesc(DictionaryAttr attr) {
  auto number = [&](StringRef name) { return uint64_t(attr.getAs<IntegerAttr>(name).getInt()); };
  return {attr.getAs<StringAttr>("name").str(), number("least"), number("greatest"), number("multiple")};
}

/// A debug tensor; NHWC tensors get the permutation to ONNX's order.
std::optional<pmodel::DebugTensorDesc> keptDesc(DictionaryAttr attr, ModuleOp module) {
  auto type = cast<RankedTensorType>(attr.getAs<TypeAttr>("type").getValue());
  auto element = fileElementType(type.getElementType());
  if (!element)
    return std::nullopt;
  auto place = attr.getAs<top::PlaceAttr>("place");
  pmodel::DebugTensorDesc desc;
  desc.name = attr.getAs<StringAttr>("name").str();
  desc.type = *element;
  ArrayRef<int64_t> shape = top::getShape(module, desc.name).value_or(type.getShape());
  desc.shape.assign(shape.begin(), shape.end());
  desc.onnxShape = desc.shape;
  desc.region = pmodel::Region(uint32_t(place.getRegion()));
  bool whole = place.getRegion() == top::Region::Input || place.getRegion() == top::Region::Output;
  desc.index = whole ? place.getOffset() : 0;
  desc.offset = whole ? 0 : place.getOffset();
  if (auto bound = attr.getAs<IntegerAttr>("index_bound"))
    desc.indexBound = bound.getInt();
  size_t rank = desc.shape.size();
  if (attr.getAs<StringAttr>("layout").getValue() == "NHWC" && rank >= 3) {
    // ONNX's dimension 1 (channels) is stored last.
    desc.permutation = {0, uint8_t(rank - 1)};
    for (size_t i = 1; i + 1 < rank; ++i)
      desc.permutation.push_back(i);
    for (size_t i = 0; i < rank; ++i)
      desc.onnxShape[i] = desc.shape[desc.permutation[i]];
  }
  return desc;
}

/// Names of the tensors computed by a launch: from its attribute if there are several, else from its location.
std::vector<std::string> tensorsOf(vm::LaunchOp launch) {
  if (auto names = launch->getAttrOfType<ArrayAttr>("vm.tensors"))
    return strings(names);
  StringRef name = top::getTensorName(launch.getLoc());
  return name.empty() ? std::vector<std::string>() : std::vector<std::string>{name.str()};
}

/// The group of state from the attribute of the program, and how it uses it; false for a type that the file format
/// lacks.
bool addState(vm::FuncOp program, StringRef name, pmodel::ModelDesc &model) {
  auto state = program->getAttrOfType<DictionaryAttr>(vm::kStateAttr);
  if (!state)
    return true;
  auto number = [](DictionaryAttr attr, StringRef key) { return attr.getAs<IntegerAttr>(key).getInt(); };
  pmodel::StateGroupDesc group;
  auto shared = state.getAs<StringAttr>("group"); // by the nets of a program
  group.name = shared ? shared.str() : name.str();
  group.bytes = number(state, "bytes");
  for (auto attr : state.getAs<ArrayAttr>("tensors").getAsRange<DictionaryAttr>()) {
    auto type = cast<RankedTensorType>(attr.getAs<TypeAttr>("type").getValue());
    auto element = fileElementType(type.getElementType());
    if (!element) {
      program.emitError() << "state '" << attr.getAs<StringAttr>("name").getValue() << "' has element type "
                          << type.getElementType() << ", which a .pmodel cannot hold";
      return false;
    }
    pmodel::StateTensorDesc &tensor = group.tensors.emplace_back();
    tensor.name = attr.getAs<StringAttr>("name").str();
    tensor.output = attr.getAs<StringAttr>("output").str();
    tensor.type = *element;
    tensor.shape.assign(type.getShape().begin(), type.getShape().end());
    tensor.offset = number(attr, "offset");
    tensor.places = number(attr, "places");
    tensor.sequenceAxis = number(attr, "axis");
  }
  model.nets[0].variants[0].state = {0, uint64_t(number(state, "rows")), uint64_t(number(state, "limit"))};
  model.states.push_back(std::move(group));
  return true;
}

/// Where launches stand in a program of PyPTO, and what orders its tasks.
void noteTasks(vm::FuncOp program, pmodel::ProgramDesc &desc) {
  llvm::StringMap<uint32_t> known;
  program.walk([&](vm::LaunchOp launch) {
    if (!launch.isDevice())
      return;
    auto place = launch->getAttrOfType<StringAttr>(vm::kPlaceAttr);
    auto [entry, isNew] = known.insert({place ? place.getValue() : StringRef(), uint32_t(desc.places.size())});
    if (isNew)
      desc.places.push_back(entry->getKey().str());
    desc.launchPlaces.push_back(entry->second);
    auto task = launch->getAttrOfType<DenseI32ArrayAttr>(vm::kTaskAttr);
    desc.launchScopes.push_back(task ? task[0] : 0);
    desc.launchTasks.push_back(task ? task[1] : 0);
  });
  if (desc.places == std::vector<std::string>{""}) {
    desc.places.clear();
    desc.launchPlaces.clear();
  }
  auto edges = program->getAttrOfType<DenseI32ArrayAttr>(vm::kTaskEdgesAttr);
  if (edges)
    desc.taskEdges.assign(edges.asArrayRef().begin(), edges.asArrayRef().end());
  else
    desc.launchScopes.clear(), desc.launchTasks.clear();
}

std::optional<pmodel::VariantDesc> variantDesc(ModuleOp module, vm::FuncOp program,
                                               ArrayRef<pmodel::KernelDesc> kernels, StringRef processor) {
  pmodel::VariantDesc variant;
  for (auto attr : program->getAttrOfType<ArrayAttr>("vm.inputs").getAsRange<DictionaryAttr>()) {
    auto desc = tensorDesc(attr, program);
    if (!desc)
      return std::nullopt;
    variant.inputs.push_back(std::move(*desc));
  }
  for (auto attr : program->getAttrOfType<ArrayAttr>("vm.outputs").getAsRange<DictionaryAttr>()) {
    auto desc = tensorDesc(attr, program);
    if (!desc)
      return std::nullopt;
    variant.outputs.push_back(std::move(*desc));
  }
  for (auto attr : program->getAttrOfType<ArrayAttr>("vm.kept").getAsRange<DictionaryAttr>())
    if (auto desc = keptDesc(attr, module))
      variant.debugTensors.push_back(std::move(*desc));
  // Debug builds only: the names may be as large as a small net.
  if (llvm::any_of(variant.debugTensors, [](const auto &tensor) { return tensor.indexBound == 0; })) {
    variant.absorbed = strings(module->getAttrOfType<ArrayAttr>(top::kAbsorbedAttr));
    for (std::string &name : strings(program->getAttrOfType<ArrayAttr>("vm.absorbed")))
      variant.absorbed.push_back(std::move(name));
  }
  program.walk([&](vm::AllocOp alloc) { variant.workspaceBytes += alloc.getBytes(); });
  program.walk([&](vm::LaunchOp call) {
    if (!call.isDevice())
      variant.hostOps.push_back((top::getTensorName(call.getLoc()) + ": " + *call.getReason()).str());
  });
  if (auto symbols = program->getAttrOfType<ArrayAttr>("vm.symbols"))
    for (auto symbol : symbols.getAsRange<DictionaryAttr>())
      variant.symbols.push_back(symbolDesc(symbol));
  auto code = vm::ByteCodeConverter(program, kernels, processor).convert();
  if (!code)
    return std::nullopt;
  variant.program = std::move(*code);
  if (auto windows = program->getAttrOfType<IntegerAttr>(vm::kWindowsAttr))
    variant.program.windows = windows.getInt();
  noteTasks(program, variant.program);
  bool isNamed = false, hasRanks = false;
  program.walk([&](vm::LaunchOp launch) {
    std::vector<std::string> tensors = tensorsOf(launch);
    isNamed |= !tensors.empty();
    variant.program.launchOps.push_back(llvm::join(tensors, ", "));
    auto rank = launch->getAttrOfType<IntegerAttr>(vm::kRankAttr);
    hasRanks |= rank != nullptr;
    variant.program.ranks.push_back(rank ? rank.getInt() : 0);
  });
  if (!hasRanks)
    variant.program.ranks.clear();
  if (!isNamed)
    variant.program.launchOps.clear();
  return variant;
}

pmodel::NetDesc netOf(ModuleOp module, pmodel::VariantDesc variant) {
  pmodel::NetDesc net;
  net.name = module.getSymName().value_or("net").str();
  if (auto preprocess = module->getAttrOfType<StringAttr>("top.preprocess"))
    net.preprocess = preprocess.str();
  net.variants.push_back(std::move(variant));
  return net;
}

} // namespace

std::optional<pmodel::NetDesc> buildNet(ModuleOp module, vm::FuncOp program, ArrayRef<pmodel::KernelDesc> kernels,
                                        StringRef processor) {
  auto variant = variantDesc(module, program, kernels, processor);
  return variant ? std::optional(netOf(module, std::move(*variant))) : std::nullopt;
}

std::optional<BuiltModel> buildModel(ModuleOp module, const DeployOptions &options, Errors &errors) {
  auto loaded = backend::Backend::instance().load(options.processor);
  if (!loaded.processor) {
    errors.push_back(loaded.error);
    return std::nullopt;
  }
  auto program = module.lookupSymbol<vm::FuncOp>("main");
  if (!program) {
    errors.push_back("the module has no host program");
    return std::nullopt;
  }
  llvm::StringMap<std::vector<std::string>> sources;
  program.walk([&](vm::LaunchOp call) { llvm::append_range(sources[call.getKernelName()], tensorsOf(call)); });

  pmodel::ModelDesc model;
  model.producer = kProducer;
  model.processor = options.processor;
  model.numCore = options.numCore;
  // Source locations are as large as the commands, so only debug builds have them; kernels name their tensors in any
  // case.
  auto kernels =
      generateKernels(module, *loaded.processor, options.numCore, {/*text=*/false, /*sources=*/options.debug});
  if (!kernels)
    return std::nullopt;
  model.kernels = std::move(*kernels);
  for (pmodel::KernelDesc &kernel : model.kernels)
    kernel.sourceOps = sources.lookup(kernel.name);
  auto weights = weightBlobs(module);
  if (!weights)
    return std::nullopt;
  model.weights = std::move(*weights);
  auto variant = variantDesc(module, program, model.kernels, options.processor);
  if (!variant)
    return std::nullopt;

  DeploySummary summary;
  program.walk([&](vm::LaunchOp) { ++summary.launches; });
  summary.hostOps = variant->hostOps;
  summary.absorbed = variant->absorbed;
  summary.clipped = strings(module->getAttrOfType<ArrayAttr>(top::kClippedAttr));
  for (const auto *list : {&variant->inputs, &variant->outputs})
    for (const pmodel::TensorDesc &tensor : *list)
      if (tensor.type != tensor.storageType)
        summary.narrowed.push_back(tensor.name + " (" + std::string(elementTypeName(tensor.type)) + " as " +
                                   std::string(elementTypeName(tensor.storageType)) + ")");

  pmodel::NetDesc net = netOf(module, std::move(*variant));
  net.quantize = options.quantize;
  model.nets.push_back(std::move(net));
  if (!addState(program, model.nets[0].name, model))
    return std::nullopt;

  return BuiltModel{std::move(model), std::move(summary)};
}

std::optional<DeploySummary> withSizes(DeploySummary summary, const Result<pmodel::WriteSummary> &written,
                                       Errors &errors) {
  if (!written) {
    errors.push_back(written.error());
    return std::nullopt;
  }
  summary.kernels = written->numKernels;
  summary.commandBytes = written->commandBytes;
  summary.weightBytes = written->weightBytes;
  summary.fileBytes = written->fileBytes;
  return summary;
}

} // namespace pto_mlir
