//===- Types.cpp - Types and attributes of pto in the ISA's words ---------===//

#include "Types.h"

using namespace mlir;

namespace pto_mlir::backend {

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
