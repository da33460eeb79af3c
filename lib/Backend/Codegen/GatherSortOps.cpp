//===- GatherSortOps.cpp - Gathers, scatters and merges of several forms --===//

#include "Models.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

struct TGatherModel : CodegenOpInterface::ExternalModel<TGatherModel, pto::TGatherOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto gather = cast<pto::TGatherOp>(op);
    if (gather.getCdst()) {
      isa::TGatherCmp insn;
      insn.mode = isa::CompareMode(unsigned(gather.getCmpMode().value_or(pto::CmpMode::eq)));
      insn.offset = isa::Value(gather.getOffset().value_or(0));
      return failure(failed(cg.tile(op, gather.getDst(), insn.dst)) ||
                     failed(cg.tile(op, gather.getCdst(), insn.counts)) ||
                     failed(cg.tile(op, gather.getSrc(), insn.src)) ||
                     failed(cg.scalar(op, gather.getKValue(), insn.scalar)) || failed(cg.emit(op, insn)));
    }
    if (auto pattern = gather.getMaskPattern()) {
      isa::TGatherMask insn;
      insn.pattern = isa::MaskPattern(unsigned(*pattern) - 1); // the dialect counts from 1
      return failure(failed(cg.tile(op, gather.getDst(), insn.dst)) || failed(cg.tile(op, gather.getSrc(), insn.src)) ||
                     failed(cg.emit(op, insn)));
    }
    isa::TGather insn;
    return failure(failed(cg.tile(op, gather.getDst(), insn.dst)) || failed(cg.tile(op, gather.getSrc(), insn.src)) ||
                   failed(cg.tile(op, gather.getIndices(), insn.indices)) || failed(cg.emit(op, insn)));
  }
};

/// The instruction returns how many elements it took from each list in a register, which is unused here: the op has
/// these numbers in an operand.
LogicalResult mergeLists(pto::TMrgSortOp sort, CodegenContext &cg) {
  auto lists = sort.getSrcs();
  isa::Tile dst, tiles[4];
  auto counts = cg.temporary(sort);
  if (failed(counts) || failed(cg.tile(sort, sort.getDsts().front(), dst)))
    return failure();
  for (unsigned i = 0; i < lists.size() && i < 4; ++i)
    if (failed(cg.tile(sort, lists[i], tiles[i])))
      return failure();
  isa::Switch exhausted = sort.getExhausted() ? isa::Switch::on : isa::Switch::off;
  switch (lists.size()) {
  case 2:
    return cg.emit(sort, isa::TMrgsort2{dst, *counts, tiles[0], tiles[1], exhausted});
  case 3:
    return cg.emit(sort, isa::TMrgsort3{dst, *counts, tiles[0], tiles[1], tiles[2], exhausted});
  default:
    return cg.emit(sort, isa::TMrgsort4{dst, *counts, tiles[0], tiles[1], tiles[2], tiles[3], exhausted});
  }
}

struct TMrgSortModel : CodegenOpInterface::ExternalModel<TMrgSortModel, pto::TMrgSortOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto sort = cast<pto::TMrgSortOp>(op);
    if (!sort.getBlockLen())
      return mergeLists(sort, cg);
    isa::TMrgsort insn;
    return failure(failed(cg.tile(op, sort.getDsts().front(), insn.dst)) ||
                   failed(cg.tile(op, sort.getSrcs().front(), insn.src)) ||
                   failed(cg.integer(op, sort.getBlockLen(), insn.blockLength)) || failed(cg.emit(op, insn)));
  }
};

/// Engine S on a3, V on a5.
struct TScatterModel : CodegenOpInterface::ExternalModel<TScatterModel, pto::TScatterOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto scatter = cast<pto::TScatterOp>(op);
    isa::Tile dst, src, indices;
    if (failed(cg.tile(op, scatter.getDst(), dst)) || failed(cg.tile(op, scatter.getSrc(), src)) ||
        failed(cg.tile(op, scatter.getIndexes(), indices)))
      return failure();
    return cg.pipe == isa::Pipe::S ? cg.emit(op, isa::TScatterS{dst, src, indices})
                                   : cg.emit(op, isa::TScatter{dst, src, indices});
  }
};

} // namespace

void attachGatherSortModels(MLIRContext *c) {
  pto::TScatterOp::attachInterface<TScatterModel>(*c);
  pto::TGatherOp::attachInterface<TGatherModel>(*c);
  pto::TMrgSortOp::attachInterface<TMrgSortModel>(*c);
}

} // namespace pto_mlir::backend
