//===- ElementwiseOps.cpp - Tile-tile, unary, tile-scalar, compare, select ===//

#include "FamilyModels.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

struct TDivSModel : CodegenOpInterface::ExternalModel<TDivSModel, pto::TDivSOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto div = cast<pto::TDivSOp>(op);
    isa::Tile dst, src;
    isa::Value scalar;
    if (failed(cg.tile(op, div.getDst(), dst)) || failed(cg.tile(op, div.getTile(), src)) ||
        failed(cg.scalar(op, div.getScalar(), scalar)))
      return failure();
    return div.isScalarFirst() ? cg.emit(op, isa::TDivsRev{dst, src, scalar})
                               : cg.emit(op, isa::TDivs{dst, src, scalar});
  }
};

struct TExpandSModel : CodegenOpInterface::ExternalModel<TExpandSModel, pto::TExpandSOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto expand = cast<pto::TExpandSOp>(op);
    isa::TExpands insn;
    auto dst = cg.tileDesc(op, expand.getDst());
    if (failed(dst) || failed(cg.scalar(op, expand.getScalar(), insn.scalar)))
      return failure();
    if (dst->memory == isa::Memory::L1)
      return cg.emit(op, isa::TExpandsL1{dst->tile, insn.scalar});
    if (dst->memory != isa::Memory::UB)
      return op->emitOpError("has no instruction that fills a tile in ") << isa::kMemoryNames[unsigned(dst->memory)];
    insn.dst = dst->tile;
    return cg.emit(op, insn);
  }
};

isa::CompareMode compareMode(pto::CmpMode mode) { return isa::CompareMode(unsigned(mode)); }

struct TCmpModel : CodegenOpInterface::ExternalModel<TCmpModel, pto::TCmpOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto cmp = cast<pto::TCmpOp>(op);
    isa::TCmp insn;
    insn.mode = compareMode(cmp.getCmpMode());
    return failure(failed(cg.tile(op, cmp.getDst(), insn.dst)) || failed(cg.tile(op, cmp.getSrc0(), insn.src0)) ||
                   failed(cg.tile(op, cmp.getSrc1(), insn.src1)) || failed(cg.emit(op, insn)));
  }
};

struct TCmpSModel : CodegenOpInterface::ExternalModel<TCmpSModel, pto::TCmpSOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto cmp = cast<pto::TCmpSOp>(op);
    isa::TCmps insn;
    insn.mode = compareMode(cmp.getCmpMode());
    return failure(failed(cg.tile(op, cmp.getDst(), insn.dst)) || failed(cg.tile(op, cmp.getSrc(), insn.src)) ||
                   failed(cg.scalar(op, cmp.getScalar(), insn.scalar)) || failed(cg.emit(op, insn)));
  }
};

struct TSelModel : CodegenOpInterface::ExternalModel<TSelModel, pto::TSelOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto sel = cast<pto::TSelOp>(op);
    isa::TSel insn;
    return failure(failed(cg.tile(op, sel.getDst(), insn.dst)) || failed(cg.tile(op, sel.getMask(), insn.mask)) ||
                   failed(cg.tile(op, sel.getSrc0(), insn.src0)) || failed(cg.tile(op, sel.getSrc1(), insn.src1)) ||
                   failed(cg.emit(op, insn)));
  }
};

struct TSelSModel : CodegenOpInterface::ExternalModel<TSelSModel, pto::TSelSOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto sel = cast<pto::TSelSOp>(op);
    isa::TSels insn;
    return failure(failed(cg.tile(op, sel.getDst(), insn.dst)) || failed(cg.tile(op, sel.getMask(), insn.mask)) ||
                   failed(cg.tile(op, sel.getSrc(), insn.src)) || failed(cg.scalar(op, sel.getScalar(), insn.scalar)) ||
                   failed(cg.emit(op, insn)));
  }
};

template <typename Op, typename Insn> void unary(MLIRContext *c) {
  Op::template attachInterface<UnaryTile<Op, Insn>>(*c);
}
template <typename Op, typename Insn> void binary(MLIRContext *c) {
  Op::template attachInterface<BinaryTile<Op, Insn>>(*c);
}
template <typename Op, typename Insn> void scalar(MLIRContext *c) {
  Op::template attachInterface<ScalarTile<Op, Insn>>(*c);
}

} // namespace

void attachElementwiseModels(MLIRContext *c) {
  unary<pto::TAbsOp, isa::TAbs>(c);
  unary<pto::TExpOp, isa::TExp>(c);
  unary<pto::TLogOp, isa::TLog>(c);
  unary<pto::TSqrtOp, isa::TSqrt>(c);
  unary<pto::TRsqrtOp, isa::TRsqrt>(c);
  unary<pto::TRecipOp, isa::TRecip>(c);
  unary<pto::TNegOp, isa::TNeg>(c);
  unary<pto::TNotOp, isa::TNot>(c);
  unary<pto::TReluOp, isa::TRelu>(c);
  binary<pto::TAddOp, isa::TAdd>(c);
  binary<pto::TSubOp, isa::TSub>(c);
  binary<pto::TMulOp, isa::TMul>(c);
  binary<pto::TDivOp, isa::TDiv>(c);
  binary<pto::TMaxOp, isa::TMax>(c);
  binary<pto::TMinOp, isa::TMin>(c);
  binary<pto::TAndOp, isa::TAnd>(c);
  binary<pto::TOrOp, isa::TOr>(c);
  binary<pto::TMulAddDstOp, isa::TMuladddst>(c);
  scalar<pto::TAddSOp, isa::TAdds>(c);
  scalar<pto::TSubSOp, isa::TSubs>(c);
  scalar<pto::TMulSOp, isa::TMuls>(c);
  scalar<pto::TMaxSOp, isa::TMaxs>(c);
  scalar<pto::TMinSOp, isa::TMins>(c);
  scalar<pto::TLReluOp, isa::TLrelu>(c);
  pto::TDivSOp::attachInterface<TDivSModel>(*c);
  pto::TExpandSOp::attachInterface<TExpandSModel>(*c);
  pto::TCmpOp::attachInterface<TCmpModel>(*c);
  pto::TCmpSOp::attachInterface<TCmpSModel>(*c);
  pto::TSelOp::attachInterface<TSelModel>(*c);
  pto::TSelSOp::attachInterface<TSelSModel>(*c);
}

} // namespace pto_mlir::backend
