// Statements. Bodies are SSA: each variable is bound once, and control flow carries values by yields.
#ifndef PYPTO_IR_STMT_H
#define PYPTO_IR_STMT_H

#include "pypto/ir/expr.h"

namespace pypto::ir {

class Stmt : public IRNode {
  PYPTO_ABSTRACT_NODE(Stmt, IRNode, AssignStmt, RuntimeScopeStmt)
};

class AssignStmt final : public Stmt {
public:
  VarPtr var_;
  ExprPtr value_;

  AssignStmt(VarPtr var, ExprPtr value, Span span);

  template <class F> static void Fields(F &&f) {
    f("var", &AssignStmt::var_, kDef);
    f("value", &AssignStmt::value_, kPlain);
  }
  PYPTO_NODE(AssignStmt, Stmt)
  void Finish();
};

/// A call for its effect.
class EvalStmt final : public Stmt {
public:
  ExprPtr expr_;

  EvalStmt(ExprPtr expr, Span span);

  template <class F> static void Fields(F &&f) { f("expr", &EvalStmt::expr_, kPlain); }
  PYPTO_NODE(EvalStmt, Stmt)
  void Finish();
};

class SeqStmts final : public Stmt {
public:
  std::vector<StmtPtr> stmts_;

  SeqStmts(std::vector<StmtPtr> stmts, Span span);

  template <class F> static void Fields(F &&f) { f("stmts", &SeqStmts::stmts_, kPlain); }
  PYPTO_NODE(SeqStmts, Stmt)
  void Finish();
};

class ReturnStmt final : public Stmt {
public:
  std::vector<ExprPtr> value_;

  ReturnStmt(std::vector<ExprPtr> value, Span span);

  template <class F> static void Fields(F &&f) { f("value", &ReturnStmt::value_, kOptional); }
  PYPTO_NODE(ReturnStmt, Stmt)
  void Finish();
};

/// The last statement of a body that carries values: one for each `iter_args_` or `return_vars_`.
class YieldStmt final : public Stmt {
public:
  std::vector<ExprPtr> value_;

  YieldStmt(std::vector<ExprPtr> value, Span span);

  template <class F> static void Fields(F &&f) { f("value", &YieldStmt::value_, kOptional); }
  PYPTO_NODE(YieldStmt, Stmt)
  void Finish();
};

class BreakStmt final : public Stmt {
public:
  explicit BreakStmt(Span span);

  template <class F> static void Fields(F &&) {}
  PYPTO_NODE(BreakStmt, Stmt)
  void Finish() {}
};

class ContinueStmt final : public Stmt {
public:
  explicit ContinueStmt(Span span);

  template <class F> static void Fields(F &&) {}
  PYPTO_NODE(ContinueStmt, Stmt)
  void Finish() {}
};

/// Each arm ends in a yield of one value per `return_vars_`, where there are any.
class IfStmt final : public Stmt {
public:
  ExprPtr condition_;
  StmtPtr then_body_;
  std::optional<StmtPtr> else_body_;
  std::vector<VarPtr> return_vars_;

  IfStmt(ExprPtr condition, StmtPtr then_body, std::optional<StmtPtr> else_body, std::vector<VarPtr> return_vars,
         Span span);

  template <class F> static void Fields(F &&f) {
    f("condition", &IfStmt::condition_, kPlain);
    f("then_body", &IfStmt::then_body_, kPlain);
    f("else_body", &IfStmt::else_body_, kOptional);
    f("return_vars", &IfStmt::return_vars_, kDef | kOptional);
  }
  PYPTO_NODE(IfStmt, Stmt)
  void Finish();
};

/// The body ends in a yield of one value per `iter_args_`; `return_vars_` hold the last ones after the loop.
class ForStmt final : public Stmt {
public:
  VarPtr loop_var_;
  ExprPtr start_;
  ExprPtr stop_;
  ExprPtr step_;
  std::vector<IterArgPtr> iter_args_;
  StmtPtr body_;
  std::vector<VarPtr> return_vars_;
  ForKind kind_ = ForKind::Sequential;
  Attrs attrs_;

  ForStmt(VarPtr loop_var, ExprPtr start, ExprPtr stop, ExprPtr step, std::vector<IterArgPtr> iter_args, StmtPtr body,
          std::vector<VarPtr> return_vars, Span span, ForKind kind = ForKind::Sequential, Attrs attrs = {});

  template <class F> static void Fields(F &&f) {
    f("loop_var", &ForStmt::loop_var_, kDef);
    f("start", &ForStmt::start_, kPlain);
    f("stop", &ForStmt::stop_, kPlain);
    f("step", &ForStmt::step_, kPlain);
    f("iter_args", &ForStmt::iter_args_, kDef);
    f("body", &ForStmt::body_, kPlain);
    f("return_vars", &ForStmt::return_vars_, kDef);
    f("kind", &ForStmt::kind_, kOptional);
    f("attrs", &ForStmt::attrs_, kOptional);
  }
  PYPTO_NODE(ForStmt, Stmt)
  void Finish();
};

/// The condition reads `iter_args_`; the body yields as that of a ForStmt.
class WhileStmt final : public Stmt {
public:
  ExprPtr condition_;
  std::vector<IterArgPtr> iter_args_;
  StmtPtr body_;
  std::vector<VarPtr> return_vars_;

  WhileStmt(ExprPtr condition, std::vector<IterArgPtr> iter_args, StmtPtr body, std::vector<VarPtr> return_vars,
            Span span);

  template <class F> static void Fields(F &&f) {
    f("condition", &WhileStmt::condition_, kPlain);
    f("iter_args", &WhileStmt::iter_args_, kDef);
    f("body", &WhileStmt::body_, kPlain);
    f("return_vars", &WhileStmt::return_vars_, kDef);
  }
  PYPTO_NODE(WhileStmt, Stmt)
  void Finish();
};

/// A region of an orchestrator (or of a mixed kernel) that becomes something of its own.
class ScopeStmt : public Stmt {
public:
  std::string name_hint_;
  StmtPtr body_;
  Attrs attrs_;

  template <class F> static void Fields(F &&f) {
    f("body", &ScopeStmt::body_, kPlain);
    f("name_hint", &ScopeStmt::name_hint_, kOptional);
    f("attrs", &ScopeStmt::attrs_, kOptional);
  }
  PYPTO_ABSTRACT_NODE(ScopeStmt, Stmt, InCoreScopeStmt, RuntimeScopeStmt)
  ScopeStmt(NodeKind kind, StmtPtr body, std::string name_hint, Attrs attrs, Span span);
  void Finish();
};

/// `with pl.at(level=CORE_GROUP)`: one kernel.
class InCoreScopeStmt final : public ScopeStmt {
public:
  std::optional<SplitMode> split_;

  InCoreScopeStmt(StmtPtr body, std::string name_hint, std::optional<SplitMode> split, Attrs attrs, Span span);

  template <class F> static void Fields(F &&f) {
    f("split", &InCoreScopeStmt::split_, kOptional);
    ScopeStmt::Fields(f);
  }
  PYPTO_NODE(InCoreScopeStmt, ScopeStmt)
};

/// `with pl.cluster()`: kernels that run together.
class ClusterScopeStmt final : public ScopeStmt {
public:
  ClusterScopeStmt(StmtPtr body, std::string name_hint, Attrs attrs, Span span);

  PYPTO_NODE(ClusterScopeStmt, ScopeStmt)
};

/// `with pl.at(level=..)` above a core group.
class HierarchyScopeStmt final : public ScopeStmt {
public:
  Level level_ = Level::CHIP;
  std::optional<Role> role_;

  HierarchyScopeStmt(Level level, std::optional<Role> role, StmtPtr body, std::string name_hint, Attrs attrs,
                     Span span);

  template <class F> static void Fields(F &&f) {
    f("level", &HierarchyScopeStmt::level_, kPlain);
    f("role", &HierarchyScopeStmt::role_, kOptional);
    ScopeStmt::Fields(f);
  }
  PYPTO_NODE(HierarchyScopeStmt, ScopeStmt)
};

/// `with pl.spmd(core_num)`.
class SpmdScopeStmt final : public ScopeStmt {
public:
  ExprPtr core_num_;
  bool sync_start_ = false;

  SpmdScopeStmt(ExprPtr core_num, bool sync_start, StmtPtr body, std::string name_hint, Attrs attrs, Span span);

  template <class F> static void Fields(F &&f) {
    f("core_num", &SpmdScopeStmt::core_num_, kPlain);
    f("sync_start", &SpmdScopeStmt::sync_start_, kOptional);
    ScopeStmt::Fields(f);
  }
  PYPTO_NODE(SpmdScopeStmt, ScopeStmt)
  void Finish();
};

/// `for lane in pl.split_aiv(2, mode=..)`.
class SplitAivScopeStmt final : public ScopeStmt {
public:
  VarPtr lane_;
  SplitMode mode_ = SplitMode::NONE;

  SplitAivScopeStmt(VarPtr lane, SplitMode mode, StmtPtr body, std::string name_hint, Attrs attrs, Span span);

  template <class F> static void Fields(F &&f) {
    f("lane", &SplitAivScopeStmt::lane_, kDef);
    f("mode", &SplitAivScopeStmt::mode_, kOptional);
    ScopeStmt::Fields(f);
  }
  PYPTO_NODE(SplitAivScopeStmt, ScopeStmt)
};

/// `with pl.scope()` or `pl.manual_scope()`.
class RuntimeScopeStmt final : public ScopeStmt {
public:
  bool manual_ = false;

  RuntimeScopeStmt(bool manual, StmtPtr body, std::string name_hint, Attrs attrs, Span span);

  template <class F> static void Fields(F &&f) {
    f("manual", &RuntimeScopeStmt::manual_, kOptional);
    ScopeStmt::Fields(f);
  }
  PYPTO_NODE(RuntimeScopeStmt, ScopeStmt)
};

/// The statements of a body: those of a SeqStmts, else the one.
std::vector<StmtPtr> FlattenStmts(const StmtPtr &body);
/// The scope of the one kernel that a scope of blocks holds; null where its body is not that of a kernel alone.
InCoreScopeStmtPtr KernelOfBlocks(const SpmdScopeStmt &blocks);

} // namespace pypto::ir

#endif // PYPTO_IR_STMT_H
