//===- JoinCores.cpp - functions for both kinds of core that make one kernel --------------------===//

#include "../../Dialect/PTO/Transforms/QueueBuffers.h"
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

//===- queues become values -------------------------------------------------------------===//

/// The queues that a front end's op opens, as a value.
template <typename Init> static Value openQueue(Init init) {
  OpBuilder b(init);
  bool both = init.getDirMask() == 3;
  // Where a consumer of the one direction finds its tiles; with both directions the cube core's come second.
  Value first = init.getDirMask() == 2 ? init.getV2cConsumerBuf() : init.getC2vConsumerBuf();
  Value second = both ? init.getV2cConsumerBuf() : Value();
  int32_t slots = both ? 4 : 8;
  auto nosplit = init.getNosplit() ? b.getBoolAttr(*init.getNosplit()) : BoolAttr();
  auto type = PipeHandleType::get(b.getContext());
  if (!init.getGmSlotBuffer())
    return b
        .create<InitializeL2LPipeOp>(init.getLoc(), type, b.getI8IntegerAttr(init.getDirMask()), init.getSlotSizeAttr(),
                                     b.getI32IntegerAttr(slots),
                                     /*flag_base=*/b.getI32IntegerAttr(0), nosplit, first, second)
        .getPipe();
  return b
      .create<InitializeL2G2LPipeOp>(init.getLoc(), type, b.getI8IntegerAttr(init.getDirMask()), init.getSlotSizeAttr(),
                                     b.getI32IntegerAttr(slots), b.getI32IntegerAttr(slots),
                                     /*flag_base=*/b.getI32IntegerAttr(0), nosplit, init.getGmSlotBuffer(), first,
                                     second)
      .getPipe();
}

template <typename Pop> static void replacePop(Pop pop, Value queue) {
  OpBuilder b(pop);
  auto tile = b.create<DeclareTileOp>(pop.getLoc(), pop.getTile().getType());
  b.create<TPopOp>(pop.getLoc(), tile.getResult(), queue, pop.getSplitAttr());
  if (pop.getValidRow())
    b.create<SetValidShapeOp>(pop.getLoc(), tile.getResult(), pop.getValidRow(), pop.getValidCol());
  pop.getTile().replaceAllUsesWith(tile.getResult());
  pop.erase();
}

static LogicalResult openQueues(func::FuncOp func) {
  std::map<int64_t, std::pair<Value, Operation *>> queues;
  func.walk([&](Operation *op) {
    if (auto init = dyn_cast<AicInitializePipeOp>(op))
      queues[queueId(op)] = {openQueue(init), op};
    else if (auto init = dyn_cast<AivInitializePipeOp>(op))
      queues[queueId(op)] = {openQueue(init), op};
  });
  SmallVector<Operation *> users;
  func.walk([&](Operation *op) {
    if (isa<TPushToAivOp, TPushToAicOp, TPopFromAicOp, TPopFromAivOp, TFreeFromAicOp, TFreeFromAivOp>(op))
      users.push_back(op);
  });
  for (Operation *op : users) {
    auto [queue, front] = queues[queueId(op)];
    if (!queue || front->getBlock()->findAncestorOpInBlock(*op) == nullptr ||
        !front->isBeforeInBlock(front->getBlock()->findAncestorOpInBlock(*op)))
      return op->emitOpError("stands where no queue is open; the function needs an initialize_pipe op before it");
    OpBuilder b(op);
    auto split = op->getAttrOfType<IntegerAttr>("split");
    if (isa<TPushToAivOp, TPushToAicOp>(op))
      b.create<TPushOp>(op->getLoc(), op->getOperand(0), queue, split);
    else if (isa<TFreeFromAicOp, TFreeFromAivOp>(op))
      b.create<TFreeOp>(op->getLoc(), queue, split);
    else if (auto pop = dyn_cast<TPopFromAicOp>(op)) {
      replacePop(pop, queue);
      continue;
    } else {
      replacePop(cast<TPopFromAivOp>(op), queue);
      continue;
    }
    op->erase();
  }
  for (auto &[id, opened] : queues)
    if (opened.second)
      opened.second->erase();
  return success();
}

//===- who belongs together -------------------------------------------------------------===//

/// Queues without a flag_base take the next flags, the same ones on both sides.
static LogicalResult numberFlags(MutableArrayRef<Queue> queues) {
  std::map<std::string, int64_t> bases;
  int64_t next = 0;
  for (const Queue &queue : queues)
    if (queue.flagBase)
      next = std::max<int64_t>(next, *queue.flagBase + queue.numFlags());
  for (Queue &queue : queues) {
    if (!queue.flagBase) {
      auto [base, isNew] = bases.insert({bufferOf(queue.local), next});
      next += isNew ? queue.numFlags() : 0;
      queue.flagBase = base->second;
      queue.op->setAttr("flag_base", OpBuilder(queue.op).getI32IntegerAttr(base->second));
    }
    if (int64_t flags = targetOf(queue.op).crossFlags; *queue.flagBase + queue.numFlags() > flags)
      return queue.op->emitOpError("needs cross-core flags up to ")
             << *queue.flagBase + queue.numFlags() - 1 << ", there are 0 to " << flags - 1;
  }
  return success();
}

/// What `bufferOf` says now, for whoever asks when functions have other names.
static void keepBufferNames(ModuleOp module, ArrayRef<Queue> queues) {
  OpBuilder b(module.getContext());
  for (const Queue &queue : queues)
    queue.op->setAttr(kBufferNamesAttr, b.getStrArrayAttr({bufferOf(queue.local), bufferOf(queue.peerLocal)}));
  module.walk([&](ReserveBufferOp reserve) {
    reserve->setAttr(kBufferNamesAttr, b.getStrArrayAttr({bufferOf(reserve.getAddr())}));
  });
}

/// Gives the function whose arguments are the first ones of the other's the rest of them, too. False when they differ
/// otherwise.
static bool shareArguments(func::FuncOp a, func::FuncOp b) {
  if (a.getNumArguments() > b.getNumArguments())
    std::swap(a, b);
  if (a.getArgumentTypes() != b.getArgumentTypes().take_front(a.getNumArguments()))
    return false;
  for (BlockArgument extra : b.getArguments().drop_front(a.getNumArguments()))
    a.insertArgument(a.getNumArguments(), extra.getType(), {}, extra.getLoc());
  return true;
}

/// The body of a function for one kind of core that another function calls goes into a section. What a function returns
/// is needed outside of it: its ops go to the core that has their engine and their tiles, and numbers to both.
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

/// Functions that share a queue's buffer are one kernel, named after the cube core's.
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

/// The semaphores' memory is the device's own business; addresses on the other side's core do not matter to a queue
/// through global memory.
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

/// A kernel's argument that is a tile is one that nobody filled: whoever launches it has no local memory to name. Where
/// the text has the addresses, such tiles follow one another from 0 on.
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
    // A peer_func is a use of a function, too.
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
