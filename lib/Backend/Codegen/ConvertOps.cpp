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
    insn.rounding =
        cvt.getRmode() == pto::RoundMode::CAST_RINT ? isa::RoundMode::rint : isa::RoundMode(unsigned(cvt.getRmode()));
    insn.saturate = cvt.getSatMode() == pto::SaturationMode::ON ? isa::Switch::on : isa::Switch::off;
    return failure(failed(cg.tile(op, cvt.getDst(), insn.dst)) || failed(cg.tile(op, cvt.getSrc(), insn.src)) ||
                   failed(cg.emit(op, insn)));
  }
};

template <typename Op> struct FillPadModel : CodegenOpInterface::ExternalModel<FillPadModel<Op>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto fill = cast<Op>(op);
    auto dst = cg.tileDesc(op, fill.getDst()), src = cg.tileDesc(op, fill.getSrc());
    if (failed(dst) || failed(src))
      return failure();
    if (dst->memory != isa::Memory::L1)
      return cg.emit(op, isa::TFillpad{dst->tile, src->tile});
    if (dst->tile.pad != isa::Pad::zero)
      return op->emitOpError("fills a tile in L1 with another value than 0, which has no instruction; pad=1 has");
    return cg.emit(op, isa::TFillpadL1{dst->tile, src->tile});
  }
};

} // namespace

void attachConvertModels(MLIRContext *c) {
  pto::TCvtOp::attachInterface<TCvtModel>(*c);
  pto::TTransOp::attachInterface<UnaryTile<pto::TTransOp, isa::TTrans>>(*c);
  pto::TFillPadOp::attachInterface<FillPadModel<pto::TFillPadOp>>(*c);
  pto::TFillPadInplaceOp::attachInterface<FillPadModel<pto::TFillPadInplaceOp>>(*c);
  pto::TFillPadExpandOp::attachInterface<FillPadModel<pto::TFillPadExpandOp>>(*c);
}

} // namespace pto_mlir::backend
