//===- PTOEventOps.cpp - named events, event arrays ------------------------------------===//

#include "VerifyHelpers.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;
using namespace pto_mlir::pto;

Pipe pto_mlir::pto::getEventPipe(SyncOpType type) {
  switch (type) {
  case SyncOpType::TLOAD:
    return Pipe::PIPE_MTE2;
  case SyncOpType::TSTORE_VEC:
    return Pipe::PIPE_MTE3;
  case SyncOpType::TMOV_M2L:
  case SyncOpType::TMOV_M2B:
    return Pipe::PIPE_MTE1;
  case SyncOpType::TSTORE_ACC:
  case SyncOpType::TMOV_M2S:
  case SyncOpType::TMOV_V2M:
    return Pipe::PIPE_FIX;
  case SyncOpType::TMATMUL:
    return Pipe::PIPE_M;
  case SyncOpType::TMOV_M2V:
  case SyncOpType::TVEC:
  case SyncOpType::TVECWAIT_EVENT:
    return Pipe::PIPE_V;
  }
  return Pipe::PIPE_ALL;
}
Pipe pto_mlir::pto::getEventPipe(Attribute type) {
  if (auto event = dyn_cast<PipeEventTypeAttr>(type))
    return getEventPipe(event.getValue());
  return getEventPipe(cast<SyncOpTypeAttr>(type).getValue());
}

static LogicalResult verifyBuffer(Operation *op, int64_t id, int64_t mode) {
  if (id < 0 || id > 31)
    return op->emitOpError("expects a buffer of 0 to 31, got ") << id;
  if (mode < 0)
    return op->emitOpError("expects a mode of 0 or more, got ") << mode;
  return success();
}
LogicalResult GetBufOp::verify() {
  return verifyBuffer(*this, static_cast<int32_t>(getBufId()), static_cast<int32_t>(getMode()));
}
LogicalResult RlsBufOp::verify() {
  return verifyBuffer(*this, static_cast<int32_t>(getBufId()), static_cast<int32_t>(getMode()));
}

LogicalResult SetFFTsOp::verify() {
  Type type = elementTypeOf(getFfts().getType());
  if (!type.isInteger(64) && !type.isInteger(8))
    return emitOpError("expects memory of i64 or i8, got ") << type;
  return success();
}

LogicalResult TSyncOp::verify() {
  if (getEvents().empty())
    return emitOpError("expects at least one tile");
  return success();
}
