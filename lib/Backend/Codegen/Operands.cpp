//===- Operands.cpp - SSA values as instruction operands ------------------===//

#include "Types.h"
#include "pto_mlir/Backend/CodegenContext.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pto_mlir::backend {

std::optional<int64_t> constantOf(mlir::Value value) {
  APInt integer;
  if (matchPattern(value, m_ConstantInt(&integer)))
    return integer.getBitWidth() == 1 ? int64_t(integer.getZExtValue()) : integer.getSExtValue();
  APFloat number(0.0f);
  if (matchPattern(value, m_ConstantFloat(&number))) {
    bool exact;
    number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &exact);
    return int64_t(number.bitcastToAPInt().getZExtValue());
  }
  return std::nullopt;
}

LogicalResult CodegenContext::fit(Operation *op, isa::Value &value) {
  if (value.isRegister || (value.value >= INT32_MIN && value.value <= INT32_MAX))
    return success();
  auto dst = temporary(op);
  if (failed(dst) || failed(emit(op, isa::Li{*dst, value.value})))
    return failure();
  value = isa::Value::reg(*dst);
  return success();
}

LogicalResult CodegenContext::integer(Operation *op, mlir::Value value, isa::Value &out) {
  if (auto constant = constantOf(value)) {
    out = isa::Value(*constant);
    // A float's bit pattern as the 32-bit signed word that an operand holds.
    if (llvm::isa<FloatType>(value.getType()))
      out.value = int32_t(uint32_t(out.value));
    return fit(op, out);
  }
  auto it = scalars.find(value);
  if (it == scalars.end())
    return op->emitOpError("uses a value that engine ") << isa::pipeName(pipe) << " cannot compute";
  out = it->second;
  return fit(op, out);
}

FailureOr<TileDesc> CodegenContext::tileDesc(Operation *op, mlir::Value value) {
  auto it = tiles.find(value);
  if (it == tiles.end())
    return op->emitOpError("expects a pto tile as operand, got ") << value.getType();
  return it->second;
}

LogicalResult CodegenContext::tile(Operation *op, mlir::Value value, isa::Tile &out) {
  auto desc = tileDesc(op, value);
  if (failed(desc))
    return failure();
  out = desc->tile;
  return success();
}

LogicalResult CodegenContext::viewDesc(Operation *op, mlir::Value value, isa::View &out) {
  auto it = views.find(value);
  if (it == views.end())
    return op->emitOpError("expects a view of global memory as operand, got ") << value.getType();
  out = it->second;
  return success();
}

LogicalResult CodegenContext::view(Operation *op, mlir::Value value, isa::View &out) {
  if (failed(viewDesc(op, value, out)))
    return failure();
  // Leading dimensions of size 1 say nothing.
  unsigned skip = 0;
  while (out.rank - skip > 2 && out.sizes[skip] == isa::Value(1))
    ++skip;
  if (out.layout == isa::Layout::NZ)
    skip = 0;
  for (unsigned i = 0; skip && i + skip < out.rank; ++i)
    out.sizes[i] = out.sizes[i + skip], out.strides[i] = out.strides[i + skip];
  out.rank = uint8_t(out.rank - skip);
  for (unsigned i = 0; i < out.rank; ++i)
    if (failed(fit(op, out.sizes[i])) || failed(fit(op, out.strides[i])))
      return failure();
  return success();
}

FailureOr<PtrDesc> CodegenContext::ptrDesc(Operation *op, mlir::Value value) {
  auto it = ptrs.find(value);
  if (it == ptrs.end())
    return op->emitOpError("expects a pointer that comes from a kernel argument");
  return it->second;
}

} // namespace pto_mlir::backend
