//===- OrderCores.cpp - synchronise the cores of a text without cores ----------------------===//

#include "../../Dialect/PTO/Transforms/Accesses.h"
#include "../../Dialect/PTO/Transforms/CoreFlags.h"
#include "Cores.h"
#include "pto_mlir/Frontend/PTO/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#define DEBUG_TYPE "pto-order-cores"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOORDERCORES
#include "pto_mlir/Frontend/PTO/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

namespace {
/// Accesses to global memory by kind of core.
struct Touched {
  SmallVector<Access> by[2];

  bool empty() const { return by[0].empty() && by[1].empty(); }
  /// Records each root once for reading and once for writing, since a kernel has few roots but may have thousands of
  /// ops.
  void add(unsigned kind, const Access &access) {
    if (llvm::none_of(by[kind],
                      [&](const Access &known) { return known.root == access.root && known.write == access.write; }))
      by[kind].push_back(access);
  }
  void add(const Touched &other) {
    for (unsigned kind : {0, 1})
      for (const Access &access : other.by[kind])
        add(kind, access);
  }
};

bool clash(ArrayRef<Access> first, ArrayRef<Access> second) {
  return llvm::any_of(first, [&](const Access &a) {
    return llvm::any_of(second, [&](const Access &b) { return conflict(a, b) != Overlap::none; });
  });
}
bool clash(const Touched &first, const Touched &second) {
  return clash(first.by[0], second.by[1]) || clash(first.by[1], second.by[0]);
}

Touched touchedBy(Operation *op) {
  Touched touched;
  op->walk([&](Operation *inner) {
    for (const Access &access : collectAccesses(inner)) {
      if (!access.global)
        continue;
      std::optional<KernelKind> core = coreOf(inner);
      for (KernelKind kind : {KernelKind::cube, KernelKind::vector})
        if (!core || *core == kind)
          touched.add(static_cast<unsigned>(kind), access);
    }
  });
  return touched;
}

// Flag ids; free, since texts with their own inter-core flags are not handled by this pass.
constexpr int64_t kToVector = 0, kToCube = 1;

class Orderer {
public:
  explicit Orderer(func::FuncOp func) : arch(targetOf(func)) {}

  /// Inserts barriers at hazards between ops of `block`, and at its end if there is a hazard with `next`, the accesses
  /// that may follow.
  void run(Block &block, const Touched *next) {
    Touched pending; // since the last barrier
    for (Operation &op : llvm::make_early_inc_range(block)) {
      Touched here = touchedBy(&op);
      if (here.empty())
        continue;
      if (clash(pending, here)) {
        meet(&op);
        pending = {};
      }
      run(&op, here);
      pending.add(here);
    }
    if (next && clash(pending, *next))
      meet(block.getTerminator());
  }

  void run(Operation *op, const Touched &all) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        run(block, isa<LoopLikeOpInterface>(op) || !region.hasOneBlock() ? &all : nullptr);
  }

  bool met = false;

private:
  /// A barrier: each kind of core sets a flag for the other and waits for the other's, so no flag is set twice. On a3
  /// engine S waits, which blocks all later issue of the core; on a5 an engine waits.
  void meet(Operation *at) {
    met = true;
    OpBuilder b(at);
    Location loc = at->getLoc();
    auto section = [&](auto op, Pipe stores, int64_t set, int64_t wait, bool isCube) {
      OpBuilder inner = OpBuilder::atBlockEnd(&op.getBody().emplaceBlock());
      auto id = [&](int64_t flag) { return inner.create<arith::ConstantIndexOp>(loc, flag); };
      raiseFlag(inner, loc, stores, id(set), arch, isCube)->setAttr(kFenceAttr, b.getUnitAttr());
      CrossWaitOp last = waitFlag(inner, loc, Pipe::PIPE_MTE2, id(wait), arch, isCube);
      if (arch.laneFlags)
        last->setAttr(kFenceAttr, b.getUnitAttr());
    };
    section(b.create<SectionCubeOp>(loc), Pipe::PIPE_FIX, kToVector, kToCube, true);
    section(b.create<SectionVectorOp>(loc), Pipe::PIPE_MTE3, kToCube, kToVector, false);
  }

  const Target &arch;
};

/// Whether the text assigns ops to cores or synchronises cores explicitly.
bool namesCores(func::FuncOp func) {
  return func->hasAttr(kKernelKindAttr) ||
         has<SectionCubeOp, SectionVectorOp, SyncSetOp, SyncWaitOp, GetSubBlockIdxOp, GetSubBlockNumOp,
             AicInitializePipeOp, AivInitializePipeOp, InitializeL2LPipeOp, InitializeL2G2LPipeOp>(func);
}

struct OrderCoresPass : pto_mlir::pto::impl::PTOOrderCoresBase<OrderCoresPass> {
  void runOnOperation() override {
    getOperation().walk([](func::FuncOp func) {
      UsedCores used = usedCores(func);
      if (func.isExternal() || namesCores(func) || !used.cube || !used.vector)
        return;
      Orderer orderer(func);
      orderer.run(func.getOperation(), touchedBy(func));
      PTO_DEBUG("@" << func.getName() << (orderer.met ? ": cube and vector core are ordered" : ": nothing to order"));
      if (orderer.met)
        func->setAttr(kOrderedAttr, UnitAttr::get(func.getContext()));
    });
  }
};
} // namespace
