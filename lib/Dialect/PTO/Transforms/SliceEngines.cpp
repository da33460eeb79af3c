//===- SliceEngines.cpp - one function per engine ------------------------------------------===//

#include "Accesses.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/MapVector.h"

#define DEBUG_TYPE "pto-slice-engines"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOSLICEENGINES
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

/// Numbers the ops of S that make a number, so that their clones can name them.
static constexpr llvm::StringLiteral kLoadAttr = "pto.load";

/// A scalar that S reads out of memory, or nothing.
static Value getLoadedNumber(Operation *op) {
  auto engine = dyn_cast<PipeOpInterface>(op);
  if (!engine || engine.getPipe() != Pipe::PIPE_S || op->getNumResults() != 1 ||
      !op->getResult(0).getType().isIntOrIndexOrFloat())
    return {};
  return op->getResult(0);
}

/// The engines that each scalar load of a kernel must hand its value to.
using LoadReaders = llvm::MapVector<int64_t, SmallVector<Pipe, 1>>;

static constexpr std::pair<Pipe, const char *> kEngines[] = {
    {Pipe::PIPE_S, "s"},       {Pipe::PIPE_V, "v"},       {Pipe::PIPE_M, "m"},    {Pipe::PIPE_MTE1, "mte1"},
    {Pipe::PIPE_MTE2, "mte2"}, {Pipe::PIPE_MTE3, "mte3"}, {Pipe::PIPE_FIX, "fix"}};

/// Does the engine execute this op? Nothing for ops that belong to no engine (scalar code, views, allocations).
static std::optional<bool> belongsTo(Operation *op, Pipe pipe) {
  if (auto set = dyn_cast<SetFlagOp>(op))
    return set.getSrcPipe() == pipe;
  if (auto set = dyn_cast<SetFlagDynOp>(op))
    return set.getSrcPipe() == pipe;
  if (auto wait = dyn_cast<WaitFlagOp>(op))
    return wait.getDstPipe() == pipe;
  if (auto wait = dyn_cast<WaitFlagDynOp>(op))
    return wait.getDstPipe() == pipe;
  if (isa<FifoPushOp>(op))
    return pipe == Pipe::PIPE_S;
  if (isa<FifoPopOp>(op)) {
    auto engine = op->getAttrOfType<PipeAttr>(kPipeAttr);
    return !engine || engine.getValue() == pipe;
  }
  if (auto barrier = dyn_cast<BarrierOp>(op))
    return barrier.getPipe() == pipe || barrier.getPipe() == Pipe::PIPE_ALL;
  if (isEngineOp(op))
    return pipeOf(op) == pipe;
  return std::nullopt;
}

/// Erases dead ops, and loops and branches with an empty body.
static void removeDead(func::FuncOp func) {
  SmallVector<Operation *> ops;
  func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops)) // users before their operands, inner ops before outer ones
    if (isOpTriviallyDead(op))
      op->erase();
}

/// A number that S loads arrives through its queue; `readers` notes that.
static bool receive(Operation *op, Pipe pipe, LoadReaders &readers) {
  Value loaded = getLoadedNumber(op);
  auto number = op->getAttrOfType<IntegerAttr>(kLoadAttr);
  if (!loaded || !number)
    return false;
  OpBuilder b(op);
  loaded.replaceAllUsesWith(b.create<FifoPopOp>(op->getLoc(), loaded.getType()));
  op->erase();
  readers[number.getInt()].push_back(pipe);
  return true;
}

/// In S's function: each load appends its value to the queues of its readers.
static void send(func::FuncOp func, const LoadReaders &readers) {
  func.walk([&](Operation *load) {
    auto number = load->getAttrOfType<IntegerAttr>(kLoadAttr);
    auto entry = number ? readers.find(number.getInt()) : readers.end();
    load->removeAttr(kLoadAttr);
    if (entry == readers.end())
      return;
    OpBuilder b(load->getContext());
    b.setInsertionPointAfter(load);
    for (Pipe pipe : entry->second)
      b.create<FifoPushOp>(load->getLoc(), load->getResult(0), PipeAttr::get(b.getContext(), pipe));
  });
}

/// Keeps the engine's ops only. A value that only another engine can make must not be needed, but for numbers that S
/// loads.
static LogicalResult keepEngine(func::FuncOp func, Pipe pipe, StringRef name, LoadReaders &readers) {
  SmallVector<Operation *> foreign;
  func.walk([&](Operation *op) {
    if (belongsTo(op, pipe) == false)
      foreign.push_back(op);
  });
  // Users first, so that an op whose results are used by another foreign op can go.
  for (Operation *op : llvm::reverse(foreign)) {
    if (!op->use_empty())
      continue;
    op->erase();
  }
  removeDead(func);
  WalkResult left = func.walk([&](Operation *op) {
    if (belongsTo(op, pipe) != false)
      return WalkResult::advance();
    if (op->use_empty()) {
      op->erase();
      return WalkResult::advance();
    }
    if (receive(op, pipe, readers))
      return WalkResult::advance();
    op->emitOpError("makes a value that engine ")
        << name << " needs; only numbers that engine S loads reach other engines";
    return WalkResult::interrupt();
  });
  if (left.wasInterrupted())
    return failure();
  // Every engine computes its addresses and event numbers itself: compute each once.
  IRRewriter rewriter(func.getContext());
  DominanceInfo dominance(func);
  eliminateCommonSubExpressions(rewriter, dominance, func);
  removeDead(func);
  return success();
}

namespace {
struct SliceEnginesPass : public pto_mlir::pto::impl::PTOSliceEnginesBase<SliceEnginesPass> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    getOperation().walk([&](func::FuncOp func) {
      if (func->getAttrOfType<KernelKindAttr>(kKernelKindAttr) && !func.isExternal() &&
          func->getParentOp() == getOperation())
        kernels.push_back(func);
    });
    PTO_DEBUG(kernels.size() << " kernels");
    for (func::FuncOp kernel : kernels)
      if (failed(slice(kernel)))
        return signalPassFailure();
  }

  static LogicalResult slice(func::FuncOp kernel) {
    if (kernel.getNumResults() != 0)
      return kernel.emitError("a kernel returns nothing, got ") << kernel.getNumResults() << " results";
    WalkResult supported = kernel.walk([](Operation *op) {
      if (!isa<SectionCubeOp, SectionVectorOp>(op))
        return WalkResult::advance();
      op->emitOpError("cannot be sliced; write one function per core kind");
      return WalkResult::interrupt();
    });
    if (supported.wasInterrupted())
      return failure();
    llvm::SmallDenseSet<Pipe> used;
    kernel.walk([&](Operation *op) {
      if (isEngineOp(op))
        used.insert(pipeOf(op));
      else if (isa<SetFlagOp, SetFlagDynOp, WaitFlagOp, WaitFlagDynOp>(op))
        for (auto [pipe, name] : kEngines)
          if (belongsTo(op, pipe) == true)
            used.insert(pipe);
    });
    const Target &arch = targetOf(kernel);
    for (auto [pipe, name] : kEngines)
      if (used.contains(pipe) && pipeOn(arch, pipe) != pipe)
        return kernel.emitError("names ") << stringifyPipe(pipe) << ", which " << arch.name << " lacks; "
                                          << stringifyPipe(pipeOn(arch, pipe)) << " carries out its ops, name that one";

    OpBuilder b(kernel);
    auto module = b.create<ModuleOp>(kernel.getLoc(), kernel.getName());
    for (NamedAttribute attr : kernel->getDiscardableAttrs())
      module->setAttr(attr.getName(), attr.getValue());
    module->setAttr("pto.num_args", b.getI32IntegerAttr(kernel.getNumArguments()));
    if (StringAttr visibility = kernel.getSymVisibilityAttr())
      module.setSymVisibilityAttr(visibility);
    int64_t loads = 0;
    kernel.walk([&](Operation *op) {
      if (getLoadedNumber(op))
        op->setAttr(kLoadAttr, b.getI64IntegerAttr(loads++));
    });
    LoadReaders readers;
    // S last: the others tell it which values they need.
    for (auto [pipe, name] : llvm::concat<const std::pair<Pipe, const char *>>(ArrayRef(kEngines).drop_front(),
                                                                               ArrayRef(kEngines).take_front())) {
      if (!used.contains(pipe))
        continue;
      if (pipe == Pipe::PIPE_S)
        b.setInsertionPointToStart(module.getBody());
      else
        b.setInsertionPointToEnd(module.getBody());
      auto engine = cast<func::FuncOp>(b.clone(*kernel));
      for (NamedAttribute attr : llvm::to_vector(engine->getDiscardableAttrs()))
        engine->removeDiscardableAttr(attr.getName());
      engine.setName(name);
      engine.setPublic();
      engine->setAttr(kPipeAttr, PipeAttr::get(b.getContext(), pipe));
      if (pipe == Pipe::PIPE_S)
        send(engine, readers);
      if (failed(keepEngine(engine, pipe, name, readers))) {
        module.erase();
        return failure();
      }
    }
    kernel.erase();
    return success();
  }
};
} // namespace
