// Reading and creation of constants. Element types are converted through double, which is exact for every float type
// and for integers below 2^53.
#include "pto_mlir/Dialect/Top/IR/Constants.h"

#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Support/BFloat16.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <cstring>

using namespace mlir;

namespace pto_mlir::top {

// The elements of an inline constant in storage format: splats are expanded, i1 takes a byte.
static std::vector<char> spread(DenseElementsAttr attr) {
  Type element = attr.getElementType();
  int64_t size = elementBytes(element), count = attr.getNumElements();
  std::vector<char> bytes(count * size);
  if (element.isInteger(1)) {
    int64_t i = 0;
    for (bool value : attr.getValues<bool>())
      bytes[i++] = value;
    return bytes;
  }
  ArrayRef<char> raw = attr.getRawData();
  if (!attr.isSplat())
    std::memcpy(bytes.data(), raw.data(), bytes.size());
  else
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(bytes.data() + i * size, raw.data(), size);
  return bytes;
}

std::optional<Weight> getConstant(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto weight = dyn_cast_or_null<WeightOp>(op)) {
    const Weight *entry = op->getContext()->getLoadedDialect<TopDialect>()->weights().lookup(weight.getName());
    if (!entry || entry->type != weight.getOutput().getType())
      return std::nullopt;
    return *entry;
  }
  auto constant = dyn_cast_or_null<arith::ConstantOp>(op);
  auto attr = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  auto type = attr ? dyn_cast<RankedTensorType>(attr.getType()) : RankedTensorType();
  if (!type || !type.getElementType().isIntOrFloat())
    return std::nullopt;
  auto owner = std::make_shared<const std::vector<char>>(spread(attr));
  return Weight{type, ArrayRef<char>(*owner), owner};
}

template <typename T> static T load(const char *data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

// Bits of element i, zero-extended.
static uint64_t bitsAt(const Weight &weight, int64_t size, int64_t i) {
  uint64_t bits = 0;
  std::memcpy(&bits, weight.bytes.data() + i * size, size);
  return bits;
}

static int64_t asInt(uint64_t bits, IntegerType type) {
  unsigned width = type.getWidth();
  if (width == 64 || type.isUnsigned() || width == 1)
    return static_cast<int64_t>(bits);
  return static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
}

std::vector<double> toDoubles(const Weight &weight) {
  Type element = weight.type.getElementType();
  int64_t size = elementBytes(element), count = weight.type.getNumElements();
  std::vector<double> values(count);
  if (element.isF32()) {
    for (int64_t i = 0; i < count; ++i)
      values[i] = load<float>(weight.bytes.data() + i * 4);
  } else if (element.isF64()) {
    std::memcpy(values.data(), weight.bytes.data(), count * 8);
  } else if (auto type = dyn_cast<FloatType>(element)) {
    for (int64_t i = 0; i < count; ++i) {
      llvm::APFloat value(type.getFloatSemantics(), llvm::APInt(type.getWidth(), bitsAt(weight, size, i)));
      bool lost;
      value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
      values[i] = value.convertToDouble();
    }
  } else if (isNarrowFloat(element)) {
    for (int64_t i = 0; i < count; ++i)
      values[i] = decodeNarrowFloat(element, static_cast<uint8_t>(weight.bytes[i]));
  } else if (auto integer = dyn_cast<IntegerType>(element)) { // else strings, of which no weight has elements
    for (int64_t i = 0; i < count; ++i) {
      uint64_t bits = bitsAt(weight, size, i);
      values[i] = integer.isUnsigned() ? static_cast<double>(bits) : static_cast<double>(asInt(bits, integer));
    }
  }
  return values;
}

// Converting an out-of-range double is undefined behaviour in C++: saturate; NaN becomes 0.
static int64_t saturate(double value) {
  if (std::isnan(value))
    return 0;
  if (value >= 9223372036854775807.0)
    return INT64_MAX;
  if (value <= -9223372036854775808.0)
    return INT64_MIN;
  return static_cast<int64_t>(value);
}

std::vector<int64_t> toInts(const Weight &weight) {
  std::vector<int64_t> values;
  auto integer = dyn_cast<IntegerType>(weight.type.getElementType());
  if (!integer) {
    for (double value : toDoubles(weight))
      values.push_back(saturate(value));
    return values;
  }
  int64_t size = elementBytes(integer), count = weight.type.getNumElements();
  for (int64_t i = 0; i < count; ++i)
    values.push_back(asInt(bitsAt(weight, size, i), integer));
  return values;
}

static void storeBits(std::vector<char> &bytes, int64_t size, int64_t i, uint64_t bits) {
  std::memcpy(bytes.data() + i * size, &bits, size);
}

static uint64_t floatBits(double value, FloatType type) {
  llvm::APFloat rounded(value);
  bool lost;
  rounded.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return rounded.bitcastToAPInt().getZExtValue();
}

std::vector<char> fromDoubles(Type element, ArrayRef<double> values) {
  int64_t size = elementBytes(element);
  std::vector<char> bytes(values.size() * size);
  if (element.isF32()) {
    for (auto [i, value] : llvm::enumerate(values)) {
      float rounded = static_cast<float>(value);
      std::memcpy(bytes.data() + i * 4, &rounded, 4);
    }
  } else if (auto type = dyn_cast<FloatType>(element)) {
    for (auto [i, value] : llvm::enumerate(values))
      storeBits(bytes, size, i, floatBits(value, type));
  } else if (isNarrowFloat(element)) {
    for (auto [i, value] : llvm::enumerate(values))
      bytes[i] = static_cast<char>(encodeNarrowFloat(element, value));
  } else if (auto integer = dyn_cast<IntegerType>(element)) {
    unsigned width = integer.getWidth();
    for (auto [i, value] : llvm::enumerate(values)) {
      if (width == 1) {
        bytes[i] = value != 0;
        continue;
      }
      if (integer.isUnsigned()) {
        double limit = std::ldexp(1.0, width);
        storeBits(bytes, size, i, value >= limit ? ~uint64_t(0) : value > 0 ? static_cast<uint64_t>(value) : 0);
        continue;
      }
      int64_t high = static_cast<int64_t>(~uint64_t(0) >> (65 - width));
      storeBits(bytes, size, i, static_cast<uint64_t>(std::clamp(saturate(value), -high - 1, high)));
    }
  }
  return bytes;
}

// Converts floats directly: a network has tens of millions of weights, and APFloat takes 100 ns for each.
template <uint16_t (*Round)(float)> static std::vector<char> narrowFloats(ArrayRef<char> bytes) {
  std::vector<char> narrow(bytes.size() / 2);
  for (size_t i = 0; i < bytes.size() / 4; ++i) {
    uint16_t rounded = Round(load<float>(bytes.data() + i * 4));
    std::memcpy(narrow.data() + i * 2, &rounded, 2);
  }
  return narrow;
}

std::vector<char> toFloats(const Weight &weight, FloatType type) {
  if (weight.type.getElementType().isF32() && type.isF16())
    return narrowFloats<floatToHalf>(weight.bytes);
  if (weight.type.getElementType().isF32() && type.isBF16())
    return narrowFloats<floatToBFloat16>(weight.bytes);
  return fromDoubles(type, toDoubles(weight));
}

std::vector<char> fromInts(Type element, ArrayRef<int64_t> values) {
  if (isa<FloatType>(element) || isNarrowFloat(element))
    return fromDoubles(element, std::vector<double>(values.begin(), values.end()));
  int64_t size = elementBytes(element);
  std::vector<char> bytes(values.size() * size);
  for (auto [i, value] : llvm::enumerate(values))
    storeBits(bytes, size, i, element.isInteger(1) ? value != 0 : static_cast<uint64_t>(value));
  return bytes;
}

template <typename Bits> static bool anyAbove(ArrayRef<char> bytes, Bits infinity) {
  Bits greatest = 0; // without a branch, so that it is as fast as memory
  for (size_t i = 0; i < bytes.size(); i += sizeof(Bits))
    greatest = std::max<Bits>(greatest, load<Bits>(bytes.data() + i) & static_cast<Bits>(~Bits(0)) >> 1);
  return greatest > infinity;
}

bool holdsNaN(const Weight &weight) {
  Type element = weight.type.getElementType();
  if (element.isF32())
    return anyAbove<uint32_t>(weight.bytes, 0x7f800000);
  if (element.isF16())
    return anyAbove<uint16_t>(weight.bytes, 0x7c00);
  if (element.isBF16())
    return anyAbove<uint16_t>(weight.bytes, 0x7f80);
  return element.isF64() && anyAbove<uint64_t>(weight.bytes, uint64_t{0x7ff} << 52);
}

std::optional<double> getSplat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() == 0)
    return std::nullopt;
  std::optional<Weight> weight = getConstant(value);
  if (!weight)
    return std::nullopt;
  int64_t size = elementBytes(type.getElementType());
  // A splat: every element equals its predecessor.
  if (std::memcmp(weight->bytes.data(), weight->bytes.data() + size, weight->bytes.size() - size) != 0)
    return std::nullopt;
  return toDoubles(Weight{RankedTensorType::get({1}, type.getElementType()), weight->bytes.take_front(size), nullptr})
      .front();
}

static Value createInline(OpBuilder &builder, Location loc, RankedTensorType type, ArrayRef<char> bytes) {
  DenseElementsAttr attr;
  if (type.getElementType().isInteger(1))
    attr = DenseElementsAttr::get(type, ArrayRef<bool>(reinterpret_cast<const bool *>(bytes.data()), bytes.size()));
  else
    attr = DenseElementsAttr::getFromRawBuffer(type, bytes);
  return builder.create<arith::ConstantOp>(loc, attr);
}

// arith.constant supports signless integers only.
static bool fitsInline(RankedTensorType type) {
  return type.getNumElements() <= kMaxInlineElements && type.getElementType().isIntOrFloat() &&
         !type.getElementType().isUnsignedInteger();
}

Value createConstant(OpBuilder &builder, Location loc, StringRef name, RankedTensorType type, std::vector<char> bytes) {
  if (fitsInline(type))
    return createInline(builder, loc, type, bytes);
  auto &store = builder.getContext()->getLoadedDialect<TopDialect>()->weights();
  return builder.create<WeightOp>(loc, type, store.add(name, type, std::move(bytes)));
}

Value createConstant(OpBuilder &builder, Location loc, StringRef name, const Weight &weight) {
  if (fitsInline(weight.type))
    return createInline(builder, loc, weight.type, weight.bytes);
  auto &store = builder.getContext()->getLoadedDialect<TopDialect>()->weights();
  return builder.create<WeightOp>(loc, weight.type, store.addExternal(name, weight.type, weight.bytes, weight.owner));
}

} // namespace pto_mlir::top
