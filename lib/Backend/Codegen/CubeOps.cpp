//===- CubeOps.cpp - Matrix products --------------------------------------===//

#include "Models.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

/// A product is as large as its operands say: a result's tile may hold more rows and columns than it gets here.
void fitProduct(const isa::Tile &a, const isa::Tile &b, isa::Tile &result) {
  auto fit = [](const isa::Value &of, isa::Value &extent) {
    if (!of.isRegister && !extent.isRegister && of.value < extent.value)
      extent = of;
  };
  fit(a.validRows, result.validRows);
  fit(b.validCols, result.validCols);
}

template <typename Op> struct MatmulModel : CodegenOpInterface::ExternalModel<MatmulModel<Op>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto matmul = cast<Op>(op);
    isa::TMatmul insn;
    if (failed(cg.tile(op, matmul.getDst(), insn.dst)) || failed(cg.tile(op, matmul.getLhs(), insn.a)) ||
        failed(cg.tile(op, matmul.getRhs(), insn.b)))
      return failure();
    fitProduct(insn.a, insn.b, insn.dst);
    return cg.emit(op, insn);
  }
};

template <typename Op> struct MatmulAccModel : CodegenOpInterface::ExternalModel<MatmulAccModel<Op>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto matmul = cast<Op>(op);
    isa::TMatmulAcc insn;
    if (failed(cg.tile(op, matmul.getDst(), insn.dst)) || failed(cg.tile(op, matmul.getAcc(), insn.acc)) ||
        failed(cg.tile(op, matmul.getLhs(), insn.a)) || failed(cg.tile(op, matmul.getRhs(), insn.b)))
      return failure();
    fitProduct(insn.a, insn.b, insn.dst);
    fitProduct(insn.a, insn.b, insn.acc);
    return cg.emit(op, insn);
  }
};

template <typename Op> struct MatmulBiasModel : CodegenOpInterface::ExternalModel<MatmulBiasModel<Op>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto matmul = cast<Op>(op);
    isa::TMatmulBias insn;
    if (failed(cg.tile(op, matmul.getDst(), insn.dst)) || failed(cg.tile(op, matmul.getLhs(), insn.a)) ||
        failed(cg.tile(op, matmul.getRhs(), insn.b)) || failed(cg.tile(op, matmul.getBias(), insn.bias)))
      return failure();
    return cg.emit(op, insn);
  }
};

} // namespace

void attachCubeModels(MLIRContext *c) {
  pto::TMatmulOp::attachInterface<MatmulModel<pto::TMatmulOp>>(*c);
  pto::TGemvOp::attachInterface<MatmulModel<pto::TGemvOp>>(*c);
  pto::TMatmulAccOp::attachInterface<MatmulAccModel<pto::TMatmulAccOp>>(*c);
  pto::TGemvAccOp::attachInterface<MatmulAccModel<pto::TGemvAccOp>>(*c);
  pto::TMatmulBiasOp::attachInterface<MatmulBiasModel<pto::TMatmulBiasOp>>(*c);
  pto::TGemvBiasOp::attachInterface<MatmulBiasModel<pto::TGemvBiasOp>>(*c);
}

} // namespace pto_mlir::backend
