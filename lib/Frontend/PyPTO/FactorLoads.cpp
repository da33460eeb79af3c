// Which loads of factors stay in global memory.
#include "FactorLoads.h"

#include "TileNodes.h"

#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

bool isTileProduct(std::string_view op) {
  return llvm::is_contained({"tile.matmul", "tile.matmul_acc", "tile.matmul_bias", "tile.batch_matmul",
                             "tile.batch_matmul_acc", "tile.gemv", "tile.gemv_acc", "tile.gemv_bias"},
                            op);
}

void Readers::VisitExpr_(const ir::CallPtr &op) {
  for (const ir::ExprPtr &arg : op->args_)
    if (auto var = ir::As<ir::Var>(arg))
      of[var.get()].push_back(op->op_->name_);
  ir::IRVisitor::VisitExpr_(op);
}

void Readers::VisitDef(const ir::VarPtr &var) {
  if (auto arg = ir::As<ir::IterArg>(var))
    VisitExpr(arg->initValue_);
}

namespace {

/// Bytes of a tile whose extents are constants; 0 for others.
int64_t bytesOf(const ir::Var *tile) {
  int64_t bytes = ir::ElementTypeOf(tile->type_)->GetByte();
  for (const ir::ExprPtr &extent : *ir::ShapeOf(tile->type_))
    bytes *= ir::ConstantInt(extent).value_or(0);
  return bytes;
}

/// Whether a view has the same matrices as the tile that it is of: only the axes of batches differ.
bool keepsMatrices(const ir::TypePtr &of, const ir::TypePtr &view) {
  const auto &a = *ir::ShapeOf(of), &b = *ir::ShapeOf(view);
  return a.size() > 1 && b.size() > 1 && ir::ConstantInt(a.back()) == ir::ConstantInt(b.back()) &&
         ir::ConstantInt(a[a.size() - 2]) == ir::ConstantInt(b[b.size() - 2]);
}

} // namespace

void FactorLoads::VisitExpr_(const ir::CallPtr &op) {
  ir::OpView view(*op);
  if (isTileProduct(op->op_->name_)) {
    auto lhs = ir::As<ir::Var>(view.Operand("lhs")), rhs = ir::As<ir::Var>(view.Operand("rhs"));
    if (lhs && rhs)
      products.emplace_back(lhs.get(), rhs.get());
  }
  if (view.row() && view.row()->Find("out") >= 0)
    if (auto tensor = ir::As<ir::Var>(view.Operand("out")))
      written.insert(tensor.get());
  Readers::VisitExpr_(op);
}

void FactorLoads::VisitStmt_(const ir::AssignStmtPtr &op) {
  const ir::Var *var = op->var_.get();
  bound.insert(var);
  if (auto same = ir::As<ir::Var>(op->value_))
    written.insert(same.get()); // a second name, which may be written
  auto call = ir::As<ir::Call>(op->value_);
  const std::string name = call ? call->op_->name_ : "";
  if (name == "tile.load" && spaceOf(op->var_) == ir::MemorySpace::Mat && validOf(var->type_).empty() &&
      ir::ShapeOf(var->type_)->size() > 1)
    loads[var] = {call, var};
  if (name == "tile.transpose_view" || name == "tile.reshape") {
    auto of = ir::As<ir::Var>(call->args_[0]);
    auto found = of ? loads.find(of.get()) : loads.end();
    if (found != loads.end() && (name != "tile.reshape" || keepsMatrices(of->type_, var->type_))) {
      FactorLoad made = found->second;
      made.isTransposed ^= name == "tile.transpose_view";
      loads[var] = made;
    }
  }
  Readers::VisitStmt_(op);
}

void FactorLoads::VisitDef(const ir::VarPtr &var) {
  bound.insert(var.get());
  if (auto arg = ir::As<ir::IterArg>(var))
    if (auto begin = ir::As<ir::Var>(arg->initValue_))
      written.insert(begin.get());
  Readers::VisitDef(var);
}

/// Whether only products, as factors, and views for them read a load of a tensor that keeps its elements.
bool FactorLoads::isOnlyFactor(const ir::Var *load) const {
  auto tensor = ir::As<ir::Var>(ir::OpView(*loads.at(load).load).Operand("tensor"));
  if (!tensor || bound.count(tensor.get()) || written.count(tensor.get()))
    return false;
  for (const auto &[var, of] : loads) {
    if (of.tile != load)
      continue;
    size_t known = 0;
    for (const auto &[a, b] : products)
      known += (a == var) + (b == var);
    if (auto found = this->of.find(var); found != this->of.end())
      known += llvm::count_if(
          found->second, [](const std::string &op) { return op == "tile.transpose_view" || op == "tile.reshape"; });
    if (auto found = reads.find(var); found != reads.end() && found->second != known)
      return false;
  }
  return true;
}

void FactorLoads::collect(const ir::StmtPtr &body, int64_t l1Bytes) {
  VisitStmt(body);
  for (const auto &[a, b] : products) {
    auto first = loads.find(a), second = loads.find(b);
    int64_t bytes = bytesOf(a) + (a == b ? 0 : bytesOf(b));
    if (bytes <= l1Bytes)
      continue;
    for (auto found : {first, second})
      if (found != loads.end() && bytesOf(found->first) > l1Bytes / 2 && isOnlyFactor(found->second.tile))
        left.insert(found->second.tile);
  }
}

const FactorLoad *FactorLoads::streamed(const ir::Var *tile) const {
  auto found = loads.find(tile);
  return found != loads.end() && left.count(found->second.tile) ? &found->second : nullptr;
}

} // namespace pto_mlir::pypto_frontend
