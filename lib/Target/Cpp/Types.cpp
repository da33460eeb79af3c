// Types and enumerators, as the library spells them.
#include "Types.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pto_mlir::cpp {

std::string scalarType(Type type, const StylePolicy &policy) {
  if (auto pointer = dyn_cast<pto::PtrType>(type)) {
    std::string element = scalarType(pointer.getElementType(), policy);
    return element.empty() ? "" : "__gm__ " + element + "*";
  }
  if (auto memory = dyn_cast<MemRefType>(type)) // of the semaphores; others are pointers by now
    return scalarType(pto::PtrType::get(memory.getElementType()), policy);
  if (type.isIndex())
    return "int64_t";
  if (auto integer = dyn_cast<IntegerType>(type)) {
    unsigned width = integer.getWidth();
    if (width == 1)
      return "bool";
    if (width != 8 && width != 16 && width != 32 && width != 64)
      return "";
    return (integer.isUnsigned() ? "uint" : "int") + std::to_string(width) + "_t";
  }
  return TypeSwitch<Type, StringRef>(type)
      .Case([](Float16Type) { return "half"; })
      .Case([&](BFloat16Type) { return policy.bfloat16; })
      .Case([](Float32Type) { return "float"; })
      .Case([](Float64Type) { return "double"; })
      .Case([](Float8E4M3FNType) { return "float8_e4m3_t"; })
      .Case([](Float8E5M2Type) { return "float8_e5m2_t"; })
      .Default(StringRef())
      .str();
}

/// `row_major` as `RowMajor`.
static std::string camelCase(StringRef name) {
  std::string text;
  SmallVector<StringRef> words;
  name.split(words, '_');
  for (StringRef word : words)
    text += word.take_front().upper() + word.drop_front().str();
  return text;
}

static StringRef tileKind(pto::AddressSpace loc) {
  switch (loc) {
  case pto::AddressSpace::mat:
    return "Mat";
  case pto::AddressSpace::left:
    return "Left";
  case pto::AddressSpace::right:
    return "Right";
  case pto::AddressSpace::acc:
    return "Acc";
  case pto::AddressSpace::bias:
    return "Bias";
  case pto::AddressSpace::scaling:
    return "Scaling";
  default:
    return "Vec";
  }
}

/// The parameters behind the valid extents; in a prologue only as far as they are not what the library assumes.
static std::string layoutArguments(pto::TileBufType type, const StylePolicy &policy) {
  SmallVector<std::string> arguments = {"SLayout::" + camelCase(stringifySLayout(type.getSLayout())),
                                        std::to_string(type.getFractal()),
                                        "PadValue::" + camelCase(stringifyPadValue(type.getPad())),
                                        "CompactMode::" + camelCase(stringifyCompactMode(type.getCompact()))};
  if (policy.prologue) {
    const StringRef assumed[] = {"SLayout::NoneBox", "512", "PadValue::Null", "CompactMode::Null"};
    while (!arguments.empty() && arguments.back() == assumed[arguments.size() - 1])
      arguments.pop_back();
  }
  std::string text;
  for (const std::string &argument : arguments)
    text += ", " + argument;
  return text;
}

static bool isOpen(int64_t extent, const StylePolicy &policy) {
  return policy.runTimeExtents || ShapedType::isDynamic(extent);
}

std::string tileType(pto::TileBufType type, const StylePolicy &policy) {
  std::string element = scalarType(type.getElementType(), policy);
  if (element.empty() || type.getElementType().isInteger(1))
    return "";
  auto extent = [&](int64_t valid) { return isOpen(valid, policy) ? std::string("-1") : std::to_string(valid); };
  std::string text;
  llvm::raw_string_ostream(text) << "Tile<TileType::" << tileKind(type.getLoc()) << ", " << element << ", "
                                 << type.getRows() << ", " << type.getCols()
                                 << ", BLayout::" << camelCase(stringifyBLayout(type.getBLayout())) << ", "
                                 << extent(type.getValidRows()) << ", " << extent(type.getValidCols())
                                 << layoutArguments(type, policy) << ">";
  return text;
}

std::string constructorArguments(pto::TileBufType type, StringRef rows, StringRef cols, const StylePolicy &policy) {
  std::string text;
  for (auto [valid, given] : {std::pair(type.getValidRows(), rows), std::pair(type.getValidCols(), cols)}) {
    if (!isOpen(valid, policy))
      continue;
    text += (text.empty() ? "" : ", ") + (ShapedType::isDynamic(valid) ? given.str() : std::to_string(valid));
  }
  return text;
}

std::string attributeText(Attribute attribute) {
  auto camel = [](StringRef type, StringRef name) { return type.str() + "::" + camelCase(name); };
  return TypeSwitch<Attribute, std::string>(attribute)
      .Case([](pto::PipeAttr a) { return stringifyPipe(a.getValue()).str(); })
      .Case([](pto::EventAttr a) { return stringifyEvent(a.getValue()).str(); })
      .Case([](pto::CmpModeAttr a) { return "CmpMode::" + stringifyCmpMode(a.getValue()).upper(); })
      .Case([](pto::RoundModeAttr a) {
        StringRef name = stringifyRoundMode(a.getValue());
        name.consume_front("CAST_");
        return ("RoundMode::CAST_" + name).str();
      })
      .Case(
          [](pto::SaturationModeAttr a) { return ("SaturationMode::" + stringifySaturationMode(a.getValue())).str(); })
      .Case([](pto::MaskPatternAttr a) { return ("MaskPattern::" + stringifyMaskPattern(a.getValue())).str(); })
      .Case([](pto::QuantTypeAttr a) { return ("QuantType::" + stringifyQuantType(a.getValue())).str(); })
      .Case([&](pto::STPhaseAttr a) { return camel("STPhase", stringifySTPhase(a.getValue())); })
      .Case([&](pto::AtomicTypeAttr a) { return camel("AtomicType", stringifyAtomicType(a.getValue())); })
      .Case([&](pto::ReluPreModeAttr a) { return camel("ReluPreMode", stringifyReluPreMode(a.getValue())); })
      .Case([&](pto::AccToVecModeAttr a) { return camel("AccToVecMode", stringifyAccToVecMode(a.getValue())); })
      .Case([](BoolAttr a) { return std::string(a.getValue() ? "true" : "false"); })
      .Case([](IntegerAttr a) { return llvm::toString(a.getValue(), 10, /*Signed=*/true); })
      .Default(std::string());
}

} // namespace pto_mlir::cpp
