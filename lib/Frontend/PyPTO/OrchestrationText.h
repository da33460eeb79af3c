// An orchestrator as C++ that submits tasks: statements, numbers and views.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_ORCHESTRATIONTEXT_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_ORCHESTRATIONTEXT_H

#include "OrchestrationApi.h"
#include "OutlineScope.h"

#include "pto_mlir/ISA/Table.h"
#include "pypto/ir/op_registry.h"
#include "pypto/ir/transforms/base/visitor.h"

#include <set>

namespace pto_mlir::pypto_frontend {

class OrchestrationText : public pypto::ir::IRVisitor {
public:
  /// `returned`: tensors that are made on the way and are arguments behind the parameters, since they are returned.
  OrchestrationText(const pypto::ir::ProgramPtr &program, const pypto::ir::FunctionPtr &entry,
                    pypto::codegen::OrchestrationApi api, const isa::ArchInfo &arch,
                    std::vector<pypto::ir::VarPtr> returned);

  void run();
  /// Tensors that the entry returns and that are neither parameters nor in `returned`.
  const std::vector<pypto::ir::VarPtr> &newlyReturned() const { return found; }
  pypto::codegen::OrchestrationResult result() const;

protected:
  void VisitStmt_(const pypto::ir::AssignStmtPtr &op) override;
  void VisitStmt_(const pypto::ir::EvalStmtPtr &op) override;
  void VisitStmt_(const pypto::ir::ReturnStmtPtr &op) override;
  void VisitStmt_(const pypto::ir::YieldStmtPtr &op) override;
  void VisitStmt_(const pypto::ir::BreakStmtPtr &op) override;
  void VisitStmt_(const pypto::ir::ContinueStmtPtr &op) override;
  void VisitStmt_(const pypto::ir::IfStmtPtr &op) override;
  void VisitStmt_(const pypto::ir::ForStmtPtr &op) override;
  void VisitStmt_(const pypto::ir::WhileStmtPtr &op) override;
  void VisitScopeStmt_(const pypto::ir::ScopeStmtPtr &op) override;

private:
  /// A variable in the C++.
  struct Named {
    std::string name;
    std::string root; ///< of tensors: the name of the one whose memory it is
    std::vector<int64_t> shape;
    pypto::DataType dtype;
    bool isTensor = false;
    bool isDense = true; ///< row-major, as a kernel reads it
  };
  using Values = std::vector<Named>; ///< several for a tuple
  /// What a second attempt at a loop or branch begins with again.
  struct State {
    pypto::codegen::CodeEmitter out;
    std::map<const pypto::ir::Var *, Values> held;
    std::map<std::string, pypto::ir::VarPtr> made; ///< by root: tensors that the entry creates
    std::set<std::string> names, written, inouts;  ///< roots, for the last two
    std::vector<pypto::ir::FunctionPtr> kernels;   ///< by their numbers
    int tasks = 0;
  };

  // Statements (Orchestration.cpp).
  std::string fresh(const std::string &hint);
  void bind(const pypto::ir::VarPtr &var, const pypto::ir::ExprPtr &value);
  void loop(const std::string &head, const std::vector<pypto::ir::IterArgPtr> &args,
            const std::vector<pypto::ir::VarPtr> &results, const pypto::ir::StmtPtr &body,
            const pypto::ir::ExprPtr &condition);
  Values bodyOf(const pypto::ir::StmtPtr &body);
  Named declared(const pypto::ir::VarPtr &var, const std::string &initial, const Named *like);
  void assign(const Values &targets, const Values &values, const std::vector<bool> &moves);

  // Values (OrchestrationValues.cpp).
  Values valuesOf(const pypto::ir::ExprPtr &expr);
  Named tensorOf(const pypto::ir::ExprPtr &expr);
  std::string number(const pypto::ir::ExprPtr &expr);
  std::string binary(const pypto::ir::BinaryExpr &op);
  std::string unary(const pypto::ir::UnaryExpr &op);
  Values operation(const pypto::ir::Call &op);
  Named create(const std::vector<int64_t> &shape, pypto::DataType dtype, const std::string &hint,
               const pypto::ir::VarPtr &var);
  Named slice(const pypto::ir::OpView &call, const pypto::ir::Call &op);
  Named reshape(const pypto::ir::OpView &call, const pypto::ir::Call &op);
  std::string element(const pypto::ir::OpView &call, const pypto::ir::Call &op);
  std::vector<int64_t> constants(const std::vector<pypto::ir::ExprPtr> &list, const pypto::ir::Span &span);

  // Tasks (OrchestrationTasks.cpp).
  Values call(const pypto::ir::Call &op);
  Values resultsOf(const pypto::ir::Function &kernel, const Values &arguments) const;
  void launch(const std::shared_ptr<const pypto::ir::InCoreScopeStmt> &scope);
  void submit(const pypto::ir::FunctionPtr &kernel, const Values &arguments, const pypto::ir::Span &span);
  /// The functions of the cube core and of the vector cores that a Group calls.
  std::pair<pypto::ir::FunctionPtr, pypto::ir::FunctionPtr> sidesOf(const pypto::ir::Function &group) const;
  pypto::ir::ParamDirection directionOf(const Named &tensor, pypto::ir::ParamDirection declared) const;
  int numberOf(const pypto::ir::FunctionPtr &kernel);

  pypto::ir::ProgramPtr program;
  pypto::ir::FunctionPtr entry;
  const isa::ArchInfo &arch;
  std::vector<pypto::ir::VarPtr> returned, found;
  State now;
  std::unique_ptr<OrchestrationApi> api;
  std::map<const pypto::ir::InCoreScopeStmt *, OutlinedScope> scopes;
  pypto::ir::YieldStmtPtr yielded;
  pypto::ir::VarPtr target; ///< what the value at hand is bound to; null: nothing
  int loops = 0;            ///< that are open and run one iteration after the other
};

} // namespace pto_mlir::pypto_frontend

#endif
