// The types of 8 and 4 bits: e4m3, e5m2, hif8, powers of two (e8m0), e2m1, e1m2, and i4. Conversions are exact one way
// and rounded once the other way.
#ifndef PTO_MLIR_CMODEL_SMALLFLOAT_H
#define PTO_MLIR_CMODEL_SMALLFLOAT_H

#include "Arithmetic/Element.h"
#include "Tiles/LocalTile.h"

namespace pto_mlir::cmodel {

struct E4M3 {
  uint8_t bits;
};
struct E5M2 {
  uint8_t bits;
};
struct Hif8 {
  uint8_t bits;
};

/// Value of each code; NaN where it is none. Codes of 4 bits: the first 16.
const float *smallFloatValues(isa::ElementType type);
/// Is `type` one of those of this header, i4 included?
bool isSmall(isa::ElementType type);

inline float load(E4M3 v) { return smallFloatValues(isa::ElementType::f8E4M3FN)[v.bits]; }
inline float load(E5M2 v) { return smallFloatValues(isa::ElementType::f8E5M2)[v.bits]; }
inline float load(Hif8 v) { return smallFloatValues(isa::ElementType::hif8)[v.bits]; }
template <> constexpr isa::ElementType elementType<E4M3>() { return isa::ElementType::f8E4M3FN; }
template <> constexpr isa::ElementType elementType<E5M2>() { return isa::ElementType::f8E5M2; }
template <> constexpr isa::ElementType elementType<Hif8>() { return isa::ElementType::hif8; }

/// The nearest code: ties to the even one, for hif8 away from 0. What is beyond the largest number is cut to it when
/// `saturate` is set or the type has nothing else (e2m1, e1m2), else becomes an infinity, in e4m3 NaN. NaN stays NaN;
/// where there is none it becomes the largest number. Of i4: rounded to nearest even, cut to -8..7.
uint8_t encodeSmall(isa::ElementType type, double value, bool saturate);

/// Element `at` of a tile of one of these types; two elements of 4 bits share a byte, the first one in its low half.
float smallAt(const LocalTile &t, size_t at);
void putSmall(const LocalTile &t, size_t at, uint8_t code);

} // namespace pto_mlir::cmodel

#endif
