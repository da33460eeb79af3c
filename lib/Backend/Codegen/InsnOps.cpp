//===- InsnOps.cpp - Ops that are one instruction, operand by operand -----===//
//
// Generated from the rows that the ops name (lib/Dialect/PTO/IR/gen_insns.py). Scratch operands of pto ops have no
// counterpart: the instructions of the table need none.
//
//===----------------------------------------------------------------------===//

#include "Adjust.h"
#include "Models.h"

using namespace mlir;

namespace pto_mlir::backend {

/// The table's enumerator of an attribute; they have the same numbers unless specialised below.
template <typename To, typename From> static To toIsa(From value) { return To(unsigned(value)); }
template <> isa::RoundMode toIsa<isa::RoundMode>(pto::RoundMode mode) {
  // CAST_RINT is the default's name for RINT.
  return mode == pto::RoundMode::CAST_RINT ? isa::RoundMode::rint : isa::RoundMode(unsigned(mode));
}
template <> isa::Switch toIsa<isa::Switch>(std::optional<pto::SaturationMode> mode) {
  return mode == pto::SaturationMode::ON ? isa::Switch::on : isa::Switch::off;
}

/// A register for the op's result.
static LogicalResult bindRegister(Operation *op, CodegenContext &cg, mlir::Value result, uint8_t &number) {
  auto reg = cg.registerFor(op, result);
  if (failed(reg))
    return failure();
  number = *reg;
  cg.define(result, isa::Value::reg(number));
  return success();
}

template <typename Op> struct InsnModel : CodegenOpInterface::ExternalModel<InsnModel<Op>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const { return generateInsn(cast<Op>(op), cg); }
};

#include "pto_mlir/Dialect/PTO/IR/InsnCodegen.inc"

void attachInsnModels(MLIRContext *context) { attachInsns(context); }

} // namespace pto_mlir::backend
