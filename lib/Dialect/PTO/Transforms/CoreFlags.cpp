//===- CoreFlags.cpp - flags between the two kinds of cores of a block ---------------===//

#include "CoreFlags.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pto_mlir::pto {

static constexpr int32_t kLaneMode = 3;   // of cross_set on a5: one vector core and its cube core
static constexpr int64_t kOtherLane = 16; // what the cube core adds to a flag to mean vector core 1 (a5)

static Value otherLane(OpBuilder &b, Location loc, Value id) {
  return b.createOrFold<arith::AddIOp>(loc, id, b.create<arith::ConstantIndexOp>(loc, kOtherLane));
}

CrossSetOp raiseFlag(OpBuilder &b, Location loc, Pipe pipe, Value id, bool a5, bool isCube, int32_t mode) {
  auto set = b.create<CrossSetOp>(loc, pipe, a5 ? kLaneMode : mode, id);
  if (a5 && isCube)
    b.create<CrossSetOp>(loc, pipe, kLaneMode, otherLane(b, loc, id));
  return set;
}

CrossWaitOp waitFlag(OpBuilder &b, Location loc, Pipe pipe, Value id, bool a5, bool isCube) {
  auto wait = b.create<CrossWaitOp>(loc, a5 ? pipe : Pipe::PIPE_S, id);
  if (a5 && isCube)
    wait = b.create<CrossWaitOp>(loc, pipe, otherLane(b, loc, id));
  return wait;
}

} // namespace pto_mlir::pto
