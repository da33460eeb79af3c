//===- FamilyModels.h - Ops that are one instruction, operand by operand --===//
//
// Scratch operands of pto ops have no counterpart: the instructions of the table need none.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_BACKEND_CODEGEN_FAMILYMODELS_H
#define PTO_MLIR_LIB_BACKEND_CODEGEN_FAMILYMODELS_H

#include "Models.h"

namespace pto_mlir::backend {

/// (src) -> dst
template <typename Op, typename Insn> struct UnaryTile : CodegenOpInterface::ExternalModel<UnaryTile<Op, Insn>, Op> {
  mlir::LogicalResult generate(mlir::Operation *op, CodegenContext &cg) const {
    Insn insn;
    auto typed = mlir::cast<Op>(op);
    return mlir::failure(failed(cg.tile(op, typed.getDst(), insn.dst)) ||
                         failed(cg.tile(op, typed.getSrc(), insn.src)) || failed(cg.emit(op, insn)));
  }
};

/// (src0, src1) -> dst
template <typename Op, typename Insn> struct BinaryTile : CodegenOpInterface::ExternalModel<BinaryTile<Op, Insn>, Op> {
  mlir::LogicalResult generate(mlir::Operation *op, CodegenContext &cg) const {
    Insn insn;
    auto typed = mlir::cast<Op>(op);
    return mlir::failure(failed(cg.tile(op, typed.getDst(), insn.dst)) ||
                         failed(cg.tile(op, typed.getSrc0(), insn.src0)) ||
                         failed(cg.tile(op, typed.getSrc1(), insn.src1)) || failed(cg.emit(op, insn)));
  }
};

/// (src, scalar) -> dst
template <typename Op, typename Insn> struct ScalarTile : CodegenOpInterface::ExternalModel<ScalarTile<Op, Insn>, Op> {
  mlir::LogicalResult generate(mlir::Operation *op, CodegenContext &cg) const {
    Insn insn;
    auto typed = mlir::cast<Op>(op);
    return mlir::failure(failed(cg.tile(op, typed.getDst(), insn.dst)) ||
                         failed(cg.tile(op, typed.getSrc(), insn.src)) ||
                         failed(cg.scalar(op, typed.getScalar(), insn.scalar)) || failed(cg.emit(op, insn)));
  }
};

} // namespace pto_mlir::backend

#endif
