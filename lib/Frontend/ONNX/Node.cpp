#include "Node.h"

#include "Importer.h"
#include "mlir/Dialect/Traits.h"
#include "mlir/IR/Diagnostics.h"
#include "pto_mlir/Dialect/Top/IR/Evaluate.h"
#include "pto_mlir/Dialect/Top/IR/Strings.h"
#include "pto_mlir/Support/ElementType.h"

using namespace mlir;
using ::onnx::AttributeProto;

namespace pto_mlir::onnx {

OpBuilder &Node::builder() { return importer.builder; }
ModelFile &Node::file() { return importer.file; }

LogicalResult Node::error(const Twine &reason) {
  errors = true;
  importer.reportNode(proto, version, reason);
  return failure();
}

Value Node::input(unsigned i) { return importer.value(proto.input(i)); }
RankedTensorType Node::type(unsigned i) { return importer.type(proto.input(i)); }
std::optional<top::Weight> Node::constant(unsigned i) { return importer.constant(proto.input(i)); }

std::optional<top::Weight> Node::needConstant(unsigned i) {
  std::optional<top::Weight> weight = constant(i);
  if (!weight)
    importer.need(proto.input(i));
  return weight;
}

void Node::setCount(Value value, int64_t count) { importer.setCount(value, count); }
void Node::setShapes(ArrayRef<Value> values, std::vector<Importer::Shapes> choices) {
  importer.setShapes(values, std::move(choices));
}
void Node::setExtents(ArrayRef<Value> values, int64_t least, int64_t most, bool areFew) {
  importer.setExtents(values, least, most, areFew);
}
void Node::noteShapes(Operation *op) { importer.noteShapes(op); }
void Node::forget(Operation *op) { importer.forget(op); }
int64_t Node::maxExtent() const { return importer.maxExtent(); }
int64_t Node::drawNumber() { return importer.numDraws++; }
bool Node::hasNeed() const { return importer.hasNeed(); }

std::optional<SmallVector<int64_t>> Node::ints(unsigned i, StringRef what) {
  // Axes and steps must be constants; sizes may be dynamic.
  bool isSize = what != "axes" && what != "axis" && what != "steps";
  std::optional<top::Weight> weight = isSize ? needConstant(i) : constant(i);
  if (!weight) {
    (void)error(what + " ('" + proto.input(i) + "') must be constant");
    return std::nullopt;
  }
  if (weight->type.getRank() > 1 || !isa<IntegerType>(weight->type.getElementType())) {
    (void)error(what + " ('" + proto.input(i) + "') must be a list of integers");
    return std::nullopt;
  }
  std::vector<int64_t> values = top::toInts(*weight);
  return SmallVector<int64_t>(values.begin(), values.end());
}

const AttributeProto *Node::attr(StringRef name) {
  used.insert(name);
  for (const AttributeProto &attribute : proto.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

static const AttributeProto *typed(Node &node, StringRef name, AttributeProto::AttributeType type) {
  const AttributeProto *attribute = node.attr(name);
  if (!attribute || attribute->type() == type)
    return attribute;
  (void)node.error("attribute '" + name + "' must be of type " + AttributeProto::AttributeType_Name(type) + ", not " +
                   AttributeProto::AttributeType_Name(attribute->type()));
  return nullptr;
}

int64_t Node::intAttr(StringRef name, int64_t otherwise) {
  const AttributeProto *attribute = typed(*this, name, AttributeProto::INT);
  return attribute ? attribute->i() : otherwise;
}

double Node::floatAttr(StringRef name, double otherwise) {
  const AttributeProto *attribute = typed(*this, name, AttributeProto::FLOAT);
  return attribute ? static_cast<double>(attribute->f()) : otherwise;
}

std::string Node::stringAttr(StringRef name, StringRef otherwise) {
  const AttributeProto *attribute = typed(*this, name, AttributeProto::STRING);
  return attribute ? attribute->s() : otherwise.str();
}

std::optional<SmallVector<int64_t>> Node::intsAttr(StringRef name) {
  const AttributeProto *attribute = typed(*this, name, AttributeProto::INTS);
  if (!attribute)
    return std::nullopt;
  return SmallVector<int64_t>(attribute->ints().begin(), attribute->ints().end());
}

const ::onnx::GraphProto *Node::graphAttr(StringRef name) {
  const AttributeProto *attribute = typed(*this, name, AttributeProto::GRAPH);
  if (!attribute && !errors)
    (void)error("has no attribute '" + name + "'");
  return attribute ? &attribute->g() : nullptr;
}

size_t Node::numReports() const { return importer.numReports(); }

void Node::takeBack(size_t count) {
  importer.takeBack(count);
  errors = false;
}

std::optional<SmallVector<Value>> Node::importGraph(const ::onnx::GraphProto &graph, ArrayRef<Value> arguments) {
  auto results = importer.importSubgraph(graph, arguments);
  errors |= !results;
  return results;
}

bool Node::checkAttributesUsed() {
  for (const AttributeProto &attribute : proto.attribute())
    if (!used.contains(attribute.name()))
      (void)error("has no attribute '" + attribute.name() + "' in this opset");
  return !errors;
}

bool Node::wantsOutput(unsigned i) const { return i < numOutputs() && importer.isRead(proto.output(i)); }

void Node::set(unsigned i, Value value) { importer.define(proto.output(i), value); }
void Node::set(unsigned i, top::Weight weight) { importer.define(proto.output(i), std::move(weight)); }
void Node::setEmpty(unsigned i, ArrayRef<int64_t> shape, Type element) {
  set(i, Importer::emptyWeight(RankedTensorType::get(shape, element)));
}

LogicalResult Node::setStrings(unsigned i, const ::onnx::TensorProto &tensor) {
  std::string reason;
  return importer.defineStrings(proto.output(i), tensor, reason) ? success() : error(reason);
}
Value Node::strings(ArrayRef<std::string> values) {
  return top::createStrings(builder(), builder().getUnknownLoc(), "strings", static_cast<int64_t>(values.size()),
                            values);
}

LogicalResult Node::finish(Value value) {
  if (!value)
    return failure();
  set(0, value);
  return success();
}

Value Node::host(StringRef name, StringRef kernel, ValueRange operands, RankedTensorType type, StringRef reason,
                 ArrayRef<NamedAttribute> parameters) {
  if (llvm::is_contained(operands, Value()))
    return {};
  OpBuilder &b = builder();
  if (type.hasStaticShape() && type.getNumElements() == 0)
    return top::createConstant(b, top::namedLoc(b.getContext(), name), name, type, {});
  auto dictionary = parameters.empty() ? DictionaryAttr() : b.getDictionaryAttr(parameters);
  auto op = b.create<top::HostOp>(top::namedLoc(b.getContext(), name), type, kernel, operands, dictionary, reason);
  std::string problem;
  ScopedDiagnosticHandler handler(b.getContext(), [&](Diagnostic &diagnostic) {
    problem = StringRef(diagnostic.str()).split("' op ").second.str();
    return success();
  });
  if (failed(op.verify())) {
    op->erase();
    return (void)error(problem), Value();
  }
  if (std::optional<top::Weight> weight = top::evaluate(op)) {
    op->erase();
    importer.absorb(name);
    return top::createConstant(b, top::namedLoc(b.getContext(), name), name, *weight);
  }
  return op.getOutput();
}

LogicalResult Node::hostBinary(StringRef kernel, StringRef reason) {
  RankedTensorType a = type(0), b = type(1);
  SmallVector<int64_t> shape;
  if (a.getElementType() != b.getElementType())
    return error("has operands of different element types");
  if (!OpTrait::util::getBroadcastedShape(a.getShape(), b.getShape(), shape))
    return error("has operands that do not broadcast");
  return finish(
      host(outputName(), kernel, {input(0), input(1)}, RankedTensorType::get(shape, a.getElementType()), reason));
}

static bool isEmpty(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements() == 0; }

namespace {

/// While it lives, keeps the words of what ops report. The op is stripped from "'top.conv' op input has ..", since the
/// message names the node.
struct Reason {
  explicit Reason(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          text = diagnostic.str();
          if (size_t op = text.find("' op "); op != std::string::npos)
            text = text.substr(op + StringRef("' op ").size());
          return success();
        }) {}
  std::string text;
  ScopedDiagnosticHandler handler;
};

} // namespace

std::optional<Node::Inferred> Node::infer(StringRef opName, ValueRange operands, ArrayRef<NamedAttribute> attributes) {
  MLIRContext *context = builder().getContext();
  std::optional<RegisteredOperationName> info = RegisteredOperationName::lookup(opName, context);
  Inferred inferred;
  inferred.attributes = attributes;
  info->populateDefaultAttrs(inferred.attributes);
  std::string problem;
  {
    Reason reason(context);
    if (failed(info->getInterface<InferTypeOpInterface>()->inferReturnTypes(context, UnknownLoc::get(context), operands,
                                                                            inferred.attributes.getDictionary(context),
                                                                            nullptr, {}, inferred.types)))
      problem = reason.text;
    else if (std::string size = Importer::sizeProblem(cast<RankedTensorType>(inferred.types.front())); !size.empty())
      problem = "a tensor " + size; // before the op, which counts elements
    else
      return inferred;
  }
  (void)error(problem);
  return std::nullopt;
}

Value Node::create(StringRef opName, StringRef name, ValueRange operands, ArrayRef<NamedAttribute> attributes) {
  OpBuilder &b = builder();
  MLIRContext *context = b.getContext();
  if (llvm::is_contained(operands, Value()))
    return {};
  if (llvm::any_of(operands, isEmpty))
    return ofNothing(opName, name, operands, attributes);
  std::optional<Inferred> inferred = infer(opName, operands, attributes);
  if (!inferred)
    return {};
  auto &[types, withDefaults] = *inferred;
  OperationState state(top::namedLoc(context, name), opName, operands, types, withDefaults);
  Operation *op = b.create(state);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  // No engine copies f64.
  bool small = isa<IntegerType>(type.getElementType()) || type.getElementType().isF64() ||
               type.getNumElements() <= top::kMaxInlineElements;
  std::optional<std::string> problem;
  std::optional<top::Weight> weight;
  {
    Reason reason(context);
    // Verify constraints that type inference does not check, such as element types.
    if (failed(op->getName().verifyInvariants(op)))
      problem = reason.text;
    else if (small)
      weight = top::evaluate(op);
  }
  if (problem) {
    op->erase();
    return (void)error(*problem), Value();
  }
  if (!weight && type.getNumElements() > 0) {
    if (isWide && type.getElementType().isF32())
      op->setAttr(top::kWideAttr, b.getUnitAttr());
    return op->getResult(0);
  }
  op->erase();
  if (!weight)
    return top::createConstant(b, state.location, name, Importer::emptyWeight(type));
  importer.absorb(name);
  return top::createConstant(b, state.location, name, *weight);
}

// What an op makes of no elements, of a window of padding alone too; nullopt where it needs some. A mean of integers is
// 0, as onnxruntime's.
static std::optional<double> ofNoElements(StringRef op, size_t operands, Type element,
                                          const NamedAttrList &attributes) {
  if (op == top::PadOp::getOperationName())
    return cast<FloatAttr>(attributes.get("value")).getValueAsDouble();
  if (op == top::ReduceSumOp::getOperationName() || (op == top::MatMulOp::getOperationName() && operands == 2))
    return 0;
  if (op == top::AvgPoolOp::getOperationName() && cast<BoolAttr>(attributes.get("count_include_pad")).getValue())
    return 0;
  if (op == top::ReduceMeanOp::getOperationName() || op == top::AvgPoolOp::getOperationName())
    return isa<FloatType>(element) ? std::numeric_limits<double>::quiet_NaN() : 0;
  if (op == top::ReduceMaxOp::getOperationName() || op == top::MaxPoolOp::getOperationName())
    return -std::numeric_limits<double>::infinity();
  if (op == top::ReduceMinOp::getOperationName())
    return std::numeric_limits<double>::infinity();
  return std::nullopt;
}

// Of a convolution without channels.
constexpr int64_t kMostGroups = 1 << 16;

// A convolution of nothing is one of a zero more: a channel of zeros, or a row of zeros in the place of a padded one.
std::optional<Value> Node::convOfZeros(StringRef op, StringRef name, ValueRange operands,
                                       ArrayRef<NamedAttribute> attributes) {
  bool transposed = op == top::ConvTransposeOp::getOperationName();
  if (!transposed && op != top::ConvOp::getOperationName())
    return std::nullopt;
  if (llvm::none_of(operands.take_front(2), isEmpty)) // an empty bias
    return std::nullopt;
  // Channels that only one of the two lacks are an error, which the op reports.
  auto lacksChannels = [&](unsigned i, int64_t dim) {
    auto type = cast<RankedTensorType>(operands[i].getType());
    return type.getRank() > dim && type.getDimSize(dim) == 0;
  };
  NamedAttrList changed(attributes);
  auto groups = dyn_cast_or_null<IntegerAttr>(changed.get("group"));
  int64_t group = groups ? groups.getInt() : 1;
  if (lacksChannels(0, 1) != lacksChannels(1, transposed ? 0 : 1) || group < 1 || group > kMostGroups)
    return std::nullopt;
  SmallVector<Value> given(operands);
  auto pads = llvm::to_vector(cast<DenseI64ArrayAttr>(changed.get("pads")).asArrayRef());
  for (auto [i, value] : llvm::enumerate(MutableArrayRef(given).take_front(2))) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    for (auto [dim, size] : llvm::enumerate(shape)) {
      bool isInChannel = dim == (i == 1 && transposed ? 0 : 1);
      if (size != 0)
        continue;
      if (!isInChannel) {
        if (i == 1 || dim == 0 || transposed)
          return std::nullopt;
        size_t begin = dim - 2, pad = pads[begin] > 0 ? begin : begin + shape.size() - 2;
        if (--pads[pad] < 0)
          return std::nullopt;
      }
      size = isInChannel && (i == 0 || transposed) ? group : 1;
    }
    if (shape == type.getShape())
      continue;
    OpBuilder &b = builder();
    auto one = RankedTensorType::get(SmallVector<int64_t>(shape.size(), 1), type.getElementType());
    Value zero = top::createConstant(b, b.getUnknownLoc(), "", one, top::fromDoubles(type.getElementType(), {0.0}));
    value = create<top::ExpandOp>("", zero, {i64s("shape", shape)});
  }
  changed.set(i64s("pads", pads).getName(), i64s("pads", pads).getValue());
  return create(op, name, given, changed);
}

// Folds an op with an empty operand. Nets have no empty tensors, so the result must be a constant or another operand.
Value Node::ofNothing(StringRef opName, StringRef name, ValueRange operands, ArrayRef<NamedAttribute> attributes) {
  if (std::optional<Value> value = convOfZeros(opName, name, operands, attributes))
    return *value;
  std::optional<Inferred> inferred = infer(opName, operands, attributes);
  if (!inferred)
    return {};
  OpBuilder &b = builder();
  auto type = cast<RankedTensorType>(inferred->types.front());
  Location loc = top::namedLoc(b.getContext(), name);
  if (type.getNumElements() == 0)
    return top::createConstant(b, loc, name, Importer::emptyWeight(type));
  if (opName == top::ConcatOp::getOperationName()) {
    SmallVector<Value> parts;
    llvm::copy_if(operands, std::back_inserter(parts), [](Value part) { return !isEmpty(part); });
    return parts.size() == 1 ? parts.front() : create(opName, name, parts, attributes);
  }
  // A product of nothing with a bias is the bias.
  if (opName == top::MatMulOp::getOperationName() && operands.size() == 3 &&
      getElementTypeOrSelf(operands.back().getType()) == type.getElementType())
    return create<top::ExpandOp>(name, operands.back(), {i64s("shape", type.getShape())});
  // No updates.
  if (operands.front().getType() == type && opName == top::ScatterOp::getOperationName())
    return operands.front();
  if (std::optional<double> neutral =
          ofNoElements(opName, operands.size(), type.getElementType(), inferred->attributes)) {
    bool isBool = type.getElementType().isInteger(1);
    return filled(name, type, isBool ? double(*neutral > 0) : *neutral);
  }
  (void)error("computes on an empty tensor");
  return {};
}

bool Node::mayBuild(ArrayRef<int64_t> shape) {
  constexpr int64_t kMostElements = int64_t(1) << 26;
  int64_t elements = 1;
  for (int64_t size : shape)
    if (llvm::MulOverflow(elements, size, elements) || elements > kMostElements)
      return (void)error("builds a constant of shape " + pto_mlir::shapeText(shape) + ", more than " +
                         Twine(kMostElements) + " elements"),
             false;
  return true;
}

Value Node::filled(StringRef name, RankedTensorType type, double value) {
  if (!mayBuild(type.getShape()))
    return {};
  std::vector<double> values(type.getNumElements(), value);
  return top::createConstant(builder(), top::namedLoc(builder().getContext(), name), name, type,
                             top::fromDoubles(type.getElementType(), values));
}

Value Node::reshape(StringRef name, Value value, ArrayRef<int64_t> shape) {
  if (value && cast<RankedTensorType>(value.getType()).getShape() == shape)
    return value;
  return create<top::ReshapeOp>(name, value, {i64s("shape", shape)});
}

std::optional<int64_t> Node::axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    (void)error("axis " + Twine(axis) + " is outside of an input of rank " + Twine(rank));
    return std::nullopt;
  }
  return axis < 0 ? axis + rank : axis;
}

std::optional<SmallVector<int64_t>> Node::axes(ArrayRef<int64_t> list, int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t value : list) {
    std::optional<int64_t> one = axis(value, rank);
    if (!one)
      return std::nullopt;
    result.push_back(*one);
  }
  llvm::sort(result);
  if (std::adjacent_find(result.begin(), result.end()) != result.end()) {
    (void)error("names an axis twice");
    return std::nullopt;
  }
  return result;
}

} // namespace pto_mlir::onnx
