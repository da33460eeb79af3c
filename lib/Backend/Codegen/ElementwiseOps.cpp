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

/// a op b + c through dst, as the assembler does it.
template <typename Op, typename First, typename Second>
struct TernaryModel : CodegenOpInterface::ExternalModel<TernaryModel<Op, First, Second>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto typed = cast<Op>(op);
    First first;
    Second second;
    if (failed(cg.tile(op, typed.getDst(), first.dst)) || failed(cg.tile(op, typed.getSrc0(), first.src0)) ||
        failed(cg.tile(op, typed.getSrc1(), first.src1)) || failed(cg.tile(op, typed.getSrc2(), second.src1)) ||
        failed(cg.emit(op, first)))
      return failure();
    second.dst = second.src0 = first.dst;
    return cg.emit(op, second);
  }
};

template <typename Op, typename First>
struct ScalarTernaryModel : CodegenOpInterface::ExternalModel<ScalarTernaryModel<Op, First>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto typed = cast<Op>(op);
    First first;
    isa::TAdd second;
    if (failed(cg.tile(op, typed.getDst(), first.dst)) || failed(cg.tile(op, typed.getSrc0(), first.src)) ||
        failed(cg.scalar(op, typed.getScalar(), first.scalar)) || failed(cg.tile(op, typed.getSrc1(), second.src1)) ||
        failed(cg.emit(op, first)))
      return failure();
    second.dst = second.src0 = first.dst;
    return cg.emit(op, second);
  }
};

} // namespace

void attachElementwiseModels(MLIRContext *c) {
  attachUnary<pto::TAbsOp, isa::TAbs>(c);
  attachUnary<pto::TExpOp, isa::TExp>(c);
  attachUnary<pto::TLogOp, isa::TLog>(c);
  attachUnary<pto::TSqrtOp, isa::TSqrt>(c);
  attachUnary<pto::TRsqrtOp, isa::TRsqrt>(c);
  attachUnary<pto::TRecipOp, isa::TRecip>(c);
  attachUnary<pto::TNegOp, isa::TNeg>(c);
  attachUnary<pto::TNotOp, isa::TNot>(c);
  attachUnary<pto::TReluOp, isa::TRelu>(c);
  attachBinary<pto::TAddOp, isa::TAdd>(c);
  attachBinary<pto::TSubOp, isa::TSub>(c);
  attachBinary<pto::TMulOp, isa::TMul>(c);
  attachBinary<pto::TDivOp, isa::TDiv>(c);
  attachBinary<pto::TMaxOp, isa::TMax>(c);
  attachBinary<pto::TMinOp, isa::TMin>(c);
  attachBinary<pto::TAndOp, isa::TAnd>(c);
  attachBinary<pto::TOrOp, isa::TOr>(c);
  attachBinary<pto::TMulAddDstOp, isa::TMuladddst>(c);
  attachScalar<pto::TAddSOp, isa::TAdds>(c);
  attachScalar<pto::TSubSOp, isa::TSubs>(c);
  attachScalar<pto::TMulSOp, isa::TMuls>(c);
  attachScalar<pto::TMaxSOp, isa::TMaxs>(c);
  attachScalar<pto::TMinSOp, isa::TMins>(c);
  attachScalar<pto::TLReluOp, isa::TLrelu>(c);
  pto::TDivSOp::attachInterface<TDivSModel>(*c);
  pto::TExpandSOp::attachInterface<TExpandSModel>(*c);
  pto::TCmpOp::attachInterface<TCmpModel>(*c);
  pto::TCmpSOp::attachInterface<TCmpSModel>(*c);
  pto::TSelOp::attachInterface<TSelModel>(*c);
  pto::TSelSOp::attachInterface<TSelSModel>(*c);
  attachBinary<pto::TXorOp, isa::TXor>(c);
  attachBinary<pto::TShlOp, isa::TShl>(c);
  attachBinary<pto::TShrOp, isa::TShr>(c);
  attachBinary<pto::TPReluOp, isa::TPrelu>(c);
  attachBinary<pto::TRemOp, isa::TRem>(c);
  attachBinary<pto::TFModOp, isa::TFmod>(c);
  attachBinary<pto::TPartAddOp, isa::TPartadd>(c);
  attachBinary<pto::TPartMulOp, isa::TPartmul>(c);
  attachBinary<pto::TPartMaxOp, isa::TPartmax>(c);
  attachBinary<pto::TPartMinOp, isa::TPartmin>(c);
  attachScalar<pto::TAndSOp, isa::TAnds>(c);
  attachScalar<pto::TOrSOp, isa::TOrs>(c);
  attachScalar<pto::TXorSOp, isa::TXors>(c);
  attachScalar<pto::TShlSOp, isa::TShls>(c);
  attachScalar<pto::TShrSOp, isa::TShrs>(c);
  attachScalar<pto::TRemSOp, isa::TRems>(c);
  attachScalar<pto::TFModSOp, isa::TFmods>(c);
  attachScalar<pto::TAxpyOp, isa::TAxpy>(c);
  pto::TAddCOp::attachInterface<TernaryModel<pto::TAddCOp, isa::TAdd, isa::TAdd>>(*c);
  pto::TSubCOp::attachInterface<TernaryModel<pto::TSubCOp, isa::TSub, isa::TAdd>>(*c);
  pto::TAddSCOp::attachInterface<ScalarTernaryModel<pto::TAddSCOp, isa::TAdds>>(*c);
  pto::TSubSCOp::attachInterface<ScalarTernaryModel<pto::TSubSCOp, isa::TSubs>>(*c);
}

} // namespace pto_mlir::backend
