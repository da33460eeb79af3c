// CenterCropPad and EyeLike: a slice and a border of zeros; a constant.
#include "../Registry.h"
#include "../TensorDecoder.h"
#include "pto_mlir/Support/ElementType.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importCenterCropPad(Node &node) {
  RankedTensorType type = node.type(0);
  int64_t rank = type.getRank();
  std::optional<SmallVector<int64_t>> sizes = node.ints(1, "shape"), axes = node.intsAttr("axes");
  if (!sizes)
    return failure();
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (axes->size() != sizes->size())
    return node.error("expects a size for each of " + Twine(axes->size()) + " axes, got " + Twine(sizes->size()));
  SmallVector<int64_t> starts(rank, 0), ends(type.getShape()), steps(rank, 1), pads(2 * rank, 0);
  bool crops = false, grows = false;
  for (auto [given, wanted] : llvm::zip_equal(*axes, *sizes)) {
    std::optional<int64_t> axis = node.axis(given, rank);
    if (!axis)
      return failure();
    if (wanted < 1)
      return node.error("a size of " + Twine(wanted) + " is not supported");
    int64_t size = type.getDimSize(*axis), missing = wanted - size;
    if (missing < 0) {
      starts[*axis] = -missing / 2;
      ends[*axis] = starts[*axis] + wanted;
      crops = true;
    } else if (missing > 0) {
      pads[*axis] = missing / 2;
      pads[rank + *axis] = missing - missing / 2;
      grows = true;
    }
  }
  Value value = node.input(0);
  if (crops)
    value =
        node.create<top::SliceOp>(grows ? StringRef() : node.outputName(), value,
                                  {node.i64s("starts", starts), node.i64s("ends", ends), node.i64s("steps", steps)});
  if (grows && value)
    value = node.create<top::PadOp>(node.outputName(), value, {node.i64s("pads", pads)});
  return node.finish(value);
}

static LogicalResult importEyeLike(Node &node) {
  RankedTensorType type = node.type(0);
  int64_t diagonal = node.intAttr("k", 0);
  Type element = type.getElementType();
  if (node.attr("dtype")) {
    int to = static_cast<int>(node.intAttr("dtype", 0));
    element = elementType(node.builder().getContext(), to);
    if (!element)
      return node.error("attribute 'dtype': element type " + dataTypeName(to) + " is not supported");
  }
  if (type.getRank() != 2)
    return node.error("takes a matrix, got shape " + shapeText(type.getShape()));
  if (!node.mayBuild(type.getShape()))
    return failure();
  std::vector<double> values(type.getNumElements(), 0.0);
  int64_t rows = values.empty() ? 0 : type.getDimSize(0), columns = type.getDimSize(1);
  diagonal = std::clamp(diagonal, -rows, columns);
  for (int64_t row = 0; row < rows; ++row)
    if (row + diagonal >= 0 && row + diagonal < columns)
      values[row * columns + row + diagonal] = 1;
  auto result = RankedTensorType::get(type.getShape(), element);
  auto owner = std::make_shared<const std::vector<char>>(top::fromDoubles(element, values));
  node.set(0, top::Weight{result, ArrayRef<char>(*owner), owner});
  return success();
}

void registerCenterCropPad(Registry &registry) {
  registry.add("CenterCropPad", {18, kMaxOpset, 2, 2, importCenterCropPad});
  registry.add("EyeLike", {9, kMaxOpset, 1, 1, importEyeLike});
}

} // namespace pto_mlir::onnx
