// Forms of operators on each element.
#include "../TensorDecoder.h"
#include "Forms.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult unary(Node &node) {
  std::string kernel = node.op() == "BitwiseNot" ? "bitnot" : node.op().lower();
  return node.finish(atRunTime(node, node.outputName(), kernel, node.input(0), node.type(0).getShape()));
}

static Value binary(Node &node, StringRef name, StringRef kernel, Value a, Value b) {
  std::optional<SmallVector<int64_t>> shape = broadcast(node, {a, b});
  return shape ? atRunTime(node, name, kernel, {a, b}, *shape) : Value();
}

static LogicalResult binary(Node &node) {
  std::string kernel = llvm::StringSwitch<std::string>(node.op())
                           .Case("BitwiseAnd", "bitand")
                           .Case("BitwiseOr", "bitor")
                           .Case("BitwiseXor", "bitxor")
                           .Case("Mod", node.op() == "Mod" && node.intAttr("fmod", 0) ? "fmod" : "mod")
                           .Default(node.op().lower());
  Value b = node.input(1);
  if (node.op() == "Pow" && b && node.type(0).getElementType() != node.type(1).getElementType())
    b = atRunTime(node, "", "cast", b, RankedTensorType::get(sizesOf(b), node.type(0).getElementType()));
  return node.finish(binary(node, node.outputName(), kernel, node.input(0), b));
}

// Of any number of operands.
static LogicalResult greatestOrLeast(Node &node) {
  Value value = node.input(0);
  for (unsigned i = 1; i < node.numInputs() && value; ++i)
    value = binary(node, i + 1 == node.numInputs() ? node.outputName() : "", node.op().lower(), value, node.input(i));
  return node.finish(value);
}

static LogicalResult compare(Node &node) {
  StringRef mode = llvm::StringSwitch<StringRef>(node.op())
                       .Case("Equal", "eq")
                       .Case("Less", "lt")
                       .Case("LessOrEqual", "le")
                       .Case("Greater", "gt")
                       .Default("ge");
  std::optional<SmallVector<int64_t>> shape = broadcast(node, {node.input(0), node.input(1)});
  OpBuilder &b = node.builder();
  return shape ? node.finish(atRunTime(node, node.outputName(), "compare", {node.input(0), node.input(1)},
                                       RankedTensorType::get(*shape, b.getI1Type()),
                                       {node.named("mode", b.getStringAttr(mode))}))
               : failure();
}

static LogicalResult where(Node &node) {
  SmallVector<Value> operands{node.input(0), node.input(1), node.input(2)};
  std::optional<SmallVector<int64_t>> shape = broadcast(node, operands);
  return shape ? node.finish(atRunTime(node, node.outputName(), "where", operands,
                                       RankedTensorType::get(*shape, node.type(1).getElementType())))
               : failure();
}

static LogicalResult cast(Node &node) {
  int64_t to = node.intAttr("to", 0);
  Type element = elementType(node.builder().getContext(), static_cast<int>(to));
  if (!element)
    return node.error("attribute 'to': element type " + dataTypeName(static_cast<int>(to)) + " is not supported");
  if (node.opset() >= 19 && node.intAttr("saturate", 1) == 0)
    return node.error("saturates where sizes are known at run time only");
  Value value = node.input(0);
  if (!value || element == node.type(0).getElementType())
    return node.finish(value);
  ArrayRef<int64_t> shape = sizesOf(value);
  if (!element.isInteger(1))
    return node.finish(atRunTime(node, node.outputName(), "cast", value, RankedTensorType::get(shape, element)));
  // Whatever is not 0.
  OpBuilder &b = node.builder();
  Type own = node.type(0).getElementType();
  Value zero =
      top::createConstant(b, b.getUnknownLoc(), "", RankedTensorType::get({}, own), top::fromDoubles(own, {0.0}));
  auto type = RankedTensorType::get(shape, element);
  Value equal = atRunTime(node, "", "compare", {value, zero}, type, {node.named("mode", b.getStringAttr("eq"))});
  return node.finish(atRunTime(node, node.outputName(), "not", equal, shape));
}

// The least limit first, as the operator is defined.
static LogicalResult clip(Node &node) {
  OpBuilder &b = node.builder();
  Value value = node.input(0);
  for (auto [i, attribute, kernel] : {std::tuple(1U, "min", "max"), std::tuple(2U, "max", "min")}) {
    Value limit;
    if (node.opset() < 11 && node.attr(attribute)) {
      Type element = node.type(0).getElementType();
      limit = top::createConstant(b, b.getUnknownLoc(), "", RankedTensorType::get({}, element),
                                  top::fromDoubles(element, {node.floatAttr(attribute, 0)}));
    } else if (node.opset() >= 11 && node.has(i)) {
      limit = node.input(i);
    } else {
      continue;
    }
    value =
        value && limit ? binary(node, i == 2 || !node.has(2) ? node.outputName() : "", kernel, value, limit) : Value();
  }
  return node.finish(value);
}

static LogicalResult slope(Node &node) {
  SmallVector<NamedAttribute> parameters;
  bool isLeaky = node.op() == "LeakyRelu";
  parameters.push_back(node.f64("alpha", node.floatAttr("alpha", isLeaky ? 0.01 : 0.2)));
  if (!isLeaky)
    parameters.push_back(node.f64("beta", node.floatAttr("beta", 0.5)));
  return node.finish(atRunTime(node, node.outputName(), isLeaky ? "leaky_relu" : "hard_sigmoid", node.input(0),
                               node.type(0).getShape(), parameters));
}

void addElementwiseForms(Forms &forms) {
  for (StringRef op : {"Neg",  "Abs",  "Relu",  "Sign",  "Sigmoid", "Reciprocal", "Tanh",  "Exp", "Log",
                       "Sqrt", "Erf",  "Round", "Floor", "Ceil",    "Sin",        "Cos",   "Tan", "Asin",
                       "Acos", "Atan", "Sinh",  "Cosh",  "Asinh",   "Acosh",      "Atanh", "Not", "BitwiseNot"})
    forms[op] = unary;
  for (StringRef op :
       {"Add", "Sub", "Mul", "Div", "Mod", "Pow", "And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor"})
    forms[op] = binary;
  for (StringRef op : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"})
    forms[op] = compare;
  forms["Max"] = forms["Min"] = greatestOrLeast;
  forms["Where"] = where;
  forms["Cast"] = cast;
  forms["Clip"] = clip;
  forms["LeakyRelu"] = forms["HardSigmoid"] = slope;
}

} // namespace pto_mlir::onnx
