//===- Carried.cpp - Values that ops with regions hand on -----------------===//

#include "Carried.h"

using namespace mlir;

namespace pto_mlir::backend {

FailureOr<SmallVector<Carried>> allocateCarried(Operation *op, CodegenContext &cg, TypeRange types) {
  SmallVector<Carried> all;
  for (Type type : types) {
    unsigned count = 1;
    if (auto tile = dyn_cast<pto::TileBufType>(type))
      count += tile.hasDynamicValidRows() + tile.hasDynamicValidCols();
    else if (!type.isIntOrIndexOrFloat())
      return op->emitOpError("hands on a value of type ") << type << ", command streams hand on numbers and tiles only";
    Carried carried{type, {}};
    for (unsigned i = 0; i < count; ++i) {
      auto reg = cg.temporary(op);
      if (failed(reg))
        return failure();
      carried.registers.push_back(*reg);
    }
    all.push_back(std::move(carried));
  }
  return all;
}

LogicalResult assignCarried(Operation *op, CodegenContext &cg, ValueRange values, ArrayRef<Carried> carried) {
  SmallVector<uint8_t> registers;
  SmallVector<isa::Value> parts;
  for (auto [value, to] : llvm::zip(values, carried)) {
    llvm::append_range(registers, to.registers);
    if (auto type = dyn_cast<pto::TileBufType>(to.type)) {
      auto desc = cg.tileDesc(op, value);
      if (failed(desc))
        return failure();
      parts.push_back(desc->tile.address);
      if (type.hasDynamicValidRows())
        parts.push_back(desc->tile.validRows);
      if (type.hasDynamicValidCols())
        parts.push_back(desc->tile.validCols);
      continue;
    }
    isa::Value part;
    if (failed(cg.integer(op, value, part)))
      return failure();
    parts.push_back(part);
  }
  // A register that is assigned below is read before.
  for (auto [reg, part] : llvm::zip(registers, parts)) {
    if (!part.isRegister || part.value == reg || !llvm::is_contained(registers, uint8_t(part.value)))
      continue;
    auto copy = cg.temporary(op);
    if (failed(copy) || failed(cg.emit(op, isa::Mov{*copy, part})))
      return failure();
    part = isa::Value::reg(*copy);
  }
  for (auto [reg, part] : llvm::zip(registers, parts))
    if (!(part.isRegister && part.value == reg) && failed(cg.emit(op, isa::Mov{reg, part})))
      return failure();
  return success();
}

LogicalResult defineCarried(Operation *op, CodegenContext &cg, ValueRange values, ArrayRef<Carried> carried) {
  for (auto [value, from] : llvm::zip(values, carried)) {
    const uint8_t *next = from.registers.begin();
    auto type = dyn_cast<pto::TileBufType>(from.type);
    if (!type) {
      cg.define(value, isa::Value::reg(*next));
      continue;
    }
    auto desc = describeTile(op, type);
    if (failed(desc))
      return failure();
    desc->tile.address = isa::Value::reg(*next++);
    if (type.hasDynamicValidRows())
      desc->tile.validRows = isa::Value::reg(*next++);
    if (type.hasDynamicValidCols())
      desc->tile.validCols = isa::Value::reg(*next++);
    cg.define(value, *desc);
  }
  return success();
}

} // namespace pto_mlir::backend
