//===- ElementAccessOps.cpp - Single elements of tiles and global memory --===//

#include "Models.h"
#include "Types.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

struct StoreScalarModel : CodegenOpInterface::ExternalModel<StoreScalarModel, pto::StoreScalarOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto store = cast<pto::StoreScalarOp>(op);
    auto type = dyn_cast<pto::PtrType>(store.getPtr().getType());
    if (!type)
      return op->emitOpError("expects a !pto.ptr");
    auto ptr = cg.ptrDesc(op, store.getPtr());
    auto element = elementType(type.getElementType());
    if (!element)
      return op->emitOpError("cannot store a ") << type.getElementType();
    isa::StoreScalar insn;
    isa::Value elements, bytes;
    if (failed(ptr) || failed(cg.integer(op, store.getOffset(), elements)) ||
        failed(cg.binary<isa::Mul>(op, elements, isa::Value(pto::getElementBits(type.getElementType()) / 8), bytes)) ||
        failed(cg.binary<isa::Add>(op, ptr->offset, bytes, insn.dst.offset)) ||
        failed(cg.scalar(op, store.getValue(), insn.value)))
      return failure();
    insn.dst.arg = uint8_t(ptr->arg);
    insn.dst.type = *element;
    insn.dst.rank = 1;
    insn.dst.sizes[0] = insn.dst.strides[0] = 1;
    return cg.emit(op, insn);
  }
};

} // namespace

void attachElementAccessModels(MLIRContext *c) { pto::StoreScalarOp::attachInterface<StoreScalarModel>(*c); }

} // namespace pto_mlir::backend
