//===- CoreFlags.cpp - flags between the two kinds of cores of a block ---------------===//

#include "CoreFlags.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pto_mlir::pto {

static constexpr int32_t kLaneMode = 3;   // of cross_set: one vector core and its cube core
static constexpr int64_t kOtherLane = 16; // what the cube core adds to a flag to mean vector core 1

static Value otherLane(OpBuilder &b, Location loc, Value id) {
  return b.createOrFold<arith::AddIOp>(loc, id, b.create<arith::ConstantIndexOp>(loc, kOtherLane));
}

CrossSetOp raiseFlag(OpBuilder &b, Location loc, Pipe pipe, Value id, const Target &arch, bool isCube, int32_t mode) {
  bool lanes = arch.laneFlags;
  auto set = b.create<CrossSetOp>(loc, pipe, lanes ? kLaneMode : mode, id);
  if (lanes && isCube)
    b.create<CrossSetOp>(loc, pipe, kLaneMode, otherLane(b, loc, id));
  return set;
}

CrossWaitOp waitFlag(OpBuilder &b, Location loc, Pipe pipe, Value id, const Target &arch, bool isCube) {
  bool lanes = arch.laneFlags;
  auto wait = b.create<CrossWaitOp>(loc, lanes ? pipe : Pipe::PIPE_S, id);
  if (lanes && isCube)
    wait = b.create<CrossWaitOp>(loc, pipe, otherLane(b, loc, id));
  return wait;
}

} // namespace pto_mlir::pto
