// Arrays of numbers in a kernel: tiles of one row in Vec, whose elements engine S reads and writes.
#include "Lowering.h"
#include "TileNodes.h"

#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {

/// Bytes of the greatest array: a tenth of what UB has, and more than any list of indices needs.
static constexpr int64_t kMostBytes = 16384;

/// A new array; its elements begin with zero.
Value Lowering::createArray(const ir::OpView &, const ir::CallPtr &op, const ir::VarPtr &var) {
  auto type = ir::As<ir::ArrayType>(op->type_);
  auto extent = ir::ConstantInt(type->extent_);
  int64_t bits = type->dtype_.GetBit();
  if (type->dtype_ == pypto::DataType::TASK_ID || type->dtype_ == pypto::DataType::INDEX || bits < 8 || bits > 32)
    fail(op->span_, "arrays of " + std::string(type->dtype_.Name()) +
                        " are not lowered yet inside a kernel; numbers of 8 to 32 bits are");
  if (!extent || *extent < 1 || *extent > kMostBytes / (bits / 8))
    fail(op->span_, "an array of a kernel has 1 to " + std::to_string(kMostBytes / (bits / 8)) +
                        " elements, a number known when it is compiled");
  int64_t columns = pto_mlir::roundUp(*extent, int64_t(256) / bits); // rows are multiples of 32 bytes
  auto tile = std::make_shared<const ir::TileType>(std::vector<ir::ExprPtr>{number(1), number(columns)}, type->dtype_,
                                                   std::nullopt, std::nullopt, ir::MemorySpace::Vec);
  held.push_back(tile); // its address is the buffer's name
  Value array = buffer(tile, tile.get());
  nameAfter(var, array);
  Type element = scalarType(*b.getContext(), type->dtype_);
  Value zero = constant(b.getZeroAttr(element), element);
  forEach(indexConstant(*extent), [&](ValueRange at) { b.create<pto::TSetValOp>(loc, array, at[0], zero); });
  return array;
}

/// The offset of an element. Fails for a constant index outside of the array.
Value Lowering::arrayIndex(const ir::OpView &call, const ir::CallPtr &op) {
  auto extent = ir::ConstantInt(ir::As<ir::ArrayType>(call.Operand("array")->type_)->extent_);
  ir::ExprPtr index = call.Operand("index");
  if (auto known = ir::ConstantInt(index); known && extent && (*known < 0 || *known >= *extent))
    fail(op->span_, "the array has no element " + std::to_string(*known) + "; it has " + std::to_string(*extent));
  return indexOf(index);
}

Value Lowering::arrayElement(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &) {
  Value array = valueOf(call.Operand("array"));
  return b.create<pto::TGetValOp>(loc, scalarType(*b.getContext(), *ir::ElementTypeOf(op->type_)), array,
                                  arrayIndex(call, op));
}

/// The array with one element replaced, in its place: nobody may read the old one any more.
Value Lowering::updateArray(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  ir::ExprPtr old = call.Operand("array");
  auto type = ir::As<ir::ArrayType>(old->type_);
  Value array = valueOf(old), index = arrayIndex(call, op);
  Value element = scalarOf(call.Operand("value"), scalarType(*b.getContext(), type->dtype_));
  b.create<pto::TSetValOp>(loc, array, index, element);
  if (auto held = ir::As<ir::Var>(old); held && var) {
    ++holders[pto::getAliasRoot(array)];
    takeOver(old, op->op_->name_);
  }
  return array;
}

} // namespace pto_mlir::pypto_frontend
