// Runs an orchestrator at compile time: a list of launches on views of buffers, and the kernels that they need.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_ORCHESTRATOR_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_ORCHESTRATOR_H

#include "Plan.h"
#include "Types.h"

#include "pto_mlir/ISA/Table.h"

#include "mlir/IR/OwningOpRef.h"
#include "pypto/ir/op_registry.h"
#include "pypto/ir/program.h"
#include "pypto/ir/transforms/base/visitor.h"

#include <deque>
#include <variant>

namespace pto_mlir::pypto_frontend {

/// A tensor of an orchestrator: part of a buffer. Strides and offset in elements.
struct View {
  unsigned buffer = 0;
  int64_t offset = 0;
  std::vector<int64_t> shape, strides;
  pypto::DataType dtype = pypto::DataType::FP32;

  bool isRowMajor() const;
};

/// What a variable of an orchestrator holds: a number, a tensor, or the results of a call.
using Held = std::variant<std::monostate, int64_t, double, View, std::vector<View>>;

/// An interpreter of the function. Numbers must be known: loops are run, branches taken.
class Orchestrator : public pypto::ir::IRVisitor {
public:
  Orchestrator(const pypto::ir::ProgramPtr &program, const pypto::ir::FunctionPtr &entry, const isa::ArchInfo &arch);

  /// Runs the entry. With a kernel as entry: launches it once, with all its parameters.
  void run();
  /// The kernels in order of their first launches.
  const std::deque<PlannedKernel> &kernels() const { return planned; }
  /// A module with the launches as `vm.func @main`, named after the program.
  mlir::OwningOpRef<mlir::ModuleOp> hostModule(mlir::MLIRContext &context) const;

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
  struct Buffer {
    std::string name;
    std::vector<int64_t> shape;
    pypto::DataType dtype = pypto::DataType::FP32;
    std::optional<pypto::ir::ParamDirection> direction; ///< of a parameter; none: made on the way
    int64_t offset = 0;                                 ///< in the workspace, bytes
    bool returned = false;                              ///< made on the way, and a result
  };
  /// A scope as a kernel: its parameters are `inputs`, then `results`, which it computes.
  struct OutlinedScope {
    pypto::ir::FunctionPtr function;
    std::vector<pypto::ir::VarPtr> inputs, results;
  };
  struct Launch {
    const PlannedKernel *kernel;
    std::vector<View> pointers; ///< one-dimensional: first element and extent
    std::vector<int64_t> scalars;
    pypto::ir::Span span;
  };

  // Values (OrchestratorValues.cpp).
  Held valueOf(const pypto::ir::ExprPtr &expr);
  int64_t integerOf(const pypto::ir::ExprPtr &expr);
  View viewOf(const pypto::ir::ExprPtr &expr);
  std::vector<int64_t> integersOf(const std::vector<pypto::ir::ExprPtr> &list);
  Held binary(const pypto::ir::BinaryExpr &op);
  Held unary(const pypto::ir::UnaryExpr &op);
  Held operation(const pypto::ir::CallPtr &op);
  View makeTensor(std::vector<int64_t> shape, pypto::DataType dtype, const pypto::ir::Span &span);
  Held create(const pypto::ir::OpView &call, const pypto::ir::Call &op);
  Held slice(const pypto::ir::OpView &call, const pypto::ir::Call &op);
  Held reshape(const pypto::ir::OpView &call, const pypto::ir::Call &op);
  Held transpose(const pypto::ir::OpView &call, const pypto::ir::Call &op);

  // Launches (OrchestratorLaunch.cpp).
  Held call(const pypto::ir::Call &op);
  void addResults(const pypto::ir::Function &function, std::vector<Held> &arguments, const pypto::ir::Span &span);
  void launch(const pypto::ir::FunctionPtr &function, const std::vector<Held> &arguments, const pypto::ir::Span &span);
  void checkArgument(const pypto::ir::Function &function, size_t index, const View &view, const pypto::ir::Span &span);
  std::vector<PlannedTensor> planTensors(const pypto::ir::Function &function, const std::vector<Held> &arguments,
                                         std::vector<View> &pointers) const;
  const PlannedKernel &kernelFor(const pypto::ir::FunctionPtr &function, std::vector<PlannedTensor> tensors,
                                 unsigned pointers);
  OutlinedScope outlined(const std::shared_ptr<const pypto::ir::InCoreScopeStmt> &scope);

  void countTrip(const pypto::ir::Span &span);
  void bindCarried(const std::vector<pypto::ir::IterArgPtr> &args);
  std::vector<Held> bodyOf(const pypto::ir::StmtPtr &body);

  pypto::ir::ProgramPtr program;
  pypto::ir::FunctionPtr entry;
  const isa::ArchInfo &arch; ///< for whose memories kernels are cut
  std::vector<Buffer> buffers;
  std::vector<View> results;
  int64_t workspace = 0;
  int64_t trips = 0; ///< of all loops
  std::deque<PlannedKernel> planned;
  std::map<std::string, const PlannedKernel *> kernelOf; ///< by function and how tensors are passed
  std::map<const pypto::ir::InCoreScopeStmt *, OutlinedScope> scopes;
  std::vector<Launch> launches;
  std::map<const pypto::ir::Var *, Held> held;
  pypto::ir::YieldStmtPtr yielded;
};

} // namespace pto_mlir::pypto_frontend

#endif
