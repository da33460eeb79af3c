// What the rows of PYPTO_DATA_TYPES say.
#include "pypto/core/dtype.h"

#include "pypto/core/error.h"

namespace pypto {
namespace {

struct Row {
  std::string_view name;
  int64_t bits;
  NumberClass number;
  std::string_view c;
  std::string_view mlir;
};
constexpr Row kDataTypes[] = {
#define PYPTO_ROW(Name, Bits, Class, C, MLIR) {#Name, Bits, NumberClass::Class, C, MLIR},
    PYPTO_DATA_TYPES(PYPTO_ROW)
#undef PYPTO_ROW
};

const Row &rowOf(DataType dtype) { return kDataTypes[static_cast<size_t>(dtype.GetCode())]; }

} // namespace

std::string_view DataType::Name() const { return rowOf(*this).name; }
int64_t DataType::GetBit() const { return rowOf(*this).bits; }
NumberClass DataType::Class() const { return rowOf(*this).number; }

bool DataType::IsInt() const {
  NumberClass number = Class();
  return number == NumberClass::Signed || number == NumberClass::Unsigned || number == NumberClass::Index;
}

std::string_view DataType::ToCTypeString() const {
  CHECK(!rowOf(*this).c.empty()) << Name() << " has no C++ type";
  return rowOf(*this).c;
}

std::string_view DataType::ToMLIRString() const {
  CHECK(!rowOf(*this).mlir.empty()) << Name() << " has no type in the pto dialect";
  return rowOf(*this).mlir;
}

std::optional<DataType> DataType::FromName(std::string_view name) {
  for (size_t i = 0; i < std::size(kDataTypes); ++i)
    if (kDataTypes[i].name == name)
      return DataType(static_cast<Code>(i));
  return std::nullopt;
}

std::optional<DataType> DataType::FromCode(uint64_t code) {
  if (code >= std::size(kDataTypes))
    return std::nullopt;
  return DataType(static_cast<Code>(code));
}

} // namespace pypto
