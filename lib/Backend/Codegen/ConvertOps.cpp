//===- ConvertOps.cpp - Padding and quantisation --------------------------===//

#include "Models.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

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

struct TQuantModel : CodegenOpInterface::ExternalModel<TQuantModel, pto::TQuantOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto quant = cast<pto::TQuantOp>(op);
    if (quant.getOffset()) {
      isa::TQuantAsym insn;
      return failure(failed(cg.tile(op, quant.getDst(), insn.dst)) || failed(cg.tile(op, quant.getSrc(), insn.src)) ||
                     failed(cg.tile(op, quant.getFp(), insn.multipliers)) ||
                     failed(cg.tile(op, quant.getOffset(), insn.offsets)) || failed(cg.emit(op, insn)));
    }
    isa::TQuant insn;
    insn.zeroPoint = isa::Value(0);
    return failure(failed(cg.tile(op, quant.getDst(), insn.dst)) || failed(cg.tile(op, quant.getSrc(), insn.src)) ||
                   failed(cg.tile(op, quant.getFp(), insn.multipliers)) || failed(cg.emit(op, insn)));
  }
};

} // namespace

void attachConvertModels(MLIRContext *c) {
  pto::TFillPadOp::attachInterface<FillPadModel<pto::TFillPadOp>>(*c);
  pto::TFillPadInplaceOp::attachInterface<FillPadModel<pto::TFillPadInplaceOp>>(*c);
  pto::TFillPadExpandOp::attachInterface<FillPadModel<pto::TFillPadExpandOp>>(*c);
  pto::TQuantOp::attachInterface<TQuantModel>(*c);
}

} // namespace pto_mlir::backend
