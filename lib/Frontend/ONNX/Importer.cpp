#include "Importer.h"

#include "Registry.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/State.h"
#include "pto_mlir/Dialect/Top/IR/Strings.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Support/ElementType.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace pto_mlir::onnx {

//===-- Tensors -----------------------------------------------------------===//

Value Importer::value(StringRef name) {
  Tensor &tensor = tensors[name];
  OpBuilder::InsertionGuard guard(builder);
  // Create the constant in the entry block, since it may also be used after the subgraph.
  if (depth)
    builder.setInsertionPointToStart(entry);
  if (!tensor.value && tensor.strings)
    tensor.value = top::createStrings(builder, top::namedLoc(builder.getContext(), name), name,
                                      tensor.strings->first.getShape(), tensor.strings->second);
  if (!tensor.value)
    tensor.value = top::createConstant(builder, top::namedLoc(builder.getContext(), name), name, *tensor.weight);
  return tensor.value;
}

RankedTensorType Importer::type(StringRef name) {
  Tensor &tensor = tensors[name];
  return tensor.value     ? cast<RankedTensorType>(tensor.value.getType())
         : tensor.strings ? tensor.strings->first
                          : tensor.weight->type;
}

std::optional<top::Weight> Importer::constant(StringRef name) {
  Tensor &tensor = tensors[name];
  if (tensor.strings)
    return std::nullopt;
  return tensor.weight ? tensor.weight : top::getConstant(tensor.value);
}

void Importer::define(StringRef name, Value value) {
  if (name.empty()) // an output that the node leaves out
    return;
  tensors[name].value = value;
  if (top::getTensorName(value) != name)
    absorb(name);
}

bool Importer::defineStrings(StringRef name, const ::onnx::TensorProto &tensor, std::string &reason) {
  Type element = top::StringType::get(builder.getContext());
  for (int64_t size : tensor.dims())
    if (size < 0)
      return reason = "has a negative dimension", false;
  auto type = RankedTensorType::get(ArrayRef<int64_t>(tensor.dims().data(), tensor.dims_size()), element);
  if (!top::tensorBytes(type) || type.getNumElements() != tensor.string_data_size())
    return reason = "has " + std::to_string(tensor.string_data_size()) + " strings, which is not what its shape says",
           false;
  tensors[name] = {};
  tensors[name].strings.emplace(type,
                                std::vector<std::string>(tensor.string_data().begin(), tensor.string_data().end()));
  return true;
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

//===-- Nodes -------------------------------------------------------------===//

std::optional<int64_t> Importer::opsetOf(const ::onnx::NodeProto &node) const {
  auto it = opsets.find(canonicalDomain(node.domain()));
  return it == opsets.end() ? std::nullopt : std::optional<int64_t>(it->second);
}

// A hint about alternatives to an unsupported operator.
static std::string hintFor(StringRef op) {
  if (op.starts_with("Sequence") || op.starts_with("Optional") || op == "SplitToSequence" || op == "ConcatFromSequence")
    return (": " + kNoSequences).str();
  return "";
}

std::optional<std::string> Importer::inputProblem(const ::onnx::NodeProto &proto, const OpEntry &entry,
                                                  bool takesOpen) {
  for (int i = 0; i < proto.input_size(); ++i) {
    const std::string &name = proto.input(i);
    if (name.empty() && (i < entry.minInputs || entry.takesList()))
      return "input " + std::to_string(i) + " is missing";
    if (poisoned.contains(name))
      return std::nullopt;
    if (!name.empty() && !isDefined(name))
      return "input '" + name + "' is computed later in the file";
    if (!name.empty() && isa<top::StringType>(type(name).getElementType()) && !entry.takesStrings)
      return "input '" + name + "' holds strings, which the operator does not take";
    if (!name.empty() && !takesOpen && proto.op_type() != "Identity" && !type(name).hasStaticShape()) {
      need(name);
      return "input '" + name + "' has an extent that is known at run time only";
    }
  }
  return "";
}

// What is wrong with a node's attributes whatever its operator is; "" if nothing.
static std::string attributeProblem(const ::onnx::NodeProto &proto) {
  llvm::StringSet<> names;
  for (const auto &attribute : proto.attribute()) {
    if (!names.insert(attribute.name()).second)
      return "has attribute '" + attribute.name() + "' twice";
    if (!attribute.ref_attr_name().empty())
      return "attribute '" + attribute.name() + "' refers to a function's attribute outside of a function";
  }
  return "";
}

std::string Importer::sizeProblem(RankedTensorType type) {
  // A run would not find a place for a tensor above it.
  constexpr int64_t kMostBytes = int64_t{1} << 40;
  std::optional<int64_t> bytes = top::tensorBytes(type);
  if (!type.hasStaticShape() || (bytes && *bytes <= kMostBytes))
    return "";
  return "of shape " + shapeText(type.getShape()) + " takes more than 1 TiB, which is the most";
}

std::string Importer::sizeProblem(const ::onnx::NodeProto &proto) {
  for (const std::string &output : proto.output()) {
    if (!isDefined(output))
      continue;
    if (std::string problem = sizeProblem(type(output)); !problem.empty())
      return "output '" + output + "' " + problem;
  }
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
  bool isUsers = hasUserKernel(proto);
  if (!opset && !isUsers)
    return reject("the model imports no operator set of this domain");
  bool known = false;
  StringRef domain = canonicalDomain(proto.domain());
  std::string op = domain.empty() ? proto.op_type() : (domain + "." + proto.op_type()).str();
  static constexpr OpEntry kUsers{0, INT_MAX, 0, kVariadic, nullptr};
  const OpEntry *entry = isUsers ? &kUsers : Registry::get().find(op, *opset, known);
  if (!entry)
    return reject((known ? "is not supported in this opset" : "is not supported") + hintFor(proto.op_type()));
  int count = proto.input_size();
  if (count < entry->minInputs || count > entry->maxInputs)
    return reject("has " + Twine(count) + " inputs, takes " + std::to_string(entry->minInputs) +
                  (entry->maxInputs == entry->minInputs ? std::string()
                   : entry->maxInputs == kVariadic      ? std::string(" or more")
                                                        : " to " + std::to_string(entry->maxInputs)));
  if (llvm::all_of(proto.output(), [](const std::string &output) { return output.empty(); }))
    return reject("has no output");
  if (std::string wrong = attributeProblem(proto); !wrong.empty())
    return reject(wrong);
  ImportFn form = isUsers ? nullptr : formOf(proto, op);
  std::optional<std::string> problem = inputProblem(proto, *entry, /*takesOpen=*/form != nullptr);
  if (!problem)
    return poison();
  if (!problem->empty())
    return reject(*problem);
  std::optional<Grown> rows;
  if (!states.empty() && failed(checkReader(proto, op, rows)))
    return poison();
  Node node(*this, proto, opset.value_or(1));
  if (failed(isUsers ? importUserKernel(node, proto)
             : form  ? form(node)
                     : entry->import(node)) ||
      !node.checkAttributesUsed())
    return poison();
  if (std::string large = sizeProblem(proto); !large.empty())
    return reject(large);
  if (rows && rows->axis >= 0)
    grown[value(proto.output(0))] = *rows;
  for (const std::string &output : proto.output()) {
    if (isRead(output) && !isDefined(output))
      return reject("output '" + output + "' is no output of the operator");
    if (form && isRead(output))
      ofRunTime.insert(tensors[output].value);
  }
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
    // Without elements, it is known.
    auto type = cast<RankedTensorType>(arg.getType());
    if (isStatic(type) && type.getNumElements() == 0)
      tensors[input->name()] = {Value(), emptyWeight(type)};
    else
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
  if (!errors.empty() || !checkOutputTypes() || !finishStates(func))
    return nullptr;
  finishFunction(func);
  if (!errors.empty())
    return nullptr;
  top::addAbsorbed(*module, absorbed.getArrayRef());
  if (failed(verify(*module)))
    return nullptr;
  return module;
}

// Reasons quote the file, whose strings may hold any byte: none shall move a terminal's cursor, or begin a line.
static std::string printable(StringRef text) {
  std::string result;
  llvm::raw_string_ostream out(result);
  std::string utf8 = llvm::json::fixUTF8(text);
  for (size_t i = 0; i < utf8.size(); ++i) {
    auto byte = static_cast<unsigned char>(utf8[i]);
    bool isWide = byte == 0xc2 && i + 1 < utf8.size() && static_cast<unsigned char>(utf8[i + 1]) < 0xa0; // 80 to 9f
    if (isWide)
      byte = static_cast<unsigned char>(utf8[++i]);
    if (isWide || byte < 0x20 || byte == 0x7f)
      out << "\\x" << llvm::format_hex_no_prefix(byte, 2);
    else
      out << utf8[i];
  }
  return result;
}

OwningOpRef<ModuleOp> importONNX(StringRef path, const ImportOptions &options, MLIRContext &context,
                                 std::vector<std::string> &errors) {
  context.loadDialect<top::TopDialect, func::FuncDialect, arith::ArithDialect>();
  std::vector<std::string> found;
  std::string reason;
  std::optional<ModelFile> file = ModelFile::open(path, reason, options.files);
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
  llvm::transform(found, std::back_inserter(errors), printable);
  return module;
}

} // namespace pto_mlir::onnx
