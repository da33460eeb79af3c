//===- SplitCores.cpp - one function per kind of core ----------------------------------------===//

#include "pto_mlir/Dialect/PTO/IR/PTOExtra.h"
#include "pto_mlir/Dialect/PTO/Program/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOSPLITCORES
#include "pto_mlir/Dialect/PTO/Program/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

/// The only core that has this engine; nothing for engines that both have.
static std::optional<KernelKind> coreOf(Pipe pipe) {
  switch (pipe) {
  case Pipe::PIPE_M:
  case Pipe::PIPE_MTE1:
  case Pipe::PIPE_FIX:
    return KernelKind::cube;
  case Pipe::PIPE_V:
    return KernelKind::vector;
  default:
    return std::nullopt;
  }
}

/// The core that executes the op; nothing when either may (scalar code, queries, flags between engines that both have).
static std::optional<KernelKind> coreOf(Operation *op) {
  for (Operation *parent = op; parent; parent = parent->getParentOp()) {
    if (isa<SectionCubeOp>(parent))
      return KernelKind::cube;
    if (isa<SectionVectorOp>(parent))
      return KernelKind::vector;
  }
  auto flag = [](Pipe src, Pipe dst) { return coreOf(src) ? coreOf(src) : coreOf(dst); };
  if (auto set = dyn_cast<SetFlagOp>(op))
    return flag(set.getSrcPipe(), set.getDstPipe());
  if (auto set = dyn_cast<SetFlagDynOp>(op))
    return flag(set.getSrcPipe(), set.getDstPipe());
  if (auto wait = dyn_cast<WaitFlagOp>(op))
    return flag(wait.getSrcPipe(), wait.getDstPipe());
  if (auto wait = dyn_cast<WaitFlagDynOp>(op))
    return flag(wait.getSrcPipe(), wait.getDstPipe());
  if (auto barrier = dyn_cast<BarrierOp>(op))
    return coreOf(barrier.getPipe());
  if (auto set = dyn_cast<SyncSetOp>(op))
    return coreOf(set.getPipe());
  if (auto wait = dyn_cast<SyncWaitOp>(op))
    return coreOf(wait.getPipe());
  if (auto engine = dyn_cast<PipeOpInterface>(op))
    if (std::optional<KernelKind> core = coreOf(engine.getPipe()))
      return core;
  std::optional<KernelKind> core;
  auto look = [&](Type type) {
    if (auto tile = dyn_cast<TileBufType>(type); tile && !core)
      core = tile.getLoc() == AddressSpace::vec ? KernelKind::vector : KernelKind::cube;
  };
  for (Type type : op->getOperandTypes())
    look(type);
  for (Type type : op->getResultTypes())
    look(type);
  return core;
}

/// Opens the sections of `func` of its own kind and removes what the other core executes.
static LogicalResult keepCore(func::FuncOp func, KernelKind kind) {
  SmallVector<Operation *> foreign, sections;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == func)
      return WalkResult::advance();
    std::optional<KernelKind> core = coreOf(op);
    if (core && *core != kind) {
      foreign.push_back(op);
      return WalkResult::skip();
    }
    if (isa<SectionCubeOp, SectionVectorOp>(op))
      sections.push_back(op);
    return WalkResult::advance();
  });
  for (Operation *op : llvm::reverse(foreign)) {
    // A tile of the other core that this one writes keeps its name here.
    if (!op->use_empty() && (isa<TileAliasOpInterface, AllocTileOp>(op)))
      continue;
    if (!op->use_empty())
      return op->emitOpError("makes a value that the ") << stringifyKernelKind(kind) << " core needs";
    op->erase();
  }
  for (Operation *section : sections) {
    Block &body = section->getRegion(0).front();
    section->getBlock()->getOperations().splice(Block::iterator(section), body.getOperations());
    section->erase();
  }
  return success();
}

template <typename... Ops>
static bool has(func::FuncOp func) {
  return func.walk([](Operation *op) { return isa<Ops...>(op) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
}

/// Whether the text tells the two vector cores of a block apart; queues deal with both themselves.
static bool knowsBothCores(func::FuncOp func) {
  return has<GetSubBlockIdxOp, GetSubBlockNumOp, AivInitializePipeOp, InitializeL2LPipeOp, InitializeL2G2LPipeOp>(func);
}

/// A branch that only the first vector core of a block takes.
static scf::IfOp onFirstCore(OpBuilder &b, Location loc) {
  Value core = b.create<GetSubBlockIdxOp>(loc);
  Value zero = b.create<arith::ConstantOp>(loc, b.getIntegerAttr(core.getType(), 0));
  return b.create<scf::IfOp>(loc, b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, core, zero), /*withElseRegion=*/false);
}

/// Leaves the body to the first vector core of a block: what both did alike would be a race, and an addition in place would count twice.
static void keepFirstVectorCore(func::FuncOp func) {
  Block &body = func.getBody().front();
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  scf::IfOp branch = onFirstCore(b, func.getLoc());
  Block &inside = branch.getThenRegion().front();
  inside.getOperations().splice(inside.begin(), body.getOperations(), std::next(branch->getIterator()), body.getTerminator()->getIterator());
}

/// Where other cores count the flags of both vector cores, both execute everything but what changes global memory.
static void storeOnFirstCore(func::FuncOp func) {
  SmallVector<Operation *> writes;
  func.walk([&](Operation *op) {
    if (isa<TStoreOp, TStoreFPOp, StoreScalarOp, MScatterOp>(op))
      writes.push_back(op);
  });
  for (Operation *op : writes) {
    OpBuilder b(op);
    op->moveBefore(onFirstCore(b, op->getLoc()).thenBlock()->getTerminator());
  }
}

namespace {
struct SplitCoresPass : pto_mlir::pto::impl::PTOSplitCoresBase<SplitCoresPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> kernels;
    for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (func.isExternal() || func.isPrivate() || func.getNumResults() != 0) {
        if (SymbolTable::symbolKnownUseEmpty(func, module))
          func.erase();
        continue;
      }
      kernels.push_back(func);
    }
    for (func::FuncOp func : kernels)
      if (failed(split(func)))
        return signalPassFailure();

    // How many parts each kernel has.
    llvm::StringMap<unsigned> parts;
    for (auto func : module.getOps<func::FuncOp>())
      if (auto of = func->getAttrOfType<StringAttr>(kPartOfAttr))
        ++parts[of.getValue()];
    for (auto func : module.getOps<func::FuncOp>()) {
      auto of = func->getAttrOfType<StringAttr>(kPartOfAttr);
      auto kind = func->getAttrOfType<KernelKindAttr>(kKernelKindAttr);
      if (!of || !kind || kind.getValue() != KernelKind::vector || !func.getBody().hasOneBlock() || knowsBothCores(func))
        continue;
      if (parts[of.getValue()] == 1 && !has<SyncSetOp, SyncWaitOp>(func))
        keepFirstVectorCore(func);
      else
        storeOnFirstCore(func);
    }
  }

  static LogicalResult split(func::FuncOp func) {
    MLIRContext *context = func.getContext();
    auto partOf = func->hasAttr(kPartOfAttr) ? func->getAttrOfType<StringAttr>(kPartOfAttr) : func.getSymNameAttr();
    if (auto kind = func->getAttrOfType<KernelKindAttr>(kKernelKindAttr)) {
      func->setAttr(kPartOfAttr, partOf);
      return keepCore(func, kind.getValue());
    }
    bool used[2] = {false, false};
    func.walk([&](Operation *op) {
      if (isa<PipeOpInterface, SectionCubeOp, SectionVectorOp, SyncSetOp, SyncWaitOp>(op))
        if (std::optional<KernelKind> core = coreOf(op))
          used[static_cast<unsigned>(*core)] = true;
    });
    if (!used[0] && !used[1])
      used[1] = true;
    OpBuilder b(func);
    for (KernelKind kind : {KernelKind::cube, KernelKind::vector}) {
      if (!used[static_cast<unsigned>(kind)])
        continue;
      bool both = used[0] && used[1];
      auto part = both ? cast<func::FuncOp>(b.clone(*func)) : func;
      if (both)
        part.setName((partOf.getValue() + "." + stringifyKernelKind(kind)).str());
      part->setAttr(kKernelKindAttr, KernelKindAttr::get(context, kind));
      part->setAttr(kPartOfAttr, partOf);
      if (failed(keepCore(part, kind)))
        return failure();
    }
    if (used[0] && used[1])
      func.erase();
    return success();
  }
};
} // namespace
