//===- ElementwiseOps.cpp - Two instructions, or one of two ---------------===//

#include "Models.h"

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
  pto::TDivSOp::attachInterface<TDivSModel>(*c);
  pto::TExpandSOp::attachInterface<TExpandSModel>(*c);
  pto::TAddCOp::attachInterface<TernaryModel<pto::TAddCOp, isa::TAdd, isa::TAdd>>(*c);
  pto::TSubCOp::attachInterface<TernaryModel<pto::TSubCOp, isa::TSub, isa::TAdd>>(*c);
  pto::TAddSCOp::attachInterface<ScalarTernaryModel<pto::TAddSCOp, isa::TAdds>>(*c);
  pto::TSubSCOp::attachInterface<ScalarTernaryModel<pto::TSubSCOp, isa::TSubs>>(*c);
}

} // namespace pto_mlir::backend
