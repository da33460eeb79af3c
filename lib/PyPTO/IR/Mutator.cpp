// IRMutator: each kind's default maps the fields that the class names.
#include "pypto/ir/transforms/base/mutator.h"

#include "pypto/ir/node_access.h"

namespace pypto::ir {

struct MutateFieldsOf {
  IRMutator &mutator;
  unsigned flags = kPlain;

  /// The node, or a copy of it with the fields that changed.
  template <class T> std::shared_ptr<const T> operator()(const std::shared_ptr<const T> &node) {
    std::shared_ptr<T> changed;
    ForEachField<T>([&](const char *, auto member, unsigned fieldFlags) {
      flags = fieldFlags;
      auto mapped = (*node).*member;
      if (!map(mapped))
        return;
      if (!changed)
        changed = NodeAccess::Copy(*node);
      (*changed).*member = std::move(mapped);
    });
    if (!changed)
      return node;
    NodeAccess::Complete(*changed);
    return changed;
  }

  /// The default of one kind, by way of the method that a group of kinds shares.
  template <class T> auto kind(const std::shared_ptr<const T> &op) {
    if constexpr (std::is_base_of_v<BinaryExpr, T>) {
      return mutator.VisitBinaryExpr_(op);
    } else if constexpr (std::is_base_of_v<UnaryExpr, T>) {
      return mutator.VisitUnaryExpr_(op);
    } else if constexpr (std::is_base_of_v<ScopeStmt, T>) {
      return mutator.VisitScopeStmt_(op);
    } else if constexpr (std::is_base_of_v<Var, T>) {
      auto found = mutator.replaced_.find(op.get());
      return found == mutator.replaced_.end() ? VarPtr(op) : found->second;
    } else {
      return (*this)(op);
    }
  }
  /// Maps a field's value in place; whether it changed.
  template <class T> bool map(std::shared_ptr<const T> &child) {
    if (!child)
      return false;
    std::shared_ptr<const T> mapped = child;
    if constexpr (std::is_base_of_v<Var, T>) {
      INTERNAL_CHECK(flags & kDef) << "a field that reads a variable must hold an expression";
      mapped = As<T>(mutator.VisitDef(child));
      INTERNAL_CHECK(mapped) << "an IterArg must stay one";
      if (mapped != child)
        mutator.replaced_[child.get()] = mapped;
    } else if constexpr (std::is_same_v<Expr, T>) {
      mapped = mutator.VisitExpr(child);
    } else if constexpr (std::is_same_v<Stmt, T>) {
      mapped = mutator.VisitStmt(child);
    } else if constexpr (std::is_same_v<Function, T>) {
      mapped = mutator.VisitFunction(child);
    }
    bool changed = mapped != child;
    child = std::move(mapped);
    return changed;
  }
  template <class T> bool map(std::vector<T> &children) {
    bool changed = false;
    for (size_t i = 0; i < children.size(); ++i) {
      T child = children[i];
      if (map(child)) {
        children[i] = std::move(child);
        changed = true;
      }
    }
    return changed;
  }
  template <class T> bool map(std::optional<T> &child) { return child && map(*child); }
  bool map(std::pair<std::string, Attr> &attr) {
    return std::visit([this](auto &held) { return map(held); }, attr.second);
  }
  template <class T> bool map(T &) { return false; }
};

ProgramPtr IRMutator::VisitProgram(const ProgramPtr &program) { return MutateFieldsOf{*this}(program); }
FunctionPtr IRMutator::VisitFunction(const FunctionPtr &function) { return MutateFieldsOf{*this}(function); }

ExprPtr IRMutator::VisitExpr(const ExprPtr &expr) {
  switch (expr->kind()) {
#define PYPTO_VISIT(Name, ...)                                                                                         \
  case NodeKind::Name:                                                                                                 \
    return VisitExpr_(std::static_pointer_cast<const Name>(expr));
    PYPTO_EXPRS(PYPTO_VISIT)
#undef PYPTO_VISIT
  default:
    INTERNAL_CHECK(false) << KindName(expr->kind());
    __builtin_unreachable();
  }
}

StmtPtr IRMutator::VisitStmt(const StmtPtr &stmt) {
  switch (stmt->kind()) {
#define PYPTO_VISIT(Name, ...)                                                                                         \
  case NodeKind::Name:                                                                                                 \
    return VisitStmt_(std::static_pointer_cast<const Name>(stmt));
    PYPTO_STMTS(PYPTO_VISIT)
#undef PYPTO_VISIT
  default:
    INTERNAL_CHECK(false) << KindName(stmt->kind());
    __builtin_unreachable();
  }
}

/// The variable, or one whose slot reads what its own slot's variables have become.
VarPtr IRMutator::WithSlot(const VarPtr &var) {
  auto tile = As<TileType>(var->type_);
  if (!tile || !tile->memref_ || !(*tile->memref_)->slot_)
    return var;
  const MemRef &held = **tile->memref_;
  ExprPtr slot = VisitExpr(held.slot_);
  if (slot == held.slot_)
    return var;
  auto memref = std::make_shared<const MemRef>(held.memory_space_, held.addr_, held.size_, held.id_, held.name_,
                                               held.slots_, std::move(slot));
  auto type = std::make_shared<const TileType>(tile->shape_, tile->dtype_, std::move(memref), tile->tile_view_,
                                               tile->memory_space_);
  return std::make_shared<const Var>(var->name_hint_, std::move(type), var->span_);
}

VarPtr IRMutator::VisitDef(const VarPtr &var) {
  auto carried = As<IterArg>(var);
  if (!carried)
    return WithSlot(var);
  ExprPtr init = VisitExpr(carried->initValue_);
  if (init == carried->initValue_)
    return var;
  return std::make_shared<const IterArg>(carried->name_hint_, carried->type_, init, carried->span_);
}

#define PYPTO_VISIT(Name, ...)                                                                                         \
  ExprPtr IRMutator::VisitExpr_(const Name##Ptr &op) { return MutateFieldsOf{*this}.kind(op); }
PYPTO_EXPRS(PYPTO_VISIT)
#undef PYPTO_VISIT
#define PYPTO_VISIT(Name, ...)                                                                                         \
  StmtPtr IRMutator::VisitStmt_(const Name##Ptr &op) { return MutateFieldsOf{*this}.kind(op); }
PYPTO_STMTS(PYPTO_VISIT)
#undef PYPTO_VISIT

ExprPtr IRMutator::VisitBinaryExpr_(const BinaryExprPtr &op) {
  ExprPtr left = VisitExpr(op->left_), right = VisitExpr(op->right_);
  if (left == op->left_ && right == op->right_)
    return op;
  return MakeBinary(op->kind(), std::move(left), std::move(right), op->dtype_, op->span_);
}

ExprPtr IRMutator::VisitUnaryExpr_(const UnaryExprPtr &op) {
  ExprPtr operand = VisitExpr(op->operand_);
  return operand == op->operand_ ? op : MakeUnary(op->kind(), std::move(operand), op->dtype_, op->span_);
}

StmtPtr IRMutator::VisitScopeStmt_(const ScopeStmtPtr &op) {
  return Dispatch(*op, [&](const auto &scope) -> StmtPtr {
    using Scope = std::remove_cvref_t<decltype(scope)>;
    if constexpr (std::is_base_of_v<ScopeStmt, Scope>)
      return MutateFieldsOf{*this}(std::static_pointer_cast<const Scope>(op));
    return op;
  });
}

} // namespace pypto::ir
