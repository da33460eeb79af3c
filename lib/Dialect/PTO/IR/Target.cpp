//===- Target.cpp - what the compiler knows of an architecture ---------------------===//

#include "pto_mlir/Dialect/PTO/IR/Target.h"

#include "pto_mlir/ISA/Table.h"

namespace pto_mlir::pto {

static Target fromRow(const isa::ArchInfo &row) {
  Target target;
  target.name = row.name;
  target.testOnly = row.testOnly;
  auto has = [&](isa::ArchFeature feature) { return row.has(feature); };
  target.secondTypes = row.rules == isa::Arch::a5;
  target.leftColumnMajor = row.leftLayout == isa::Layout::NZ;
  target.laneFlags = has(isa::ArchFeature::LaneFlags);
  target.directTiles = has(isa::ArchFeature::DirectTiles);
  target.vectorScatter = has(isa::ArchFeature::VectorScatter);
  target.columnMajorOperands = has(isa::ArchFeature::ColumnMajorOperands);
  target.moreTypes = has(isa::ArchFeature::MoreTypes);
  target.scaledProducts = has(isa::ArchFeature::ScaledProducts);
  target.freeTransfers = has(isa::ArchFeature::FreeTransfers);
  target.noExpandScratch = has(isa::ArchFeature::NoExpandScratch);
  target.distinctReciprocal = has(isa::ArchFeature::DistinctReciprocal);
  target.addedOps = has(isa::ArchFeature::AddedOps);
  target.blocks = row.blocks;
  target.vectorCores = row.vectorCores;
  target.eventIds = row.eventIds;
  target.crossFlags = row.crossFlags;
  for (size_t pipe = 0; pipe < row.engines.size(); ++pipe)
    target.engines[pipe] = uint8_t(row.engines[pipe]);
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
