//===- Target.cpp - what the compiler knows of an architecture ---------------------===//

#include "pto_mlir/Dialect/PTO/IR/Target.h"

#include "pto_mlir/ISA/Table.h"

namespace pto_mlir::pto {

static Target fromRow(const isa::ArchInfo &row) {
  Target target;
  target.name = row.name;
  target.followsA5 = row.rules == isa::Arch::a5;
  target.leftColumnMajor = row.leftLayout == isa::Layout::NZ;
  target.laneFlags = row.has(isa::ArchFeature::LaneFlags);
  target.directTiles = row.has(isa::ArchFeature::DirectTiles);
  target.vectorScatter = row.has(isa::ArchFeature::VectorScatter);
  target.blocks = row.blocks;
  target.vectorCores = row.vectorCores;
  target.tileBytes = row.tileBytes();
  return target;
}

const std::vector<Target> &allTargets() {
  static const std::vector<Target> targets = [] {
    std::vector<Target> list;
    for (const isa::ArchInfo &row : isa::allArchs())
      list.push_back(fromRow(row));
    return list;
  }();
  return targets;
}

const Target *findTarget(std::string_view name) {
  for (const Target &target : allTargets())
    if (name == target.name)
      return &target;
  return nullptr;
}

std::string targetNames() { return isa::archNames(); }

} // namespace pto_mlir::pto
