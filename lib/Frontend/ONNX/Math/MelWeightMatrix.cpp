// MelWeightMatrix: triangles over the bins of a spectrum, a constant.
#include "../Registry.h"
#include "../TensorDecoder.h"

#include <cmath>

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importMelWeightMatrix(Node &node) {
  double numbers[5];
  for (unsigned i = 0; i < 5; ++i) {
    std::optional<top::Weight> one = node.constant(i);
    if (!one || one->type.getNumElements() != 1)
      return node.error("its inputs must be constant scalars");
    numbers[i] = top::toDoubles(*one).front();
  }
  auto [bands, length, rate, lowest, highest] = numbers;
  double bins = std::floor(length / 2) + 1;
  if (!(bands >= 1 && length >= 1 && rate >= 1 && lowest >= 0 && highest > lowest && highest <= rate))
    return node.error("takes 0 <= lower_edge_hertz < upper_edge_hertz <= sample_rate");
  if (!node.mayBuild({int64_t(std::min(bins, 0x1p40)), int64_t(std::min(bands, 0x1p40))}))
    return failure();
  int64_t type = node.intAttr("output_datatype", 1);
  Type element = elementType(node.builder().getContext(), static_cast<int>(std::clamp<int64_t>(type, 0, INT32_MAX)));
  if (!element || !isa<FloatType>(element))
    return node.error("attribute 'output_datatype' is no type of floats");
  auto mel = [](double hertz) { return 2595 * std::log1p(hertz / 700) / std::log(10.0); };
  double step = (mel(highest) - mel(lowest)) / (bands + 2);
  // Where the triangles begin, peak and end.
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < int64_t(bands) + 2; ++i) {
    double hertz = 700 * std::expm1((double(i) * step + mel(lowest)) / 2595 * std::log(10.0));
    edges.push_back(std::clamp<int64_t>(int64_t(std::floor((length + 1) * hertz / rate)), 0, int64_t(bins) - 1));
  }
  int64_t columns = int64_t(bands);
  std::vector<double> values(int64_t(bins) * columns, 0.0);
  for (int64_t i = 0; i < columns; ++i) {
    int64_t begin = edges[i], peak = edges[i + 1], end = edges[i + 2];
    for (int64_t j = begin; j <= peak; ++j)
      values[j * columns + i] = peak == begin ? 1 : double(j - begin) / double(peak - begin);
    for (int64_t j = peak; j < end; ++j)
      values[j * columns + i] = double(end - j) / double(end - peak);
  }
  OpBuilder &b = node.builder();
  auto made = RankedTensorType::get({int64_t(bins), columns}, element);
  return node.finish(top::createConstant(b, top::namedLoc(b.getContext(), node.outputName()), node.outputName(), made,
                                         top::fromDoubles(element, values)));
}

void registerMelWeightMatrix(Registry &registry) {
  registry.add("MelWeightMatrix", {17, kMaxOpset, 5, 5, importMelWeightMatrix});
}

} // namespace pto_mlir::onnx
