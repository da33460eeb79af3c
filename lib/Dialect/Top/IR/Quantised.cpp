#include "pto_mlir/Dialect/Top/IR/Quantised.h"
#include "pto_mlir/Dialect/Top/IR/NarrowFloats.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace pto_mlir::top {

quant::QuantizedType quantisedElement(Type type) { return dyn_cast<quant::QuantizedType>(getElementTypeOrSelf(type)); }

bool isTopQuantised(Type element) {
  auto type = dyn_cast<quant::QuantizedType>(element);
  return isa_and_nonnull<quant::UniformQuantizedType, quant::UniformQuantizedPerAxisType>(type) &&
         type.getStorageTypeIntegralWidth() == 8;
}

Type storageType(Type type) {
  if (Type element = getElementTypeOrSelf(type); isNarrowFloat(element)) {
    Type codes = IntegerType::get(type.getContext(), isa<Float4E2M1Type>(element) ? 4 : 8, IntegerType::Unsigned);
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? Type(tensor.clone(codes)) : codes;
  }
  if (isa<StringType>(getElementTypeOrSelf(type))) {
    Type number = IntegerType::get(type.getContext(), 64, IntegerType::Unsigned);
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? Type(tensor.clone(number)) : number;
  }
  quant::QuantizedType element = quantisedElement(type);
  if (!element)
    return type;
  auto integer = IntegerType::get(type.getContext(), element.getStorageTypeIntegralWidth(),
                                  element.isSigned() ? IntegerType::Signless : IntegerType::Unsigned);
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? Type(tensor.clone(integer)) : Type(integer);
}

QuantParameters quantParameters(quant::QuantizedType type) {
  if (auto one = dyn_cast<quant::UniformQuantizedType>(type))
    return {{one.getScale()}, {one.getZeroPoint()}, std::nullopt};
  auto many = cast<quant::UniformQuantizedPerAxisType>(type);
  return {llvm::to_vector(many.getScales()), llvm::to_vector(many.getZeroPoints()), many.getQuantizedDimension()};
}

bool fitsShape(Type element, ArrayRef<int64_t> shape) {
  auto type = dyn_cast<quant::UniformQuantizedPerAxisType>(element);
  if (!type)
    return true;
  int64_t axis = type.getQuantizedDimension();
  return axis < static_cast<int64_t>(shape.size()) && shape[axis] == static_cast<int64_t>(type.getScales().size());
}

static Type onAxis(quant::UniformQuantizedPerAxisType type, int64_t axis) {
  return quant::UniformQuantizedPerAxisType::get(type.getFlags(), type.getStorageType(), type.getExpressedType(),
                                                 type.getScales(), type.getZeroPoints(), static_cast<int32_t>(axis),
                                                 type.getStorageTypeMin(), type.getStorageTypeMax());
}

Type permutedElement(Type element, ArrayRef<int64_t> perm) {
  auto type = dyn_cast<quant::UniformQuantizedPerAxisType>(element);
  return type ? onAxis(type, llvm::find(perm, type.getQuantizedDimension()) - perm.begin()) : element;
}

Type reshapedElement(Type element, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  auto type = dyn_cast<quant::UniformQuantizedPerAxisType>(element);
  if (!type)
    return element;
  int64_t axis = type.getQuantizedDimension(), before = 1, begins = 1;
  for (int64_t size : from.take_front(axis))
    before *= size;
  for (auto [dim, size] : llvm::enumerate(to)) {
    if (begins == before && size == from[axis])
      return onAxis(type, static_cast<int64_t>(dim));
    begins *= size;
  }
  return nullptr;
}

} // namespace pto_mlir::top
