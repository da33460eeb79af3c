//===- SplitCores.cpp - split functions by kind of core ----------------------------------------===//

#include "Cores.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Frontend/PTO/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define DEBUG_TYPE "pto-split-cores"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOSPLITCORES
#include "pto_mlir/Frontend/PTO/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

/// Inlines the sections of `func` for its own kind of core and erases the ops of the other core.
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
    // Keep a tile of the other core that this core writes.
    if (!op->use_empty() && (isa<TileAliasOpInterface, AllocTileOp, AllocMultiTileOp>(op)))
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

/// Whether the text distinguishes the two vector cores of a block. Queues handle both.
static bool knowsBothCores(func::FuncOp func) {
  return has<GetSubBlockIdxOp, GetSubBlockNumOp, AivInitializePipeOp, InitializeL2LPipeOp, InitializeL2G2LPipeOp>(func);
}

/// An scf.if taken only by the first vector core of a block.
static scf::IfOp onFirstCore(OpBuilder &b, Location loc) {
  Value core = b.create<GetSubBlockIdxOp>(loc);
  Value zero = b.create<arith::ConstantOp>(loc, b.getIntegerAttr(core.getType(), 0));
  return b.create<scf::IfOp>(loc, b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, core, zero),
                             /*withElseRegion=*/false);
}

/// Restricts the body to the first vector core of a block: executed by both it would race, and in-place additions would
/// be applied twice.
static void keepFirstVectorCore(func::FuncOp func) {
  Block &body = func.getBody().front();
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  scf::IfOp branch = onFirstCore(b, func.getLoc());
  Block &inside = branch.getThenRegion().front();
  inside.getOperations().splice(inside.begin(), body.getOperations(), std::next(branch->getIterator()),
                                body.getTerminator()->getIterator());
}

/// Restricts writes to global memory to the first vector core. Both execute the rest, since other cores count the flags
/// of both.
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

/// Restricts engine ops to the first vector core; inter-core flags and control flow are executed by both.
static void workOnFirstCore(Block &block) {
  SmallVector<Operation *> work;
  auto flush = [&](Operation *at) {
    if (work.empty())
      return;
    OpBuilder b(at);
    Operation *end = onFirstCore(b, at->getLoc()).thenBlock()->getTerminator();
    for (Operation *op : work)
      op->moveBefore(end);
    work.clear();
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    bool ends = op.hasTrait<OpTrait::IsTerminator>() || op.getNumRegions() != 0;
    if (isa<TileAliasOpInterface, AllocTileOp, AllocMultiTileOp>(op) || (!ends && isMemoryEffectFree(&op)))
      continue; // aliases and scalars
    if (isa<PipeOpInterface>(op) && !isa<CrossSetOp, CrossWaitOp>(op) && op.getNumResults() == 0) {
      work.push_back(&op);
      continue;
    }
    flush(&op);
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        workOnFirstCore(inner);
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
    for (func::FuncOp func : kernels) {
      PTO_DEBUG("@" << func.getName());
      if (failed(split(func)))
        return signalPassFailure();
    }

    // Number of parts of each kernel.
    llvm::StringMap<unsigned> parts;
    for (auto func : module.getOps<func::FuncOp>())
      if (auto of = func->getAttrOfType<StringAttr>(kPartOfAttr))
        ++parts[of.getValue()];
    for (auto func : module.getOps<func::FuncOp>()) {
      auto of = func->getAttrOfType<StringAttr>(kPartOfAttr);
      auto kind = func->getAttrOfType<KernelKindAttr>(kKernelKindAttr);
      if (!of || !kind || kind.getValue() != KernelKind::vector || !func.getBody().hasOneBlock() ||
          knowsBothCores(func))
        continue;
      if (parts[of.getValue()] == 1 && !has<SyncSetOp, SyncWaitOp>(func))
        keepFirstVectorCore(func);
      else if (func->hasAttr(kOrderedAttr) && !has<TGetValOp>(func))
        workOnFirstCore(func.getBody().front());
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
    UsedCores used = usedCores(func);
    bool both = used.cube && used.vector;
    OpBuilder b(func);
    for (KernelKind kind : {KernelKind::cube, KernelKind::vector}) {
      if (!both && used.cube != (kind == KernelKind::cube))
        continue;
      auto part = both ? cast<func::FuncOp>(b.clone(*func)) : func;
      if (both)
        part.setName((partOf.getValue() + "." + stringifyKernelKind(kind)).str());
      part->setAttr(kKernelKindAttr, KernelKindAttr::get(context, kind));
      part->setAttr(kPartOfAttr, partOf);
      if (failed(keepCore(part, kind)))
        return failure();
    }
    if (both)
      func.erase();
    return success();
  }
};
} // namespace
