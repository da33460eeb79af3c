// Names of the enumerations' values, from their lists.
#include "pypto/ir/enums.h"

#include <span>

namespace pypto::ir {
namespace {

struct EnumRow {
  std::string_view name;
  std::span<const std::string_view> values;
};

#define PYPTO_VALUE(Name) #Name,
#define PYPTO_ENUM(Name, ...) constexpr std::string_view k##Name##Values[] = {PYPTO_ENUM_##Name(PYPTO_VALUE)};
PYPTO_ENUMS(PYPTO_ENUM)
#undef PYPTO_ENUM
#undef PYPTO_VALUE

#define PYPTO_ENUM(Name, InPl) {InPl, k##Name##Values},
constexpr EnumRow kEnums[] = {PYPTO_ENUMS(PYPTO_ENUM)};
#undef PYPTO_ENUM

const EnumRow &rowOf(EnumKind kind) { return kEnums[static_cast<size_t>(kind)]; }

} // namespace

std::string_view EnumName(EnumKind kind) { return rowOf(kind).name; }
std::string_view ValueName(EnumValue value) { return rowOf(value.kind).values[value.value]; }
uint64_t NumValues(EnumKind kind) { return rowOf(kind).values.size(); }
uint64_t NumEnums() { return std::size(kEnums); }

std::optional<uint8_t> ValueFromName(EnumKind kind, std::string_view name) {
  std::span<const std::string_view> values = rowOf(kind).values;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] == name)
      return static_cast<uint8_t>(i);
  return std::nullopt;
}

} // namespace pypto::ir
