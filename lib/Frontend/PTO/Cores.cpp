//===- Cores.cpp - assignment of ops to cores ---------------------------------------------------===//

#include "Cores.h"

#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;

namespace pto_mlir::pto {

/// The only core with this engine; nullopt for engines of both.
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

std::optional<KernelKind> coreOf(Operation *op) {
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
    if (auto slots = dyn_cast<MultiTileBufType>(type))
      type = slots.getSlotType();
    if (auto tile = dyn_cast<TileBufType>(type); tile && !core)
      core = tile.getLoc() == AddressSpace::vec ? KernelKind::vector : KernelKind::cube;
  };
  for (Type type : op->getOperandTypes())
    look(type);
  for (Type type : op->getResultTypes())
    look(type);
  return core;
}

UsedCores usedCores(func::FuncOp func) {
  UsedCores used;
  func.walk([&](Operation *op) {
    if (isa<PipeOpInterface, SectionCubeOp, SectionVectorOp, SyncSetOp, SyncWaitOp>(op))
      if (std::optional<KernelKind> core = coreOf(op))
        (*core == KernelKind::cube ? used.cube : used.vector) = true;
  });
  return used;
}

} // namespace pto_mlir::pto
