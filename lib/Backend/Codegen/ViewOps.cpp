//===- ViewOps.cpp - Views of global memory -------------------------------===//
//
// A view is an operand, not a value: these ops only compute its offset, folded as far as it is constant.
//
//===----------------------------------------------------------------------===//

#include "Models.h"
#include "Types.h"

#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

// sum += elements * stride, in bytes; constant factors are multiplied here. The registers are temporary: define keeps
// the last one.
LogicalResult addElements(Operation *op, CodegenContext &cg, isa::Value elements, isa::Value stride, Type element,
                          isa::Value &sum) {
  unsigned bits = pto::getElementBits(element);
  isa::Value step, bytes, factor;
  if (bits % 8) {
    if (failed(cg.binary<isa::Mul>(op, elements, stride, step)) ||
        failed(cg.binary<isa::Mul>(op, step, isa::Value(bits), step)) ||
        failed(cg.binary<isa::Shr>(op, step, isa::Value(3), bytes)))
      return failure();
  } else if (failed(cg.binary<isa::Mul>(op, stride, isa::Value(bits / 8), factor)) ||
             failed(cg.binary<isa::Mul>(op, elements, factor, bytes))) {
    return failure();
  }
  return cg.binary<isa::Add>(op, sum, bytes, sum);
}

struct AddPtrModel : CodegenOpInterface::ExternalModel<AddPtrModel, pto::AddPtrOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto add = cast<pto::AddPtrOp>(op);
    auto ptr = cg.ptrDesc(op, add.getPtr());
    isa::Value elements;
    if (failed(ptr) || failed(cg.integer(op, add.getOffset(), elements)) ||
        failed(addElements(op, cg, elements, isa::Value(1), cast<pto::PtrType>(add.getPtr().getType()).getElementType(),
                           ptr->offset)))
      return failure();
    cg.define(add.getResult(), *ptr);
    return success();
  }
};

struct MakeViewModel : CodegenOpInterface::ExternalModel<MakeViewModel, pto::MakeTensorViewOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto make = cast<pto::MakeTensorViewOp>(op);
    auto type = cast<pto::TensorViewType>(make.getResult().getType());
    auto ptr = cg.ptrDesc(op, make.getPtr());
    auto element = elementType(type.getElementType());
    if (failed(ptr))
      return failure();
    if (!element || type.getRank() < 1 || type.getRank() > int64_t(isa::kMaxRank))
      return op->emitOpError("has type ") << type << ", which no instruction can address";
    isa::View view;
    view.arg = uint8_t(ptr->arg);
    view.type = *element;
    view.rank = uint8_t(type.getRank());
    view.offset = ptr->offset;
    for (unsigned i = 0; i < view.rank; ++i)
      if (failed(cg.integer(op, make.getShape()[i], view.sizes[i])) ||
          failed(cg.integer(op, make.getStrides()[i], view.strides[i])))
        return failure();
    view.layout = layoutOf(make, view);
    cg.define(make.getResult(), view);
    return success();
  }

  // Column-major when only the stride of the rows is 1.
  static isa::Layout layoutOf(pto::MakeTensorViewOp make, const isa::View &view) {
    if (auto layout = make.getLayout())
      return *layout == pto::Layout::dn   ? isa::Layout::DN
             : *layout == pto::Layout::nz ? isa::Layout::NZ
                                          : isa::Layout::ND;
    bool rowMajor =
        view.rank < 2 || view.strides[view.rank - 1] == isa::Value(1) || view.strides[view.rank - 2] != isa::Value(1);
    return rowMajor ? isa::Layout::ND : isa::Layout::DN;
  }
};

struct PartitionViewModel : CodegenOpInterface::ExternalModel<PartitionViewModel, pto::PartitionViewOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto part = cast<pto::PartitionViewOp>(op);
    isa::View view;
    if (failed(cg.viewDesc(op, part.getSource(), view)))
      return failure();
    if (part.getOffsets().size() != view.rank || part.getSizes().size() != view.rank)
      return op->emitOpError("expects an offset and a size for each of ") << unsigned(view.rank) << " dimensions";
    Type element = cast<pto::TensorViewType>(part.getSource().getType()).getElementType();
    for (unsigned i = 0; i < view.rank; ++i) {
      isa::Value offset;
      if (failed(cg.integer(op, part.getOffsets()[i], offset)) ||
          failed(cg.integer(op, part.getSizes()[i], view.sizes[i])) ||
          failed(addElements(op, cg, offset, view.strides[i], element, view.offset)))
        return failure();
    }
    cg.define(part.getResult(), view);
    return success();
  }
};

struct DimModel : CodegenOpInterface::ExternalModel<DimModel, pto::GetTensorViewDimOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto dim = cast<pto::GetTensorViewDimOp>(op);
    isa::View view;
    auto index = constantOf(dim.getDim());
    if (failed(cg.viewDesc(op, dim.getView(), view)))
      return failure();
    if (!index || *index < 0 || *index >= view.rank)
      return op->emitOpError("expects a constant dimension below the view's rank");
    cg.define(dim.getResult(), view.sizes[*index]);
    return success();
  }
};

struct LoadScalarModel : CodegenOpInterface::ExternalModel<LoadScalarModel, pto::LoadScalarOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto load = cast<pto::LoadScalarOp>(op);
    auto type = dyn_cast<pto::PtrType>(load.getPtr().getType());
    if (!type)
      return op->emitOpError("expects a !pto.ptr");
    auto ptr = cg.ptrDesc(op, load.getPtr());
    auto element = elementType(type.getElementType());
    isa::Value elements;
    if (failed(ptr) || failed(cg.integer(op, load.getOffset(), elements)))
      return failure();
    if (!element)
      return op->emitOpError("cannot load a ") << type.getElementType();
    isa::LoadScalar insn;
    insn.src.arg = uint8_t(ptr->arg);
    insn.src.type = *element;
    insn.src.rank = 1;
    insn.src.sizes[0] = insn.src.strides[0] = 1;
    insn.src.offset = ptr->offset;
    if (failed(addElements(op, cg, elements, isa::Value(1), type.getElementType(), insn.src.offset)))
      return failure();
    auto dst = cg.registerFor(op, load.getResult());
    if (failed(dst))
      return failure();
    insn.dst = *dst;
    if (failed(cg.emit(op, insn)))
      return failure();
    cg.define(load.getResult(), isa::Value::reg(*dst));
    return success();
  }
};

} // namespace

void attachViewModels(MLIRContext *c) {
  pto::AddPtrOp::attachInterface<AddPtrModel>(*c);
  pto::MakeTensorViewOp::attachInterface<MakeViewModel>(*c);
  pto::PartitionViewOp::attachInterface<PartitionViewModel>(*c);
  pto::GetTensorViewDimOp::attachInterface<DimModel>(*c);
  pto::LoadScalarOp::attachInterface<LoadScalarModel>(*c);
}

} // namespace pto_mlir::backend
