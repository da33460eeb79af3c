// Element types of top tensors that MLIR lacks: stored and converted, never computed with by the engines.
#ifndef PTO_MLIR_DIALECT_TOP_IR_NARROWFLOATS_H
#define PTO_MLIR_DIALECT_TOP_IR_NARROWFLOATS_H

#include "mlir/IR/BuiltinTypes.h"
#include "pto_mlir/Support/Float8.h"
#include <optional>

namespace pto_mlir::top {

/// `!top.f4E2M1`: ONNX's FLOAT4E2M1 (OCP MX).
class Float4E2M1Type : public mlir::Type::TypeBase<Float4E2M1Type, mlir::Type, mlir::TypeStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "top.f4E2M1";
};

/// `!top.f8E8M0`: ONNX's FLOAT8E8M0, the powers of two from 2^-127 to 2^127 and NaN.
class Float8E8M0Type : public mlir::Type::TypeBase<Float8E8M0Type, mlir::Type, mlir::TypeStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "top.f8E8M0";
};

/// `!top.string`: strings, of which a tensor holds the numbers in the table of a run (HostOps/Strings.h). Constants are
/// made by the host operation `strings`; a weight of this type has no elements.
class StringType : public mlir::Type::TypeBase<StringType, mlir::Type, mlir::TypeStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "top.string";
};

inline bool isNarrowFloat(mlir::Type element) { return llvm::isa<Float4E2M1Type, Float8E8M0Type>(element); }
/// The value of a code of the type, and the code of a value: rounded to nearest (scales up), saturated.
double decodeNarrowFloat(mlir::Type element, uint8_t code);
uint8_t encodeNarrowFloat(mlir::Type element, double value);

/// How a float of 8 or 4 bits with a sign is encoded; none for other types, `!top.f8E8M0` included.
std::optional<SmallFloat> smallFloatOf(mlir::Type element);
/// Whether the type is a float of 8 or 4 bits, which `top.encode_float` makes.
inline bool isCodedFloat(mlir::Type element) {
  return smallFloatOf(element).has_value() || llvm::isa<Float8E8M0Type>(element);
}

} // namespace pto_mlir::top

MLIR_DECLARE_EXPLICIT_TYPE_ID(pto_mlir::top::Float4E2M1Type)
MLIR_DECLARE_EXPLICIT_TYPE_ID(pto_mlir::top::Float8E8M0Type)
MLIR_DECLARE_EXPLICIT_TYPE_ID(pto_mlir::top::StringType)

#endif // PTO_MLIR_DIALECT_TOP_IR_NARROWFLOATS_H
