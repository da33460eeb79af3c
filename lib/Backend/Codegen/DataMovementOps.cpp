//===- DataMovementOps.cpp - Between memories -----------------------------===//

#include "Models.h"
#include "Types.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

LogicalResult unsupported(Operation *op, StringRef what) { return op->emitOpError("uses ") << what << ", which has no instruction yet"; }

isa::ReluMode relu(pto::ReluPreMode mode) { return mode == pto::ReluPreMode::no_relu ? isa::ReluMode::none : isa::ReluMode::relu; }

isa::AtomicMode atomic(pto::AtomicType mode) { return mode == pto::AtomicType::atomic_none ? isa::AtomicMode::none : isa::AtomicMode::add; }

// A plain copy does not look at the elements: view and tile may differ in kind, not in size.
LogicalResult sameSize(Operation *op, isa::View &view, const isa::Tile &tile) {
  if (isa::elementBits(view.type) != isa::elementBits(tile.type))
    return op->emitOpError("copies elements of ") << isa::elementName(view.type) << " to or from a tile of " << isa::elementName(tile.type);
  view.type = tile.type;
  return success();
}

// A quantisation descriptor is part of the instruction.
FailureOr<int64_t> constantDescriptor(Operation *op, mlir::Value value) {
  APInt bits;
  if (matchPattern(value, m_ConstantInt(&bits)))
    return bits.getSExtValue();
  return op->emitOpError("needs a constant as preQuantScalar: the descriptor is part of the instruction");
}

struct TLoadModel : CodegenOpInterface::ExternalModel<TLoadModel, pto::TLoadOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto load = cast<pto::TLoadOp>(op);
    if (load.getPadValue() || load.getLeftPaddingNum())
      return unsupported(op, "pad_value or left_padding_num");
    auto dst = cg.tileDesc(op, load.getDst());
    isa::TLoad insn;
    if (failed(dst) || failed(cg.view(op, load.getSrc(), insn.src)) || failed(sameSize(op, insn.src, dst->tile)))
      return failure();
    insn.dst = dst->tile;
    insn.space = dst->memory;
    return cg.emit(op, insn);
  }
};

struct TStoreModel : CodegenOpInterface::ExternalModel<TStoreModel, pto::TStoreOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto store = cast<pto::TStoreOp>(op);
    auto src = cg.tileDesc(op, store.getSrc());
    isa::View dst;
    if (failed(src) || failed(cg.view(op, store.getDst(), dst)))
      return failure();
    if (store.getPreQuantScalar()) {
      auto descriptor = constantDescriptor(op, store.getPreQuantScalar());
      if (failed(descriptor))
        return failure();
      if (store.getAtomicType() != pto::AtomicType::atomic_none)
        return unsupported(op, "preQuantScalar with atomicType");
      return cg.emit(op, isa::TStoreAccQuant{dst, src->tile, *descriptor, relu(store.getReluPreMode())});
    }
    if (src->memory == isa::Memory::L0C)
      return cg.emit(op, isa::TStoreAcc{dst, src->tile, relu(store.getReluPreMode()), atomic(store.getAtomicType())});
    if (failed(sameSize(op, dst, src->tile)))
      return failure();
    return cg.emit(op, isa::TStore{dst, src->tile, atomic(store.getAtomicType()), src->memory});
  }
};

struct TMovModel : CodegenOpInterface::ExternalModel<TMovModel, pto::TMovOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto mov = cast<pto::TMovOp>(op);
    if (mov.getAccToVecModeAttr())
      return unsupported(op, "accToVecMode");
    auto src = cg.tileDesc(op, mov.getSrc()), dst = cg.tileDesc(op, mov.getDst());
    if (failed(src) || failed(dst))
      return failure();
    using isa::Memory;
    if (src->memory == Memory::UB && dst->memory == Memory::UB)
      return cg.emit(op, isa::TMov{dst->tile, src->tile});
    if (src->memory == Memory::L1 && dst->memory == Memory::L0A)
      return cg.emit(op, isa::TExtractL0a{dst->tile, src->tile, 0, 0});
    if (src->memory == Memory::L1 && dst->memory == Memory::L0B)
      return cg.emit(op, isa::TExtractL0b{dst->tile, src->tile, 0, 0});
    if (src->memory == Memory::L1 && dst->memory == Memory::BT)
      return cg.emit(op, isa::TMovBt{dst->tile, src->tile, 0});
    if (src->memory == Memory::L1 && dst->memory == Memory::FB)
      return cg.emit(op, isa::TMovFb{dst->tile, src->tile, 0});
    if (src->memory == Memory::L0C && dst->memory == Memory::L1 && mov.getPreQuantScalar()) {
      auto descriptor = constantDescriptor(op, mov.getPreQuantScalar());
      if (failed(descriptor))
        return failure();
      return cg.emit(op, isa::TMovAccQuant{dst->tile, src->tile, 0, 0, 0, 0, dst->tile.validRows, dst->tile.validCols, *descriptor, relu(mov.getReluPreMode())});
    }
    if (src->memory == Memory::L0C && dst->memory == Memory::L1 && mov.getFp()) {
      isa::Tile scales;
      if (failed(cg.tile(op, mov.getFp(), scales)))
        return failure();
      if (isa::elementBits(scales.type) != 64)
        return op->emitOpError("expects scales of 64 bits, as the fixpipe reads them, got ") << isa::elementName(scales.type);
      return cg.emit(op, isa::TMovAccQuantv{dst->tile, src->tile, scales, 0, 0, 0, 0, dst->tile.validRows, dst->tile.validCols, relu(mov.getReluPreMode())});
    }
    if (src->memory == Memory::L0C && dst->memory == Memory::L1)
      return cg.emit(op, isa::TMovAcc{dst->tile, src->tile, relu(mov.getReluPreMode())});
    return op->emitOpError("has no instruction from ") << isa::kMemoryNames[unsigned(src->memory)] << " to "
                                                       << isa::kMemoryNames[unsigned(dst->memory)];
  }
};

struct TExtractModel : CodegenOpInterface::ExternalModel<TExtractModel, pto::TExtractOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto extract = cast<pto::TExtractOp>(op);
    auto src = cg.tileDesc(op, extract.getSrc()), dst = cg.tileDesc(op, extract.getDst());
    isa::Value row, col;
    if (failed(src) || failed(dst) || failed(cg.integer(op, extract.getIndexRow(), row)) || failed(cg.integer(op, extract.getIndexCol(), col)))
      return failure();
    if (src->memory == isa::Memory::L1 && dst->memory == isa::Memory::L0A)
      return cg.emit(op, isa::TExtractL0a{dst->tile, src->tile, row, col});
    if (src->memory == isa::Memory::L1 && dst->memory == isa::Memory::L0B)
      return cg.emit(op, isa::TExtractL0b{dst->tile, src->tile, row, col});
    if (src->memory == isa::Memory::UB && dst->memory == isa::Memory::UB)
      return cg.emit(op, isa::TExtractUb{dst->tile, src->tile, row, col});
    return op->emitOpError("has no instruction from ") << isa::kMemoryNames[unsigned(src->memory)] << " to "
                                                       << isa::kMemoryNames[unsigned(dst->memory)];
  }
};

struct TImg2colModel : CodegenOpInterface::ExternalModel<TImg2colModel, pto::TImg2ColOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto image = cast<pto::TImg2ColOp>(op);
    isa::TImg2col insn;
    if (failed(cg.tile(op, image.getDst(), insn.dst)) || failed(cg.tile(op, image.getSrc(), insn.src)) ||
        failed(cg.integer(op, image.getPosM(), insn.posM)) || failed(cg.integer(op, image.getPosK(), insn.posK)))
      return failure();
    auto at = [](ArrayAttr list, unsigned i) { return cast<IntegerAttr>(list[i]).getInt(); };
    int64_t height = at(image.getImage(), 0);
    insn.height = height;
    insn.padTop = at(image.getPads(), 0);
    insn.padBottom = at(image.getPads(), 2);
    // Each of these has a field of its own width in the attribute words; a number that does not fit becomes an encoding error.
    auto field = [](int64_t v) { return v < 0 || v > UINT32_MAX ? UINT32_MAX : uint32_t(v); };
    insn.width = field(at(image.getImage(), 1));
    insn.channels = field(image.getChannels());
    insn.kernelH = field(at(image.getKernel(), 0)), insn.kernelW = field(at(image.getKernel(), 1));
    insn.strideH = field(at(image.getStrides(), 0)), insn.strideW = field(at(image.getStrides(), 1));
    insn.dilationH = field(at(image.getDilations(), 0)), insn.dilationW = field(at(image.getDilations(), 1));
    insn.padLeft = field(at(image.getPads(), 1)), insn.padRight = field(at(image.getPads(), 3));
    return cg.emit(op, insn);
  }
};

} // namespace

void attachDataMovementModels(MLIRContext *c) {
  pto::TLoadOp::attachInterface<TLoadModel>(*c);
  pto::TStoreOp::attachInterface<TStoreModel>(*c);
  pto::TMovOp::attachInterface<TMovModel>(*c);
  pto::TExtractOp::attachInterface<TExtractModel>(*c);
  pto::TImg2ColOp::attachInterface<TImg2colModel>(*c);
}

} // namespace pto_mlir::backend
