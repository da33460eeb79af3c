#include "pto_mlir/Dialect/Top/IR/NarrowFloats.h"

#include "mlir/IR/DialectImplementation.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

MLIR_DEFINE_EXPLICIT_TYPE_ID(pto_mlir::top::Float4E2M1Type)
MLIR_DEFINE_EXPLICIT_TYPE_ID(pto_mlir::top::Float8E8M0Type)
MLIR_DEFINE_EXPLICIT_TYPE_ID(pto_mlir::top::StringType)

namespace pto_mlir::top {

void TopDialect::registerTypes() { addTypes<Float4E2M1Type, Float8E8M0Type, StringType>(); }

Type TopDialect::parseType(DialectAsmParser &parser) const {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseKeyword(&keyword)))
    return {};
  if (keyword == "f4E2M1")
    return Float4E2M1Type::get(getContext());
  if (keyword == "f8E8M0")
    return Float8E8M0Type::get(getContext());
  if (keyword == "string")
    return StringType::get(getContext());
  parser.emitError(loc, "top has the types f4E2M1, f8E8M0 and string, not '") << keyword << "'";
  return {};
}

void TopDialect::printType(Type type, DialectAsmPrinter &printer) const {
  printer << (isa<Float4E2M1Type>(type) ? "f4E2M1" : isa<StringType>(type) ? "string" : "f8E8M0");
}

double decodeNarrowFloat(Type element, uint8_t code) {
  return isa<Float4E2M1Type>(element) ? float4E2M1ToFloat(code) : float8E8M0ToFloat(code);
}

uint8_t encodeNarrowFloat(Type element, double value) {
  auto narrow = static_cast<float>(value);
  return isa<Float4E2M1Type>(element) ? castToFloat4E2M1(narrow) : castToFloat8E8M0(narrow, true, ScaleRounding::Up);
}

std::optional<SmallFloat> smallFloatOf(Type element) {
  return llvm::TypeSwitch<Type, std::optional<SmallFloat>>(element)
      .Case([](Float8E4M3FNType) { return kFloat8E4M3FN; })
      .Case([](Float8E5M2Type) { return kFloat8E5M2; })
      .Case([](Float8E4M3FNUZType) { return kFloat8E4M3FNUZ; })
      .Case([](Float8E5M2FNUZType) { return kFloat8E5M2FNUZ; })
      .Case([](Float4E2M1Type) { return kFloat4E2M1; })
      .Default([](Type) { return std::nullopt; });
}

} // namespace pto_mlir::top
