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
  /// A tensor that is made on the way and returned, with its type in terms of the entry's variables.
  struct Returned {
    pypto::ir::VarPtr var;
    pypto::ir::TypePtr type;
  };
  /// `returned`: tensors that are made on the way and are arguments behind the parameters, since they are returned.
  OrchestrationText(const pypto::ir::ProgramPtr &program, const pypto::ir::FunctionPtr &entry,
                    pypto::codegen::OrchestrationApi api, const isa::ArchInfo &arch, std::vector<Returned> returned);

  void run();
  /// Tensors that the entry returns and that are neither parameters nor in `returned`.
  const std::vector<Returned> &newlyReturned() const { return found; }
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
  using Shape = std::vector<std::string>;
  /// Whether a tensor is row-major, as a kernel reads it.
  enum class Dense { No, AtRunTime, Yes };
  /// A variable in the C++.
  struct Named {
    std::string name;
    std::string root; ///< of tensors: the name of the one whose memory it is
    Shape shape;
    pypto::DataType dtype;
    bool isTensor = false;
    Dense dense = Dense::Yes;
    int64_t elements = 0; ///< of an array of tasks
  };
  using Values = std::vector<Named>; ///< several for a tuple
  using Bindings = std::map<const pypto::ir::Var *, Values>;
  /// What a second attempt at a loop or branch begins with again.
  struct State {
    pypto::codegen::CodeEmitter out;
    Bindings held;
    std::map<std::string, pypto::ir::VarPtr> made; ///< by root: tensors that the entry creates
    std::set<std::string> names, written, inouts;  ///< roots, for the last two
    std::vector<pypto::ir::FunctionPtr> kernels;   ///< by their numbers
    std::set<std::string> withQueues;              ///< those whose tasks have memory for queues
    int tasks = 0;
  };

  // Statements (Orchestration.cpp).
  std::string fresh(const std::string &hint);
  void bind(const pypto::ir::VarPtr &var, const pypto::ir::ExprPtr &value);
  void loop(const std::string &head, const std::vector<pypto::ir::IterArgPtr> &args,
            const std::vector<pypto::ir::VarPtr> &results, const pypto::ir::StmtPtr &body,
            const pypto::ir::ExprPtr &condition);
  Values bodyOf(const pypto::ir::StmtPtr &body);
  Named carriedOf(const pypto::ir::ExprPtr &expr);
  Named declared(const pypto::ir::VarPtr &var, const std::string &initial, const Named *like);
  void assign(const Values &targets, const Values &values, const std::vector<bool> &moves);

  // Values (OrchestrationValues.cpp).
  Values valuesOf(const pypto::ir::ExprPtr &expr);
  Named tensorOf(const pypto::ir::ExprPtr &expr);
  std::string number(const pypto::ir::ExprPtr &expr);
  std::string binary(const pypto::ir::BinaryExpr &op);
  std::string unary(const pypto::ir::UnaryExpr &op);
  Values operation(const pypto::ir::Call &op);
  std::string element(const pypto::ir::OpView &call, const pypto::ir::Call &op);
  Named create(const Shape &shape, pypto::DataType dtype, const std::string &hint, const pypto::ir::VarPtr &var);

  // Views (OrchestrationViews.cpp).
  Named slice(const pypto::ir::OpView &call, const pypto::ir::Call &op);
  Named reshape(const pypto::ir::OpView &call, const pypto::ir::Call &op);

  // Extents (OrchestrationShapes.cpp).
  static std::optional<int64_t> knownExtent(const std::string &text);
  static std::string stepOf(pypto::ir::NodeKind kind, const std::string &left, int64_t right);
  void expect(const std::string &condition, const pypto::ir::Span &span, const std::string &what);
  Shape extents(const std::vector<pypto::ir::ExprPtr> &list);
  Shape extentsWith(const Bindings &known, const std::vector<pypto::ir::ExprPtr> &list);
  void settle(Named &tensor) const;
  Named loosened(Named tensor) const;
  static bool isAlike(const Named &a, const Named &b) { return a.shape == b.shape && a.dense == b.dense; }
  void bindExtents(const std::vector<pypto::ir::ExprPtr> &declared, const Shape &given, Bindings &known,
                   const std::string &who, const pypto::ir::Span &span);
  std::vector<EntryExtent> entryExtents(std::vector<EntryArgument> &arguments);
  void checkEntry(const std::vector<EntryArgument> &arguments, const std::vector<EntryExtent> &found);
  pypto::ir::ExprPtr inEntrysTerms(const pypto::ir::ExprPtr &extent) const;
  pypto::ir::TypePtr returnedType(const pypto::ir::Var &var, const pypto::ir::Span &span) const;

  // Tasks as values (OrchestrationTaskValues.cpp).
  Values submitted(const pypto::ir::Submit &op);
  Named taskOperation(const pypto::ir::OpView &call, const pypto::ir::Call &op);
  std::string place(const pypto::ir::OpView &call, const Named &array);
  std::vector<TaskName> tasksOf(const std::vector<pypto::ir::ExprPtr> &deps);
  void addBlocks(TaskLaunch &launch, const pypto::ir::ExprPtr &count, bool together, const pypto::ir::Span &span);
  void addPredicate(TaskLaunch &launch, const pypto::ir::ExprPtr &condition);
  TaskLaunch launchOf(const pypto::ir::ScopeStmt &scope);
  void nameTask(const pypto::ir::ScopeStmt &scope, TaskLaunch &launch);
  void runScope(const pypto::ir::RuntimeScopeStmt &scope);

  // Tasks (OrchestrationTasks.cpp).
  Values call(const pypto::ir::Call &op);
  Values resultsOf(const pypto::ir::Function &kernel, const Values &arguments) const;
  void launch(const std::shared_ptr<const pypto::ir::InCoreScopeStmt> &scope);
  bool callsOneKindOfCore(const pypto::ir::ClusterScopeStmt &scope) const;
  void launchBlocks(const pypto::ir::SpmdScopeStmt &scope);
  void submit(const pypto::ir::FunctionPtr &kernel, const Values &arguments, const pypto::ir::Span &span);
  TaskArgument queueMemory(const pypto::ir::Function &cube, const pypto::ir::Function &vector);
  void checkIndependent(const pypto::ir::Function &group, const Values &arguments, const pypto::ir::Span &span) const;
  /// The call that a statement is, and the program's function that it calls; null where there is none.
  std::pair<pypto::ir::CallPtr, pypto::ir::FunctionPtr> calledBy(const pypto::ir::StmtPtr &stmt) const;
  /// The functions of the cube core and of the vector cores that a Group calls.
  std::pair<pypto::ir::FunctionPtr, pypto::ir::FunctionPtr> sidesOf(const pypto::ir::Function &group) const;
  pypto::ir::ParamDirection directionOf(const Named &tensor, pypto::ir::ParamDirection declared) const;
  int numberOf(const pypto::ir::FunctionPtr &kernel);

  pypto::ir::ProgramPtr program;
  pypto::ir::FunctionPtr entry;
  const isa::ArchInfo &arch;
  std::vector<Returned> returned, found;
  std::map<const pypto::ir::Var *, pypto::ir::ExprPtr> definitions; ///< of numbers
  std::vector<EntryExtent> open;                                    ///< variables of the entry's extents
  std::map<std::string, pypto::ir::VarPtr> symbols; ///< variables of the entry's extents, by their names in the C++
  State now;
  std::unique_ptr<OrchestrationApi> api;
  std::map<const pypto::ir::InCoreScopeStmt *, OutlinedScope> scopes;
  pypto::ir::YieldStmtPtr yielded;
  pypto::ir::VarPtr target;       ///< what the value at hand is bound to; null: nothing
  TaskLaunch said;                ///< about the launch at hand
  std::vector<int64_t> untracked; ///< arguments of the call at hand
  int loops = 0;                  ///< that are open and run one iteration after the other
};

} // namespace pto_mlir::pypto_frontend

#endif
