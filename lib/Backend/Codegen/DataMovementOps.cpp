//===- DataMovementOps.cpp - Between memories -----------------------------===//

#include "Models.h"
#include "Types.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

LogicalResult noInstruction(Operation *op, isa::Memory from, isa::Memory to) {
  return op->emitOpError("has no instruction from ")
         << isa::kMemoryNames[unsigned(from)] << " to " << isa::kMemoryNames[unsigned(to)];
}

LogicalResult unsupported(Operation *op, StringRef what) {
  return op->emitOpError("uses ") << what << ", which has no instruction yet";
}

isa::ReluMode relu(pto::ReluPreMode mode) {
  return mode == pto::ReluPreMode::no_relu ? isa::ReluMode::none : isa::ReluMode::relu;
}

isa::AtomicMode atomic(pto::AtomicType mode) {
  return mode == pto::AtomicType::atomic_none ? isa::AtomicMode::none : isa::AtomicMode::add;
}

// A plain copy does not look at the elements: view and tile may differ in kind, not in size.
LogicalResult sameSize(Operation *op, isa::View &view, const isa::Tile &tile) {
  if (isa::elementBits(view.type) != isa::elementBits(tile.type))
    return op->emitOpError("copies elements of ")
           << isa::elementName(view.type) << " to or from a tile of " << isa::elementName(tile.type);
  view.type = tile.type;
  return success();
}

// A quantisation descriptor takes two operands of 32 bits.
struct Descriptor {
  isa::Value low, high;
};
LogicalResult descriptor(Operation *op, CodegenContext &cg, mlir::Value value, Descriptor &out) {
  APInt bits;
  if (matchPattern(value, m_ConstantInt(&bits))) {
    out = {isa::Value(int32_t(bits.getZExtValue())), isa::Value(int32_t(bits.getZExtValue() >> 32))};
    return success();
  }
  return failure(failed(cg.integer(op, value, out.low)) ||
                 failed(cg.binary<isa::Shr>(op, out.low, isa::Value(32), out.high)));
}

isa::TargetCores targetCores(std::optional<pto::AccToVecMode> mode) {
  return mode ? isa::TargetCores(unsigned(*mode)) : isa::TargetCores::first;
}

// Sets dst's valid extents to the half of src that each vector core receives.
LogicalResult halve(Operation *op, CodegenContext &cg, isa::TargetCores cores, const isa::Tile &src, isa::Tile &dst) {
  bool halfRows = cores == isa::TargetCores::halfRows;
  if (!halfRows && cores != isa::TargetCores::halfCols)
    return success();
  const isa::Value &all = halfRows ? src.validRows : src.validCols;
  isa::Value &half = halfRows ? dst.validRows : dst.validCols;
  if (!all.isRegister && all.value % 2)
    return op->emitOpError("gives each core half of ")
           << all.value << (halfRows ? " rows" : " columns") << "; expects an even number";
  return cg.binary<isa::Div>(op, all, isa::Value(2), half);
}

// The fixpipe reads words of 64 bits; the text may call them pairs of f32.
LogicalResult asWords(Operation *op, isa::Tile &tile) {
  unsigned bits = isa::elementBits(tile.type);
  if (bits == 64)
    return success();
  auto words = [&](int64_t n) { return n * bits / 64; };
  if (tile.layout != isa::Layout::ND || tile.cols * bits % 64 || tile.validCols.isRegister ||
      tile.validCols.value * bits % 64)
    return op->emitOpError("moves descriptors of 64 bits, got a tile of ")
           << isa::elementName(tile.type) << " that holds no whole ones in rows";
  tile.type = isa::ElementType::u64;
  tile.cols = uint16_t(words(tile.cols));
  tile.validCols = isa::Value(words(tile.validCols.value));
  return success();
}

// L1 to the scales of a product's operand: the first bytes of each row (of b: the first rows) are the codes. An element
// of 16 bits holds the codes of two groups that follow one another, as pto-isa 2.3 lays them out in memory (MX_A_ND,
// MX_A_DN, MX_B_ND, MX_B_DN).
LogicalResult extractScales(Operation *op, CodegenContext &cg, const TileDesc &dst, isa::Tile src, isa::Value row,
                            isa::Value col) {
  unsigned bits = isa::elementBits(src.type);
  bool left = dst.memory == isa::Memory::SA, plain = src.layout == isa::Layout::ND || src.layout == isa::Layout::DN;
  if (bits != 8 && bits != 16)
    return op->emitOpError("moves scales, which are bytes, out of a tile of ")
           << isa::elementName(src.type) << "; elements of 8 or 16 bits would do";
  if (!plain)
    return op->emitOpError("moves scales out of a tile in blocks; blayout=row_major, slayout=none_box would do");
  if (bits == 16) {
    uint16_t &box = left ? src.cols : src.rows;
    isa::Value &valid = left ? src.validCols : src.validRows, &first = left ? col : row;
    if (box > UINT16_MAX / 2)
      return op->emitOpError("moves scales out of a tile of ")
             << box << " pairs; at most " << UINT16_MAX / 2 << " would do";
    box = uint16_t(box * 2);
    if (failed(cg.binary<isa::Mul>(op, valid, isa::Value(2), valid)) ||
        failed(cg.binary<isa::Mul>(op, first, isa::Value(2), first)))
      return failure();
    // Where elements of one group follow one another the two of a pair stay neighbours: boxes of two groups.
    if (left != (src.layout == isa::Layout::ND))
      src.layout = left ? isa::Layout::NZ : isa::Layout::ZN;
  }
  src.type = isa::ElementType::f8E8M0;
  return left ? cg.emit(op, isa::TExtractSa{dst.tile, src, row, col})
              : cg.emit(op, isa::TExtractSb{dst.tile, src, row, col});
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
    // Into boxes of columns a view goes column by column, whatever its strides.
    if (insn.dst.layout == isa::Layout::ZN && insn.src.layout == isa::Layout::ND && insn.src.rank == 2)
      insn.src.layout = isa::Layout::DN;
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
      Descriptor bits;
      if (failed(descriptor(op, cg, store.getPreQuantScalar(), bits)))
        return failure();
      return cg.emit(op, isa::TStoreAccQuant{dst, src->tile, bits.low, bits.high, relu(store.getReluPreMode()),
                                             atomic(store.getAtomicType())});
    }
    if (src->memory == isa::Memory::L0C)
      return cg.emit(op, isa::TStoreAcc{dst, src->tile, relu(store.getReluPreMode()), atomic(store.getAtomicType())});
    if (failed(sameSize(op, dst, src->tile)))
      return failure();
    return cg.emit(op, isa::TStore{dst, src->tile, atomic(store.getAtomicType()), src->memory});
  }
};

// L0C to UB of one or both vector cores.
LogicalResult moveToVectorCores(pto::TMovOp mov, CodegenContext &cg, const TileDesc &src, TileDesc &dst) {
  isa::TargetCores cores = targetCores(mov.getAccToVecMode());
  isa::ReluMode mode = relu(mov.getReluPreMode());
  if (failed(halve(mov, cg, cores, src.tile, dst.tile)))
    return failure();
  if (mov.getPreQuantScalar()) {
    Descriptor bits;
    return failure(failed(descriptor(mov, cg, mov.getPreQuantScalar(), bits)) ||
                   failed(cg.emit(mov, isa::TMovAccUbQuant{dst.tile, src.tile, bits.low, bits.high, mode, cores})));
  }
  if (mov.getFp()) {
    isa::Tile scales;
    if (failed(cg.tile(mov, mov.getFp(), scales)))
      return failure();
    asDescriptors(scales, src.tile);
    return cg.emit(mov, isa::TMovAccUbQuantv{dst.tile, src.tile, scales, mode, cores});
  }
  return cg.emit(mov, isa::TMovAccUb{dst.tile, src.tile, mode, cores});
}

struct TMovModel : CodegenOpInterface::ExternalModel<TMovModel, pto::TMovOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto mov = cast<pto::TMovOp>(op);
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
      return failure(failed(asWords(op, dst->tile)) || failed(asWords(op, src->tile)) ||
                     failed(cg.emit(op, isa::TMovFb{dst->tile, src->tile, 0})));
    if (src->memory == Memory::L1 && (dst->memory == Memory::SA || dst->memory == Memory::SB))
      return extractScales(op, cg, *dst, src->tile, 0, 0);
    if (src->memory == Memory::UB && dst->memory == Memory::L1)
      return cg.emit(op, isa::TInsertL1{dst->tile, src->tile, 0, 0, 0, 0, src->tile.validRows, src->tile.validCols});
    if (src->memory == Memory::L0C && dst->memory == Memory::UB)
      return moveToVectorCores(mov, cg, *src, *dst);
    if (src->memory == Memory::L0C && dst->memory == Memory::L1 && mov.getPreQuantScalar()) {
      Descriptor bits;
      if (failed(descriptor(op, cg, mov.getPreQuantScalar(), bits)))
        return failure();
      return cg.emit(op, isa::TMovAccQuant{dst->tile, src->tile, 0, 0, 0, 0, dst->tile.validRows, dst->tile.validCols,
                                           bits.low, bits.high, relu(mov.getReluPreMode())});
    }
    if (src->memory == Memory::L0C && dst->memory == Memory::L1 && mov.getFp()) {
      isa::Tile scales;
      if (failed(cg.tile(op, mov.getFp(), scales)))
        return failure();
      asDescriptors(scales, dst->tile);
      return cg.emit(op, isa::TMovAccQuantv{dst->tile, src->tile, scales, 0, 0, 0, 0, dst->tile.validRows,
                                            dst->tile.validCols, relu(mov.getReluPreMode())});
    }
    if (src->memory == Memory::L0C && dst->memory == Memory::L1)
      return cg.emit(op, isa::TMovAcc{dst->tile, src->tile, relu(mov.getReluPreMode())});
    return noInstruction(op, src->memory, dst->memory);
  }
};

struct TExtractModel : CodegenOpInterface::ExternalModel<TExtractModel, pto::TExtractOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto extract = cast<pto::TExtractOp>(op);
    auto src = cg.tileDesc(op, extract.getSrc()), dst = cg.tileDesc(op, extract.getDst());
    isa::Value row, col;
    if (failed(src) || failed(dst) || failed(cg.integer(op, extract.getIndexRow(), row)) ||
        failed(cg.integer(op, extract.getIndexCol(), col)))
      return failure();
    if (src->memory == isa::Memory::L1 && dst->memory == isa::Memory::L0A)
      return cg.emit(op, isa::TExtractL0a{dst->tile, src->tile, row, col});
    if (src->memory == isa::Memory::L1 && dst->memory == isa::Memory::L0B)
      return cg.emit(op, isa::TExtractL0b{dst->tile, src->tile, row, col});
    if (src->memory == isa::Memory::UB && dst->memory == isa::Memory::UB)
      return cg.emit(op, isa::TExtractUb{dst->tile, src->tile, row, col});
    if (src->memory == isa::Memory::UB && dst->memory == isa::Memory::L1)
      return cg.emit(op,
                     isa::TInsertL1{dst->tile, src->tile, 0, 0, row, col, dst->tile.validRows, dst->tile.validCols});
    if (src->memory == isa::Memory::L1 && (dst->memory == isa::Memory::SA || dst->memory == isa::Memory::SB))
      return extractScales(op, cg, *dst, src->tile, row, col);
    return noInstruction(op, src->memory, dst->memory);
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
    // Each of these has a field of its own width in the attribute words; a number that does not fit becomes an encoding
    // error.
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

struct TInsertModel : CodegenOpInterface::ExternalModel<TInsertModel, pto::TInsertOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto insert = cast<pto::TInsertOp>(op);
    auto src = cg.tileDesc(op, insert.getSrc()), dst = cg.tileDesc(op, insert.getDst());
    isa::Value row, col;
    if (failed(src) || failed(dst) || failed(cg.integer(op, insert.getIndexRow(), row)) ||
        failed(cg.integer(op, insert.getIndexCol(), col)))
      return failure();
    if (src->memory == isa::Memory::L0C && dst->memory == isa::Memory::L1)
      return cg.emit(op, isa::TInsertAcc{dst->tile, src->tile, row, col, isa::ReluMode::none});
    if (src->memory == isa::Memory::UB && dst->memory == isa::Memory::UB)
      return cg.emit(op, isa::TInsertUb{dst->tile, src->tile, row, col});
    if (src->memory == isa::Memory::UB && dst->memory == isa::Memory::L1)
      return cg.emit(op,
                     isa::TInsertL1{dst->tile, src->tile, row, col, 0, 0, src->tile.validRows, src->tile.validCols});
    return noInstruction(op, src->memory, dst->memory);
  }
};

} // namespace

void attachDataMovementModels(MLIRContext *c) {
  pto::TLoadOp::attachInterface<TLoadModel>(*c);
  pto::TStoreOp::attachInterface<TStoreModel>(*c);
  pto::TMovOp::attachInterface<TMovModel>(*c);
  pto::TExtractOp::attachInterface<TExtractModel>(*c);
  pto::TImg2ColOp::attachInterface<TImg2colModel>(*c);
  pto::TInsertOp::attachInterface<TInsertModel>(*c);
}

} // namespace pto_mlir::backend
