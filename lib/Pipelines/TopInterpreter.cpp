// A top module on the CPU: see the header. The compiled function takes one memref per input, weight and result.
#include "pto_mlir/Pipelines/TopInterpreter.h"

#include "Diagnostics.h"
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
#include "pto_mlir/Conversion/TopToLinalg/Passes.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Dialect/Top/Transforms/ModuleIO.h"
#include "pto_mlir/Dialect/Top/Transforms/Passes.h"
#include "pto_mlir/Pipelines/Registration.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;

namespace pto_mlir {
namespace {

// A tensor of the net, with its place outside.
struct Port {
  std::string name;
  RankedTensorType type;
  bool channelsLast = false; // held NHWC, to be given as NCHW
};

/// numpy's name, or MLIR's where numpy has none.
std::string numpyName(Type type) {
  if (auto name = numpyType(type))
    return *name;
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(shape, stream, "x");
  return shape.empty() ? "scalar" : text;
}

// What a C function takes for a memref: pointers, offset, sizes, strides.
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

// NHWC -> NCHW, of any rank.
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

struct TopInterpreter::Impl {
  explicit Impl(DialectRegistry &registry) : context(registry, MLIRContext::Threading::DISABLED) {}

  bool compile(ModuleOp module, bool allTensors);

  MLIRContext context;
  std::vector<Port> inputs, results;
  std::vector<top::Weight> weights;
  std::unique_ptr<ExecutionEngine> engine;

private:
  void collectResults(func::FuncOp main, bool allTensors);
  void makeParameters(func::FuncOp main);
  LogicalResult lower(ModuleOp module);
};

// The outputs, then (with `allTensors`) every other name once.
void TopInterpreter::Impl::collectResults(func::FuncOp main, bool allTensors) {
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
void TopInterpreter::Impl::makeParameters(func::FuncOp main) {
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
    builder.create<bufferization::MaterializeInDestinationOp>(loc, Type(), value, parameter(value.getType()), /*restrict=*/true,
                                                              /*writable=*/true);
  terminator->setOperands({});
  block.eraseArguments(0, count);
  main.removeArgAttrsAttr();
  main.setFunctionType(FunctionType::get(main.getContext(), block.getArgumentTypes(), {}));
  main->setAttr("llvm.emit_c_interface", builder.getUnitAttr());
}

LogicalResult TopInterpreter::Impl::lower(ModuleOp module) {
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

bool TopInterpreter::Impl::compile(ModuleOp module, bool allTensors) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || !main.getBody().hasOneBlock()) {
    module.emitError("has no function @main of one block");
    return false;
  }
  for (BlockArgument argument : main.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type) {
      main.emitError("@main has an argument that is no tensor: ") << argument.getType();
      return false;
    }
    std::string name = top::getTensorName(argument).str();
    inputs.push_back({name.empty() ? "input_" + std::to_string(argument.getArgNumber()) : name, type, false});
  }
  PassManager layout(&context);
  layout.addPass(top::createTopLayout());
  if (failed(layout.run(module)))
    return false;
  collectResults(main, allTensors);
  PassManager linalg(&context);
  linalg.addPass(createConvertTopToLinalg());
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
  // No LLVM passes before code generation: on a whole net in one function they take 40 s where the run takes less than one.
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

TopInterpreter::TopInterpreter(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
TopInterpreter::~TopInterpreter() = default;

std::unique_ptr<TopInterpreter> TopInterpreter::load(const std::string &mlirFile, bool allTensors, Errors &errors) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  DialectRegistry registry;
  registerDialects(registry);
  memref::registerAllocationOpInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  auto impl = std::make_unique<Impl>(registry);
  // Ops of these are made outside passes, which would load them.
  impl->context.loadDialect<bufferization::BufferizationDialect, tensor::TensorDialect>();
  OwningOpRef<ModuleOp> module = top::readTopModule(mlirFile, impl->context, errors);
  if (!module)
    return nullptr;
  size_t before = errors.size();
  DiagnosticCollector collector(&impl->context, errors);
  if (!impl->compile(*module, allTensors)) {
    if (errors.size() == before)
      errors.push_back(mlirFile + ": cannot be compiled for this CPU");
    return nullptr;
  }
  return std::unique_ptr<TopInterpreter>(new TopInterpreter(std::move(impl)));
}

std::optional<std::vector<HostTensor>> TopInterpreter::run(const std::vector<HostTensor> &inputs, Errors &errors) const {
  std::vector<std::vector<int64_t>> descriptors;
  size_t before = errors.size();
  for (const Port &port : impl->inputs) {
    auto given = llvm::find_if(inputs, [&](const HostTensor &tensor) { return tensor.name == port.name; });
    std::string type = numpyName(port.type.getElementType());
    if (given == inputs.end())
      errors.push_back("input '" + port.name + "' is missing; the net reads " + type + " of shape " + shapeText(port.type.getShape()));
    else if (given->type != type || llvm::ArrayRef(given->shape) != port.type.getShape() ||
             static_cast<int64_t>(given->bytes.size()) != top::tensorBytes(port.type))
      errors.push_back("input '" + port.name + "' is " + given->type + " of shape " + shapeText(given->shape) + "; the net reads " + type +
                       " of shape " + shapeText(port.type.getShape()));
    else
      descriptors.push_back(descriptor(given->bytes.data(), given->shape));
  }
  if (errors.size() != before)
    return std::nullopt;
  for (const top::Weight &weight : impl->weights)
    descriptors.push_back(descriptor(weight.bytes.data(), weight.type.getShape()));
  std::vector<HostTensor> results;
  for (const Port &port : impl->results) {
    std::vector<char> bytes(top::tensorBytes(port.type).value_or(0));
    results.push_back({port.name, port.type.getShape().vec(), numpyName(port.type.getElementType()), std::move(bytes)});
    descriptors.push_back(descriptor(results.back().bytes.data(), results.back().shape));
  }
  std::vector<void *> pointers, arguments;
  for (std::vector<int64_t> &words : descriptors)
    pointers.push_back(words.data());
  for (void *&pointer : pointers)
    arguments.push_back(&pointer);
  if (llvm::Error error = impl->engine->invokePacked("_mlir_ciface_main", arguments)) {
    errors.push_back(llvm::toString(std::move(error)));
    return std::nullopt;
  }
  for (auto [port, tensor] : llvm::zip(impl->results, results))
    if (port.channelsLast)
      tensor = channelsFirst(tensor, top::elementBytes(port.type.getElementType()));
  return results;
}

} // namespace pto_mlir
