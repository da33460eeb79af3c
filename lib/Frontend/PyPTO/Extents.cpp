// Extents of tensors as expressions of variables.
#include "Extents.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;
using ir::NodeKind;

std::optional<SolvedExtent> solveExtent(const ir::ExprPtr &extent) {
  SolvedExtent solved{nullptr, {}};
  ir::ExprPtr rest = extent;
  while (auto op = ir::As<ir::BinaryExpr>(rest)) {
    auto left = ir::ConstantInt(op->left_), right = ir::ConstantInt(op->right_);
    if (left.has_value() == right.has_value())
      return std::nullopt;
    int64_t known = left ? *left : *right;
    if (op->kind() == NodeKind::Add)
      solved.steps.emplace_back(NodeKind::Sub, known);
    else if (op->kind() == NodeKind::Sub && right)
      solved.steps.emplace_back(NodeKind::Add, known);
    else if (op->kind() == NodeKind::Mul && known)
      solved.steps.emplace_back(NodeKind::FloorDiv, known);
    else
      return std::nullopt;
    rest = left ? op->right_ : op->left_;
  }
  auto var = ir::As<ir::Var>(rest);
  if (!var)
    return std::nullopt;
  solved.symbol = var;
  return solved;
}

std::vector<ir::VarPtr> symbolsOf(const ir::ExprPtr &extent) {
  if (auto var = ir::As<ir::Var>(extent))
    return {var};
  std::vector<ir::VarPtr> found;
  if (auto op = ir::As<ir::BinaryExpr>(extent)) {
    found = symbolsOf(op->left_);
    for (const ir::VarPtr &var : symbolsOf(op->right_))
      found.push_back(var);
  }
  return found;
}

} // namespace pto_mlir::pypto_frontend
