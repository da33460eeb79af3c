#include "Forms.h"

using namespace mlir;

namespace pto_mlir::onnx {

ImportFn formAtRunTime(StringRef op) {
  static const Forms forms = [] {
    Forms all;
    addElementwiseForms(all);
    addShapeForms(all);
    addSelectForms(all);
    addResizeForms(all);
    return all;
  }();
  return forms.lookup(op);
}

Value atRunTime(Node &node, StringRef name, StringRef kernel, ValueRange operands, RankedTensorType type,
                ArrayRef<NamedAttribute> parameters) {
  return node.host(name, kernel, operands, type, "sizes are known at run time only", parameters);
}

Value atRunTime(Node &node, StringRef name, StringRef kernel, ValueRange operands, ArrayRef<int64_t> shape,
                ArrayRef<NamedAttribute> parameters) {
  if (!operands.front())
    return {};
  return atRunTime(node, name, kernel, operands,
                   RankedTensorType::get(shape, getElementTypeOrSelf(operands.front().getType())), parameters);
}

std::optional<SmallVector<int64_t>> broadcast(Node &node, ValueRange operands) {
  SmallVector<int64_t> result;
  for (Value operand : operands) {
    if (!operand)
      return std::nullopt;
    ArrayRef<int64_t> shape = sizesOf(operand);
    if (shape.size() > result.size())
      result.insert(result.begin(), shape.size() - result.size(), 1);
    for (auto [size, all] : llvm::zip_equal(shape, MutableArrayRef(result).take_back(shape.size()))) {
      if (all == 1 || (ShapedType::isDynamic(all) && size != 1)) {
        all = size;
      } else if (size != 1 && size != all && !ShapedType::isDynamic(size)) {
        (void)node.error("has operands that do not broadcast");
        return std::nullopt;
      }
    }
  }
  return result;
}

Value integers(Node &node, ArrayRef<int64_t> values) {
  OpBuilder &b = node.builder();
  auto type = RankedTensorType::get(int64_t(values.size()), b.getI64Type());
  return top::createConstant(b, b.getUnknownLoc(), "", type, top::fromInts(b.getI64Type(), values));
}

std::optional<SmallVector<int64_t>> axesOf(Node &node, int64_t inputSince, int64_t rank) {
  std::optional<SmallVector<int64_t>> axes = node.opset() < inputSince ? node.intsAttr("axes")
                                             : node.has(1)             ? node.ints(1, "axes")
                                                                       : std::nullopt;
  return axes ? node.axes(*axes, rank) : axes;
}

} // namespace pto_mlir::onnx
