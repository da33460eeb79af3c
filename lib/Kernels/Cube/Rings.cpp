//===- Rings.cpp - tiles between the cores of a block ---------------------===//

#include "Rings.h"

using namespace mlir;

namespace pto_mlir::cube {

void raise(Emitter &e, pto::Pipe pipe, int32_t number) {
  // A lane flag of a vector core is raised by MTE3: what it stored came from what it loaded before.
  if (e.arch.laneFlags && pipe == pto::Pipe::PIPE_MTE2)
    pipe = pto::Pipe::PIPE_MTE3;
  e.b.create<pto::SyncSetOp>(e.loc, pto::PipeAttr::get(e.context(), pipe), e.b.getI32IntegerAttr(number), IntegerAttr(),
                             Value());
}

void await(Emitter &e, pto::Pipe pipe, int32_t number, bool fromVectors) {
  auto wait = [&](int64_t flag) {
    e.b.create<pto::SyncWaitOp>(e.loc, pto::PipeAttr::get(e.context(), pipe),
                                e.b.getI32IntegerAttr(static_cast<int32_t>(flag)), Value());
  };
  wait(number);
  // With lane flags each vector core has flags of its own at the cube core, behind those of the one before.
  for (int64_t lane = 1; e.arch.laneFlags && fromVectors && lane < e.arch.vectorCores; ++lane)
    wait(number + lane * e.arch.crossFlags);
}

} // namespace pto_mlir::cube
