#include "BlockMemory.h"

namespace pto_mlir::pypto_frontend {

namespace {

constexpr int64_t kLineBytes = 64; ///< blocks write their numbers to cache lines of their own

/// The type that global memory has of a number.
pypto::DataType storedType(const ir::VarPtr &number) {
  auto type = ir::As<ir::ScalarType>(number->type_)->dtype_;
  return type == pypto::DataType::INDEX ? pypto::DataType::INT64 : type;
}

/// Where a block's part begins.
std::vector<ir::ExprPtr> offsetsOf(const ir::VarPtr &var, const ir::VarPtr &block) {
  if (ir::IsA<ir::ScalarType>(var->type_))
    return {block, number(0)};
  std::vector<ir::ExprPtr> offsets = zeros(shapeOf(var).size());
  offsets[0] = product(block, shapeOf(var)[0]);
  return offsets;
}

} // namespace

ir::ExprPtr product(const ir::ExprPtr &a, const ir::ExprPtr &b) {
  auto first = ir::ConstantInt(a), second = ir::ConstantInt(b);
  if (first && second)
    return number(*first * *second);
  return ir::MakeBinary(ir::NodeKind::Mul, a, b, pypto::DataType::INDEX, a->span_);
}

void BlockMemory::add(const ir::VarPtr &var) {
  auto space = spaceOf(var);
  if (space && *space != ir::MemorySpace::Vec && *space != ir::MemorySpace::Acc)
    fail(var->span_, var->name_hint_ + " is in the memory of the cube core behind a barrier between blocks, which "
                                       "keeps tiles of pl.Mem.Vec and pl.Mem.Acc; store it to a tensor");
  std::vector<ir::ExprPtr> extents;
  pypto::DataType element = pypto::DataType::INT64;
  if (ir::ShapeOf(var->type_)) {
    extents = shapeOf(var), element = *ir::ElementTypeOf(var->type_);
    extents[0] = product(blocks, extents[0]);
  } else if (ir::IsA<ir::ScalarType>(var->type_) && storedType(var).GetBit() >= 8) {
    element = storedType(var);
    extents = {blocks, number(kLineBytes * 8 / int64_t(element.GetBit()))};
  } else {
    fail(var->span_, var->name_hint_ + " is read behind a barrier between blocks, which keeps tiles, tensors and "
                                       "numbers; compute it again behind it");
  }
  auto type = std::make_shared<const ir::TensorType>(extents, element);
  // The kernels of two scopes may get several of them.
  std::string name = var->name_hint_ + "_kept" + (created.empty() ? "" : "_" + std::to_string(created.size()));
  auto tensor = std::make_shared<const ir::Var>(name, type, var->span_);
  tensors[var.get()] = tensor;
  created.push_back(creationOf(tensor));
}

ir::StmtPtr BlockMemory::stored(const ir::VarPtr &value, const ir::VarPtr &var, const ir::VarPtr &block) const {
  const ir::VarPtr &tensor = tensors.at(var.get());
  ir::ExprPtr offsets = tuple(offsetsOf(var, block));
  if (auto scalar = ir::As<ir::ScalarType>(value->type_)) {
    ir::ExprPtr held = value;
    if (storedType(var) != scalar->dtype_)
      held = std::make_shared<const ir::Cast>(held, storedType(var), value->span_);
    return std::make_shared<const ir::EvalStmt>(ir::CreateOp("tensor.write", {tensor, offsets, held}, value->span_),
                                                value->span_);
  }
  ir::CallPtr call = ir::IsA<ir::TileType>(value->type_)
                         ? ir::CreateOp("tile.store", {value, offsets, tensor}, value->span_)
                         : ir::CreateOp("tensor.assemble", {tensor, value, offsets}, value->span_);
  auto written = std::make_shared<const ir::Var>(tensor->name_hint_, tensor->type_, value->span_);
  return std::make_shared<const ir::AssignStmt>(written, call, value->span_);
}

ir::TypePtr BlockMemory::typeOfLoaded(const ir::VarPtr &var) {
  auto tile = ir::As<ir::TileType>(var->type_);
  if (!tile || spaceOf(var) != ir::MemorySpace::Acc)
    return var->type_;
  std::optional<ir::TileView> view;
  if (std::vector<ir::ExprPtr> valid = validOf(var->type_); !valid.empty())
    view.emplace().valid_shape = std::move(valid);
  return std::make_shared<const ir::TileType>(tile->shape_, tile->dtype_, std::nullopt, view, ir::MemorySpace::Vec);
}

ir::ExprPtr BlockMemory::loaded(const ir::VarPtr &var, const ir::VarPtr &block) const {
  ir::ExprPtr tensor = tensors.at(var.get());
  ir::ExprPtr offsets = tuple(offsetsOf(var, block));
  if (auto scalar = ir::As<ir::ScalarType>(var->type_)) {
    ir::ExprPtr held = ir::CreateOp("tensor.read", {tensor, offsets}, var->span_);
    return storedType(var) == scalar->dtype_ ? held
                                             : std::make_shared<const ir::Cast>(held, scalar->dtype_, var->span_);
  }
  bool isTile = ir::IsA<ir::TileType>(var->type_);
  std::vector<ir::ExprPtr> operands{tensor, tuple(shapeOf(var)), offsets};
  if (isTile)
    std::swap(operands[1], operands[2]);
  if (std::vector<ir::ExprPtr> valid = validOf(var->type_); !valid.empty())
    operands.push_back(tuple(valid));
  return ir::CreateOp(isTile ? "tile.load" : "tensor.slice", std::move(operands), var->span_);
}

} // namespace pto_mlir::pypto_frontend
