//===- HandwrittenOps.cpp - Ops that only hand-written kernels use --------===//
//
// In a library of its own: what compiles models does not link it.
//
//===----------------------------------------------------------------------===//

#include "FamilyModels.h"
#include "Scalars.h"
#include "Types.h"
#include "pto_mlir/Backend/HandwrittenCodegen.h"
#include "pto_mlir/Dialect/PTO/IR/PTOExtra.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

template <typename Op, typename Insn> void unary(MLIRContext *c) {
  Op::template attachInterface<UnaryTile<Op, Insn>>(*c);
}
template <typename Op, typename Insn> void binary(MLIRContext *c) {
  Op::template attachInterface<BinaryTile<Op, Insn>>(*c);
}
template <typename Op, typename Insn> void scalar(MLIRContext *c) {
  Op::template attachInterface<ScalarTile<Op, Insn>>(*c);
}

/// a op b + c through dst, as the assembler does it.
template <typename Op, typename First, typename Second>
struct TernaryModel : CodegenOpInterface::ExternalModel<TernaryModel<Op, First, Second>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto typed = cast<Op>(op);
    First first;
    Second second;
    if (failed(cg.tile(op, typed.getDst(), first.dst)) || failed(cg.tile(op, typed.getSrc0(), first.src0)) ||
        failed(cg.tile(op, typed.getSrc1(), first.src1)) || failed(cg.tile(op, typed.getSrc2(), second.src1)) ||
        failed(cg.emit(op, first)))
      return failure();
    second.dst = second.src0 = first.dst;
    return cg.emit(op, second);
  }
};
template <typename Op, typename First>
struct ScalarTernaryModel : CodegenOpInterface::ExternalModel<ScalarTernaryModel<Op, First>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto typed = cast<Op>(op);
    First first;
    isa::TAdd second;
    if (failed(cg.tile(op, typed.getDst(), first.dst)) || failed(cg.tile(op, typed.getSrc0(), first.src)) ||
        failed(cg.scalar(op, typed.getScalar(), first.scalar)) || failed(cg.tile(op, typed.getSrc1(), second.src1)) ||
        failed(cg.emit(op, first)))
      return failure();
    second.dst = second.src0 = first.dst;
    return cg.emit(op, second);
  }
};

struct TCIModel : CodegenOpInterface::ExternalModel<TCIModel, pto::TCIOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto iota = cast<pto::TCIOp>(op);
    isa::TCi insn;
    insn.descending = iota.getDescending() ? isa::Switch::on : isa::Switch::off;
    return failure(failed(cg.tile(op, iota.getDst(), insn.dst)) ||
                   failed(cg.integer(op, iota.getStart(), insn.start)) || failed(cg.emit(op, insn)));
  }
};

struct TTriModel : CodegenOpInterface::ExternalModel<TTriModel, pto::TTriOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto tri = cast<pto::TTriOp>(op);
    isa::TTri insn;
    insn.half = isa::Triangle(tri.getUpperOrLower());
    return failure(failed(cg.tile(op, tri.getDst(), insn.dst)) ||
                   failed(cg.integer(op, tri.getDiagonal(), insn.diagonal)) || failed(cg.emit(op, insn)));
  }
};

struct TGatherModel : CodegenOpInterface::ExternalModel<TGatherModel, pto::TGatherOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto gather = cast<pto::TGatherOp>(op);
    if (gather.getCdst()) {
      isa::TGatherCmp insn;
      insn.mode = isa::CompareMode(unsigned(gather.getCmpMode().value_or(pto::CmpMode::eq)));
      insn.offset = isa::Value(gather.getOffset().value_or(0));
      return failure(failed(cg.tile(op, gather.getDst(), insn.dst)) ||
                     failed(cg.tile(op, gather.getCdst(), insn.counts)) ||
                     failed(cg.tile(op, gather.getSrc(), insn.src)) ||
                     failed(cg.scalar(op, gather.getKValue(), insn.scalar)) || failed(cg.emit(op, insn)));
    }
    if (auto pattern = gather.getMaskPattern()) {
      isa::TGatherMask insn;
      insn.pattern = isa::MaskPattern(unsigned(*pattern) - 1); // the dialect counts from 1
      return failure(failed(cg.tile(op, gather.getDst(), insn.dst)) || failed(cg.tile(op, gather.getSrc(), insn.src)) ||
                     failed(cg.emit(op, insn)));
    }
    isa::TGather insn;
    return failure(failed(cg.tile(op, gather.getDst(), insn.dst)) || failed(cg.tile(op, gather.getSrc(), insn.src)) ||
                   failed(cg.tile(op, gather.getIndices(), insn.indices)) || failed(cg.emit(op, insn)));
  }
};

struct TGatherBModel : CodegenOpInterface::ExternalModel<TGatherBModel, pto::TGatherBOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto gather = cast<pto::TGatherBOp>(op);
    isa::TGatherb insn;
    return failure(failed(cg.tile(op, gather.getDst(), insn.dst)) || failed(cg.tile(op, gather.getSrc(), insn.src)) ||
                   failed(cg.tile(op, gather.getOffsets(), insn.offsets)) || failed(cg.emit(op, insn)));
  }
};

struct TSort32Model : CodegenOpInterface::ExternalModel<TSort32Model, pto::TSort32Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto sort = cast<pto::TSort32Op>(op);
    isa::TSort32 insn;
    return failure(failed(cg.tile(op, sort.getDst(), insn.dst)) || failed(cg.tile(op, sort.getSrc(), insn.src)) ||
                   failed(cg.tile(op, sort.getIdx(), insn.indices)) || failed(cg.emit(op, insn)));
  }
};

/// What was taken from each list goes to a register that nobody reads: the op's vector is an operand.
LogicalResult mergeLists(pto::TMrgSortOp sort, CodegenContext &cg) {
  auto lists = sort.getSrcs();
  isa::Tile dst, tiles[4];
  auto counts = cg.temporary(sort);
  if (failed(counts) || failed(cg.tile(sort, sort.getDsts().front(), dst)))
    return failure();
  for (unsigned i = 0; i < lists.size() && i < 4; ++i)
    if (failed(cg.tile(sort, lists[i], tiles[i])))
      return failure();
  isa::Switch exhausted = sort.getExhausted() ? isa::Switch::on : isa::Switch::off;
  switch (lists.size()) {
  case 2:
    return cg.emit(sort, isa::TMrgsort2{dst, *counts, tiles[0], tiles[1], exhausted});
  case 3:
    return cg.emit(sort, isa::TMrgsort3{dst, *counts, tiles[0], tiles[1], tiles[2], exhausted});
  default:
    return cg.emit(sort, isa::TMrgsort4{dst, *counts, tiles[0], tiles[1], tiles[2], tiles[3], exhausted});
  }
}

struct TMrgSortModel : CodegenOpInterface::ExternalModel<TMrgSortModel, pto::TMrgSortOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto sort = cast<pto::TMrgSortOp>(op);
    if (!sort.getBlockLen())
      return mergeLists(sort, cg);
    isa::TMrgsort insn;
    return failure(failed(cg.tile(op, sort.getDsts().front(), insn.dst)) ||
                   failed(cg.tile(op, sort.getSrcs().front(), insn.src)) ||
                   failed(cg.integer(op, sort.getBlockLen(), insn.blockLength)) || failed(cg.emit(op, insn)));
  }
};

struct TQuantModel : CodegenOpInterface::ExternalModel<TQuantModel, pto::TQuantOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto quant = cast<pto::TQuantOp>(op);
    if (quant.getOffset()) {
      isa::TQuantAsym insn;
      return failure(failed(cg.tile(op, quant.getDst(), insn.dst)) || failed(cg.tile(op, quant.getSrc(), insn.src)) ||
                     failed(cg.tile(op, quant.getFp(), insn.multipliers)) ||
                     failed(cg.tile(op, quant.getOffset(), insn.offsets)) || failed(cg.emit(op, insn)));
    }
    isa::TQuant insn;
    insn.zeroPoint = isa::Value(0);
    return failure(failed(cg.tile(op, quant.getDst(), insn.dst)) || failed(cg.tile(op, quant.getSrc(), insn.src)) ||
                   failed(cg.tile(op, quant.getFp(), insn.multipliers)) || failed(cg.emit(op, insn)));
  }
};

/// Engine S on a3, V on a5.
struct TScatterModel : CodegenOpInterface::ExternalModel<TScatterModel, pto::TScatterOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto scatter = cast<pto::TScatterOp>(op);
    isa::Tile dst, src, indices;
    if (failed(cg.tile(op, scatter.getDst(), dst)) || failed(cg.tile(op, scatter.getSrc(), src)) ||
        failed(cg.tile(op, scatter.getIndexes(), indices)))
      return failure();
    return cg.pipe == isa::Pipe::S ? cg.emit(op, isa::TScatterS{dst, src, indices})
                                   : cg.emit(op, isa::TScatter{dst, src, indices});
  }
};

/// One index for each row of the data, in a column or a row of its own?
bool byRow(const isa::Tile &data, const isa::Tile &indices) {
  return indices.rows != data.rows || indices.validCols != data.validCols;
}

struct MGatherModel : CodegenOpInterface::ExternalModel<MGatherModel, pto::MGatherOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto gather = cast<pto::MGatherOp>(op);
    isa::Mgather insn;
    if (failed(cg.tile(op, gather.getDst(), insn.dst)) || failed(cg.view(op, gather.getMem(), insn.src)) ||
        failed(cg.tile(op, gather.getIdx(), insn.indices)))
      return failure();
    insn.src.type = insn.dst.type;
    insn.unit = byRow(insn.dst, insn.indices) ? isa::IndexUnit::row : isa::IndexUnit::element;
    insn.bounds = isa::GatherBounds(unsigned(gather.getGatherOob()));
    return cg.emit(op, insn);
  }
};

struct MScatterModel : CodegenOpInterface::ExternalModel<MScatterModel, pto::MScatterOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto scatter = cast<pto::MScatterOp>(op);
    isa::Mscatter insn;
    if (failed(cg.tile(op, scatter.getSrc(), insn.src)) || failed(cg.view(op, scatter.getMem(), insn.dst)) ||
        failed(cg.tile(op, scatter.getIdx(), insn.indices)))
      return failure();
    insn.dst.type = insn.src.type;
    insn.unit = byRow(insn.src, insn.indices) ? isa::IndexUnit::row : isa::IndexUnit::element;
    insn.bounds = isa::ScatterBounds(unsigned(scatter.getScatterOob()));
    insn.atomic = isa::ScatterOp(unsigned(scatter.getScatterAtomicOp()));
    return cg.emit(op, insn);
  }
};

struct THistogramModel : CodegenOpInterface::ExternalModel<THistogramModel, pto::THistogramOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto histogram = cast<pto::THistogramOp>(op);
    isa::THistogram insn;
    insn.byte = histogram.getIsMSB() ? 1 : 0; // of 16 bits
    return failure(failed(cg.tile(op, histogram.getDst(), insn.dst)) ||
                   failed(cg.tile(op, histogram.getSrc(), insn.src)) ||
                   failed(cg.tile(op, histogram.getIdx(), insn.filter)) || failed(cg.emit(op, insn)));
  }
};

struct TRandomModel : CodegenOpInterface::ExternalModel<TRandomModel, pto::TRandomOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto random = cast<pto::TRandomOp>(op);
    isa::TRandom insn;
    insn.rounds = random.getRounds();
    return failure(failed(cg.tile(op, random.getDst(), insn.dst)) ||
                   failed(cg.integer(op, random.getKey0(), insn.key0)) ||
                   failed(cg.integer(op, random.getKey1(), insn.key1)) ||
                   failed(cg.integer(op, random.getCounter0(), insn.counter0)) ||
                   failed(cg.integer(op, random.getCounter1(), insn.counter1)) ||
                   failed(cg.integer(op, random.getCounter2(), insn.counter2)) ||
                   failed(cg.integer(op, random.getCounter3(), insn.counter3)) || failed(cg.emit(op, insn)));
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
    return op->emitOpError("has no instruction from ")
           << isa::kMemoryNames[unsigned(src->memory)] << " to " << isa::kMemoryNames[unsigned(dst->memory)];
  }
};

/// textract_fp, tinsert_fp: L0C to L1 with a descriptor per column. The part begins at an index of the source or of the
/// destination and has the size of the other one.
template <typename Op> struct QuantisedMoveModel : CodegenOpInterface::ExternalModel<QuantisedMoveModel<Op>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto move = cast<Op>(op);
    isa::TMovAccQuantv insn;
    if (failed(cg.tile(op, move.getDst(), insn.dst)) || failed(cg.tile(op, move.getSrc(), insn.src)) ||
        failed(cg.tile(op, move.getFp(), insn.scales)))
      return failure();
    isa::Value row, col;
    if (failed(cg.integer(op, move.getIndexRow(), row)) || failed(cg.integer(op, move.getIndexCol(), col)))
      return failure();
    bool inserts = std::is_same_v<Op, pto::TInsertFPOp>;
    (inserts ? insn.row : insn.srcRow) = row;
    (inserts ? insn.col : insn.srcCol) = col;
    const isa::Tile *extent = inserts ? &insn.src : &insn.dst;
    insn.rows = extent->validRows, insn.cols = extent->validCols;
    asDescriptors(insn.scales, *extent);
    return cg.emit(op, insn);
  }
};

struct TDequantModel : CodegenOpInterface::ExternalModel<TDequantModel, pto::TDequantOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto dequant = cast<pto::TDequantOp>(op);
    isa::TDequant insn;
    return failure(failed(cg.tile(op, dequant.getDst(), insn.dst)) || failed(cg.tile(op, dequant.getSrc(), insn.src)) ||
                   failed(cg.tile(op, dequant.getScale(), insn.scales)) ||
                   failed(cg.tile(op, dequant.getOffset(), insn.offsets)) || failed(cg.emit(op, insn)));
  }
};

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

/// Hints and views of values for the eyes of a programmer: nothing moves, nothing is printed.
template <typename Op> struct NothingModel : CodegenOpInterface::ExternalModel<NothingModel<Op>, Op> {
  LogicalResult generate(Operation *, CodegenContext &) const { return success(); }
};

void attach(MLIRContext *c) {
  binary<pto::TXorOp, isa::TXor>(c);
  binary<pto::TShlOp, isa::TShl>(c);
  binary<pto::TShrOp, isa::TShr>(c);
  binary<pto::TPReluOp, isa::TPrelu>(c);
  binary<pto::TRemOp, isa::TRem>(c);
  binary<pto::TFModOp, isa::TFmod>(c);
  binary<pto::TPartAddOp, isa::TPartadd>(c);
  binary<pto::TPartMulOp, isa::TPartmul>(c);
  binary<pto::TPartMaxOp, isa::TPartmax>(c);
  binary<pto::TPartMinOp, isa::TPartmin>(c);
  scalar<pto::TAndSOp, isa::TAnds>(c);
  scalar<pto::TOrSOp, isa::TOrs>(c);
  scalar<pto::TXorSOp, isa::TXors>(c);
  scalar<pto::TShlSOp, isa::TShls>(c);
  scalar<pto::TShrSOp, isa::TShrs>(c);
  scalar<pto::TRemSOp, isa::TRems>(c);
  scalar<pto::TFModSOp, isa::TFmods>(c);
  scalar<pto::TAxpyOp, isa::TAxpy>(c);
  unary<pto::TRowProdOp, isa::TRowprod>(c);
  unary<pto::TColProdOp, isa::TColprod>(c);
  unary<pto::TRowArgMaxOp, isa::TRowargmax>(c);
  unary<pto::TRowArgMinOp, isa::TRowargmin>(c);
  unary<pto::TColArgMaxOp, isa::TColargmax>(c);
  unary<pto::TColArgMinOp, isa::TColargmin>(c);
  binary<pto::TConcatOp, isa::TConcat>(c);
  unary<pto::TPackOp, isa::TPack>(c);
  pto::TScatterOp::attachInterface<TScatterModel>(*c);
  pto::MGatherOp::attachInterface<MGatherModel>(*c);
  pto::MScatterOp::attachInterface<MScatterModel>(*c);
  pto::TDequantOp::attachInterface<TDequantModel>(*c);
  pto::THistogramOp::attachInterface<THistogramModel>(*c);
  pto::TRandomOp::attachInterface<TRandomModel>(*c);
  pto::TInsertOp::attachInterface<TInsertModel>(*c);
  pto::TExtractFPOp::attachInterface<QuantisedMoveModel<pto::TExtractFPOp>>(*c);
  pto::TInsertFPOp::attachInterface<QuantisedMoveModel<pto::TInsertFPOp>>(*c);
  pto::TAddCOp::attachInterface<TernaryModel<pto::TAddCOp, isa::TAdd, isa::TAdd>>(*c);
  pto::TSubCOp::attachInterface<TernaryModel<pto::TSubCOp, isa::TSub, isa::TAdd>>(*c);
  pto::TAddSCOp::attachInterface<ScalarTernaryModel<pto::TAddSCOp, isa::TAdds>>(*c);
  pto::TSubSCOp::attachInterface<ScalarTernaryModel<pto::TSubSCOp, isa::TSubs>>(*c);
  pto::TCIOp::attachInterface<TCIModel>(*c);
  pto::TTriOp::attachInterface<TTriModel>(*c);
  pto::TGatherOp::attachInterface<TGatherModel>(*c);
  pto::TGatherBOp::attachInterface<TGatherBModel>(*c);
  pto::TSort32Op::attachInterface<TSort32Model>(*c);
  pto::TMrgSortOp::attachInterface<TMrgSortModel>(*c);
  pto::TQuantOp::attachInterface<TQuantModel>(*c);
  pto::TSetValOp::attachInterface<TSetValModel>(*c);
  pto::TGetValOp::attachInterface<TGetValModel>(*c);
  pto::StoreScalarOp::attachInterface<StoreScalarModel>(*c);
  pto::SlotPtrOp::attachInterface<SlotPtrModel>(*c);
  pto::SlotReadyOp::attachInterface<NothingModel<pto::SlotReadyOp>>(*c);
  pto::SlotDoneOp::attachInterface<NothingModel<pto::SlotDoneOp>>(*c);
  pto::TPrefetchOp::attachInterface<NothingModel<pto::TPrefetchOp>>(*c);
  pto::TPrintOp::attachInterface<NothingModel<pto::TPrintOp>>(*c);
  pto::PrintOp::attachInterface<NothingModel<pto::PrintOp>>(*c);
}

} // namespace

void registerHandwrittenCodegen(DialectRegistry &registry) {
  pto::registerExtraOps(registry);
  registry.addExtension(+[](MLIRContext *context, pto::PTODialect *) {
    attach(context);
    attachEventArrayModels(context);
    attachScaledModels(context);
  });
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    attachFloatScalarModels(context);
    attachUnsignedModels(context);
  });
  registry.addExtension(+[](MLIRContext *context, scf::SCFDialect *) { attachWhileModel(context); });
  registry.addExtension(+[](MLIRContext *context, ub::UBDialect *) { attachPoisonModel(context); });
}

} // namespace pto_mlir::backend
