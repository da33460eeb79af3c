//===- PTOAttrs.cpp - text of tile_buf_config ---------------------------------------------===//

#include "pto_mlir/Dialect/PTO/IR/PTO.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace pto_mlir::pto;

/// `#pto.blayout<row_major>`, or 0.
template <typename EnumAttr, typename Enum>
static ParseResult parseValue(AsmParser &parser, std::optional<Enum> (*symbolize)(uint32_t), StringRef key,
                              Enum &value) {
  SMLoc loc = parser.getCurrentLocation();
  Attribute attr;
  if (parser.parseAttribute(attr))
    return failure();
  if (auto named = dyn_cast<EnumAttr>(attr)) {
    value = named.getValue();
    return success();
  }
  auto number = dyn_cast<IntegerAttr>(attr);
  std::optional<Enum> found = number && number.getValue().isIntN(8)
                                  ? symbolize(static_cast<uint32_t>(number.getValue().getZExtValue()))
                                  : std::nullopt;
  if (!found)
    return parser.emitError(loc) << "expects a value of " << key << ", got " << attr;
  value = *found;
  return success();
}

Attribute TileBufConfigAttr::parse(AsmParser &parser, Type) {
  BLayout bLayout = BLayout::row_major;
  SLayout sLayout = SLayout::none_box;
  int32_t fractal = 512;
  PadValue pad = PadValue::Null;
  CompactMode compact = CompactMode::Null;
  SMLoc begin = parser.getCurrentLocation();
  auto entry = [&]() -> ParseResult {
    StringRef key;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    if (key == "blayout")
      return parseValue<BLayoutAttr, BLayout>(parser, symbolizeBLayout, key, bLayout);
    if (key == "slayout")
      return parseValue<SLayoutAttr, SLayout>(parser, symbolizeSLayout, key, sLayout);
    if (key == "pad")
      return parseValue<PadValueAttr, PadValue>(parser, symbolizePadValue, key, pad);
    if (key == "compact")
      return parseValue<CompactModeAttr, CompactMode>(parser, symbolizeCompactMode, key, compact);
    if (key == "s_fractal_size")
      return parser.parseInteger(fractal);
    return parser.emitError(loc) << "unknown key '" << key
                                 << "'; expects blayout, slayout, s_fractal_size, pad or compact";
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, entry))
    return {};
  return parser.getChecked<TileBufConfigAttr>(begin, parser.getContext(), bLayout, sLayout, fractal, pad, compact);
}

void TileBufConfigAttr::print(AsmPrinter &printer) const {
  printer << "<blayout=#pto.blayout<" << stringifyBLayout(getBLayout()) << ">, slayout=#pto.slayout<"
          << stringifySLayout(getSLayout()) << ">, s_fractal_size=" << getFractal() << ", pad=#pto.pad_value<"
          << stringifyPadValue(getPad()) << ">, compact=#pto.compact_mode<" << stringifyCompactMode(getCompact())
          << ">>";
}

LogicalResult TileBufConfigAttr::verify(function_ref<InFlightDiagnostic()> emitError, BLayout, SLayout, int32_t fractal,
                                        PadValue, CompactMode) {
  if (fractal != 16 && fractal != 32 && fractal != 512 && fractal != 1024)
    return emitError() << "expects s_fractal_size 16, 32, 512 or 1024, got " << fractal;
  return success();
}
