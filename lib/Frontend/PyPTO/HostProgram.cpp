// The launches of an orchestrator as the host program of a net.
#include "Orchestrator.h"

#include "mlir/IR/Builders.h"
#include "pto_mlir/Dialect/VM/IR/VM.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

/// Writes `vm.func @main`: the ports by number of their buffer, then the launches.
class HostProgram {
public:
  HostProgram(MLIRContext &context, Location loc, size_t numBuffers)
      : context(context), b(&context), loc(loc), input(numBuffers, -1), output(numBuffers, -1) {}

  void addInput(size_t buffer, const std::string &name, ArrayRef<int64_t> shape, pypto::DataType dtype) {
    input[buffer] = int(inputs.size());
    inputs.push_back(describe(name, shape, dtype, false));
  }
  /// An output that begins with what it is given.
  void addOutput(size_t buffer, const std::string &name, ArrayRef<int64_t> shape, pypto::DataType dtype) {
    output[buffer] = int(outputs.size());
    outputs.push_back(describe(name, shape, dtype, true));
  }

  /// The function at the end of `module`; launches go behind its workspace.
  void begin(ModuleOp module, int64_t workspace, int64_t windows) {
    b.setInsertionPointToEnd(module.getBody());
    auto main = b.create<vm::FuncOp>(loc, "main", inputs.size(), outputs.size());
    main->setAttr("vm.inputs", b.getArrayAttr(inputs));
    main->setAttr("vm.outputs", b.getArrayAttr(outputs));
    main->setAttr("vm.kept", b.getArrayAttr({}));
    main->setAttr("vm.absorbed", b.getArrayAttr({}));
    if (windows)
      main->setAttr(vm::kWindowsAttr, b.getI64IntegerAttr(windows));
    block = b.createBlock(&main.getBody());
    auto type = vm::BufferType::get(&context);
    for (size_t i = 0; i < inputs.size() + outputs.size() + 1; ++i)
      block->addArgument(type, loc);
    if (workspace)
      memory = b.create<vm::AllocOp>(loc, type, b.getI64IntegerAttr(workspace));
  }
  /// Pairs of tasks, of which the second one waits for the first one.
  void setEdges(const std::vector<int32_t> &edges) {
    block->getParentOp()->setAttr(vm::kTaskEdgesAttr, b.getDenseI32ArrayAttr(edges));
  }
  /// The memory of a buffer: of what is input and output, the output, which begins with the input.
  Value place(size_t buffer) const {
    if (output[buffer] >= 0)
      return block->getArgument(inputs.size() + output[buffer]);
    return input[buffer] >= 0 ? Value(block->getArgument(input[buffer])) : memory;
  }
  bool isPort(size_t buffer) const { return output[buffer] >= 0 || input[buffer] >= 0; }

  vm::LaunchOp launch(const std::string &kernel, Location where, ArrayRef<Value> places, ArrayRef<int64_t> offsets,
                      ArrayRef<int64_t> bytes, ArrayRef<int64_t> scalars) {
    Location named = NameLoc::get(b.getStringAttr(kernel), where);
    auto op = b.create<vm::LaunchOp>(named, "device." + kernel, places, offsets, bytes);
    SmallVector<AffineExpr> words;
    for (int64_t word : scalars)
      words.push_back(b.getAffineConstantExpr(word));
    if (!words.empty())
      op.setScalarsAttr(AffineMapAttr::get(AffineMap::get(0, 0, words, &context)));
    return op;
  }
  void end() {
    b.create<vm::WaitOp>(loc);
    b.create<vm::ReturnOp>(loc);
  }

private:
  Attribute describe(const std::string &name, ArrayRef<int64_t> shape, pypto::DataType dtype, bool preset) {
    auto type = RankedTensorType::get(shape, memoryType(context, dtype));
    SmallVector<NamedAttribute> entries{b.getNamedAttr("name", b.getStringAttr(name)),
                                        b.getNamedAttr("type", TypeAttr::get(type))};
    if (preset)
      entries.push_back(b.getNamedAttr("preset", b.getUnitAttr()));
    return b.getDictionaryAttr(entries);
  }

  MLIRContext &context;
  OpBuilder b;
  Location loc;
  SmallVector<Attribute> inputs, outputs;
  std::vector<int> input, output; // number of the port, by buffer; -1: none
  Block *block = nullptr;
  Value memory;
};

/// "f.py:12:9"; empty: unknown.
std::string placeText(const ir::Span &span) {
  if (!span.is_valid())
    return "";
  return llvm::sys::path::filename(span.filename()).str() + ":" + std::to_string(span.begin_line_) + ":" +
         std::to_string(std::max(span.begin_column_, 0));
}

SmallVector<int64_t> knownOf(const std::vector<Number> &numbers) {
  return llvm::map_to_vector(numbers, [](const Number &number) { return number.known; });
}

} // namespace

OwningOpRef<ModuleOp> Orchestrator::hostModule(MLIRContext &context) {
  if (host)
    return finishHost();
  context.loadDialect<vm::VMDialect>();
  Location loc = locationOf(context, entry->span_);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc, StringRef(program->name_));
  HostProgram host(context, loc, buffers.size());
  for (const auto &[i, buffer] : llvm::enumerate(buffers)) {
    if (!buffer.direction)
      continue;
    if (*buffer.direction != ir::ParamDirection::Out)
      host.addInput(i, buffer.name, knownOf(buffer.shape), buffer.dtype);
    if (*buffer.direction != ir::ParamDirection::In)
      host.addOutput(i, buffer.name, knownOf(buffer.shape), buffer.dtype);
  }
  for (const auto &[number, view] : llvm::enumerate(results))
    host.addOutput(view.buffer, results.size() == 1 ? "result" : "result" + std::to_string(number), knownOf(view.shape),
                   view.dtype);
  host.begin(*module, windows + workspace, windows);
  for (const Launch &launch : launches) {
    SmallVector<Value> places;
    SmallVector<int64_t> offsets, bytes;
    for (const View &view : launch.pointers) {
      int64_t size = view.dtype.GetByte();
      places.push_back(host.place(view.buffer));
      const Buffer &buffer = buffers[view.buffer];
      int64_t first = host.isPort(view.buffer) ? 0 : buffer.offset + (buffer.pitch ? 0 : windows);
      offsets.push_back(first + view.offset * size);
      bytes.push_back(view.shape[0].known * size);
    }
    auto op =
        host.launch(launch.kernel->name, locationOf(context, launch.span), places, offsets, bytes, launch.scalars);
    op->setAttr(vm::kPlaceAttr, Builder(&context).getStringAttr(placeText(launch.span)));
    if (manualScopes)
      op->setAttr(vm::kTaskAttr, Builder(&context).getDenseI32ArrayAttr({int32_t(launch.scope), int32_t(launch.task)}));
    if (hasRanks())
      op->setAttr(vm::kRankAttr, IntegerAttr::get(IntegerType::get(&context, 64), launch.rank));
  }
  if (manualScopes)
    host.setEdges({taskEdges.begin(), taskEdges.end()});
  host.end();
  return module;
}

/// Inputs first, as the ports of a run have them.
void Orchestrator::setUpPorts() {
  auto eachPort = [&](llvm::function_ref<void(const ir::VarPtr &, Buffer &, bool isPreset)> visit) {
    for (bool isPreset : {false, true})
      for (size_t i = 0; i < entry->params_.size(); ++i)
        if ((buffers[i].direction == ir::ParamDirection::Out) == isPreset) {
          host->at(entry->params_[i]->span_);
          visit(entry->params_[i], buffers[i], isPreset);
        }
  };
  eachPort([&](const ir::VarPtr &param, Buffer &buffer, bool isPreset) {
    bool isNumber = ir::IsA<ir::ScalarType>(param->type_);
    buffer.given =
        host->port(buffer.name, isNumber ? SmallVector<int64_t>{1} : knownOf(buffer.shape), buffer.dtype, isPreset);
  });
  readSizes();
  eachPort([&](const ir::VarPtr &param, Buffer &buffer, bool) {
    Number elements = elementsOf(buffer.shape);
    if (ir::IsA<ir::ScalarType>(param->type_))
      buffer.memory = host->number(buffer.given);
    else if (buffer.direction == ir::ParamDirection::In)
      buffer.memory = host->memoryOf(buffer.given, emitted(elements));
    else
      buffer.memory = host->output(buffer.given, emitted(elements), elements.isKnown());
    if (!buffer.memory)
      fail(param->span_, "the host does not compute with numbers of " + std::string(buffer.dtype.Name()));
  });
  body = host->block();
}

OwningOpRef<ModuleOp> Orchestrator::finishHost() {
  SmallVector<TaskProgram::Result> ports;
  auto add = [&](const std::string &name, const Buffer &buffer) {
    TaskProgram::Result port{name, buffer.memory, {}, {}};
    for (const Number &extent : buffer.shape) {
      port.shape.push_back(extent.isKnown() ? extent.known : ShapedType::kDynamic);
      if (!extent.isKnown())
        port.extents.push_back(extent.value);
    }
    ports.push_back(std::move(port));
  };
  for (const Buffer &buffer : buffers)
    if (buffer.direction && *buffer.direction != ir::ParamDirection::In)
      add(buffer.name, buffer);
  for (const auto &[number, view] : llvm::enumerate(results))
    add(results.size() == 1 ? "result" : "result" + std::to_string(number), buffers[view.buffer]);
  host->at(entry->span_);
  return host->finish(ports);
}

} // namespace pto_mlir::pypto_frontend
