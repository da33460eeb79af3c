//===- LocalLimits.cpp - sizes of the local memories ------------------------------===//

#include "LocalLimits.h"

#include "pto_mlir/ISA/Table.h"

namespace pto_mlir::pto {

LocalLimit getLocalLimit(bool a5, unsigned addressSpace) {
  const isa::ArchInfo &arch = *isa::findArch(a5 ? "a5" : "a3");
  auto limit = [&](isa::Memory memory, const char *name) {
    const isa::MemoryInfo &info = arch.memory(memory);
    return LocalLimit{info.bytes, info.alignment, name};
  };
  switch (addressSpace) { // the dialect's address_space
  case 2:
    return limit(isa::Memory::L1, "L1");
  case 3:
    return limit(isa::Memory::L0A, "L0A");
  case 4:
    return limit(isa::Memory::L0B, "L0B");
  case 5:
    return limit(isa::Memory::L0C, "L0C");
  case 7:
    return limit(isa::Memory::BT, "the bias table");
  case 8:
    return limit(isa::Memory::FB, "the fixpipe buffer");
  case kLeftScales:
    return limit(isa::Memory::SA, "the memory of left scales");
  case kRightScales:
    return limit(isa::Memory::SB, "the memory of right scales");
  default: {
    LocalLimit ub = limit(isa::Memory::UB, "UB");
    if (arch.scratchBytes != 0)
      ub.bytes = arch.scratchBegin;
    return ub;
  }
  }
}

LocalLimit getAssemblerLimit(bool a5, unsigned addressSpace) {
  LocalLimit limit = getLocalLimit(a5, addressSpace);
  constexpr int64_t kKiB = 1024;
  switch (addressSpace) { // the dialect's address_space
  case kLeftScales:
  case kRightScales:
    // It plans them for a3, too, which has neither the memory nor the products.
    if (!a5)
      limit = LocalLimit{192 * kKiB, 32, limit.name};
    break;
  case 2:
  case 3:
  case 4:
    break;
  case 5:
    limit.bytes = (a5 ? 256 : 128) * kKiB;
    break;
  case 7:
    limit.bytes = 64 * kKiB;
    break;
  default:
    limit.bytes = (a5 ? 248 : 192) * kKiB;
    break;
  }
  return limit;
}

} // namespace pto_mlir::pto
