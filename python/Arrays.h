// Element types in numpy and DLPack.
#ifndef PTO_MLIR_PYTHON_ARRAYS_H
#define PTO_MLIR_PYTHON_ARRAYS_H

#include "pto_mlir/Support/ElementType.h"

#include <nanobind/ndarray.h>

#include <optional>

namespace pto_mlir::python {

struct DType {
  ElementType type;
  nanobind::dlpack::dtype dtype;
};
inline constexpr uint8_t dlInt = 0, dlUInt = 1, dlFloat = 2, dlBool = 6;
inline constexpr DType dtypes[] = {
    {ElementType::F32, {dlFloat, 32, 1}}, {ElementType::F16, {dlFloat, 16, 1}}, {ElementType::F64, {dlFloat, 64, 1}},
    {ElementType::I8, {dlInt, 8, 1}},     {ElementType::I16, {dlInt, 16, 1}},   {ElementType::I32, {dlInt, 32, 1}},
    {ElementType::I64, {dlInt, 64, 1}},   {ElementType::U8, {dlUInt, 8, 1}},    {ElementType::U16, {dlUInt, 16, 1}},
    {ElementType::U32, {dlUInt, 32, 1}},  {ElementType::U64, {dlUInt, 64, 1}},  {ElementType::Boolean, {dlBool, 8, 1}},
};

/// A dense row-major array, owned by the caller.
using Array = nanobind::ndarray<nanobind::ro, nanobind::device::cpu, nanobind::c_contig>;

inline std::optional<ElementType> elementTypeOf(const Array &array) {
  for (const DType &row : dtypes)
    if (row.dtype == array.dtype())
      return row.type;
  return std::nullopt;
}

/// Whether the elements have 2 or 4 bits; they have a byte each in arrays.
inline bool isSigned(ElementType type) { return type == ElementType::I4 || type == ElementType::I2; }

inline bool isOfNumpy(ElementType type) {
  for (const DType &row : dtypes)
    if (row.type == type)
      return true;
  return false;
}

/// numpy's type. For those that it lacks: integers of a byte hold integers of less, the bits of others are unsigned
/// integers of the same size.
inline nanobind::dlpack::dtype dtypeOf(ElementType type) {
  for (const DType &row : dtypes)
    if (row.type == type)
      return row.dtype;
  if (isPacked(type))
    return {isSigned(type) ? dlInt : dlUInt, 8, 1};
  return {dlUInt, static_cast<uint8_t>(elementBits(type)), 1};
}

} // namespace pto_mlir::python

#endif
