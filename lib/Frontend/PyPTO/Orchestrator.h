// Runs an orchestrator at compile time: launches on views of buffers, and the kernels that they need. What is known at
// run time only becomes a host program that computes it (TaskProgram).
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_ORCHESTRATOR_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_ORCHESTRATOR_H

#include "Groups.h"
#include "Held.h"
#include "MixedKernels.h"
#include "OutlineScope.h"
#include "Plan.h"
#include "TaskProgram.h"
#include "Types.h"

#include "pto_mlir/ISA/Table.h"

#include "mlir/IR/OwningOpRef.h"
#include "pypto/ir/op_registry.h"
#include "pypto/ir/program.h"
#include "pypto/ir/transforms/base/visitor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/JSON.h"

#include <deque>
#include <set>

namespace pto_mlir::pypto_frontend {

inline bool writes(pypto::ir::ParamDirection direction) { return direction != pypto::ir::ParamDirection::In; }
std::string textOf(const std::vector<Number> &numbers);

/// a op b; nothing where it has no value.
std::optional<int64_t> foldedInteger(pypto::ir::NodeKind kind, int64_t a, int64_t b);
/// An extent, for what `symbol` says of its variables; nothing where it does not know one.
std::optional<int64_t> extentValue(const pypto::ir::ExprPtr &extent,
                                   llvm::function_ref<std::optional<int64_t>(const pypto::ir::Var &)> symbol);

/// An interpreter of the function. Where all numbers are known, loops are run and branches taken. A function that reads
/// elements or takes numbers becomes a host program with the loops and branches that depend on them.
class Orchestrator : public pypto::ir::IRVisitor {
public:
  /// `sizes`: extents of the entry's tensors that it leaves open, by name; `x[0]` is axis 0 of x alone, `x(3)` element
  /// 3 of x, or the bits of a number as double where it is none of integers: what the host level reads. `ranks`:
  /// devices of a program of the host level.
  Orchestrator(const pypto::ir::ProgramPtr &program, const pypto::ir::FunctionPtr &entry, const isa::ArchInfo &arch,
               mlir::MLIRContext &context, const std::map<std::string, int64_t> &sizes = {}, int64_t ranks = 1);

  /// Runs the entry. With a kernel as entry: launches it once, with all its parameters.
  void run();
  /// By number of the window, the devices that have a copy: in the order of their ranks; empty: all.
  using WindowDevices = std::vector<std::vector<int64_t>>;
  /// Those that have launched with it, after a run in which all had copies.
  WindowDevices devicesOfWindows() const;
  /// What such a run has found. False where all devices have all windows, so that run is the program's.
  bool hasSmallGroups() const;
  void setDevicesOfWindows(WindowDevices devices) { windowDevices = std::move(devices); }
  /// What groups are where their functions would race (formMixedKernels).
  void setSeveralKernels(const SeveralKernels &kernels) { several = kernels; }
  /// The kernels in order of their first launches.
  const std::deque<PlannedKernel> &kernels() const { return planned; }
  /// A module with the launches as `vm.func @main`, or with the host program as `func.func @main`, named after the
  /// program. Called once.
  mlir::OwningOpRef<mlir::ModuleOp> hostModule(mlir::MLIRContext &context);
  /// Before `run`: of each launch.
  void setBlocks(int64_t count) { blocksOfLaunch = count; }
  /// Before `run`: launches keep their arguments for `listed`.
  void listLaunches() { lists = true; }
  /// The launches as JSON: `ports` (the name of an input or output for each buffer, null for those in `workspace`
  /// bytes), `launches` (kernel, line, pointers, scalars, tensors). Fails where the run decides what is launched, and
  /// for several ranks.
  std::string listed() const;

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
    std::vector<Number> shape;
    pypto::DataType dtype = pypto::DataType::FP32;
    std::optional<pypto::ir::ParamDirection> direction; ///< of a parameter; none: made on the way
    int64_t offset = 0;                                 ///< in the workspace, bytes
    bool returned = false;                              ///< made on the way, and a result
    mlir::Value memory = {};                            ///< in the host program
    mlir::Value given = {}; ///< the port of an entry's tensor, whose extents are those of the run
    int64_t pitch = 0;      ///< of a window: bytes between the copies of two ranks; its offset is in the windows
    std::vector<int64_t> devices = {}; ///< that have a copy: the rank in this group is the place in the list
    unsigned window = 0;               ///< its number
  };
  /// A tensor of a launch, by the number of the kernel's parameter.
  struct Argument {
    size_t param;
    View view;
    bool dumped; ///< the program asks to see it (pl.dump_tag, dumps=)
  };
  struct Launch {
    const PlannedKernel *kernel;
    std::vector<View> pointers; ///< one-dimensional: first element and extent, known
    std::vector<int64_t> scalars;
    pypto::ir::Span span;
    int64_t rank = 0;
    uint32_t scope = 0, task = 0;    ///< the manual scope and the task that was submitted; 0: none
    int64_t dispatch = 0;            ///< which call of the host level on its device it belongs to
    bool defers = false;             ///< it waits for a signal, and only those that depend on it wait for it
    std::vector<uint32_t> deps = {}; ///< tasks that it waits for, its own among them; where a launch defers
    std::vector<Argument> arguments; ///< where launches are listed
  };

  // The list of launches (OrchestratorList.cpp).
  /// Of the launches that follow: which of the arguments a call or scope marks.
  void markDumped(const pypto::ir::Attrs &attrs, const std::vector<pypto::ir::ExprPtr> &arguments);
  void keepArguments(Launch &launch, const std::vector<Held> &arguments) const;
  llvm::json::Object listed(const Launch &launch) const;
  /// Whether a buffer is an input or output of the run.
  bool isPort(unsigned buffer) const;

  // Values (OrchestratorValues.cpp).
  Held valueOf(const pypto::ir::ExprPtr &expr);
  int64_t integerOf(const pypto::ir::ExprPtr &expr);
  View viewOf(const pypto::ir::ExprPtr &expr);
  std::vector<int64_t> integersOf(const std::vector<pypto::ir::ExprPtr> &list);
  Number numberOf(const pypto::ir::ExprPtr &expr);
  std::vector<Number> numbersOf(const std::vector<pypto::ir::ExprPtr> &list);
  /// Equal numbers are one value where the first one of them is at hand.
  Number computed(pypto::ir::NodeKind kind, const Number &a, const Number &b);
  Number elementsOf(const std::vector<Number> &shape);
  /// The strides of a tensor by rows.
  std::vector<Number> denseStrides(const std::vector<Number> &shape);
  /// Whether a view is all of its buffer, by rows, as far as it is known.
  bool isWhole(const View &view);
  /// A number as a value of the host program.
  mlir::Value emitted(const Number &number) { return number.isKnown() ? host->constant(number.known) : number.value; }
  mlir::Value emitted(const Held &number);
  Held binary(const pypto::ir::BinaryExpr &op);
  Held unary(const pypto::ir::UnaryExpr &op);
  Held emittedUnary(const pypto::ir::UnaryExpr &op, mlir::Value value);
  Held operation(const pypto::ir::CallPtr &op);
  Held readElement(const pypto::ir::OpView &call, const pypto::ir::Call &op);
  Held knownElement(const View &tensor, const std::vector<Number> &indices, const pypto::ir::Span &span);
  std::optional<Held> givenElement(const std::string &name, int64_t index, pypto::DataType dtype) const;
  View makeTensor(std::vector<Number> shape, pypto::DataType dtype, const pypto::ir::Span &span);
  Held create(const pypto::ir::OpView &call, const pypto::ir::Call &op);
  Held slice(const pypto::ir::OpView &call, const pypto::ir::Call &op);
  Held reshape(const pypto::ir::OpView &call, const pypto::ir::Call &op);
  Held transpose(const pypto::ir::OpView &call, const pypto::ir::Call &op);

  // Tasks (OrchestratorTaskGraph.cpp).
  Held taskOperation(const pypto::ir::OpView &call, const pypto::ir::Call &op);
  /// A new task behind those of `deps`; none in a host program.
  Task newTask(const std::vector<pypto::ir::ExprPtr> &deps);
  /// What a parallel loop hands on for tasks: those of all iterations.
  static void joinTasks(std::vector<Held> &joined, const std::vector<Held> &values);

  // Waits that are deferred (OrchestratorDeferred.cpp).
  /// Of the launches from `first` on: what a scope with these attributes waits for; its task is theirs if they defer.
  void noteDeps(const pypto::ir::Attrs &attrs, size_t first);
  /// Moves launches that defer, and what is behind them, behind all others of their device.
  void deferWaits();
  bool isBehind(const Launch &launch, const Launch &earlier) const;
  bool sharesMemory(const Launch &launch, const Launch &earlier) const;

  // Devices (OrchestratorRanks.cpp).
  Held communication(const pypto::ir::OpView &call, const pypto::ir::Call &op);
  /// `devices`: that have a copy; none: those that use it, which `windowDevices` knows.
  View windowFor(const std::vector<Number> &shape, pypto::DataType dtype, const pypto::ir::Span &span,
                 std::vector<int64_t> devices = {});
  /// The rank of this device among those that have a copy of a window.
  Number rankIn(const Buffer &window, const pypto::ir::Span &span) const;
  Held collective(const pypto::ir::OpView &call, const pypto::ir::Call &op);
  View windowOf(const pypto::ir::OpView &call, const pypto::ir::Call &op);
  Held callSubWorker(const pypto::ir::Function &function, const std::vector<Held> &arguments,
                     const pypto::ir::Span &span);
  /// Runs `body` on the device that the call names.
  Held onDevice(const pypto::ir::Call &op, llvm::function_ref<Held()> body);
  Held callOrchestrator(const pypto::ir::FunctionPtr &function, const std::vector<Held> &arguments,
                        const pypto::ir::Span &span);
  View windowAs(const pypto::ir::TensorType &type, View view);
  void bindParameter(const pypto::ir::Function &function, const pypto::ir::VarPtr &param, const Held &argument,
                     const pypto::ir::Span &span);
  bool hasRanks() const { return ranks > 1 || windows != 0; }
  /// Whether the program is of the host level: each launch says on which device it is, in orchestrators of devices too.
  bool isRanked() const { return pypto::ir::IsHostLevel(*entry); }
  /// Whether the host level's own statements are run, not those of a device's orchestrator that it calls.
  bool isDispatching() const { return isRanked() && depth == 0; }

  // Launches (OrchestratorLaunch.cpp).
  Held call(const pypto::ir::Call &op);
  Held submitted(const pypto::ir::Submit &op);
  Held resultsOf(const pypto::ir::Function &function, const std::vector<Held> &arguments);
  void addResults(const pypto::ir::Function &function, std::vector<Held> &arguments, const pypto::ir::Span &span);
  /// `group`: what `function` is the cube cores' part of.
  void launch(const pypto::ir::FunctionPtr &function, std::vector<Held> arguments, const pypto::ir::Span &span,
              const Group *group = nullptr);
  mlir::Value scalarOf(const Held &number, pypto::DataType dtype, const pypto::ir::Span &span);
  using Symbols = llvm::MapVector<const pypto::ir::Var *, Number>;
  /// `symbols`: what extents that the function leaves open are in this launch.
  View checkedArgument(const pypto::ir::Function &function, size_t index, View view, Symbols &symbols,
                       const pypto::ir::Span &span);
  Number extentOf(const pypto::ir::ExprPtr &extent, const Number &given, Symbols &symbols, const std::string &who,
                  const pypto::ir::Span &span);
  /// An extent, for what `symbols` says of its variables; nothing where it does not know one.
  std::optional<Number> extentFor(const pypto::ir::ExprPtr &extent, const Symbols &symbols);
  /// The only variable of an extent and what it must be for the extent to be `value`; null where it does not follow.
  std::pair<const pypto::ir::Var *, Number> solved(const pypto::ir::ExprPtr &extent, const Number &value);
  /// `numbers`: what the kernel takes behind its scalars and blocks: ranks, extents, strides.
  void submit(const PlannedKernel &kernel, const std::vector<View> &pointers, const std::vector<Held> &arguments,
              const std::vector<Number> &numbers, const pypto::ir::Span &span);
  /// `strides`: those that each launch gives.
  /// `groups`: for each group of windows, one of them.
  std::vector<PlannedTensor> planTensors(const pypto::ir::Function &function, const std::vector<Held> &arguments,
                                         std::vector<View> &pointers, std::vector<Number> &strides,
                                         std::vector<unsigned> &groups);
  Number spanOf(const View &view);
  const PlannedKernel &kernelFor(const pypto::ir::FunctionPtr &function, std::vector<PlannedTensor> tensors,
                                 std::vector<int64_t> ranksOfGroups, unsigned pointers, bool isBlock,
                                 const Symbols &symbols, const Group *group, const Symbols &vectorSymbols);
  std::string freeKernelName(const std::string &wanted) const;

  // Tasks of several functions (OrchestratorGroups.cpp).
  /// A call whose function runs with others.
  struct Waiting {
    pypto::ir::FunctionPtr function;
    std::vector<Held> arguments;
    pypto::ir::Span span;
  };
  bool waitsForPeer(const pypto::ir::Function &function) const;
  struct KnownGroup;
  bool areIndependent(const pypto::ir::Function &group, const std::vector<Held> &arguments);
  View queueMemory(KnownGroup &group, const pypto::ir::Span &span);
  void launchTogether(const pypto::ir::Span &span, llvm::function_ref<void()> body);

  // Blocks and predicates (OrchestratorBlocks.cpp).
  /// Runs `body` for each of `count` blocks, whose number kernels then get.
  void forBlocks(const Number &count, const pypto::ir::Span &span, llvm::function_ref<void()> body);
  /// Runs `body` where the condition holds.
  void where(const pypto::ir::ExprPtr &condition, llvm::function_ref<void()> body);
  void runBlocks(const pypto::ir::SpmdScopeStmt &scope);

  // Loops and branches of the host program (OrchestratorFlow.cpp).
  /// What a loop counts: the first number, the bound, the step.
  struct Counter {
    pypto::ir::VarPtr variable;
    Number start, stop;
    int64_t step = 1;
  };
  struct LoopParts {
    const std::vector<pypto::ir::IterArgPtr> &args;
    const std::vector<pypto::ir::VarPtr> &results;
    pypto::ir::StmtPtr body;
    std::optional<Counter> counter;
    pypto::ir::ExprPtr condition; ///< where there is no counter
    pypto::ir::Span span;
  };
  void emitLoop(const LoopParts &loop);
  bool tryLoop(const LoopParts &loop, const std::vector<Held> &initial, std::vector<bool> &moves);
  void emitBranch(const pypto::ir::IfStmt &stmt, mlir::Value condition);
  /// The values that a block takes for what is carried; the type of `block`'s arguments, which it adds.
  Held carriedBy(mlir::Block *block, const Held &like, bool moves);
  std::vector<mlir::Value> operandsFor(const Held &value, const Held &like, bool moves, const pypto::ir::Span &span);
  bool agree(const std::vector<Number> &numbers, const std::vector<Number> &like);
  void setUpPorts();
  mlir::OwningOpRef<mlir::ModuleOp> finishHost();

  // Extents of the entry's tensors (OrchestratorSizes.cpp).
  bool leavesOpen() const;
  std::optional<int64_t> sizeOf(const pypto::ir::ExprPtr &extent, const pypto::ir::Var &param, size_t axis);
  void readSizes();
  void countTrip(const pypto::ir::Span &span);
  void bindCarried(const std::vector<pypto::ir::IterArgPtr> &args);
  std::vector<Held> bodyOf(const pypto::ir::StmtPtr &body);

  pypto::ir::ProgramPtr program;
  pypto::ir::FunctionPtr entry;
  const isa::ArchInfo &arch; ///< for whose memories kernels are cut
  std::map<std::string, int64_t> sizes;
  std::vector<Buffer> buffers;
  std::vector<View> results;
  int64_t workspace = 0;
  int64_t ranks = 1, windows = 0;                                       ///< devices; bytes of all copies of windows
  int64_t rank = 0;                                                     ///< that launches
  mlir::Value givenRank;                                                ///< the same, where the run says it; else null
  WindowDevices windowDevices;                                          ///< of an earlier run
  std::vector<std::set<int64_t>> usedBy;                                ///< by window: devices that launch with it
  bool isOfAll = false;                                                 ///< a collective that all devices launch
  pypto::ir::FunctionPtr current;                                       ///< the orchestrator whose statements are run
  bool hasCalledBack = false;                                           ///< a SubWorker, which runs behind all launches
  unsigned depth = 0;                                                   ///< of calls of orchestrators
  std::vector<Held> returned;                                           ///< by the one that was called last
  std::map<const pypto::ir::Function *, pypto::ir::FunctionPtr> called; ///< with mixed scopes split
  std::map<const pypto::ir::Function *, pypto::ir::FunctionPtr> ofSeveral; ///< kernels that become several; null: one
  std::map<std::string, pypto::ir::FunctionPtr>
      collectives;   ///< kernels of those outside of kernels, by call and shapes
  int64_t trips = 0; ///< of all loops
  std::deque<PlannedKernel> planned;
  std::map<std::string, const PlannedKernel *> kernelOf; ///< by function and how tensors are passed
  std::map<const pypto::ir::InCoreScopeStmt *, OutlinedScope> scopes;
  struct KnownGroup : Group {
    std::map<int64_t, std::vector<View>> memories; ///< of its queues, by device: launches take them in turn
    std::map<int64_t, size_t> taken;               ///< of each device: launches so far
  };
  std::map<std::pair<const pypto::ir::Function *, const pypto::ir::Function *>, KnownGroup> groups;
  SeveralKernels several;
  std::vector<Waiting> *together = nullptr; ///< calls of the group that is run; null: none is
  std::vector<Launch> launches;
  bool lists = false;
  std::vector<bool> dumped;          ///< by argument of the next launch
  std::unique_ptr<TaskProgram> host; ///< null: everything is known
  /// Numbers of the host program, by operator and operands, that the block or the body has computed.
  mlir::Block *body = nullptr; ///< of the host program: where it begins behind the ports
  std::map<std::tuple<mlir::Block *, pypto::ir::NodeKind, int64_t, void *, int64_t, void *>, mlir::Value> numbers;
  std::map<const pypto::ir::Var *, Held> held;
  pypto::ir::YieldStmtPtr yielded;
  uint32_t manualScopes = 0, scope = 0;  ///< so far; the one that is run, 0: none
  uint32_t numTasks = 0, task = 0;       ///< so far; the one whose launches are made, 0: none
  std::vector<uint32_t> taskEdges;       ///< pairs: the second one waits for the first one
  std::vector<uint32_t> allEdges;        ///< the same, of tasks outside of manual scopes as well
  std::map<int64_t, int64_t> dispatches; ///< by device: calls of the host level so far
  int64_t blocksOfLaunch = 1;
  /// The block that is launched, of how many; none outside of pl.spmd.
  struct BlockOf {
    Number index, count;
  };
  std::optional<BlockOf> block;
};

} // namespace pto_mlir::pypto_frontend

#endif
