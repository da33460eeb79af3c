// Implementation of TopJIT. The compiled function takes one memref per input, weight and result.
#include "pto_mlir/Compiler/TopJIT.h"

#include "Diagnostics.h"
#include "HostProgram.h"
#include "NumpyType.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/Transforms/AllocationOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "pto_mlir/ByteCode/HostedProgram.h"
#include "pto_mlir/Conversion/ControlToVM/Passes.h"
#include "pto_mlir/Conversion/HostToVM/WeightBlobs.h"
#include "pto_mlir/Conversion/TopToLinalg/Passes.h"
#include "pto_mlir/Dialect/Top/IR/FileTypes.h"
#include "pto_mlir/Dialect/Top/IR/State.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Dialect/Top/Transforms/ModuleIO.h"
#include "pto_mlir/Dialect/Top/Transforms/Passes.h"
#include "pto_mlir/Pipelines/Registration.h"
#include "pto_mlir/Support/ElementType.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/TargetSelect.h"
#include <map>

using namespace mlir;

namespace pto_mlir {
namespace {

// A tensor of the net, with its place outside.
struct Port {
  std::string name;
  RankedTensorType type;
  bool channelsLast = false; // stored NHWC, returned as NCHW
};

/// numpy's type name, or MLIR's where numpy has none.
std::string numpyName(Type type) {
  if (auto name = numpyType(type))
    return *name;
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

// The C calling convention of a memref: pointers, offset, sizes, strides.
std::vector<int64_t> descriptor(const void *data, llvm::ArrayRef<int64_t> shape) {
  int64_t address = reinterpret_cast<intptr_t>(data);
  std::vector<int64_t> words{address, address, 0};
  words.insert(words.end(), shape.begin(), shape.end());
  std::vector<int64_t> strides(shape.size(), 1);
  for (int64_t dim = static_cast<int64_t>(shape.size()) - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * shape[dim + 1];
  words.insert(words.end(), strides.begin(), strides.end());
  return words;
}

// The tensor for an input; null, with an error, when missing or of another type or shape.
const HostTensor *checkedInput(const Port &port, const std::vector<HostTensor> &tensors, Errors &errors) {
  auto given = llvm::find_if(tensors, [&](const HostTensor &tensor) { return tensor.name == port.name; });
  std::string type = numpyName(port.type.getElementType());
  std::string wanted = "; the net reads " + type + " of shape " + shapeText(port.type.getShape());
  if (given == tensors.end())
    errors.push_back("input '" + port.name + "' is missing" + wanted);
  else if (auto actual = RankedTensorType::get(given->shape, port.type.getElementType());
           given->type != type || failed(verifyCompatibleShape(actual, port.type)) ||
           static_cast<int64_t>(given->bytes.size()) != top::tensorBytes(actual))
    errors.push_back("input '" + port.name + "' is " + given->type + " of shape " + shapeText(given->shape) + wanted);
  else
    return &*given;
  return nullptr;
}

// NHWC -> NCHW, for any number of spatial dimensions.
HostTensor channelsFirst(const HostTensor &tensor, int64_t elementSize) {
  HostTensor result = tensor;
  int64_t rank = tensor.shape.size(), channels = tensor.shape.back(), batch = tensor.shape.front();
  int64_t pixels = 1;
  for (int64_t dim = 1; dim + 1 < rank; ++dim)
    pixels *= tensor.shape[dim];
  result.shape.assign({batch, channels});
  result.shape.insert(result.shape.end(), tensor.shape.begin() + 1, tensor.shape.end() - 1);
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t p = 0; p < pixels; ++p)
      for (int64_t c = 0; c < channels; ++c)
        std::copy_n(tensor.bytes.data() + ((n * pixels + p) * channels + c) * elementSize, elementSize,
                    result.bytes.data() + ((n * channels + c) * pixels + p) * elementSize);
  return result;
}

} // namespace

namespace {

// A compiled net without control flow.
struct CompiledNet {
  explicit CompiledNet(MLIRContext &context) : context(context) {}

  bool compile(ModuleOp module, bool allTensors);
  std::optional<std::vector<HostTensor>> run(const std::vector<HostTensor> &inputs, Errors &errors) const;

  MLIRContext &context;
  std::vector<Port> inputs, results;
  size_t numOutputs = 0; // the remaining results are named inner tensors
  std::vector<top::Weight> weights;
  std::unique_ptr<ExecutionEngine> engine;

private:
  void collectResults(func::FuncOp main, bool allTensors);
  void makeParameters(func::FuncOp main);
  LogicalResult lower(ModuleOp module);
};

std::vector<Port> inputPorts(func::FuncOp main) {
  std::vector<Port> ports;
  for (BlockArgument argument : main.getArguments()) {
    std::string name = top::getTensorName(argument).str();
    ports.push_back({name.empty() ? "input_" + std::to_string(argument.getArgNumber()) : name,
                     cast<RankedTensorType>(argument.getType()), false});
  }
  return ports;
}

// A compiled module with control flow: its nets, and the program that calls them.
class CompiledProgram {
public:
  bool compile(ModuleOp module, bool allTensors, Errors &errors);
  std::optional<std::vector<HostTensor>> run(const std::vector<HostTensor> &given, Errors &errors);

private:
  Status call(const std::string &name, const std::vector<bytecode::HostedTensor> &operands,
              std::vector<bytecode::HostedTensor> &made);

  std::map<std::string, std::unique_ptr<CompiledNet>> nets;
  std::vector<Port> inputs, outputs;
  std::unique_ptr<bytecode::HostedProgram> program;
  std::map<std::string, HostTensor> inner; // named tensors of nets, from the most recent calls
};

} // namespace

struct TopJIT::Impl {
  explicit Impl(DialectRegistry &registry) : context(registry, MLIRContext::Threading::DISABLED) {}
  MLIRContext context;
  std::unique_ptr<CompiledNet> net; // or
  std::unique_ptr<CompiledProgram> program;
};

// Collects the outputs, then (with `allTensors`) every other named tensor once.
void CompiledNet::collectResults(func::FuncOp main, bool allTensors) {
  Block &block = main.getBody().front();
  Operation *terminator = block.getTerminator();
  SmallVector<Value> values(terminator->getOperands());
  llvm::StringSet<> seen;
  for (auto [index, value] : llvm::enumerate(values)) {
    auto attr = main.getResultAttrOfType<StringAttr>(index, top::kNameAttr);
    std::string name = attr ? attr.getValue().str() : top::getTensorName(value).str();
    if (name.empty())
      name = "output_" + std::to_string(index);
    results.push_back({name, cast<RankedTensorType>(value.getType()), false});
    seen.insert(name);
  }
  numOutputs = results.size();
  for (Operation &op : block.without_terminator()) {
    if (!allTensors || isa<top::WeightOp, arith::ConstantOp>(op))
      continue;
    for (Value value : op.getResults()) {
      StringRef name = top::getTensorName(value);
      if (name.empty() || !seen.insert(name).second)
        continue;
      auto type = cast<RankedTensorType>(value.getType());
      if (auto shape = top::getShape(main->getParentOp(), name))
        type = type.clone(*shape);
      results.push_back({name.str(), type, top::getTensorLayout(value) == "NHWC" && type.getRank() >= 3});
      values.push_back(value);
    }
  }
  terminator->setOperands(values);
  main.removeResAttrsAttr();
  main.setFunctionType(FunctionType::get(main.getContext(), main.getArgumentTypes(), ValueRange(values).getTypes()));
}

// Tensors of the signature and weights become memref parameters.
void CompiledNet::makeParameters(func::FuncOp main) {
  Block &block = main.getBody().front();
  OpBuilder builder(main.getContext());
  Location loc = main.getLoc();
  auto parameter = [&](Type type) -> Value {
    auto tensor = cast<RankedTensorType>(type);
    return block.addArgument(MemRefType::get(tensor.getShape(), tensor.getElementType()), loc);
  };
  unsigned count = block.getNumArguments();
  builder.setInsertionPointToStart(&block);
  auto replace = [&](Value tensor) {
    Value memory = parameter(tensor.getType());
    tensor.replaceAllUsesWith(builder.create<bufferization::ToTensorOp>(loc, memory, /*restrict=*/true));
  };
  for (unsigned i = 0; i < count; ++i)
    replace(block.getArgument(i));
  auto &store = context.getLoadedDialect<top::TopDialect>()->weights();
  for (auto weight : llvm::make_early_inc_range(block.getOps<top::WeightOp>())) {
    weights.push_back(*store.lookup(weight.getName()));
    replace(weight.getOutput());
    weight.erase();
  }
  Operation *terminator = block.getTerminator();
  builder.setInsertionPoint(terminator);
  for (Value value : terminator->getOperands())
    builder.create<bufferization::MaterializeInDestinationOp>(loc, Type(), value, parameter(value.getType()),
                                                              /*restrict=*/true,
                                                              /*writable=*/true);
  terminator->setOperands({});
  block.eraseArguments(0, count);
  main.removeArgAttrsAttr();
  main.setFunctionType(FunctionType::get(main.getContext(), block.getArgumentTypes(), {}));
  main->setAttr("llvm.emit_c_interface", builder.getUnitAttr());
}

LogicalResult CompiledNet::lower(ModuleOp module) {
  RewritePatternSet concats(&context);
  tensor::populateDecomposeTensorConcatPatterns(concats);
  if (failed(applyPatternsAndFoldGreedily(module, std::move(concats))))
    return failure();
  PassManager pm(&context);
  pm.addPass(createCSEPass());
  bufferization::OneShotBufferizationOptions options;
  // memref.copy between strided memrefs would call a runtime library.
  options.memCpyFn = [](OpBuilder &builder, Location loc, Value from, Value to) {
    linalg::makeMemRefCopyOp(builder, loc, from, to);
    return success();
  };
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  bufferization::buildBufferDeallocationPipeline(pm, {});
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createConvertSCFToCFPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  return pm.run(module);
}

bool CompiledNet::compile(ModuleOp module, bool allTensors) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || !main.getBody().hasOneBlock()) {
    module.emitError("has no function @main of one block");
    return false;
  }
  for (BlockArgument argument : main.getArguments())
    if (!isa<RankedTensorType>(argument.getType())) {
      main.emitError("@main has an argument that is not a tensor: ") << argument.getType();
      return false;
    }
  inputs = inputPorts(main);
  PassManager layout(&context);
  layout.addPass(top::createTopLayout());
  if (failed(layout.run(module)))
    return false;
  collectResults(main, allTensors);
  PassManager linalg(&context);
  linalg.addPass(createConvertTopToLinalg({/*attentionKernels=*/false, /*stateWrites=*/false, /*templates=*/false}));
  if (failed(linalg.run(module)))
    return false;
  for (auto weight : main.getOps<top::WeightOp>())
    if (!context.getLoadedDialect<top::TopDialect>()->weights().lookup(weight.getName())) {
      weight.emitError("the weight '") << weight.getName() << "' is not in the weight file";
      return false;
    }
  makeParameters(main);
  if (failed(lower(module)))
    return false;
  ExecutionEngineOptions options;
  // No LLVM optimisation passes: on a whole net in one function they take 40 s, the run less than one.
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  llvm::Expected<std::unique_ptr<ExecutionEngine>> created = ExecutionEngine::create(module, options);
  if (!created) {
    module.emitError("cannot be compiled for this CPU: ") << llvm::toString(created.takeError());
    return false;
  }
  engine = std::move(*created);
  return true;
}

std::optional<std::vector<HostTensor>> CompiledNet::run(const std::vector<HostTensor> &tensors, Errors &errors) const {
  std::vector<std::vector<int64_t>> descriptors;
  size_t before = errors.size();
  for (const Port &port : inputs)
    if (const HostTensor *given = checkedInput(port, tensors, errors))
      descriptors.push_back(descriptor(given->bytes.data(), given->shape));
  if (errors.size() != before)
    return std::nullopt;
  for (const top::Weight &weight : weights)
    descriptors.push_back(descriptor(weight.bytes.data(), weight.type.getShape()));
  std::vector<HostTensor> made;
  for (const Port &port : results) {
    std::vector<char> bytes(top::tensorBytes(port.type).value_or(0));
    made.push_back({port.name, port.type.getShape().vec(), numpyName(port.type.getElementType()), std::move(bytes)});
    descriptors.push_back(descriptor(made.back().bytes.data(), made.back().shape));
  }
  std::vector<void *> pointers, arguments;
  for (std::vector<int64_t> &words : descriptors)
    pointers.push_back(words.data());
  for (void *&pointer : pointers)
    arguments.push_back(&pointer);
  if (llvm::Error error = engine->invokePacked("_mlir_ciface_main", arguments)) {
    errors.push_back(llvm::toString(std::move(error)));
    return std::nullopt;
  }
  for (auto [port, tensor] : llvm::zip(results, made))
    if (port.channelsLast)
      tensor = channelsFirst(tensor, top::elementBytes(port.type.getElementType()));
  return made;
}

//===-- Control flow ------------------------------------------------------===//

Status CompiledProgram::call(const std::string &name, const std::vector<bytecode::HostedTensor> &operands,
                             std::vector<bytecode::HostedTensor> &made) {
  const CompiledNet &net = *nets.at(name);
  std::vector<HostTensor> given;
  for (auto [port, tensor] : llvm::zip_equal(net.inputs, operands))
    given.push_back({port.name, tensor.shape, numpyName(port.type.getElementType()), tensor.bytes});
  Errors errors;
  auto tensors = net.run(given, errors);
  if (!tensors)
    return Failure{errors.front()};
  for (auto [i, tensor] : llvm::enumerate(*tensors)) {
    if (i < net.numOutputs)
      made.push_back({*fileElementType(net.results[i].type.getElementType()), tensor.shape, tensor.bytes});
    inner[tensor.name] = std::move(tensor);
  }
  return {};
}

bool CompiledProgram::compile(ModuleOp module, bool allTensors, Errors &errors) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  inputs = inputPorts(main);
  for (auto [i, type] : llvm::enumerate(main.getResultTypes())) {
    auto name = main.getResultAttrOfType<StringAttr>(i, top::kNameAttr);
    outputs.push_back({name ? name.str() : "output_" + std::to_string(i), cast<RankedTensorType>(type), false});
  }
  top::forgetStates(main); // they are tensors of the program here
  PassManager pm(module.getContext());
  pm.addPass(createConvertControlToVM());
  if (failed(pm.run(module)))
    return false;
  auto desc = hostProgram(module, "host", errors);
  if (!desc)
    return false;
  for (ModuleOp part : llvm::make_early_inc_range(module.getOps<ModuleOp>())) {
    std::unique_ptr<CompiledNet> &net = nets[part.getSymName()->str()];
    net = std::make_unique<CompiledNet>(*module.getContext());
    part->remove();
    OwningOpRef<ModuleOp> own(part);
    if (!net->compile(*own, allTensors))
      return false;
  }
  auto kernel = [this](const std::string &name, const std::vector<bytecode::HostedTensor> &operands,
                       std::vector<bytecode::HostedTensor> &made) { return call(name, operands, made); };
  auto loaded = bytecode::HostedProgram::load(desc->code, kernel);
  if (!loaded) {
    errors.push_back(loaded.error());
    return false;
  }
  program = loaded.take();
  return true;
}

std::optional<std::vector<HostTensor>> CompiledProgram::run(const std::vector<HostTensor> &given, Errors &errors) {
  std::vector<bytecode::HostedTensor> arguments;
  for (const Port &port : inputs)
    if (const HostTensor *tensor = checkedInput(port, given, errors))
      arguments.push_back({*fileElementType(port.type.getElementType()), tensor->shape, tensor->bytes});
  if (arguments.size() != inputs.size())
    return std::nullopt;
  inner.clear();
  auto results = program->run(arguments);
  if (!results) {
    errors.push_back(results.error());
    return std::nullopt;
  }
  std::vector<HostTensor> tensors;
  for (auto [port, tensor] : llvm::zip_equal(outputs, *results)) {
    tensors.push_back({port.name, tensor.shape, numpyName(port.type.getElementType()), std::move(tensor.bytes)});
    inner.erase(port.name);
  }
  for (auto &[name, tensor] : inner)
    tensors.push_back(std::move(tensor));
  return tensors;
}

TopJIT::TopJIT(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
TopJIT::~TopJIT() = default;

std::unique_ptr<TopJIT> TopJIT::load(const std::string &mlirFile, bool allTensors, Errors &errors) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  DialectRegistry registry;
  registerDialects(registry);
  memref::registerAllocationOpInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  auto impl = std::make_unique<Impl>(registry);
  // Ops of these dialects are created outside passes, so load the dialects explicitly.
  impl->context.loadDialect<bufferization::BufferizationDialect, tensor::TensorDialect>();
  OwningOpRef<ModuleOp> module = top::readTopModule(mlirFile, impl->context, errors);
  if (!module)
    return nullptr;
  size_t before = errors.size();
  DiagnosticCollector collector(&impl->context, errors);
  bool isGood;
  if (hasControlFlow(*module)) {
    impl->program = std::make_unique<CompiledProgram>();
    isGood = impl->program->compile(*module, allTensors, errors);
  } else {
    impl->net = std::make_unique<CompiledNet>(impl->context);
    isGood = impl->net->compile(*module, allTensors);
  }
  if (!isGood) {
    if (errors.size() == before)
      errors.push_back(mlirFile + ": cannot be compiled for this CPU");
    return nullptr;
  }
  return std::unique_ptr<TopJIT>(new TopJIT(std::move(impl)));
}

std::optional<std::vector<HostTensor>> TopJIT::run(const std::vector<HostTensor> &inputs, Errors &errors) const {
  return impl->program ? impl->program->run(inputs, errors) : impl->net->run(inputs, errors);
}

} // namespace pto_mlir
