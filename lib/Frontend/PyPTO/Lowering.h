// The visitor that makes a pto function of a kernel.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_LOWERING_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_LOWERING_H

#include "Forms.h"
#include "Groups.h"
#include "Plan.h"
#include "Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "pto_mlir/Frontend/PyPTO/LowerPyPTO.h"
#include "pypto/codegen/pto/pto_codegen.h"
#include "pypto/ir/op_registry.h"
#include "pypto/ir/transforms/base/visitor.h"
#include "llvm/ADT/MapVector.h"

#include <map>

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

inline bool isScalar(const ir::VarPtr &var) { return ir::IsA<ir::ScalarType>(var->type_); }
inline bool isTile(const ir::VarPtr &var) { return ir::IsA<ir::TileType>(var->type_); }

/// Refuses a MemRef with an address for a result that lies where the operand does, unless it is the operand's.
void keepsPlace(const ir::TypePtr &type, const ir::ExprPtr &operand, const ir::CallPtr &op);

/// What a program calls a tensor.
std::string nameOf(const ir::ExprPtr &tensor);
/// The pointer that a view of a tensor begins at.
mlir::Value pointerOf(mlir::Value view);

/// The comparison of integers, or of floats, that an operator is; nothing for other operators.
std::optional<mlir::arith::CmpIPredicate> comparison(ir::NodeKind kind, bool isSigned);
std::optional<mlir::arith::CmpFPredicate> floatComparison(ir::NodeKind kind);

/// Lowers one kernel. What a variable holds is a Value: a scalar, the tile_buf of its buffer, or the view of a tensor.
class Lowering : public ir::IRVisitor {
public:
  Lowering(mlir::ModuleOp module, const PyPTOOptions &options);

  /// Whether an operation becomes something else than the op that its row names.
  static bool hasHandler(std::string_view name) { return handlers().contains(name); }

  void VisitFunction(const ir::FunctionPtr &function) override;
  /// The function of a kernel for launches that pass its tensors as planned.
  void lowerPlanned(const PlannedKernel &kernel);
  void VisitStmt(const ir::StmtPtr &stmt) override {
    withPlace(stmt->span_, [&] { ir::IRVisitor::VisitStmt(stmt); });
  }

  // What operations that are emitted as text ask for (EmitText.cpp).
  void emitText(const std::string &line);
  std::string textOf(const ir::ExprPtr &expr);
  std::string typeTextOf(const ir::ExprPtr &expr);
  std::string constantName(const std::string &value, const std::string &type);
  std::string newName() { return "%" + std::to_string(names++); }
  std::string targetName();
  std::string targetType();

protected:
  // Expressions leave their value in `result`.
  void VisitExpr_(const ir::VarPtr &op) override;
  void VisitExpr_(const ir::IterArgPtr &op) override;
  void VisitExpr_(const ir::ConstIntPtr &op) override;
  void VisitExpr_(const ir::ConstFloatPtr &op) override;
  void VisitExpr_(const ir::ConstBoolPtr &op) override;
  void VisitExpr_(const ir::CallPtr &op) override;
  void VisitExpr_(const ir::SubmitPtr &op) override;
  void VisitExpr_(const ir::MakeTuplePtr &op) override;
  void VisitExpr_(const ir::TupleGetItemExprPtr &op) override;
  void VisitBinaryExpr_(const ir::BinaryExprPtr &op) override;
  void VisitUnaryExpr_(const ir::UnaryExprPtr &op) override;

  void VisitStmt_(const ir::AssignStmtPtr &op) override;
  void VisitStmt_(const ir::EvalStmtPtr &op) override;
  void VisitStmt_(const ir::ReturnStmtPtr &op) override;
  void VisitStmt_(const ir::YieldStmtPtr &op) override;
  void VisitStmt_(const ir::BreakStmtPtr &op) override;
  void VisitStmt_(const ir::ContinueStmtPtr &op) override;
  void VisitStmt_(const ir::IfStmtPtr &op) override;
  void VisitStmt_(const ir::ForStmtPtr &op) override;
  void VisitStmt_(const ir::WhileStmtPtr &op) override;
  void VisitScopeStmt_(const ir::ScopeStmtPtr &op) override;

private:
  using Values = llvm::SmallVector<mlir::Value>;
  /// What a loop or branch hands on: scalars travel as results, tiles in `buffers`, tensors are known by their view.
  struct Carried {
    std::vector<ir::VarPtr> vars;
    Values buffers; ///< of a tile its buffer, of a tensor its view, null for a scalar
  };

  /// Ops made from now on come from `span`; from where the last ones came when it is unknown.
  void at(const ir::Span &span) {
    if (span.is_valid())
      loc = locationOf(*b.getContext(), span);
  }

  // Values (LowerScalars.cpp).
  mlir::Value valueOf(const ir::ExprPtr &expr);
  mlir::Value indexOf(const ir::ExprPtr &expr);
  mlir::Value scalarOf(const ir::ExprPtr &expr, mlir::Type type);
  mlir::Value constant(mlir::Attribute value, mlir::Type type);
  mlir::Value indexConstant(int64_t value);
  mlir::Value convert(mlir::Value value, mlir::Type type, bool isSigned);
  mlir::Value integerBinary(const ir::BinaryExprPtr &op, mlir::Value left, mlir::Value right);
  mlir::Value floatBinary(const ir::BinaryExprPtr &op, mlir::Value left, mlir::Value right);
  mlir::Value floorMod(mlir::Value left, mlir::Value right);

  const pto::Target &processor() const { return options.target ? *options.target : pto::defaultTarget(); }

  // Buffers, views (LowerMemory.cpp).
  void addParameters(const ir::FunctionPtr &function, mlir::func::FuncOp func);
  void addPlanned(const ir::FunctionPtr &function, mlir::func::FuncOp func); // LowerPlanned.cpp
  void addExtents(const ir::TypePtr &type, mlir::func::FuncOp func);
  mlir::Value makeView(const ir::TensorTypePtr &type, mlir::Value pointer);
  mlir::Value buffer(const ir::TileTypePtr &type, const void *owner);
  pto::AllocTileOp allocate(pto::TileBufType type, mlir::Value address);
  // Slots of one allocation (LowerSlots.cpp).
  mlir::Value slotOf(const ir::MemRef &memref, pto::TileBufType tile);
  pto::AllocMultiTileOp makeSlots(pto::TileBufType tile, uint64_t count);
  void takeSlotsInPipelines();
  mlir::Value addressOf(const ir::TileTypePtr &type, pto::TileBufType tile);
  bool sameBytes(mlir::Value a, mlir::Value b) const;
  void nameAfter(const ir::VarPtr &var, mlir::Value value);
  mlir::Value destination(const ir::Call &call, const ir::VarPtr &var);
  void takeOver(const ir::ExprPtr &operand, const std::string &by);
  void setValid(mlir::Value tile, const ir::TileType &type);
  mlir::Value window(mlir::Value view, const std::vector<ir::ExprPtr> &offsets, std::vector<ir::ExprPtr> sizes);
  mlir::Value flatIndex(mlir::ValueRange extents, const std::vector<ir::ExprPtr> &indices);

  // Calls (LowerCalls.cpp). A handler gives what the call's variable holds; `var` is null for a call inside another.
  using Handler = mlir::Value (Lowering::*)(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  static const std::map<std::string_view, Handler> &handlers();
  mlir::Value lowerCall(const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value lowerByText(const pypto::backend::BackendCodegenFunc &emit, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value rowsOfFactor(mlir::Value right, mlir::Value left);
  mlir::Value factor(mlir::Value tile, const ir::TypePtr &given, ir::MemorySpace space);
  void columnsAsRows(llvm::SmallVectorImpl<mlir::Value> &operands);
  mlir::Value rowScratch(mlir::Value given, mlir::Value like, const ir::TileTypePtr &source);
  mlir::Value lowerByForm(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value load(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value store(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value create(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value full(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value reshape(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value sine(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var); // LowerComposites.cpp
  mlir::Value subtractTwice(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value viewAgain(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value dim(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value flag(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value barrier(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value blockIndex(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);

  // Scales of products (LowerScaled.cpp).
  mlir::Value scaleView(const ir::TensorType &type, mlir::Value pointer);
  mlir::Value loadScales(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  void moveScales(mlir::Value from, mlir::Value to);
  mlir::Value moveScales(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  void checkScaled(const ir::CallPtr &op) const;

  // Parts of tiles (LowerParts.cpp).
  bool isLastUse(const ir::ExprPtr &operand) const;
  void replacePart(const ir::ExprPtr &source, mlir::Value part);
  mlir::Value changeable(const ir::ExprPtr &operand, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value partOf(mlir::Value tile, const std::vector<ir::ExprPtr> &offsets, const ir::TileTypePtr &part,
                     const ir::Span &span);
  llvm::SmallVector<mlir::Value> elementStrides(pto::TileBufType type);
  mlir::Value elementOffset(pto::TileBufType type, const std::vector<ir::ExprPtr> &indices, const ir::Span &span);
  mlir::Value slice(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value boxedPart(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value assemble(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value columnsOf(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value extract(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value transpose(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value tensorOf(const ir::IfStmt &branch, size_t result);
  mlir::Value transposeView(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value read(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value setValidShape(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value reinterpret(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value write(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);

  // Arrays of numbers (LowerArrays.cpp).
  mlir::Value createArray(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value arrayIndex(const ir::OpView &call, const ir::CallPtr &op);
  mlir::Value arrayElement(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value updateArray(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);

  // Gathers, merges, generated tiles (LowerGather.cpp).
  mlir::Operation *createOp(llvm::StringRef name, llvm::ArrayRef<llvm::SmallVector<mlir::Value>> operands,
                            llvm::ArrayRef<mlir::NamedAttribute> attributes, bool segments);
  mlir::Value scratch(pto::TileBufType type);
  mlir::Value scratchLike(const ir::ExprPtr &given, mlir::Value like);
  mlir::Value gather(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value gatherMask(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value gatherBlocks(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value gatherCompare(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value mergeSort(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value countUp(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value triangle(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value random(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);

  // Global memory at indices (LowerIndexed.cpp).
  mlir::Value indexAt(const ir::ExprPtr &indices, mlir::ValueRange at);
  pto::MakeTensorViewOp memoryOf(const ir::ExprPtr &tensor, const ir::CallPtr &op);
  mlir::Value boundedIndex(mlir::Value index, mlir::Value count, llvm::StringRef mode, mlir::Value &inside);
  void forEach(mlir::ValueRange bounds, llvm::function_ref<void(mlir::ValueRange)> body);
  mlir::Value scatterRows(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value gatherThroughMemory(const ir::OpView &call, const ir::CallPtr &op, mlir::Value dst,
                                  const std::vector<ir::ExprPtr> &valid);
  mlir::Value gatherRowsToMat(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value gatherRow(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value gatherMemory(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value scatterMemory(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);

  // Queues, semaphores (LowerPipes.cpp).
  mlir::Value semaphore(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value openQueue(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value push(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value pop(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value freeSlot(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value reserveBuffer(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value importBuffer(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);

  // Ranks (LowerComm.cpp).
  mlir::Value peersView(const ir::ExprPtr &tensor, mlir::Value peer);
  mlir::Value cellOf(mlir::Value pointer, mlir::Value element);
  void notifyCell(mlir::Value cell, mlir::Value value, bool adds);
  void waitForCell(mlir::Value cell, mlir::Value value, bool orMore);
  void copyWindow(const ir::OpView &call, const ir::CallPtr &op, mlir::Value from, mlir::Value to);
  mlir::Value meetRanks(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  void placeSignals(const ir::Function &function, mlir::func::FuncOp func);
  void placeTilesOfTurns();
  mlir::Value context(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value rankNumber(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value notify(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value wait(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value remoteLoad(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value remoteStore(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value put(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value get(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value matrixView(mlir::Value pointer, int64_t rows, int64_t cols, mlir::Value rowStride, mlir::Value colStride);
  // Collectives (LowerCollectives.cpp).
  void meet(const ir::ExprPtr &signal, const ir::CallPtr &op);
  /// The group whose ranks meet in a collective is that of the members `rankIndex` and `ranks` then.
  void enterGroup(const ir::CallPtr &op);
  int64_t elementsOf(const ir::ExprPtr &tensor);
  mlir::Value moved(mlir::Value pointer, mlir::Value index, int64_t elements);
  mlir::Value runTile(mlir::Type element, int64_t elements);
  mlir::Value runView(mlir::Value pointer, int64_t elements);
  void copyRun(mlir::Value from, mlir::Value to, int64_t elements, const ir::CallPtr &op);
  mlir::Value reducedRun(const ir::OpView &call, mlir::Value own, int64_t begin, int64_t elements);
  void checkCores(const ir::OpView &call, const ir::CallPtr &op);
  void publishCounts(const ir::OpView &call, int64_t most);
  mlir::Value broadcast(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value gatherAll(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value reduceScatter(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);
  mlir::Value reduceAll(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var);

  // Statements (LowerStmts.cpp; what they hand on: LowerCarried.cpp).
  void bind(const ir::VarPtr &var, mlir::Value value);
  Carried carriedBy(const std::vector<ir::IterArgPtr> &args, const std::vector<ir::VarPtr> &given, Values &initial);
  void lowerBody(const ir::StmtPtr &body, const Carried &carried, Values &scalars);
  void writeInto(const ir::StmtPtr &body, const Carried &carried);
  void moveYielded(const ir::YieldStmtPtr &yield, const Carried &carried, Values &scalars);
  void copyTile(mlir::Value from, mlir::Value to, const ir::Span &span);
  void bindResults(const std::vector<ir::VarPtr> &vars, const Carried &carried, mlir::ValueRange scalars);

  // Loops that are left early (LowerJumps.cpp).
  struct Jump {
    mlir::Value leaves, skips; ///< the loop; the rest of the iteration
  };
  struct LeavableLoop {
    ir::Span span;
    const std::vector<ir::IterArgPtr> &args;
    const std::vector<ir::VarPtr> &given;
    ir::StmtPtr body;
  };
  static bool jumps(const ir::StmtPtr &body);
  mlir::Value flagConstant(bool value);
  Jump lowerJumping(llvm::ArrayRef<ir::StmtPtr> stmts, const Carried &carried, Values &scalars);
  Jump lowerJumpingBranch(const ir::IfStmtPtr &op);
  void lowerLeavable(const LeavableLoop &loop, mlir::Value counter,
                     llvm::function_ref<mlir::Value(mlir::Value)> condition,
                     llvm::function_ref<mlir::Value(mlir::Value)> advance);
  void lowerLeavable(const ir::ForStmtPtr &op);
  void lowerLeavable(const ir::WhileStmtPtr &op);

  mlir::ModuleOp module;
  PyPTOOptions options;
  const PlannedKernel *plan = nullptr; ///< null: arguments in the order of the parameters
  mlir::Value blockNumber, blockCount; ///< of a launch of blocks
  /// Devices that share windows.
  struct RankGroup {
    mlir::Value rank; ///< of this device
    int64_t ranks;
  };
  std::vector<RankGroup> groups; ///< of a launch with windows
  mlir::Value rankIndex;         ///< in the group of the collective at hand
  int64_t ranks = 1;
  /// A tensor of which each rank has a copy: the pointer to that of rank 0, the elements between two, its group.
  struct Copies {
    mlir::Value first;
    int64_t pitch = 0;
    unsigned group = 0;
  };
  llvm::DenseMap<mlir::Value, Copies> copies; ///< by view
  mlir::OpBuilder b;
  /// At the end of the function's constants, tiles, and views.
  mlir::OpBuilder constants, tiles, views;
  mlir::Location loc;
  mlir::Value result;
  std::map<const ir::Var *, std::vector<mlir::Value>> tuples; ///< of calls with several results
  std::vector<ir::TileTypePtr> held;                          ///< types that buffers are found by
  mlir::Value queueMemory;                                    ///< the argument that queues travel through
  QueueSpace queueSpace;                                      ///< of one block in it

  // Of the operation that is emitted as text.
  ir::CallPtr emitted;
  ir::VarPtr emittedVar;
  mlir::Value target;
  llvm::StringMap<mlir::Value> valueNames;
  llvm::DenseMap<mlir::Value, std::string> namesOf;
  unsigned names = 0;

  mlir::Block *turn = nullptr;                           ///< the body of the innermost pl.pipeline with several stages
  llvm::MapVector<mlir::Block *, int64_t> stagesOfTurns; ///< of each of them, outer ones first
  std::vector<std::pair<mlir::Operation *, mlir::Block *>> tilesOfTurns; ///< allocations, by the turn of a pipeline

  std::string function;     ///< its name, for errors
  ir::YieldStmtPtr yielded; ///< by the body that was visited last
  llvm::DenseMap<const ir::Var *, mlir::Value> values;
  llvm::DenseMap<const ir::Var *, mlir::Block *> boundIn;
  llvm::DenseMap<const ir::Var *, unsigned> uses;
  llvm::DenseMap<mlir::Value, unsigned> holders; ///< variables that were assigned a tile of this buffer
  /// Tiles that an operation has replaced in their buffers, with its name.
  llvm::DenseMap<const ir::Var *, std::string> replaced;
  /// Buffers that a branch or loop wants a variable in.
  llvm::DenseMap<const ir::Var *, mlir::Value> wanted;
  std::map<std::pair<const void *, const void *>, mlir::Value> buffers;      ///< by MemRef, variable or call, and type
  std::map<uint64_t, pto::AllocMultiTileOp> slots;                           ///< by allocation
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Type>, mlir::Value> known; ///< constants
};

} // namespace pto_mlir::pypto_frontend

#endif
