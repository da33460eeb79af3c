// Semaphores between the cube core and the vector cores: instructions of the chip, which the ISA's library leaves as
// they are. Their names are those of the public assembler's C++.
#include "FunctionEmitter.h"

#include "pto_mlir/Dialect/PTO/IR/PTOTraits.h"

using namespace mlir;

namespace pto_mlir::cpp {

/// The second vector core of a block has its semaphores behind those of the first.
static constexpr int64_t kSecondCore = 16;

LogicalResult FunctionEmitter::raiseSemaphore(pto::SyncSetOp op) {
  Value computed = op.getEventIdDyn();
  std::string pipe = stringifyPipe(op.getPipe()).str();
  std::string id = computed ? text(computed).str() : std::to_string(*op.getEventId());
  if (pto::targetOf(op).laneFlags) {
    out.line("set_intra_block(" + pipe + ", " + id + ");");
    if (op.getPipe() == pto::Pipe::PIPE_FIX)
      out.line("set_intra_block(" + pipe + ", " +
               (computed ? "(" + id + " + " + std::to_string(kSecondCore) + ")"
                         : std::to_string(*op.getEventId() + kSecondCore)) +
               ");");
    return success();
  }
  auto func = op->getParentOfType<func::FuncOp>();
  if (!func.walk([](pto::SetFFTsOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return op.emitError("'pto.sync.set' has no C++ without a pto.set_ffts in the same function, which names the memory "
                        "of the semaphores");
  int64_t mode = op.getFftsMode().value_or(2);
  out.line("ffts_cross_core_sync(" + pipe + ", getFFTSMsg(" + (mode == 2 ? "FFTS_MODE_VAL" : std::to_string(mode)) +
           ", " + id + "));");
  return success();
}

LogicalResult FunctionEmitter::awaitSemaphore(pto::SyncWaitOp op) {
  std::string id = op.getEventIdDyn() ? text(op.getEventIdDyn()).str() : std::to_string(*op.getEventId());
  if (pto::targetOf(op).laneFlags)
    out.line("wait_intra_block(" + stringifyPipe(op.getPipe()) + ", " + id + ");");
  else
    out.line("wait_flag_dev(" + id + ");");
  return success();
}

} // namespace pto_mlir::cpp
