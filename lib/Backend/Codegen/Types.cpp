//===- Types.cpp - Types and attributes of pto in the ISA's words ---------===//

#include "Types.h"

using namespace mlir;

namespace pto_mlir::backend {

std::optional<isa::ElementType> elementType(Type type) {
  using E = isa::ElementType;
  if (type.isF32())
    return E::f32;
  if (type.isF16())
    return E::f16;
  if (type.isBF16())
    return E::bf16;
  if (type.isF64())
    return E::f64;
  if (type.isFloat8E4M3FN() || type.isFloat8E4M3()) // one type of the hardware, without infinities
    return E::f8E4M3FN;
  if (type.isFloat8E5M2())
    return E::f8E5M2;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 4:
    return isUnsigned ? std::nullopt : std::optional(E::i4);
  case 8:
    return isUnsigned ? E::u8 : E::i8;
  case 16:
    return isUnsigned ? E::u16 : E::i16;
  case 32:
    return isUnsigned ? E::u32 : E::i32;
  case 64:
    return isUnsigned ? E::u64 : E::i64;
  default:
    return std::nullopt;
  }
}

std::optional<isa::Memory> memory(pto::AddressSpace space) {
  switch (space) {
  case pto::AddressSpace::vec:
    return isa::Memory::UB;
  case pto::AddressSpace::mat:
    return isa::Memory::L1;
  case pto::AddressSpace::left:
    return isa::Memory::L0A;
  case pto::AddressSpace::right:
    return isa::Memory::L0B;
  case pto::AddressSpace::acc:
    return isa::Memory::L0C;
  case pto::AddressSpace::bias:
    return isa::Memory::BT;
  case pto::AddressSpace::scaling:
    return isa::Memory::FB;
  default:
    return std::nullopt;
  }
}

void asDescriptors(isa::Tile &scales, const isa::Tile &columns) {
  if (isa::elementBits(scales.type) == 64)
    return;
  scales.type = isa::ElementType::u64;
  scales.layout = isa::Layout::ND;
  scales.rows = 1;
  scales.cols = uint16_t((columns.cols + 3) / 4 * 4);
  scales.validRows = isa::Value(1);
  scales.validCols = columns.validCols;
}

} // namespace pto_mlir::backend
