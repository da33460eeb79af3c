//===- LocalLimits.cpp - sizes of the local memories ------------------------------===//

#include "pto_mlir/Dialect/PTO/Transforms/LocalLimits.h"

#include "pto_mlir/ISA/Table.h"

namespace pto_mlir::pto {

namespace {
/// The numbers of the dialect's address_space.
enum Loc : unsigned { kMat = 2, kLeft = 3, kRight = 4, kAcc = 5, kBias = 7, kScaling = 8 };

struct Place {
  isa::Memory memory;
  const char *name;
};
} // namespace

/// Where the tiles of an address space lie.
static Place placeOf(unsigned addressSpace) {
  switch (addressSpace) {
  case kLeftScales:
    return {isa::Memory::SA, "the memory of left scales"};
  case kRightScales:
    return {isa::Memory::SB, "the memory of right scales"};
  case kMat:
    return {isa::Memory::L1, "L1"};
  case kLeft:
    return {isa::Memory::L0A, "L0A"};
  case kRight:
    return {isa::Memory::L0B, "L0B"};
  case kAcc:
    return {isa::Memory::L0C, "L0C"};
  case kBias:
    return {isa::Memory::BT, "the bias table"};
  case kScaling:
    return {isa::Memory::FB, "the fixpipe buffer"};
  default:
    return {isa::Memory::UB, "UB"};
  }
}

static const isa::ArchInfo &rowOf(const Target &target) { return *isa::findArch(target.name); }

LocalLimit getLocalLimit(const Target &target, unsigned addressSpace) {
  Place place = placeOf(addressSpace);
  const isa::MemoryInfo &info = rowOf(target).memory(place.memory);
  return {place.memory == isa::Memory::UB ? target.tileBytes : info.bytes, info.alignment, place.name};
}

LocalLimit getAssemblerLimit(const Target &target, unsigned addressSpace) {
  Place place = placeOf(addressSpace);
  const isa::MemoryInfo &info = rowOf(target).assemblerMemories[size_t(place.memory)];
  return {info.bytes, info.alignment, place.name};
}

} // namespace pto_mlir::pto
