// Kernels of the pto dialect as PyPTO's: what each op writes to a buffer becomes a value.
#include "pto_mlir/Frontend/PyPTO/RaisePyPTO.h"

#include "Raiser.h"
#include "SplitCores.h"

#include "../../Dialect/PTO/Transforms/Accesses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Pass/PassManager.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"
#include "pypto/core/error.h"
#include "pypto/ir/verify.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using pypto::DataType;

namespace pto_mlir {
namespace pypto_frontend {

LogicalResult Raiser::statement(Operation *op) {
  if (auto alloc = dyn_cast<pto::AllocTileOp>(op))
    return alloc.getAddr() && !getConstantIntValue(alloc.getAddr())
               ? op->emitOpError("with an address known at run time has no form in PyPTO")
           : unwritten.contains(alloc) ? create(op, alloc)
                                       : success();
  // Order within a core, which the compiler makes again.
  if (mlir::isa<pto::SetFlagOp, pto::WaitFlagOp, pto::RecordEventOp, pto::WaitEventOp>(op))
    return success();
  if (mlir::isa<pto::SetFFTsOp, pto::MakeTensorViewOp, pto::PartitionViewOp, pto::AddPtrOp, pto::TReshapeOp,
                pto::SubsetOp, pto::SubViewOp, func::ReturnOp, scf::YieldOp>(op))
    return success();
  if (auto load = dyn_cast<pto::TLoadOp>(op))
    return this->load(load);
  if (auto store = dyn_cast<pto::TStoreOp>(op))
    return this->store(store);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return this->loop(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return this->branch(branch);
  if (mlir::isa<pto::LoadScalarOp, pto::StoreScalarOp>(op))
    return element(op);
  if (mlir::isa<pto::SectionCubeOp, pto::SectionVectorOp>(op))
    return section(op);
  if (mlir::isa<arith::ArithDialect>(op->getDialect()))
    return arithmetic(op);
  if (isOfQueue(op))
    return queue(op);
  std::string index = "tile." + op->getName().stripDialect().str();
  if (op->getNumOperands() == 0 && op->getNumResults() == 1 && ir::FindOp(index))
    return evaluate(op, index, {});
  return byName(op);
}

LogicalResult Raiser::block(Block &block) {
  for (Operation &op : block) {
    LogicalResult done = failure();
    try {
      done = statement(&op);
    } catch (const pypto::Error &error) {
      done = op.emitOpError("has no form in PyPTO: ") << error.what();
    }
    if (failed(done))
      return failure();
  }
  return success();
}

/// The kind of core of a function that uses queues; all others are told by their sections, or need none.
static std::optional<pto::KernelKind> kindOfQueues(func::FuncOp func) {
  auto kind = func->getAttrOfType<pto::KernelKindAttr>(pto::kKernelKindAttr);
  bool has = func.walk([](Operation *op) { return isOfQueue(op) ? WalkResult::interrupt() : WalkResult::advance(); })
                 .wasInterrupted();
  return kind && has ? std::optional(kind.getValue()) : std::nullopt;
}

ir::FunctionPtr Raiser::function(func::FuncOp func, ArrayRef<func::FuncOp> whole) {
  StringRef name = func.getName();
  if (llvm::isDigit(name.front()) || !llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; })) {
    func.emitError("has a name that is none in Python");
    return nullptr;
  }
  if (!func.getBody().hasOneBlock()) {
    func.emitError("a kernel of several blocks has no form in PyPTO");
    return nullptr;
  }
  if (auto kind = kindOfQueues(func))
    type = *kind == pto::KernelKind::cube ? ir::FunctionType::AIC : ir::FunctionType::AIV;
  unwritten = readUnwritten(func.getBody().front());
  if (failed(parameters(func, whole)) || failed(block(func.getBody().front())))
    return nullptr;
  auto body = std::make_shared<const ir::SeqStmts>(out, ir::Span());
  return std::make_shared<const ir::Function>(func.getName().str(), params, std::vector<ir::TypePtr>(), body,
                                              ir::Span(), type, directions(func));
}

/// A function of one kind of core, and nothing for the other.
static ir::FunctionPtr side(func::FuncOp func, const std::string &suffix,
                            llvm::function_ref<bool(Operation *)> isOther) {
  OpBuilder b(func); // in the module, which says the target
  auto part = cast<func::FuncOp>(b.clone(*func));
  auto erase = llvm::make_scope_exit([&] { part.erase(); });
  part.setName(func.getName().str() + suffix);
  SmallVector<Operation *> others;
  part.walk([&](Operation *op) {
    if (isOther(op))
      others.push_back(op);
  });
  for (Operation *other : others)
    other->erase();
  return Raiser().function(part, func);
}

/// A kernel, or the two functions of one for both kinds of core and the group that runs them. Empty with an error.
static std::vector<ir::FunctionPtr> functionsOf(func::FuncOp func) {
  bool cube = false, vector = false;
  func.walk([&](Operation *op) {
    cube |= mlir::isa<pto::SectionCubeOp>(op);
    vector |= mlir::isa<pto::SectionVectorOp>(op);
  });
  std::vector<ir::FunctionPtr> made;
  if (!cube || !vector) {
    made = {Raiser().function(func, func)};
  } else {
    made = {side(func, "_aic", [](Operation *op) { return mlir::isa<pto::SectionVectorOp>(op); })};
    if (made[0])
      made.push_back(side(func, "_aiv", [](Operation *op) { return mlir::isa<pto::SectionCubeOp>(op); }));
    if (made.back())
      made.push_back(groupOf(ir::Function(func.getName().str(), made[0]->params_, {}, made[0]->body_, ir::Span(),
                                          ir::FunctionType::Group, Raiser::directions(func)),
                             made[0]->name_, made[1]->name_));
  }
  return made.back() ? made : std::vector<ir::FunctionPtr>();
}

/// Functions of the cube core and the vector cores whose queues share buffers, by the function of the cube core.
static llvm::MapVector<func::FuncOp, func::FuncOp> peersOf(ModuleOp module) {
  llvm::MapVector<func::FuncOp, func::FuncOp> peers;
  module.walk([&](pto::ImportReservedBufferOp import) {
    auto func = import->getParentOfType<func::FuncOp>();
    auto other = module.lookupSymbol<func::FuncOp>(import.getPeerFunc());
    auto kind = kindOfQueues(func), kindOfOther = other ? kindOfQueues(other) : std::nullopt;
    if (kind && kindOfOther && *kind != *kindOfOther)
      peers.insert(*kind == pto::KernelKind::cube ? std::pair(func, other) : std::pair(other, func));
  });
  return peers;
}

/// The name of the kernel that only calls both functions, with its own arguments; empty where there is none.
static std::string callerOf(ModuleOp module, func::FuncOp cube, func::FuncOp vector) {
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal() || !func.getBody().hasOneBlock())
      continue;
    SmallVector<StringRef> callees;
    bool callsOnly = llvm::all_of(func.getBody().front().without_terminator(), [&](Operation &op) {
      auto call = dyn_cast<func::CallOp>(op);
      if (call)
        callees.push_back(call.getCallee());
      return call && llvm::equal(call.getOperands(), func.getArguments());
    });
    if (callsOnly && callees.size() == 2 && llvm::is_contained(callees, cube.getName()) &&
        llvm::is_contained(callees, vector.getName()))
      return func.getName().str();
  }
  return "";
}

/// Two functions that share queues, and the group that runs them. Empty with an error.
static std::vector<ir::FunctionPtr> functionsOf(ModuleOp module, func::FuncOp cube, func::FuncOp vector) {
  if (cube.getArgumentTypes() != vector.getArgumentTypes()) {
    vector.emitError("and @") << cube.getName() << " share a queue, but not their arguments, as a group's functions do";
    return {};
  }
  func::FuncOp both[] = {cube, vector};
  std::vector<ir::FunctionPtr> made = {Raiser().function(cube, both)};
  if (made[0])
    made.push_back(Raiser().function(vector, both));
  if (!made.back())
    return {};
  std::string caller = callerOf(module, cube, vector);
  made.push_back(groupOf(ir::Function(caller.empty() ? cube.getName().str() + "_group" : caller, made[0]->params_, {},
                                      made[0]->body_, ir::Span(), ir::FunctionType::Group, Raiser::directions(both)),
                         made[0]->name_, made[1]->name_));
  return made;
}

/// Whether a tile of the cube core that is only ever written in part is read where another turn of a loop has written
/// it: as a value it is another tile in the same place, which only an address says.
static bool needsAddresses(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isExternal())
      for (Value root : readUnwritten(func.front()))
        if (cast<pto::TileBufType>(root.getType()).getLoc() != pto::AddressSpace::vec && isWrittenInPart(root))
          return true;
  return false;
}

/// The module with the address of each tile, which then has one buffer.
static OwningOpRef<ModuleOp> withAddresses(ModuleOp module) {
  OwningOpRef<ModuleOp> planned = module.clone();
  planned->walk([](pto::AllocTileOp alloc) { alloc->removeAttr(pto::kBuffersAttr); });
  PassManager pm(module.getContext());
  pm.addPass(pto::createPTOPlanLocalMemory());
  if (failed(pm.run(*planned)))
    return nullptr;
  return planned;
}

} // namespace pypto_frontend

pypto::ir::ProgramPtr raisePyPTO(ModuleOp given) {
  OwningOpRef<ModuleOp> planned;
  if (pypto_frontend::needsAddresses(given) && !(planned = pypto_frontend::withAddresses(given)))
    return nullptr;
  ModuleOp module = planned ? *planned : given;
  namespace ir = pypto::ir;
  std::vector<ir::FunctionPtr> functions;
  try {
    auto peers = pypto_frontend::peersOf(module);
    llvm::StringSet<> done;
    auto add = [&](const std::vector<ir::FunctionPtr> &made) {
      for (const ir::FunctionPtr &function : made)
        done.insert(function->name_);
      llvm::append_range(functions, made);
      return !made.empty();
    };
    for (auto [cube, vector] : peers)
      if (!add(pypto_frontend::functionsOf(module, cube, vector)))
        return nullptr;
    for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (!func.isExternal() && !done.contains(func.getName()) && !add(pypto_frontend::functionsOf(func)))
        return nullptr;
    auto program = std::make_shared<const ir::Program>(functions, "Kernels", ir::Span());
    ir::VerifyProgram(program);
    return program;
  } catch (const pypto::Error &error) {
    module.emitError("has no form in PyPTO: ") << error.what();
    return nullptr;
  }
}

} // namespace pto_mlir
