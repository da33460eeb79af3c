//===- PTOCoreSyncOps.cpp - semaphores between cores ----------------------------------===//

#include "EventId.h"
#include "VerifyHelpers.h"

using namespace mlir;
using namespace pto_mlir::pto;

ParseResult pto_mlir::pto::parseEventId(OpAsmParser &parser, IntegerAttr &id,
                                        std::optional<OpAsmParser::UnresolvedOperand> &dynamic) {
  OpAsmParser::UnresolvedOperand operand;
  OptionalParseResult value = parser.parseOptionalOperand(operand);
  if (value.has_value()) {
    dynamic = operand;
    return *value;
  }
  int32_t number;
  if (parser.parseInteger(number))
    return failure();
  id = parser.getBuilder().getI32IntegerAttr(number);
  return success();
}
void pto_mlir::pto::printEventId(OpAsmPrinter &printer, Operation *, IntegerAttr id, Value dynamic) {
  if (id)
    printer << id.getInt();
  else
    printer << dynamic;
}

static LogicalResult verifyCoreSync(Operation *op, bool literal, bool dynamic, Pipe pipe, ArrayRef<Pipe> withLanes) {
  if (literal == dynamic)
    return op->emitOpError("expects one id, a literal or a value");
  if (!targetOf(op).laneFlags || llvm::is_contained(withLanes, pipe))
    return success();
  InFlightDiagnostic diag = op->emitOpError("does not take ")
                            << stringifyPipe(pipe) << " on " << targetOf(op).name << "; expects one of";
  for (Pipe legal : withLanes)
    diag << " " << stringifyPipe(legal);
  return diag;
}
LogicalResult SyncSetOp::verify() {
  if (auto mode = getFftsMode(); mode && (static_cast<int32_t>(*mode) < 0 || static_cast<int32_t>(*mode) > 2))
    return emitOpError("expects ffts_mode 0, 1 or 2, got ") << static_cast<int32_t>(*mode);
  return verifyCoreSync(*this, getEventId().has_value(), static_cast<bool>(getEventIdDyn()), getPipe(),
                        {Pipe::PIPE_FIX, Pipe::PIPE_MTE3});
}
LogicalResult SyncWaitOp::verify() {
  return verifyCoreSync(*this, getEventId().has_value(), static_cast<bool>(getEventIdDyn()), getPipe(),
                        {Pipe::PIPE_FIX, Pipe::PIPE_MTE1, Pipe::PIPE_MTE2, Pipe::PIPE_MTE3, Pipe::PIPE_V});
}
