// Elements of any type by way of the widest type of their kind, one by one: for the types that only the A5 has in an
// instruction.
#ifndef PTO_MLIR_CMODEL_WIDE_H
#define PTO_MLIR_CMODEL_WIDE_H

#include "Arithmetic/Element.h"
#include "Tiles/LocalTile.h"

namespace pto_mlir::cmodel {

/// The element at `from` as W: int64_t for signed integers, uint64_t for unsigned ones, float for f32, f16, bf16.
template <class W> W loadWide(isa::ElementType type, const uint8_t *from);
/// The value as an element: integers lose their high bits, floats are rounded once.
template <class W> void storeWide(isa::ElementType type, uint8_t *to, W value);
/// A Scalar operand as an element of `type` would hold it.
template <class W> W scalarWide(isa::ElementType type, int64_t bits);

template <class W> W getWide(const LocalTile &t, uint32_t r, uint32_t c) {
  return loadWide<W>(t.type, t.data + t.offset(r, c) * t.bytes);
}
template <class W> void putWide(const LocalTile &t, uint32_t r, uint32_t c, W value) {
  storeWide<W>(t.type, t.data + t.offset(r, c) * t.bytes, value);
}

/// Calls f.operator()<W>() for the kind of `type`, if an instruction that works on the types of Legal works on that
/// kind too: integers where there is i32, bf16 where there is f32. False when it does not.
template <class Legal, class F> bool visitWide(isa::ElementType type, F &&f) {
  using isa::ElementType;
  switch (type) {
  case ElementType::bf16:
    if constexpr (Legal::template has<float>)
      return f.template operator()<float>(), true;
    return false;
  case ElementType::i8:
  case ElementType::i16:
  case ElementType::i32:
  case ElementType::i64:
    if constexpr (Legal::template has<int32_t>)
      return f.template operator()<int64_t>(), true;
    return false;
  case ElementType::u8:
  case ElementType::u16:
  case ElementType::u32:
  case ElementType::u64:
    if constexpr (Legal::template has<int32_t>)
      return f.template operator()<uint64_t>(), true;
    return false;
  default:
    return false;
  }
}

} // namespace pto_mlir::cmodel

#endif
