#include "Importer.h"

#include "Names.h"
#include "Registry.h"
#include "TensorDecoder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/State.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include <functional>

using namespace mlir;

namespace pto_mlir::onnx {

// The default domain has two spellings: "" and "ai.onnx".
static StringRef canonicalDomain(StringRef domain) { return domain == "ai.onnx" ? StringRef() : domain; }

// The reason reported for models with sequences, optionals or maps.
static constexpr StringLiteral kNoSequences =
    "sequences, optionals and maps have no place in device memory; a tensor that grows by Concat in a Loop, or rows "
    "that a Loop or Scan collects, have";

//===-- Tensors -----------------------------------------------------------===//

Value Importer::value(StringRef name) {
  Tensor &tensor = tensors[name];
  OpBuilder::InsertionGuard guard(builder);
  // Create the constant in the entry block, since it may also be used after the subgraph.
  if (depth)
    builder.setInsertionPointToStart(entry);
  if (!tensor.value)
    tensor.value = top::createConstant(builder, top::namedLoc(builder.getContext(), name), name, *tensor.weight);
  return tensor.value;
}

RankedTensorType Importer::type(StringRef name) {
  Tensor &tensor = tensors[name];
  return tensor.value ? cast<RankedTensorType>(tensor.value.getType()) : tensor.weight->type;
}

std::optional<top::Weight> Importer::constant(StringRef name) {
  Tensor &tensor = tensors[name];
  return tensor.weight ? tensor.weight : top::getConstant(tensor.value);
}

void Importer::define(StringRef name, Value value) {
  tensors[name].value = value;
  if (top::getTensorName(value) != name)
    absorb(name);
}

void Importer::define(StringRef name, top::Weight weight) { tensors[name].weight = std::move(weight); }

//===-- Errors ------------------------------------------------------------===//

void Importer::reportNode(const ::onnx::NodeProto &node, int64_t opset, const Twine &reason) {
  std::string who = !node.name().empty() ? "node '" + node.name() + "'"
                    : node.output_size() ? "node of output '" + node.output(0) + "'"
                                         : "node without a name";
  std::string op = canonicalDomain(node.domain()).empty() ? node.op_type() : node.domain() + "." + node.op_type();
  report(who + " (" + op + ", opset " + (opset ? std::to_string(opset) : "unknown") + "): " + reason);
}

//===-- Versions, inputs, initializers ------------------------------------===//

bool Importer::checkModel() {
  const ::onnx::ModelProto &model = file.model();
  if (!model.has_graph() || !model.has_ir_version() || model.ir_version() < 1) {
    report("is not an ONNX model");
    return false;
  }
  if (model.ir_version() > kMaxIRVersion)
    report("IR version " + Twine(model.ir_version()) + " is newer than " + Twine(kMaxIRVersion) +
           ", the newest supported one");
  for (const auto &import : model.opset_import())
    opsets[canonicalDomain(import.domain())] = import.version();
  auto it = opsets.find("");
  if (it != opsets.end() && it->second > kMaxOpset)
    report("opset " + Twine(it->second) + " is newer than " + Twine(kMaxOpset) + ", the newest supported one");
  else if (it != opsets.end() && it->second < kMinOpset)
    report("opset " + Twine(it->second) + " is older than " + Twine(kMinOpset) +
           ", the oldest supported one; onnx.version_converter can convert the model");
  else if (opsets.empty())
    report("is not an ONNX model: it imports no operator set");
  if (auto name = findNonUtf8Name(model.graph())) {
    report(*name + ": the name is not UTF-8 text; rename it in the ONNX file");
    return false;
  }
  if (model.graph().sparse_initializer_size())
    report("sparse initializers are not supported");
  return errors.empty();
}

std::optional<int64_t> Importer::opsetOf(const ::onnx::NodeProto &node) const {
  auto it = opsets.find(canonicalDomain(node.domain()));
  return it == opsets.end() ? std::nullopt : std::optional<int64_t>(it->second);
}

bool Importer::importInitializers() {
  const auto &list = file.model().graph().initializer();
  for (int i = 0; i < list.size(); ++i) {
    if (tensors.contains(list[i].name()))
      report("initializer '" + list[i].name() + "' is defined twice");
    else
      importInitializer(list[i], file.rawData(i), file.isMapped(i));
  }
  return errors.empty();
}

bool Importer::importInitializer(const ::onnx::TensorProto &tensor, StringRef raw, bool isMapped) {
  std::string reason;
  std::optional<top::Weight> weight =
      decodeTensor(builder.getContext(), tensor, raw, isMapped ? file.owner() : nullptr, file, reason);
  if (!weight) {
    report("initializer '" + tensor.name() + "': " + reason);
    return false;
  }
  tensors[tensor.name()] = {Value(), std::move(weight)};
  return true;
}

// A shape as text: "[1, 3, ?, ?]".
static std::string shapeText(const ::onnx::TensorShapeProto &shape) {
  std::string text = "[";
  for (const auto &dim : shape.dim())
    text += (text.size() > 1 ? ", " : "") +
            (dim.has_dim_value() && dim.dim_value() >= 0 ? std::to_string(dim.dim_value()) : "?");
  return text + "]";
}

std::optional<SmallVector<int64_t>> Importer::inputShape(const ::onnx::ValueInfoProto &input,
                                                         const std::vector<int64_t> *given, const StatePair *state) {
  const auto &tensor = input.type().tensor_type();
  auto fail = [&](const Twine &reason) {
    report("input '" + input.name() + "': " + reason);
    return std::nullopt;
  };
  if (!tensor.has_shape() && !given)
    return fail("the model gives no shape; pass one with --input_shapes");
  if (tensor.has_shape() && given && given->size() != static_cast<size_t>(tensor.shape().dim_size()))
    return fail("has " + Twine(tensor.shape().dim_size()) + " dimensions in the model, " + Twine(given->size()) +
                " are given");
  size_t rank = given ? given->size() : tensor.shape().dim_size();
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < rank; ++i) {
    const ::onnx::TensorShapeProto::Dimension *dim = tensor.has_shape() ? &tensor.shape().dim(i) : nullptr;
    bool fixed = dim && dim->has_dim_value() && dim->dim_value() >= 0;
    if (state && static_cast<int64_t>(i) == state->axis &&
        (state->grows || (!fixed && !given && options.stateLength))) {
      shape.push_back(options.stateLength);
      continue;
    }
    if (auto sizes = !fixed && dim ? options.sizes.find(dim->dim_param()) : options.sizes.end();
        sizes != options.sizes.end()) {
      if (given && !llvm::is_contained(sizes->second, (*given)[i]))
        return fail("dimension " + Twine(i) + " ('" + dim->dim_param() + "') is given as " + Twine((*given)[i]) +
                    ", --dynamic names other sizes");
      shape.push_back(sizes->second.size() == 1 ? sizes->second.front() : ShapedType::kDynamic);
      continue;
    }
    if (!fixed && !given)
      return fail("shape " + shapeText(tensor.shape()) +
                  " is not fixed; pass one with --input_shapes, or sizes for its named dimensions with --dynamic");
    int64_t size = given ? (*given)[i] : dim->dim_value();
    if (size < 1 || size > INT32_MAX)
      return fail("dimension " + Twine(i) + " is " + Twine(size) + ", it must be positive");
    if (fixed && size != dim->dim_value())
      return fail("dimension " + Twine(i) + " is " + Twine(dim->dim_value()) + " in the model, " + Twine(size) +
                  " is given");
    shape.push_back(size);
  }
  return shape;
}

bool Importer::inputTypes(SmallVectorImpl<Type> &types) {
  for (const auto &input : file.model().graph().input())
    if (!tensors.contains(input.name()))
      inputs.push_back(&input);
  // Shapes may be given without those of states, which the model's and --state_length say.
  bool areShared = options.inputShapes.size() + states.size() == inputs.size();
  if (!options.inputShapes.empty() && options.inputShapes.size() != inputs.size() && !areShared) {
    report("has " + Twine(inputs.size()) + " inputs, but " + Twine(options.inputShapes.size()) +
           " input shapes are given");
    return false;
  }
  size_t given = 0;
  for (const auto *input : inputs) {
    if (!input->type().has_tensor_type()) {
      report("input '" + input->name() + "': only tensors are supported: " + kNoSequences);
      continue;
    }
    int dataType = input->type().tensor_type().elem_type();
    Type element = elementType(builder.getContext(), dataType);
    if (!element) {
      report("input '" + input->name() + "': element type " + dataTypeName(dataType) + " is not supported");
      continue;
    }
    const StatePair *state = stateOf(input->name());
    const std::vector<int64_t> *own = nullptr;
    if (!options.inputShapes.empty() && (!state || options.inputShapes.size() == inputs.size()))
      own = &options.inputShapes[given++];
    if (std::optional<SmallVector<int64_t>> shape = inputShape(*input, own, state)) {
      auto type = RankedTensorType::get(*shape, element);
      if (isStatic(type) && !top::tensorBytes(type))
        report("input '" + input->name() + "': is too large");
      types.push_back(type);
    }
  }
  return errors.empty();
}

// Records the possible combined shapes of the inputs; dimensions with the same name have the same size.
void Importer::setInputShapes(ArrayRef<Value> values) {
  SmallVector<StringRef> names;
  for (const auto *input : inputs)
    for (const auto &dim : input->type().tensor_type().shape().dim())
      if (options.sizes.count(dim.dim_param()) && !llvm::is_contained(names, dim.dim_param()))
        names.push_back(dim.dim_param());
  for (const auto &entry : options.sizes)
    if (!llvm::is_contained(names, entry.first))
      report("no input has a dimension '" + entry.first + "', of which --dynamic gives sizes");
  std::vector<Shapes> choices;
  llvm::StringMap<int64_t> chosen;
  std::function<void(size_t)> choose = [&](size_t i) {
    if (choices.size() > kMaxVersions)
      return;
    if (i < names.size()) {
      for (int64_t size : options.sizes.at(names[i].str())) {
        chosen[names[i]] = size;
        choose(i + 1);
      }
      return;
    }
    Shapes &shapes = choices.emplace_back();
    for (auto [input, value] : llvm::zip_equal(inputs, values)) {
      shapes.push_back(cast<RankedTensorType>(value.getType()).getShape().vec());
      for (auto [d, size] : llvm::enumerate(shapes.back()))
        if (ShapedType::isDynamic(size))
          size = chosen[input->type().tensor_type().shape().dim(d).dim_param()];
    }
  };
  if (!names.empty())
    choose(0);
  setShapes(values, std::move(choices));
}

void readNames(const ::onnx::NodeProto &node, llvm::StringSet<> &names) {
  for (const std::string &input : node.input())
    if (!input.empty())
      names.insert(input);
  for (const auto &attribute : node.attribute()) {
    if (attribute.type() != ::onnx::AttributeProto::GRAPH)
      continue;
    llvm::StringSet<> own, read;
    for (const auto &input : attribute.g().input())
      own.insert(input.name());
    for (const auto &weight : attribute.g().initializer())
      own.insert(weight.name());
    for (const auto &output : attribute.g().output())
      read.insert(output.name());
    for (const auto &inner : attribute.g().node()) {
      readNames(inner, read);
      own.insert(inner.output().begin(), inner.output().end());
    }
    for (const auto &entry : read)
      if (!own.contains(entry.getKey()))
        names.insert(entry.getKey());
  }
}

bool Importer::selectNodes() {
  const ::onnx::GraphProto &graph = file.model().graph();
  llvm::StringMap<const ::onnx::NodeProto *> producers;
  llvm::StringSet<> known;
  for (const auto &entry : tensors)
    known.insert(entry.getKey());
  for (const auto *input : inputs)
    if (!known.insert(input->name()).second)
      report("input '" + input->name() + "' is defined twice");
  for (const auto &node : graph.node())
    for (const std::string &output : node.output())
      if (!output.empty() && (known.contains(output) || !producers.try_emplace(output, &node).second))
        reportNode(node, opsetOf(node).value_or(0), "defines '" + output + "' a second time");

  outputs = options.outputNames;
  if (outputs.empty())
    for (const auto &output : graph.output())
      outputs.push_back(output.name());
  if (outputs.empty())
    report("has no outputs");
  placeStateOutputs();
  llvm::SmallPtrSet<const ::onnx::NodeProto *, 32> needed;
  SmallVector<const ::onnx::NodeProto *> pending;
  auto need = [&](StringRef name) {
    read.insert(name);
    auto it = producers.find(name);
    if (it == producers.end())
      return known.contains(name);
    if (needed.insert(it->second).second)
      pending.push_back(it->second);
    return true;
  };
  for (const std::string &output : outputs)
    if (!need(output))
      report("has no tensor '" + output + "' to be an output");
  while (!pending.empty()) {
    const ::onnx::NodeProto *node = pending.pop_back_val();
    llvm::StringSet<> names;
    readNames(*node, names);
    for (const auto &entry : names)
      if (!need(entry.getKey()))
        reportNode(*node, opsetOf(*node).value_or(0), "input '" + entry.getKey() + "' is defined nowhere");
  }
  for (const auto &node : graph.node())
    if (needed.contains(&node))
      nodes.push_back(&node);
  return errors.empty();
}

//===-- Nodes -------------------------------------------------------------===//

// A hint about alternatives to an unsupported operator.
static std::string hintFor(StringRef op) {
  if (op.starts_with("Sequence") || op.starts_with("Optional") || op == "SplitToSequence" || op == "ConcatFromSequence")
    return (": " + kNoSequences).str();
  if (op == "Scan")
    return ": before opset 9 it has a batch and lengths; onnx.version_converter.convert_version(model, 9) makes the "
           "later form of it";
  return "";
}

void Importer::importNode(const ::onnx::NodeProto &proto) {
  auto poison = [&] {
    for (const std::string &output : proto.output())
      poisoned.insert(output);
  };
  std::optional<int64_t> opset = opsetOf(proto);
  auto reject = [&](const Twine &reason) {
    reportNode(proto, opset.value_or(0), reason);
    poison();
  };
  if (!opset)
    return reject("the model imports no operator set of this domain");
  bool known = false;
  StringRef domain = canonicalDomain(proto.domain());
  std::string op = domain.empty() ? proto.op_type() : (domain + "." + proto.op_type()).str();
  const OpEntry *entry = Registry::get().find(op, *opset, known);
  if (!entry)
    return reject((known ? "is not supported in this opset" : "is not supported") + hintFor(proto.op_type()));
  int count = proto.input_size();
  if (count < entry->minInputs || count > entry->maxInputs)
    return reject("has " + Twine(count) + " inputs, takes " + std::to_string(entry->minInputs) +
                  (entry->maxInputs == entry->minInputs ? std::string()
                   : entry->maxInputs == kVariadic      ? std::string(" or more")
                                                        : " to " + std::to_string(entry->maxInputs)));
  if (!proto.output_size() || proto.output(0).empty())
    return reject("has no output");
  for (int i = 0; i < count; ++i) {
    const std::string &name = proto.input(i);
    if (name.empty() && (i < entry->minInputs || entry->takesList()))
      return reject("input " + Twine(i) + " is missing");
    if (poisoned.contains(name))
      return poison();
    if (!name.empty() && !isDefined(name))
      return reject("input '" + name + "' is computed later in the file");
    if (!name.empty() && proto.op_type() != "Identity" && !type(name).hasStaticShape()) {
      need(name);
      return reject("input '" + name + "' has an extent that is known at run time only");
    }
  }
  std::optional<Grown> rows;
  if (!states.empty() && failed(checkReader(proto, op, rows)))
    return poison();
  Node node(*this, proto, *opset);
  if (failed(entry->import(node)) || !node.checkAttributesUsed())
    return poison();
  if (rows && rows->axis >= 0)
    grown[value(proto.output(0))] = *rows;
  for (const std::string &output : proto.output())
    if (isRead(output) && !isDefined(output))
      return reject("output '" + output + "' is no output of the operator");
}

// Erases dead constants and ops, which stem from folded shape arithmetic.
static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (isOpTriviallyDead(&op)) {
      op.erase();
      continue;
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        eraseDead(inner);
  }
}

std::optional<SmallVector<Value>> Importer::importSubgraph(const ::onnx::GraphProto &graph, ArrayRef<Value> arguments) {
  size_t before = errors.size();
  llvm::StringMap<Tensor> around = tensors;
  llvm::StringSet<> poisonedAround = poisoned;
  ++depth;
  auto end = [&](bool isGood) {
    --depth;
    tensors = std::move(around);
    poisoned = std::move(poisonedAround);
    return isGood && errors.size() == before;
  };
  std::string name = "subgraph '" + graph.name() + "': ";
  if (static_cast<size_t>(graph.input_size()) != arguments.size()) {
    report(name + "has " + Twine(graph.input_size()) + " inputs, gets " + Twine(arguments.size()));
    return end(false), std::nullopt;
  }
  for (const auto &weight : graph.initializer())
    importInitializer(weight, weight.raw_data(), /*isMapped=*/false);
  for (auto [input, value] : llvm::zip_equal(graph.input(), arguments))
    tensors[input.name()] = {value, std::nullopt};
  Graph own;
  for (const auto &input : graph.input())
    own.own.insert(input.name());
  for (const auto &node : graph.node()) {
    own.nodes.push_back(&node);
    // Names defined in the subgraph shadow those of enclosing graphs, even before their definition.
    for (const std::string &output : node.output()) {
      tensors.erase(output);
      if (!output.empty())
        own.own.insert(output);
    }
    readNames(node, read);
  }
  SmallVector<std::string> wanted;
  for (const auto &output : graph.output()) {
    wanted.push_back(output.name());
    read.insert(output.name());
  }
  if (!importNodes(own, own.nodes, wanted) && !unknown.empty())
    return end(false), std::nullopt;
  SmallVector<Value> results;
  for (const auto &output : graph.output()) {
    if (!isDefined(output.name())) {
      if (!poisoned.contains(output.name()))
        report(name + "output '" + output.name() + "' is defined nowhere");
      continue;
    }
    results.push_back(value(output.name()));
  }
  if (!end(results.size() == static_cast<size_t>(graph.output_size())))
    return std::nullopt;
  return results;
}

void Importer::finishFunction(func::FuncOp func) {
  SmallVector<Value> results;
  for (const std::string &name : outputs)
    results.push_back(value(name));
  builder.create<func::ReturnOp>(builder.getUnknownLoc(), results);
  eraseDead(func.getBody().front());
  func.setFunctionType(
      builder.getFunctionType(func.getBody().front().getArgumentTypes(), ValueRange(results).getTypes()));
  for (auto [i, input] : llvm::enumerate(inputs))
    func.setArgAttr(i, top::kNameAttr, builder.getStringAttr(input->name()));
  for (auto [i, name] : llvm::enumerate(outputs)) {
    func.setResultAttr(i, top::kNameAttr, builder.getStringAttr(name));
    for (const StatePair &pair : states)
      if (pair.output == name)
        func.setResultAttr(i, top::kStateOfAttr, builder.getStringAttr(pair.input));
    absorbed.remove(name);
  }
}

OwningOpRef<ModuleOp> Importer::run() {
  SmallVector<Type> types;
  if (!checkModel() || !importInitializers() || !findStates() || !inputTypes(types) || !selectNodes())
    return nullptr;
  MLIRContext *context = builder.getContext();
  Location unknown = builder.getUnknownLoc();
  std::string name = options.modelName.empty() ? llvm::sys::path::stem(path).str() : options.modelName;
  OwningOpRef<ModuleOp> module = ModuleOp::create(unknown, StringRef(name));
  (*module)->setAttr(top::kStateAttr, builder.getStringAttr("imported"));
  (*module)->setAttr("top.onnx_nodes", builder.getI64IntegerAttr(nodes.size()));
  builder.setInsertionPointToEnd(module->getBody());
  auto func = builder.create<func::FuncOp>(unknown, "main", builder.getFunctionType(types, {}));
  Block *block = entry = func.addEntryBlock();
  builder.setInsertionPointToStart(block);
  for (auto [input, arg] : llvm::zip_equal(inputs, block->getArguments())) {
    arg.setLoc(top::namedLoc(context, input->name()));
    tensors[input->name()].value = arg;
  }
  setInputShapes(SmallVector<Value>(block->getArguments()));
  markStates(func);
  Graph graph;
  graph.nodes.assign(nodes.begin(), nodes.end());
  for (const auto *input : inputs)
    graph.own.insert(input->name());
  for (const auto *node : nodes)
    for (const std::string &output : node->output())
      if (!output.empty())
        graph.own.insert(output);
  importNodes(graph, graph.nodes, outputs);
  if (!errors.empty() || !finishStates(func))
    return nullptr;
  finishFunction(func);
  top::addAbsorbed(*module, absorbed.getArrayRef());
  if (failed(verify(*module)))
    return nullptr;
  return module;
}

OwningOpRef<ModuleOp> importONNX(StringRef path, const ImportOptions &options, MLIRContext &context,
                                 std::vector<std::string> &errors) {
  context.loadDialect<top::TopDialect, func::FuncDialect, arith::ArithDialect>();
  std::vector<std::string> found;
  std::string reason;
  std::optional<ModelFile> file = ModelFile::open(path, reason);
  OwningOpRef<ModuleOp> module;
  if (!file) {
    found.push_back((path + ": " + reason).str());
  } else {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      found.push_back((path + ": " + diagnostic.str()).str());
      return success();
    });
    module = Importer(path, *file, options, context, found).run();
  }
  // Reasons quote the file, whose strings may hold any byte.
  llvm::transform(found, std::back_inserter(errors), [](StringRef text) { return llvm::json::fixUTF8(text); });
  return module;
}

} // namespace pto_mlir::onnx
