// Unique: computed by the host program, because the values decide the number of results.
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importUnique(Node &node) {
  RankedTensorType type = node.type(0);
  bool isFlat = !node.attr("axis");
  std::optional<int64_t> axis = isFlat ? 0 : node.axis(node.intAttr("axis", 0), type.getRank());
  if (!axis)
    return failure();
  SmallVector<NamedAttribute> parameters{node.i64("sorted", node.intAttr("sorted", 1))};
  if (!isFlat)
    parameters.push_back(node.i64("axis", *axis));
  Type i64 = node.builder().getI64Type();
  int64_t most = isFlat ? type.getNumElements() : type.getDimSize(*axis);
  SmallVector<int64_t> shape(isFlat ? ArrayRef<int64_t>(most) : type.getShape());
  shape[*axis] = ShapedType::kDynamic;
  auto list = RankedTensorType::get({ShapedType::kDynamic}, i64);
  const std::tuple<StringRef, RankedTensorType> results[] = {
      {"unique", RankedTensorType::get(shape, type.getElementType())},
      {"unique_indices", list},
      {"unique_inverse", RankedTensorType::get({most}, i64)},
      {"unique_counts", list}};
  SmallVector<Value> sized; // their first extent is one number
  for (unsigned i = 0; i < node.numOutputs(); ++i) {
    if (!node.wantsOutput(i))
      continue;
    auto [kernel, resultType] = results[i];
    Value result = node.host(node.outputName(i), kernel, node.input(0), resultType,
                             "the values decide the number of results", parameters);
    if (!result)
      return failure();
    node.set(i, result);
    if (i != 2)
      sized.push_back(result);
  }
  node.setExtents(sized, std::min<int64_t>(most, 1), most);
  return success();
}

void registerUnique(Registry &registry) { registry.add("Unique", {11, kMaxOpset, 1, 1, importUnique, kTakesStrings}); }

} // namespace pto_mlir::onnx
