//===- CoreFlags.cpp - flags between the two kinds of cores of a block ---------------===//

#include "CoreFlags.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pto_mlir::pto {

static constexpr int32_t kLaneMode = 3; // of cross_set: one vector core and its cube core

/// The flag by which a cube core means vector core `lane` of its block.
static Value flagOfLane(OpBuilder &b, Location loc, Value id, const Target &arch, int64_t lane) {
  return b.createOrFold<arith::AddIOp>(loc, id, b.create<arith::ConstantIndexOp>(loc, lane * arch.crossFlags));
}

CrossSetOp raiseFlag(OpBuilder &b, Location loc, Pipe pipe, Value id, const Target &arch, bool isCube, int32_t mode) {
  bool lanes = arch.laneFlags;
  pipe = pipeOn(arch, pipe);
  auto set = b.create<CrossSetOp>(loc, pipe, lanes ? kLaneMode : mode, id);
  for (int64_t lane = 1; lanes && isCube && lane < arch.vectorCores; ++lane)
    b.create<CrossSetOp>(loc, pipe, kLaneMode, flagOfLane(b, loc, id, arch, lane));
  return set;
}

CrossWaitOp waitFlag(OpBuilder &b, Location loc, Pipe pipe, Value id, const Target &arch, bool isCube) {
  bool lanes = arch.laneFlags;
  pipe = pipeOn(arch, pipe);
  auto wait = b.create<CrossWaitOp>(loc, lanes ? pipe : Pipe::PIPE_S, id);
  for (int64_t lane = 1; lanes && isCube && lane < arch.vectorCores; ++lane)
    wait = b.create<CrossWaitOp>(loc, pipe, flagOfLane(b, loc, id, arch, lane));
  return wait;
}

} // namespace pto_mlir::pto
