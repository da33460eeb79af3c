// Nodes that a kernel of the user computes.
#include "Importer.h"
#include "Node.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using ::onnx::AttributeProto;

namespace pto_mlir::onnx {

namespace {

/// The element types that kernels take.
bool isOfKernels(Type element) {
  return element.isF32() || element.isF16() || element.isBF16() || element.isSignlessInteger(32) ||
         element.isSignlessInteger(16);
}

std::optional<KernelAttribute> valueOf(const AttributeProto &attribute) {
  switch (attribute.type()) {
  case AttributeProto::INT:
    return attribute.i();
  case AttributeProto::FLOAT:
    return double(attribute.f());
  case AttributeProto::STRING:
    return attribute.s();
  case AttributeProto::INTS:
    return std::vector<int64_t>(attribute.ints().begin(), attribute.ints().end());
  case AttributeProto::FLOATS:
    return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
  case AttributeProto::STRINGS:
    return std::vector<std::string>(attribute.strings().begin(), attribute.strings().end());
  default:
    return std::nullopt;
  }
}

/// The bodies of a step, whose pointers become operands and results of its op; a port that is neither read nor written
/// counts as operand 0.
DictionaryAttr bodiesOf(Builder b, const KernelStep &step) {
  auto local = [&](int64_t port) {
    if (auto read = llvm::find(step.reads, port); read != step.reads.end())
      return int64_t(read - step.reads.begin());
    auto written = llvm::find(step.writes, port);
    return written == step.writes.end() ? 0 : int64_t(step.reads.size()) + (written - step.writes.begin());
  };
  SmallVector<NamedAttribute> bodies;
  for (auto &[processor, body] : step.bodies)
    bodies.push_back(b.getNamedAttr(
        processor, b.getDictionaryAttr(
                       {b.getNamedAttr("text", b.getStringAttr(body.text)),
                        b.getNamedAttr("pointers", b.getDenseI64ArrayAttr(llvm::map_to_vector(body.pointers, local))),
                        b.getNamedAttr("offsets", b.getDenseI64ArrayAttr(body.offsets)),
                        b.getNamedAttr("scalars", b.getDenseI64ArrayAttr(body.scalars))})));
  return b.getDictionaryAttr(bodies);
}

/// One node with its kernel.
class KernelCall {
public:
  KernelCall(Node &node, const ::onnx::NodeProto &proto, std::string name)
      : node(node), proto(proto), name(std::move(name)), b(node.builder()) {}

  LogicalResult import(const UserKernels &kernels) {
    KernelAttributes attributes;
    if (failed(readInputs()) || failed(readAttributes(attributes)))
      return failure();
    std::string problem;
    std::optional<UserKernel> kernel = kernels.find(name, given, attributes, problem);
    if (!kernel)
      return node.error("its kernel: " + problem);
    if (kernel->results.size() < node.numOutputs())
      return node.error("its kernel has " + Twine(kernel->results.size()) + " results, the node " +
                        Twine(node.numOutputs()));
    return setOutputs(*kernel);
  }

private:
  /// 64-bit, 8-bit and boolean integers come as i32.
  LogicalResult readInputs() {
    for (unsigned i = 0; i < node.numInputs(); ++i) {
      if (!node.has(i))
        return node.error("input " + Twine(i) + " is left out, which kernels do not know");
      Value value = node.input(i);
      auto type = cast<RankedTensorType>(value.getType());
      Type element = type.getElementType();
      if (isa<IntegerType>(element) && !isOfKernels(element) && !element.isUnsignedInteger(64))
        value = node.create<top::CastOp>("", value, {node.named("to", TypeAttr::get(b.getI32Type()))});
      if (!value)
        return failure();
      if (element = cast<RankedTensorType>(value.getType()).getElementType(); !isOfKernels(element))
        return node.error("input " + Twine(i) + " is of type " + debugString(element) +
                          "; kernels take f32, f16, bf16, i32 and i16");
      if (type.getNumElements() == 0)
        return node.error("input " + Twine(i) + " has no elements");
      inputs.push_back(value);
      given.push_back({debugString(element), type.getShape().vec()});
    }
    return inputs.empty() ? node.error("has no inputs") : success();
  }

  LogicalResult readAttributes(KernelAttributes &attributes) {
    for (const AttributeProto &attribute : proto.attribute()) {
      std::optional<KernelAttribute> value = valueOf(*node.attr(attribute.name()));
      if (!value)
        return node.error("attribute '" + attribute.name() + "' is no number, text or list of them");
      attributes.emplace(attribute.name(), std::move(*value));
    }
    return success();
  }

  LogicalResult setOutputs(const UserKernel &kernel) {
    SmallVector<Type> types;
    for (const auto *list : {&kernel.results, &kernel.slots})
      for (const KernelTensor &tensor : *list) {
        Type element = mlir::parseType(tensor.type, b.getContext());
        if (!element || !isOfKernels(element) ||
            !llvm::all_of(tensor.shape, [](int64_t extent) { return extent > 0 && extent < int64_t(1) << 31; }))
          return node.error("a result of its kernel has no elements, or a type that kernels do not have");
        types.push_back(RankedTensorType::get(tensor.shape, element));
      }
    SmallVector<Value> ports(inputs);
    ports.resize(inputs.size() + types.size());
    for (KernelStep step : kernel.steps)
      launch(step, ports, types);
    for (unsigned i = 0; i < node.numOutputs(); ++i)
      if (node.wantsOutput(i))
        node.set(i, ports[inputs.size() + i]);
    return success();
  }

  void launch(KernelStep &step, MutableArrayRef<Value> ports, ArrayRef<Type> types) {
    if (step.reads.empty())
      step.reads.push_back(0);
    auto operands = llvm::map_to_vector(step.reads, [&](int64_t port) { return ports[port]; });
    auto made = llvm::map_to_vector(step.writes, [&](int64_t port) { return types[port - inputs.size()]; });
    DictionaryAttr bodies = bodiesOf(b, step);
    for (auto [number, port] : llvm::enumerate(step.writes)) {
      unsigned output = port - inputs.size();
      StringRef name = output < node.numOutputs() ? node.outputName(output) : StringRef();
      ports[port] = b.create<top::KernelOp>(top::namedLoc(b.getContext(), name), made[number], this->name, operands,
                                            number, b.getTypeArrayAttr(made), bodies);
    }
  }

  Node &node;
  const ::onnx::NodeProto &proto;
  std::string name;
  OpBuilder &b;
  SmallVector<Value> inputs;
  std::vector<KernelTensor> given;
};

} // namespace

bool Importer::hasUserKernel(const ::onnx::NodeProto &proto) const {
  return options.kernels.names.count(nameOfKernel(proto)) != 0;
}

std::string Importer::nameOfKernel(const ::onnx::NodeProto &proto) {
  return (canonicalDomain(proto.domain()) + "::" + proto.op_type()).str();
}

LogicalResult Importer::importUserKernel(Node &node, const ::onnx::NodeProto &proto) {
  return KernelCall(node, proto, nameOfKernel(proto)).import(options.kernels);
}

} // namespace pto_mlir::onnx
