// Scopes: construction.
#include "pypto/ir/node_access.h"
#include "pypto/ir/stmt.h"

namespace pypto::ir {

ScopeStmt::ScopeStmt(NodeKind kind, StmtPtr body, std::string name_hint, Attrs attrs, Span span) : ScopeStmt(kind) {
  name_hint_ = std::move(name_hint);
  body_ = std::move(body);
  attrs_ = std::move(attrs);
  span_ = std::move(span);
}

void ScopeStmt::Finish() {}

InCoreScopeStmt::InCoreScopeStmt(StmtPtr body, std::string name_hint, std::optional<SplitMode> split, Attrs attrs,
                                 Span span)
    : ScopeStmt(kKind, std::move(body), std::move(name_hint), std::move(attrs), std::move(span)), split_(split) {
  NodeAccess::Complete(*this);
}

ClusterScopeStmt::ClusterScopeStmt(StmtPtr body, std::string name_hint, Attrs attrs, Span span)
    : ScopeStmt(kKind, std::move(body), std::move(name_hint), std::move(attrs), std::move(span)) {
  NodeAccess::Complete(*this);
}

HierarchyScopeStmt::HierarchyScopeStmt(Level level, std::optional<Role> role, StmtPtr body, std::string name_hint,
                                       Attrs attrs, Span span)
    : ScopeStmt(kKind, std::move(body), std::move(name_hint), std::move(attrs), std::move(span)), level_(level),
      role_(role) {
  NodeAccess::Complete(*this);
}

SpmdScopeStmt::SpmdScopeStmt(ExprPtr core_num, bool sync_start, StmtPtr body, std::string name_hint, Attrs attrs,
                             Span span)
    : ScopeStmt(kKind, std::move(body), std::move(name_hint), std::move(attrs), std::move(span)),
      core_num_(std::move(core_num)), sync_start_(sync_start) {
  NodeAccess::Complete(*this);
}

void SpmdScopeStmt::Finish() {
  CHECK_AS(TypeError, IsA<ScalarType>(core_num_->type_)) << "SpmdScopeStmt: core_num must be a scalar";
}

SplitAivScopeStmt::SplitAivScopeStmt(VarPtr lane, SplitMode mode, StmtPtr body, std::string name_hint, Attrs attrs,
                                     Span span)
    : ScopeStmt(kKind, std::move(body), std::move(name_hint), std::move(attrs), std::move(span)),
      lane_(std::move(lane)), mode_(mode) {
  NodeAccess::Complete(*this);
}

RuntimeScopeStmt::RuntimeScopeStmt(bool manual, StmtPtr body, std::string name_hint, Attrs attrs, Span span)
    : ScopeStmt(kKind, std::move(body), std::move(name_hint), std::move(attrs), std::move(span)), manual_(manual) {
  NodeAccess::Complete(*this);
}

} // namespace pypto::ir
