//===- Limits.cpp - the memories of a cube core ---------------------------===//

#include "pto_mlir/ISA/Table.h"
#include "pto_mlir/Kernels/CubeTiling.h"

namespace pto_mlir::cube {

std::optional<CubeLimits> cubeLimits(std::string_view architecture) {
  const isa::ArchInfo *arch = isa::findArch(architecture);
  if (!arch)
    return std::nullopt;
  auto bytes = [&](isa::Memory memory) -> int64_t { return arch->memory(memory).bytes; };
  return CubeLimits{bytes(isa::Memory::L1), bytes(isa::Memory::L0A), bytes(isa::Memory::L0B),   bytes(isa::Memory::L0C),
                    bytes(isa::Memory::BT), bytes(isa::Memory::FB),  cost::Prices(architecture)};
}

} // namespace pto_mlir::cube
