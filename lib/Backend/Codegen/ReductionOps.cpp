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

} // namespace

void attachReductionModels(MLIRContext *c) {
  attachUnary<pto::TRowSumOp, isa::TRowsum>(c);
  attachUnary<pto::TRowMaxOp, isa::TRowmax>(c);
  attachUnary<pto::TRowMinOp, isa::TRowmin>(c);
  attachUnary<pto::TColSumOp, isa::TColsum>(c);
  attachUnary<pto::TColMaxOp, isa::TColmax>(c);
  attachUnary<pto::TColMinOp, isa::TColmin>(c);
  attachUnary<pto::TRowProdOp, isa::TRowprod>(c);
  attachUnary<pto::TColProdOp, isa::TColprod>(c);
  attachUnary<pto::TRowArgMaxOp, isa::TRowargmax>(c);
  attachUnary<pto::TRowArgMinOp, isa::TRowargmin>(c);
  attachUnary<pto::TColArgMaxOp, isa::TColargmax>(c);
  attachUnary<pto::TColArgMinOp, isa::TColargmin>(c);
  attachUnary<pto::TRowExpandOp, isa::TRowexpand>(c);
  pto::TColExpandOp::attachInterface<ColExpandModel>(*c);
  attachBinary<pto::TRowExpandAddOp, isa::TRowexpandadd>(c);
  attachBinary<pto::TRowExpandSubOp, isa::TRowexpandsub>(c);
  attachBinary<pto::TRowExpandMulOp, isa::TRowexpandmul>(c);
  attachBinary<pto::TRowExpandDivOp, isa::TRowexpanddiv>(c);
  attachBinary<pto::TRowExpandMaxOp, isa::TRowexpandmax>(c);
  attachBinary<pto::TRowExpandMinOp, isa::TRowexpandmin>(c);
  attachBinary<pto::TRowExpandExpDifOp, isa::TRowexpandexpdif>(c);
  attachBinary<pto::TColExpandAddOp, isa::TColexpandadd>(c);
  attachBinary<pto::TColExpandSubOp, isa::TColexpandsub>(c);
  attachBinary<pto::TColExpandMulOp, isa::TColexpandmul>(c);
  attachBinary<pto::TColExpandDivOp, isa::TColexpanddiv>(c);
  attachBinary<pto::TColExpandMaxOp, isa::TColexpandmax>(c);
  attachBinary<pto::TColExpandMinOp, isa::TColexpandmin>(c);
  attachBinary<pto::TColExpandExpDifOp, isa::TColexpandexpdif>(c);
}

} // namespace pto_mlir::backend
