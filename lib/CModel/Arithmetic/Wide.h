// Element access for any type through the widest type of its kind (int64, uint64, float). Slow path, for element types
// that an instruction has on the A5 only.
#ifndef PTO_MLIR_CMODEL_WIDE_H
#define PTO_MLIR_CMODEL_WIDE_H

#include "Arithmetic/Element.h"
#include "Tiles/LocalTile.h"

namespace pto_mlir::cmodel {

/// The element at `from` as W: int64_t for signed integers, uint64_t for unsigned ones, float for f32, f16 and bf16.
template <class W> W loadWide(isa::ElementType type, const uint8_t *from);
/// Stores the value as an element: integers are truncated, floats are rounded once.
template <class W> void storeWide(isa::ElementType type, uint8_t *to, W value);
/// A Scalar operand converted to `type`, as W.
template <class W> W scalarWide(isa::ElementType type, int64_t bits);

/// Element (r, c) of a tile, as W; putWide stores one.
template <class W> W getWide(const LocalTile &t, uint32_t r, uint32_t c) {
  return loadWide<W>(t.type, t.data + t.offset(r, c) * t.bytes);
}
template <class W> void putWide(const LocalTile &t, uint32_t r, uint32_t c, W value) {
  storeWide<W>(t.type, t.data + t.offset(r, c) * t.bytes, value);
}

/// Calls f.operator()<W>() with the wide type of `type`. An instruction legal on i32 is legal on all integers here, one
/// legal on f32 also on bf16; returns false otherwise.
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
