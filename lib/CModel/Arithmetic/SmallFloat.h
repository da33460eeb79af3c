// Element types of 8 and 4 bits: e4m3, e5m2, hif8, e8m0 (powers of two), e2m1, e1m2 and i4. Decoding is exact; encoding
// rounds once.
#ifndef PTO_MLIR_CMODEL_SMALLFLOAT_H
#define PTO_MLIR_CMODEL_SMALLFLOAT_H

#include "Arithmetic/Element.h"
#include "Tiles/LocalTile.h"

namespace pto_mlir::cmodel {

/// Elements of 8 bits as stored.
struct E4M3 {
  uint8_t bits;
};
struct E5M2 {
  uint8_t bits;
};
struct Hif8 {
  uint8_t bits;
};

/// The value of each of the 256 codes (16 codes for 4-bit types), NaN for codes without a value.
const float *smallFloatValues(isa::ElementType type);
/// Whether `type` is one of the types of this header, including i4.
bool isSmall(isa::ElementType type);

inline float load(E4M3 v) { return smallFloatValues(isa::ElementType::f8E4M3FN)[v.bits]; }
inline float load(E5M2 v) { return smallFloatValues(isa::ElementType::f8E5M2)[v.bits]; }
inline float load(Hif8 v) { return smallFloatValues(isa::ElementType::hif8)[v.bits]; }
template <> constexpr isa::ElementType elementType<E4M3>() { return isa::ElementType::f8E4M3FN; }
template <> constexpr isa::ElementType elementType<E5M2>() { return isa::ElementType::f8E5M2; }
template <> constexpr isa::ElementType elementType<Hif8>() { return isa::ElementType::hif8; }

/// The nearest code: ties to even, for hif8 away from 0. Overflow saturates if `saturate` is set or the type has no
/// infinity and no NaN (e2m1, e1m2); otherwise it gives infinity, in e4m3 NaN. NaN gives NaN, or the largest number if
/// the type has none. i4: rounded to nearest even and clamped to -8..7.
uint8_t encodeSmall(isa::ElementType type, double value, bool saturate);

/// Element `at` (counted in storage order) of a tile of such a type. Two 4-bit elements share a byte, the first in its
/// low half.
float smallAt(const LocalTile &t, size_t at);
void putSmall(const LocalTile &t, size_t at, uint8_t code);

} // namespace pto_mlir::cmodel

#endif
