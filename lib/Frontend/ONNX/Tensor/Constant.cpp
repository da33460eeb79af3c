// Constant, ConstantOfShape, Range.
#include "../Registry.h"
#include "../TensorDecoder.h"
#include "Filling.h"
#include <cmath>

using namespace mlir;

namespace pto_mlir::onnx {

static top::Weight makeWeight(RankedTensorType type, std::vector<char> data) {
  auto bytes = std::make_shared<const std::vector<char>>(std::move(data));
  return {type, ArrayRef<char>(*bytes), bytes};
}

// The tensor of an attribute; nullopt after an error.
static std::optional<top::Weight> tensorAttr(Node &node, const ::onnx::AttributeProto &attribute) {
  if (attribute.type() != ::onnx::AttributeProto::TENSOR) {
    (void)node.error("attribute '" + attribute.name() + "' must be a tensor");
    return std::nullopt;
  }
  std::string reason;
  std::optional<top::Weight> weight =
      decodeTensor(node.builder().getContext(), attribute.t(), attribute.t().raw_data(), nullptr, node.file(), reason);
  if (!weight)
    (void)node.error("attribute '" + attribute.name() + "': " + reason);
  return weight;
}

static LogicalResult importConstant(Node &node) {
  OpBuilder &b = node.builder();
  auto shaped = [](int64_t count, Type element) { return RankedTensorType::get({count}, element); };
  if (const auto *value = node.attr("value")) {
    if (value->type() == ::onnx::AttributeProto::TENSOR && value->t().data_type() == ::onnx::TensorProto::STRING)
      return node.setStrings(0, value->t());
    std::optional<top::Weight> weight = tensorAttr(node, *value);
    if (!weight)
      return failure();
    node.set(0, *weight);
    return success();
  }
  if (node.opset() >= 12) {
    Type f32 = b.getF32Type(), i64 = b.getI64Type();
    if (const auto *value = node.attr("value_float")) {
      node.set(0, makeWeight(RankedTensorType::get({}, f32), top::fromDoubles(f32, static_cast<double>(value->f()))));
      return success();
    }
    if (const auto *value = node.attr("value_int")) {
      node.set(0, makeWeight(RankedTensorType::get({}, i64), top::fromInts(i64, static_cast<int64_t>(value->i()))));
      return success();
    }
    if (const auto *value = node.attr("value_floats")) {
      std::vector<double> values(value->floats().begin(), value->floats().end());
      node.set(0, makeWeight(shaped(values.size(), f32), top::fromDoubles(f32, values)));
      return success();
    }
    if (const auto *value = node.attr("value_ints")) {
      std::vector<int64_t> values(value->ints().begin(), value->ints().end());
      node.set(0, makeWeight(shaped(values.size(), i64), top::fromInts(i64, values)));
      return success();
    }
    const auto *text = node.attr("value_string"), *texts = text ? text : node.attr("value_strings");
    if (texts) {
      ::onnx::TensorProto tensor;
      if (text)
        tensor.add_string_data(text->s());
      else
        *tensor.mutable_string_data() = texts->strings();
      if (!text)
        tensor.add_dims(texts->strings_size());
      return node.setStrings(0, tensor);
    }
  }
  return node.error("has no tensor or number as its value");
}

std::optional<top::Weight> fillingOf(Node &node) {
  const auto *value = node.attr("value");
  if (!value)
    return makeWeight(RankedTensorType::get({}, node.builder().getF32Type()), std::vector<char>(4, 0));
  std::optional<top::Weight> weight = tensorAttr(node, *value);
  if (weight && weight->type.getNumElements() != 1) {
    (void)node.error("attribute 'value' must hold one element");
    return std::nullopt;
  }
  return weight;
}

static LogicalResult importConstantOfShape(Node &node) {
  std::optional<SmallVector<int64_t>> shape = node.ints(0, "shape");
  if (!shape)
    return failure();
  std::optional<top::Weight> filling = fillingOf(node);
  if (!filling)
    return failure();
  if (llvm::any_of(*shape, [](int64_t size) { return size < 0; }))
    return node.error("shape has a negative size");
  auto type = RankedTensorType::get(*shape, filling->type.getElementType());
  std::optional<int64_t> bytes = top::tensorBytes(type);
  // Bounds the allocation for corrupt shapes.
  constexpr int64_t kMaxBytes = int64_t(1) << 30;
  if (!bytes || *bytes > kMaxBytes)
    return node.error("the tensor is too large; " + Twine(kMaxBytes) + " bytes are the most");
  std::vector<char> data(*bytes);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = filling->bytes[i % filling->bytes.size()];
  node.set(0, makeWeight(type, std::move(data)));
  return success();
}

static LogicalResult importRange(Node &node) {
  std::optional<top::Weight> limits[3];
  for (unsigned i = 0; i < 3; ++i) {
    limits[i] = node.needConstant(i);
    if (!limits[i] || limits[i]->type.getNumElements() != 1 ||
        limits[i]->type.getElementType() != node.type(0).getElementType())
      return node.error("start, limit and delta must be constant scalars of one type, or integers");
  }
  Type element = node.type(0).getElementType();
  auto shaped = [&](int64_t count) { return RankedTensorType::get({count}, element); };
  if (isa<IntegerType>(element)) {
    int64_t start = top::toInts(*limits[0])[0], limit = top::toInts(*limits[1])[0], delta = top::toInts(*limits[2])[0];
    if (delta == 0)
      return node.error("delta must not be 0");
    __int128 distance = static_cast<__int128>(limit) - start, by = delta;
    __int128 most = std::max<__int128>((distance + by - (by > 0 ? 1 : -1)) / by, 0);
    int64_t count = static_cast<int64_t>(std::min<__int128>(most, INT64_MAX));
    if (!node.mayBuild(count))
      return failure();
    std::vector<int64_t> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(start + i * delta);
    node.set(0, makeWeight(shaped(values.size()), top::fromInts(element, values)));
    return success();
  }
  double start = top::toDoubles(*limits[0])[0], limit = top::toDoubles(*limits[1])[0],
         delta = top::toDoubles(*limits[2])[0];
  if (delta == 0)
    return node.error("delta must not be 0");
  double count = std::ceil((limit - start) / delta);
  if (!node.mayBuild(static_cast<int64_t>(std::max(std::min(0x1p40, count), 0.0))))
    return failure();
  std::vector<double> values;
  values.reserve(static_cast<size_t>(std::max(count, 0.0)));
  for (int64_t i = 0; i < count; ++i)
    values.push_back(start + i * delta);
  node.set(0, makeWeight(shaped(values.size()), top::fromDoubles(element, values)));
  return success();
}

void registerConstant(Registry &registry) {
  registry.add("Constant", {7, kMaxOpset, 0, 0, importConstant});
  registry.add("ConstantOfShape", {9, kMaxOpset, 1, 1, importConstantOfShape});
  registry.add("Range", {11, kMaxOpset, 3, 3, importRange});
}

} // namespace pto_mlir::onnx
