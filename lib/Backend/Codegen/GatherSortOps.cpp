//===- GatherSortOps.cpp - Gather, scatter, sort, generated tiles ---------===//

#include "FamilyModels.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

struct TCIModel : CodegenOpInterface::ExternalModel<TCIModel, pto::TCIOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto iota = cast<pto::TCIOp>(op);
    isa::TCi insn;
    insn.descending = iota.getDescending() ? isa::Switch::on : isa::Switch::off;
    return failure(failed(cg.tile(op, iota.getDst(), insn.dst)) ||
                   failed(cg.integer(op, iota.getStart(), insn.start)) || failed(cg.emit(op, insn)));
  }
};

struct TTriModel : CodegenOpInterface::ExternalModel<TTriModel, pto::TTriOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto tri = cast<pto::TTriOp>(op);
    isa::TTri insn;
    insn.half = isa::Triangle(tri.getUpperOrLower());
    return failure(failed(cg.tile(op, tri.getDst(), insn.dst)) ||
                   failed(cg.integer(op, tri.getDiagonal(), insn.diagonal)) || failed(cg.emit(op, insn)));
  }
};

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

struct TGatherBModel : CodegenOpInterface::ExternalModel<TGatherBModel, pto::TGatherBOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto gather = cast<pto::TGatherBOp>(op);
    isa::TGatherb insn;
    return failure(failed(cg.tile(op, gather.getDst(), insn.dst)) || failed(cg.tile(op, gather.getSrc(), insn.src)) ||
                   failed(cg.tile(op, gather.getOffsets(), insn.offsets)) || failed(cg.emit(op, insn)));
  }
};

struct TSort32Model : CodegenOpInterface::ExternalModel<TSort32Model, pto::TSort32Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto sort = cast<pto::TSort32Op>(op);
    isa::TSort32 insn;
    return failure(failed(cg.tile(op, sort.getDst(), insn.dst)) || failed(cg.tile(op, sort.getSrc(), insn.src)) ||
                   failed(cg.tile(op, sort.getIdx(), insn.indices)) || failed(cg.emit(op, insn)));
  }
};

/// What was taken from each list goes to a register that nobody reads: the op's vector is an operand.
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

/// One index for each row of the data, in a column or a row of its own?
bool byRow(const isa::Tile &data, const isa::Tile &indices) {
  return indices.rows != data.rows || indices.validCols != data.validCols;
}

struct MGatherModel : CodegenOpInterface::ExternalModel<MGatherModel, pto::MGatherOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto gather = cast<pto::MGatherOp>(op);
    isa::Mgather insn;
    if (failed(cg.tile(op, gather.getDst(), insn.dst)) || failed(cg.view(op, gather.getMem(), insn.src)) ||
        failed(cg.tile(op, gather.getIdx(), insn.indices)))
      return failure();
    insn.src.type = insn.dst.type;
    insn.unit = byRow(insn.dst, insn.indices) ? isa::IndexUnit::row : isa::IndexUnit::element;
    insn.bounds = isa::GatherBounds(unsigned(gather.getGatherOob()));
    return cg.emit(op, insn);
  }
};

struct MScatterModel : CodegenOpInterface::ExternalModel<MScatterModel, pto::MScatterOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto scatter = cast<pto::MScatterOp>(op);
    isa::Mscatter insn;
    if (failed(cg.tile(op, scatter.getSrc(), insn.src)) || failed(cg.view(op, scatter.getMem(), insn.dst)) ||
        failed(cg.tile(op, scatter.getIdx(), insn.indices)))
      return failure();
    insn.dst.type = insn.src.type;
    insn.unit = byRow(insn.src, insn.indices) ? isa::IndexUnit::row : isa::IndexUnit::element;
    insn.bounds = isa::ScatterBounds(unsigned(scatter.getScatterOob()));
    insn.atomic = isa::ScatterOp(unsigned(scatter.getScatterAtomicOp()));
    return cg.emit(op, insn);
  }
};

struct THistogramModel : CodegenOpInterface::ExternalModel<THistogramModel, pto::THistogramOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto histogram = cast<pto::THistogramOp>(op);
    isa::THistogram insn;
    insn.byte = histogram.getIsMSB() ? 1 : 0; // of 16 bits
    return failure(failed(cg.tile(op, histogram.getDst(), insn.dst)) ||
                   failed(cg.tile(op, histogram.getSrc(), insn.src)) ||
                   failed(cg.tile(op, histogram.getIdx(), insn.filter)) || failed(cg.emit(op, insn)));
  }
};

struct TRandomModel : CodegenOpInterface::ExternalModel<TRandomModel, pto::TRandomOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto random = cast<pto::TRandomOp>(op);
    isa::TRandom insn;
    insn.rounds = random.getRounds();
    return failure(failed(cg.tile(op, random.getDst(), insn.dst)) ||
                   failed(cg.integer(op, random.getKey0(), insn.key0)) ||
                   failed(cg.integer(op, random.getKey1(), insn.key1)) ||
                   failed(cg.integer(op, random.getCounter0(), insn.counter0)) ||
                   failed(cg.integer(op, random.getCounter1(), insn.counter1)) ||
                   failed(cg.integer(op, random.getCounter2(), insn.counter2)) ||
                   failed(cg.integer(op, random.getCounter3(), insn.counter3)) || failed(cg.emit(op, insn)));
  }
};

} // namespace

void attachGatherSortModels(MLIRContext *c) {
  pto::TScatterOp::attachInterface<TScatterModel>(*c);
  pto::MGatherOp::attachInterface<MGatherModel>(*c);
  pto::MScatterOp::attachInterface<MScatterModel>(*c);
  pto::THistogramOp::attachInterface<THistogramModel>(*c);
  pto::TRandomOp::attachInterface<TRandomModel>(*c);
  pto::TCIOp::attachInterface<TCIModel>(*c);
  pto::TTriOp::attachInterface<TTriModel>(*c);
  pto::TGatherOp::attachInterface<TGatherModel>(*c);
  pto::TGatherBOp::attachInterface<TGatherBModel>(*c);
  pto::TSort32Op::attachInterface<TSort32Model>(*c);
  pto::TMrgSortOp::attachInterface<TMrgSortModel>(*c);
}

} // namespace pto_mlir::backend
