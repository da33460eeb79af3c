//===- ConvertOps.cpp - Conversion, transposition, padding ----------------===//

#include "FamilyModels.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

struct TCvtModel : CodegenOpInterface::ExternalModel<TCvtModel, pto::TCvtOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto cvt = cast<pto::TCvtOp>(op);
    isa::TCvt insn;
    // CAST_RINT is the default's name for RINT.
    insn.rounding = cvt.getRmode() == pto::RoundMode::CAST_RINT ? isa::RoundMode::rint : isa::RoundMode(unsigned(cvt.getRmode()));
    insn.saturate = cvt.getSatMode() == pto::SaturationMode::ON ? isa::Switch::on : isa::Switch::off;
    return failure(failed(cg.tile(op, cvt.getDst(), insn.dst)) || failed(cg.tile(op, cvt.getSrc(), insn.src)) || failed(cg.emit(op, insn)));
  }
};

} // namespace

void attachConvertModels(MLIRContext *c) {
  pto::TCvtOp::attachInterface<TCvtModel>(*c);
  pto::TTransOp::attachInterface<UnaryTile<pto::TTransOp, isa::TTrans>>(*c);
  pto::TFillPadOp::attachInterface<UnaryTile<pto::TFillPadOp, isa::TFillpad>>(*c);
  pto::TFillPadInplaceOp::attachInterface<UnaryTile<pto::TFillPadInplaceOp, isa::TFillpad>>(*c);
  pto::TFillPadExpandOp::attachInterface<UnaryTile<pto::TFillPadExpandOp, isa::TFillpad>>(*c);
}

} // namespace pto_mlir::backend
