// Tensors in global memory: GlobalTensors of windows, or of whole tensors in a prologue.
#include "FunctionEmitter.h"
#include "Types.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace pto_mlir::cpp {

LogicalResult FunctionEmitter::makeView(pto::MakeTensorViewOp op) {
  View view;
  view.pointer = text(op.getPtr());
  view.element = op.getResult().getType().getElementType();
  view.layout = op.getLayout().value_or(pto::Layout::nd);
  for (Value extent : op.getShape()) {
    view.shape.push_back(text(extent).str());
    view.staticShape.push_back(getConstantIntValue(extent));
  }
  for (Value stride : op.getStrides()) {
    view.strides.push_back(text(stride).str());
    view.staticStrides.push_back(getConstantIntValue(stride));
  }
  views[op.getResult()] = std::move(view);
  return success();
}

LogicalResult FunctionEmitter::viewDim(pto::GetTensorViewDimOp op) {
  auto known = views.find(op.getView());
  if (known == views.end())
    return op.emitError("'pto.get_tensor_view_dim' has no C++: expects a view that pto.make_tensor_view makes");
  const View &view = known->second;
  std::optional<int64_t> dim = getConstantIntValue(op.getDim());
  if (!dim || *dim < 0 || *dim >= int64_t(view.shape.size()))
    return op.emitError("'pto.get_tensor_view_dim' has no C++: expects a constant dimension of the view");
  return define(op.getResult(), view.shape[*dim]);
}

/// The window as a view of its own; its pointer stays that of the whole.
FailureOr<FunctionEmitter::View> FunctionEmitter::windowOf(pto::PartitionViewOp op, const View &view) {
  View window = view;
  ArrayRef<int64_t> shape = op.getResult().getType().getShape();
  bool sameRank = shape.size() == op.getSizes().size();
  if (op.getSizes().size() != view.shape.size())
    return op.emitError("'pto.partition_view' has no C++: expects a size for each dimension of the view");
  for (auto [k, size] : llvm::enumerate(op.getSizes())) {
    window.shape[k] = text(size);
    window.staticShape[k] = getConstantIntValue(size);
    if (!window.staticShape[k] && sameRank && !ShapedType::isDynamic(shape[k]))
      window.staticShape[k] = shape[k];
  }
  return window;
}

/// `x + r * 32 + c`; zeros are printed too.
std::string FunctionEmitter::windowPointer(pto::PartitionViewOp op, const View &view) const {
  std::string pointer = view.pointer;
  for (auto [k, offset] : llvm::enumerate(op.getOffsets())) {
    pointer += " + " + text(offset).str();
    if (view.staticStrides[k] != 1)
      pointer += " * " + view.strides[k];
  }
  return pointer;
}

/// `Shape<1, 1, 1, 32, 32>` or `Stride<..>`: five numbers, of which -1 are arguments of the constructor.
static std::string fiveOf(StringRef name, ArrayRef<std::optional<int64_t>> numbers, ArrayRef<std::string> texts,
                          StringRef padding, std::string &arguments) {
  SmallVector<std::string> five(5 - numbers.size(), padding.str());
  for (auto [number, shown] : llvm::zip_equal(numbers, texts)) {
    five.push_back(number ? std::to_string(*number) : "-1");
    if (!number)
      arguments += (arguments.empty() ? "" : ", ") + shown;
  }
  return name.str() + "<" + llvm::join(five, ", ") + ">";
}

static StringRef layoutName(pto::Layout layout) {
  return layout == pto::Layout::dn ? "Layout::DN" : layout == pto::Layout::nz ? "Layout::NZ" : "Layout::ND";
}

LogicalResult FunctionEmitter::declareTensor(StringRef name, const View &window, StringRef pointer) {
  std::string element = scalarType(window.element, policy);
  if (element.empty() || window.shape.size() > 5)
    return failure();
  // A dimension that the tensor does not have has one step, as far as the outermost one reaches.
  bool known = !policy.unitPadding && window.staticShape[0] && window.staticStrides[0];
  std::string step = known ? std::to_string(*window.staticShape[0] * *window.staticStrides[0]) : "1";
  std::string extents, strides;
  std::string shapeType = fiveOf("Shape", window.staticShape, window.shape, "1", extents);
  std::string strideType = fiveOf("Stride", window.staticStrides, window.strides, step, strides);
  StringRef base = name;
  if (policy.prologue)
    base.consume_back("Global");
  std::string shapeName = (policy.prologue ? base + "ShapeDim5" : "GTShape_" + base).str();
  std::string strideName = (policy.prologue ? base + "StrideDim5" : "GTStride_" + base).str();
  std::string typeName = (policy.prologue ? base + "GlobalType" : "GT_" + base).str();
  StringRef scope = policy.prologue ? "" : "pto::";
  bool usual = policy.prologue && window.layout == pto::Layout::nd;
  out.line("using " + shapeName + " = " + scope + shapeType + ";");
  out.line("using " + strideName + " = " + scope + strideType + ";");
  out.line("using " + typeName + " = GlobalTensor<" + element + ", " + shapeName + ", " + strideName +
           (usual ? "" : ", " + scope.str() + layoutName(window.layout).str()) + ">;");
  bool fixed = extents.empty() && strides.empty();
  out.line(typeName + " " + name + "(" + pointer +
           (fixed ? "" : ", " + shapeName + "(" + extents + "), " + strideName + "(" + strides + ")") + ");");
  return success();
}

LogicalResult FunctionEmitter::partition(pto::PartitionViewOp op) {
  auto known = views.find(op.getSource());
  if (known == views.end())
    return op.emitError("'pto.partition_view' has no C++: expects a view that pto.make_tensor_view makes");
  const View &view = known->second;
  if (auto tensor = prologueTensors.find(op.getSource()); tensor != prologueTensors.end()) {
    texts[op.getResult()] = tensor->second.name;
    typeTexts[op.getResult()] = "decltype(" + tensor->second.name + ")";
    if (!tensor->second.whole)
      windows[op.getResult()] = windowPointer(op, view);
    return success();
  }
  FailureOr<View> window = windowOf(op, view);
  if (failed(window))
    return failure();
  std::string name = nameFor(op.getResult());
  bool begins = llvm::all_of(op.getOffsets(), [](Value offset) { return matchPattern(offset, m_Zero()); });
  if (failed(declareTensor(name, *window, begins ? view.pointer : windowPointer(op, view))))
    return op.emitError("'pto.partition_view' has no C++: expects at most 5 dimensions of an element type of C++");
  texts[op.getResult()] = name;
  typeTexts[op.getResult()] = policy.prologue ? "decltype(" + name + ")" : "GT_" + name;
  return success();
}

/// A tensor of constant extents behind an argument, all of whose windows have one constant size.
LogicalResult FunctionEmitter::prologueTensor(pto::MakeTensorViewOp op) {
  auto constant = [](Value value) { return getConstantIntValue(value).has_value(); };
  if (!isa<BlockArgument>(op.getPtr()) || !texts.contains(op.getPtr()) || !llvm::all_of(op.getShape(), constant) ||
      !llvm::all_of(op.getStrides(), constant))
    return success();
  for (OperandRange constants : {op.getShape(), op.getStrides()})
    for (Value extent : constants)
      texts[extent] = std::to_string(*getConstantIntValue(extent));
  if (failed(makeView(op)))
    return failure();
  View window = views.at(op.getResult());
  bool whole = true;
  std::optional<SmallVector<std::optional<int64_t>>> sizes;
  for (Operation *user : op->getUsers()) {
    auto part = dyn_cast<pto::PartitionViewOp>(user);
    if (!part || !llvm::all_of(part.getSizes(), constant) || part.getSizes().size() != window.shape.size())
      return success();
    auto own = llvm::map_to_vector(part.getSizes(), [](Value size) { return getConstantIntValue(size); });
    if (sizes && *sizes != own)
      return success();
    sizes = own;
    whole &=
        own == window.staticShape && llvm::all_of(part.getOffsets(), [](Value v) { return matchPattern(v, m_Zero()); });
  }
  if (!sizes)
    return success(); // nothing accesses it
  window.staticShape = *sizes;
  std::string name = names.fresh(text(op.getPtr()).str() + "Global");
  if (failed(declareTensor(name, window, text(op.getPtr()))))
    return op.emitError("'pto.make_tensor_view' has no C++: expects at most 5 dimensions of an element type of C++");
  out.line("");
  prologueTensors[op.getResult()] = {name, whole};
  return success();
}

} // namespace pto_mlir::cpp
