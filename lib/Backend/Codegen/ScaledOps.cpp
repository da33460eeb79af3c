//===- ScaledOps.cpp - Moves from L0C with a scale per column -------------===//

#include "Models.h"
#include "Types.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

struct TStoreFPModel : CodegenOpInterface::ExternalModel<TStoreFPModel, pto::TStoreFPOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto store = cast<pto::TStoreFPOp>(op);
    isa::TStoreAccQuantv insn;
    insn.relu = store.getReluPreMode() == pto::ReluPreMode::no_relu ? isa::ReluMode::none : isa::ReluMode::relu;
    if (failed(cg.view(op, store.getDst(), insn.dst)) || failed(cg.tile(op, store.getSrc(), insn.src)) ||
        failed(cg.tile(op, store.getFp(), insn.scales)))
      return failure();
    asDescriptors(insn.scales, insn.src);
    return cg.emit(op, insn);
  }
};

struct TMovFPModel : CodegenOpInterface::ExternalModel<TMovFPModel, pto::TMovFPOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto mov = cast<pto::TMovFPOp>(op);
    auto src = cg.tileDesc(op, mov.getSrc()), dst = cg.tileDesc(op, mov.getDst());
    isa::Tile scales;
    if (failed(src) || failed(dst) || failed(cg.tile(op, mov.getFp(), scales)))
      return failure();
    asDescriptors(scales, dst->tile);
    if (dst->memory == isa::Memory::UB)
      return cg.emit(op,
                     isa::TMovAccUbQuantv{dst->tile, src->tile, scales, isa::ReluMode::none, isa::TargetCores::first});
    return cg.emit(op, isa::TMovAccQuantv{dst->tile, src->tile, scales, 0, 0, 0, 0, dst->tile.validRows,
                                          dst->tile.validCols, isa::ReluMode::none});
  }
};

/// textract_fp, tinsert_fp: L0C to L1 with a descriptor per column. The part begins at an index of the source or of the
/// destination and has the size of the other one.
template <typename Op> struct QuantisedMoveModel : CodegenOpInterface::ExternalModel<QuantisedMoveModel<Op>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto move = cast<Op>(op);
    isa::TMovAccQuantv insn;
    if (failed(cg.tile(op, move.getDst(), insn.dst)) || failed(cg.tile(op, move.getSrc(), insn.src)) ||
        failed(cg.tile(op, move.getFp(), insn.scales)))
      return failure();
    isa::Value row, col;
    if (failed(cg.integer(op, move.getIndexRow(), row)) || failed(cg.integer(op, move.getIndexCol(), col)))
      return failure();
    bool inserts = std::is_same_v<Op, pto::TInsertFPOp>;
    (inserts ? insn.row : insn.srcRow) = row;
    (inserts ? insn.col : insn.srcCol) = col;
    const isa::Tile *extent = inserts ? &insn.src : &insn.dst;
    insn.rows = extent->validRows, insn.cols = extent->validCols;
    asDescriptors(insn.scales, *extent);
    return cg.emit(op, insn);
  }
};

} // namespace

void attachScaledModels(MLIRContext *c) {
  pto::TStoreFPOp::attachInterface<TStoreFPModel>(*c);
  pto::TMovFPOp::attachInterface<TMovFPModel>(*c);
  pto::TExtractFPOp::attachInterface<QuantisedMoveModel<pto::TExtractFPOp>>(*c);
  pto::TInsertFPOp::attachInterface<QuantisedMoveModel<pto::TInsertFPOp>>(*c);
}

} // namespace pto_mlir::backend
