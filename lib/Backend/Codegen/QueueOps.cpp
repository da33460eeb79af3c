//===- QueueOps.cpp - Slots of queues, and ops without an instruction -----===//

#include "Models.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

struct SlotPtrModel : CodegenOpInterface::ExternalModel<SlotPtrModel, pto::SlotPtrOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto slot = cast<pto::SlotPtrOp>(op);
    auto ptr = cg.ptrDesc(op, slot.getPtr());
    isa::Value bytes;
    if (failed(ptr) || failed(cg.integer(op, slot.getBytes(), bytes)) ||
        failed(cg.binary<isa::Add>(op, ptr->offset, bytes, ptr->offset)))
      return failure();
    cg.define(slot.getResult(), *ptr);
    return success();
  }
};

/// An op without an instruction: a hint to the memory system, or output for the programmer.
template <typename Op> struct NoInstruction : CodegenOpInterface::ExternalModel<NoInstruction<Op>, Op> {
  LogicalResult generate(Operation *, CodegenContext &) const { return success(); }
};

} // namespace

void attachQueueModels(MLIRContext *c) {
  pto::SlotPtrOp::attachInterface<SlotPtrModel>(*c);
  pto::SlotReadyOp::attachInterface<NoInstruction<pto::SlotReadyOp>>(*c);
  pto::SlotDoneOp::attachInterface<NoInstruction<pto::SlotDoneOp>>(*c);
  pto::TPrefetchOp::attachInterface<NoInstruction<pto::TPrefetchOp>>(*c);
  pto::TPrintOp::attachInterface<NoInstruction<pto::TPrintOp>>(*c);
  pto::PrintOp::attachInterface<NoInstruction<pto::PrintOp>>(*c);
}

} // namespace pto_mlir::backend
