//===- ElementAccessOps.cpp - Single elements of tiles and global memory --===//

#include "Models.h"
#include "Types.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

struct TSetValModel : CodegenOpInterface::ExternalModel<TSetValModel, pto::TSetValOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto set = cast<pto::TSetValOp>(op);
    isa::TSetval insn;
    return failure(failed(cg.tile(op, set.getDst(), insn.dst)) || failed(cg.integer(op, set.getOffset(), insn.index)) ||
                   failed(cg.scalar(op, set.getValue(), insn.value)) || failed(cg.emit(op, insn)));
  }
};

struct TGetValModel : CodegenOpInterface::ExternalModel<TGetValModel, pto::TGetValOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto get = cast<pto::TGetValOp>(op);
    isa::TGetval insn;
    auto dst = cg.registerFor(op, get.getValue());
    if (failed(dst) || failed(cg.tile(op, get.getSrc(), insn.src)) ||
        failed(cg.integer(op, get.getOffset(), insn.index)))
      return failure();
    insn.dst = *dst;
    if (failed(cg.emit(op, insn)))
      return failure();
    cg.define(get.getValue(), isa::Value::reg(*dst));
    return success();
  }
};

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

void attachElementAccessModels(MLIRContext *c) {
  pto::TSetValOp::attachInterface<TSetValModel>(*c);
  pto::TGetValOp::attachInterface<TGetValModel>(*c);
  pto::StoreScalarOp::attachInterface<StoreScalarModel>(*c);
}

} // namespace pto_mlir::backend
