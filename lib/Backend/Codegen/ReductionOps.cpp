//===- ReductionOps.cpp - Reductions and broadcasts -----------------------===//

#include "FamilyModels.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {
/// Spreads as many columns as dst has; the source's tile holds them, whatever part of it is valid.
struct ColExpandModel : CodegenOpInterface::ExternalModel<ColExpandModel, pto::TColExpandOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto expand = cast<pto::TColExpandOp>(op);
    isa::TColexpand insn;
    if (failed(cg.tile(op, expand.getDst(), insn.dst)) || failed(cg.tile(op, expand.getSrc(), insn.src)))
      return failure();
    if (const isa::Value &cols = insn.dst.validCols; !cols.isRegister && cols.value <= insn.src.cols)
      insn.src.validCols = cols;
    return cg.emit(op, insn);
  }
};

template <typename Op, typename Insn> void unary(MLIRContext *c) {
  Op::template attachInterface<UnaryTile<Op, Insn>>(*c);
}
template <typename Op, typename Insn> void binary(MLIRContext *c) {
  Op::template attachInterface<BinaryTile<Op, Insn>>(*c);
}
} // namespace

void attachReductionModels(MLIRContext *c) {
  unary<pto::TRowSumOp, isa::TRowsum>(c);
  unary<pto::TRowMaxOp, isa::TRowmax>(c);
  unary<pto::TRowMinOp, isa::TRowmin>(c);
  unary<pto::TColSumOp, isa::TColsum>(c);
  unary<pto::TColMaxOp, isa::TColmax>(c);
  unary<pto::TColMinOp, isa::TColmin>(c);
  unary<pto::TRowExpandOp, isa::TRowexpand>(c);
  pto::TColExpandOp::attachInterface<ColExpandModel>(*c);
  binary<pto::TRowExpandAddOp, isa::TRowexpandadd>(c);
  binary<pto::TRowExpandSubOp, isa::TRowexpandsub>(c);
  binary<pto::TRowExpandMulOp, isa::TRowexpandmul>(c);
  binary<pto::TRowExpandDivOp, isa::TRowexpanddiv>(c);
  binary<pto::TRowExpandMaxOp, isa::TRowexpandmax>(c);
  binary<pto::TRowExpandMinOp, isa::TRowexpandmin>(c);
  binary<pto::TRowExpandExpDifOp, isa::TRowexpandexpdif>(c);
  binary<pto::TColExpandAddOp, isa::TColexpandadd>(c);
  binary<pto::TColExpandSubOp, isa::TColexpandsub>(c);
  binary<pto::TColExpandMulOp, isa::TColexpandmul>(c);
  binary<pto::TColExpandDivOp, isa::TColexpanddiv>(c);
  binary<pto::TColExpandMaxOp, isa::TColexpandmax>(c);
  binary<pto::TColExpandMinOp, isa::TColexpandmin>(c);
  binary<pto::TColExpandExpDifOp, isa::TColexpandexpdif>(c);
}

} // namespace pto_mlir::backend
