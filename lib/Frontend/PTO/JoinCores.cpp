//===- JoinCores.cpp - join functions of cube and vector cores to kernels --------------------===//

#include "OpenQueues.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Frontend/PTO/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <map>

#define DEBUG_TYPE "pto-join-cores"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOJOINCORES
#include "pto_mlir/Frontend/PTO/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

//===- joining functions ----------------------------------------------------------------===//

/// Records the results of `bufferOf`, which depend on function names, before functions are renamed.
static void keepBufferNames(ModuleOp module, ArrayRef<Queue> queues) {
  OpBuilder b(module.getContext());
  for (const Queue &queue : queues)
    queue.op->setAttr(kBufferNamesAttr, b.getStrArrayAttr({bufferOf(queue.local), bufferOf(queue.peerLocal)}));
  module.walk([&](ReserveBufferOp reserve) {
    reserve->setAttr(kBufferNamesAttr, b.getStrArrayAttr({bufferOf(reserve.getAddr())}));
  });
}

/// Extends the shorter argument list, which must be a prefix of the other function's, to the full list. False when it
/// is not a prefix.
static bool shareArguments(func::FuncOp a, func::FuncOp b) {
  if (a.getNumArguments() > b.getNumArguments())
    std::swap(a, b);
  if (a.getArgumentTypes() != b.getArgumentTypes().take_front(a.getNumArguments()))
    return false;
  for (BlockArgument extra : b.getArguments().drop_front(a.getNumArguments()))
    a.insertArgument(a.getNumArguments(), extra.getType(), {}, extra.getLoc());
  return true;
}

/// Wraps the body of a called function for one kind of core into a section. A function with results is left without
/// one, since they are used outside: its ops are assigned by engine and tiles, and scalars to both cores.
static void wrapInSection(func::FuncOp func, KernelKind kind) {
  if (func.getNumResults() != 0) {
    func->removeAttr(kKernelKindAttr);
    return;
  }
  Block &body = func.getBody().front();
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  Operation *section = kind == KernelKind::cube ? b.create<SectionCubeOp>(func.getLoc()).getOperation()
                                                : b.create<SectionVectorOp>(func.getLoc()).getOperation();
  Block *inside =
      section->getRegion(0).empty() ? &section->getRegion(0).emplaceBlock() : &section->getRegion(0).front();
  inside->getOperations().splice(inside->end(), body.getOperations(), std::next(Block::iterator(section)),
                                 Block::iterator(body.getTerminator()));
  func->removeAttr(kKernelKindAttr);
}

/// Joins functions that share a queue's buffer to one kernel, named after the cube core's.
static LogicalResult joinPeers(ArrayRef<func::FuncOp> funcs, ArrayRef<Queue> queues) {
  std::map<std::string, SmallVector<func::FuncOp, 2>> sides;
  for (const Queue &queue : queues)
    for (Value address : {queue.local, queue.peerLocal})
      if (std::string buffer = bufferOf(address); !buffer.empty())
        sides[buffer].push_back(queue.op->getParentOfType<func::FuncOp>());
  for (auto &[buffer, peers] : sides) {
    func::FuncOp cube, vector;
    for (func::FuncOp func : peers)
      if (auto kind = func->getAttrOfType<KernelKindAttr>(kKernelKindAttr); kind && llvm::is_contained(funcs, func))
        (kind.getValue() == KernelKind::cube ? cube : vector) = func;
    if (!cube || !vector)
      continue;
    if (!shareArguments(cube, vector))
      return vector.emitError("and @") << cube.getName()
                                       << " share a queue, so they are one kernel and take the same arguments; got "
                                       << vector.getFunctionType() << " and " << cube.getFunctionType();
    vector->setAttr(kPartOfAttr, cube.getSymNameAttr());
    for (func::FuncOp part : {cube, vector})
      part.setPublic();
  }
  return success();
}

/// Erases handles that are not needed: the device owns the memory of the semaphores, and a queue through global memory
/// does not use addresses of the other side's core.
static void dropHandles(ModuleOp module) {
  module.walk([](SetFFTsOp op) { op.erase(); });
  module.walk([](ImportReservedBufferOp op) {
    OpBuilder b(op);
    op.getAddr().replaceAllUsesWith(b.create<arith::ConstantIntOp>(op.getLoc(), 0, 32));
    op.erase();
  });
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal() || !SymbolTable::symbolKnownUseEmpty(func, module))
      continue;
    llvm::BitVector unused(func.getNumArguments());
    for (BlockArgument argument : func.getArguments())
      if (isa<MemRefType>(argument.getType()) && argument.use_empty())
        unused.set(argument.getArgNumber());
    func.eraseArguments(unused);
  }
}

/// Replaces tile arguments of a kernel by uninitialised local tiles, since a launch cannot pass local memory. With
/// addresses in the text, these tiles are laid out consecutively from 0.
static void allocateTileArguments(func::FuncOp func, bool addressed) {
  std::map<AddressSpace, int64_t> used;
  OpBuilder b = OpBuilder::atBlockBegin(&func.getBody().front());
  Location loc = func.getLoc();
  llvm::BitVector gone(func.getNumArguments());
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<TileBufType>(argument.getType());
    if (!type)
      continue;
    auto index = [&](bool dynamic, int64_t value) {
      return dynamic ? b.create<arith::ConstantIndexOp>(loc, value).getResult() : Value();
    };
    Value row = index(type.hasDynamicValidRows(), type.getRows()),
          col = index(type.hasDynamicValidCols(), type.getCols()), address;
    if (addressed) {
      int64_t &next = used[type.getLoc()];
      address = b.create<arith::ConstantIntOp>(loc, next, 64);
      next += llvm::alignTo(getPaddedTileBytes(type), 256);
    }
    argument.replaceAllUsesWith(b.create<AllocTileOp>(loc, type, address, row, col));
    gone.set(argument.getArgNumber());
  }
  func.eraseArguments(gone);
}

namespace {
struct JoinCoresPass : pto_mlir::pto::impl::PTOJoinCoresBase<JoinCoresPass> {
  using PTOJoinCoresBase::PTOJoinCoresBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> roots, called;
    for (auto func : module.getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      if (failed(openQueues(func)))
        return signalPassFailure();
      (SymbolTable::symbolKnownUseEmpty(func, module) || func->hasAttr("pto.entry") || func->hasAttr("hacc.entry")
           ? roots
           : called)
          .push_back(func);
    }
    // A peer_func attribute also uses a function symbol.
    SmallVector<func::FuncOp> callees;
    module.walk([&](func::CallOp call) {
      if (auto func = module.lookupSymbol<func::FuncOp>(call.getCallee()))
        callees.push_back(func);
    });
    for (func::FuncOp func : called)
      if (!llvm::is_contained(callees, func))
        roots.push_back(func);
    for (func::FuncOp func : roots)
      allocateTileArguments(func, addressed);
    SmallVector<Queue> queues;
    module.walk([&](Operation *op) {
      if (Queue queue = Queue::of(op))
        queues.push_back(queue);
    });
    PTO_DEBUG(roots.size() << " kernels, " << queues.size() << " ends of queues");
    keepBufferNames(module, queues);
    if (failed(numberFlags(queues)) || failed(joinPeers(roots, queues)))
      return signalPassFailure();
    dropHandles(module);
    for (func::FuncOp func : called)
      if (auto kind = func->getAttrOfType<KernelKindAttr>(kKernelKindAttr);
          kind && llvm::is_contained(callees, func) && func.getBody().hasOneBlock())
        wrapInSection(func, kind.getValue());
  }
};
} // namespace
