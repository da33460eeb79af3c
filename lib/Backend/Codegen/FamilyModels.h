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

template <typename Op, typename Insn> void attachUnary(mlir::MLIRContext *context) {
  Op::template attachInterface<UnaryTile<Op, Insn>>(*context);
}
template <typename Op, typename Insn> void attachBinary(mlir::MLIRContext *context) {
  Op::template attachInterface<BinaryTile<Op, Insn>>(*context);
}
template <typename Op, typename Insn> void attachScalar(mlir::MLIRContext *context) {
  Op::template attachInterface<ScalarTile<Op, Insn>>(*context);
}

/// An op without an instruction: a hint to the memory system, or output for the programmer.
template <typename Op> struct NoInstruction : CodegenOpInterface::ExternalModel<NoInstruction<Op>, Op> {
  mlir::LogicalResult generate(mlir::Operation *, CodegenContext &) const { return mlir::success(); }
};

} // namespace pto_mlir::backend

#endif
