//===- Adjust.cpp - Where an instruction is not just its op's operands ----===//

#include "Adjust.h"

using namespace mlir;

namespace pto_mlir::backend {

static void fitProduct(const isa::Tile &a, const isa::Tile &b, isa::Tile &result) {
  auto fit = [](const isa::Value &of, isa::Value &extent) {
    if (!of.isRegister && !extent.isRegister && of.value < extent.value)
      extent = of;
  };
  fit(a.validRows, result.validRows);
  fit(b.validCols, result.validCols);
}

LogicalResult adjust(Operation *, CodegenContext &, isa::TMatmul &insn) {
  fitProduct(insn.a, insn.b, insn.dst);
  return success();
}

LogicalResult adjust(Operation *, CodegenContext &, isa::TMatmulAcc &insn) {
  fitProduct(insn.a, insn.b, insn.dst);
  fitProduct(insn.a, insn.b, insn.acc);
  return success();
}

static LogicalResult checkScales(Operation *op, CodegenContext &cg, mlir::Value scales, isa::Memory memory) {
  auto desc = cg.tileDesc(op, scales);
  if (failed(desc) || desc->memory == memory)
    return failure(failed(desc));
  return op->emitOpError("takes scales that belong to ")
         << (desc->memory == isa::Memory::FB ? "no product" : "the other operand of a product")
         << "; each operand needs a tile of scales of its own";
}

static LogicalResult checkBothScales(Operation *op, CodegenContext &cg) {
  auto scaled = cast<pto::ScaledOpInterface>(op);
  return failure(failed(checkScales(op, cg, scaled.getLeftScales(), isa::Memory::SA)) ||
                 failed(checkScales(op, cg, scaled.getRightScales(), isa::Memory::SB)));
}

LogicalResult adjust(Operation *op, CodegenContext &cg, isa::TMatmulMx &) { return checkBothScales(op, cg); }
LogicalResult adjust(Operation *op, CodegenContext &cg, isa::TMatmulMxAcc &) { return checkBothScales(op, cg); }
LogicalResult adjust(Operation *op, CodegenContext &cg, isa::TMatmulMxBias &) { return checkBothScales(op, cg); }

LogicalResult adjust(Operation *, CodegenContext &, isa::TColexpand &insn) {
  if (const isa::Value &cols = insn.dst.validCols; !cols.isRegister && cols.value <= insn.src.cols)
    insn.src.validCols = cols;
  return success();
}

/// In a column or a row of their own, or one for each element?
static isa::IndexUnit unitOf(const isa::Tile &data, const isa::Tile &indices) {
  bool byRow = indices.rows != data.rows || indices.validCols != data.validCols;
  return byRow ? isa::IndexUnit::row : isa::IndexUnit::element;
}

LogicalResult adjust(Operation *, CodegenContext &, isa::Mgather &insn) {
  insn.src.type = insn.dst.type;
  insn.unit = unitOf(insn.dst, insn.indices);
  return success();
}

LogicalResult adjust(Operation *, CodegenContext &, isa::Mscatter &insn) {
  insn.dst.type = insn.src.type;
  insn.unit = unitOf(insn.src, insn.indices);
  return success();
}

} // namespace pto_mlir::backend
