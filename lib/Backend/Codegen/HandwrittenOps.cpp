//===- HandwrittenOps.cpp - Ops that only hand-written kernels use --------===//
//
// In a library of its own: what compiles models does not link it.
//
//===----------------------------------------------------------------------===//

#include "FamilyModels.h"
#include "Types.h"
#include "pto_mlir/Backend/HandwrittenCodegen.h"
#include "pto_mlir/Dialect/PTO/IR/PTOExtra.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

template <typename Op, typename Insn> void unary(MLIRContext *c) { Op::template attachInterface<UnaryTile<Op, Insn>>(*c); }
template <typename Op, typename Insn> void binary(MLIRContext *c) { Op::template attachInterface<BinaryTile<Op, Insn>>(*c); }
template <typename Op, typename Insn> void scalar(MLIRContext *c) { Op::template attachInterface<ScalarTile<Op, Insn>>(*c); }

/// a op b + c through dst, as the assembler does it.
template <typename Op, typename First, typename Second> struct TernaryModel : CodegenOpInterface::ExternalModel<TernaryModel<Op, First, Second>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto typed = cast<Op>(op);
    First first;
    Second second;
    if (failed(cg.tile(op, typed.getDst(), first.dst)) || failed(cg.tile(op, typed.getSrc0(), first.src0)) ||
        failed(cg.tile(op, typed.getSrc1(), first.src1)) || failed(cg.tile(op, typed.getSrc2(), second.src1)) || failed(cg.emit(op, first)))
      return failure();
    second.dst = second.src0 = first.dst;
    return cg.emit(op, second);
  }
};
template <typename Op, typename First> struct ScalarTernaryModel : CodegenOpInterface::ExternalModel<ScalarTernaryModel<Op, First>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto typed = cast<Op>(op);
    First first;
    isa::TAdd second;
    if (failed(cg.tile(op, typed.getDst(), first.dst)) || failed(cg.tile(op, typed.getSrc0(), first.src)) ||
        failed(cg.scalar(op, typed.getScalar(), first.scalar)) || failed(cg.tile(op, typed.getSrc1(), second.src1)) || failed(cg.emit(op, first)))
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
    return failure(failed(cg.tile(op, iota.getDst(), insn.dst)) || failed(cg.integer(op, iota.getStart(), insn.start)) || failed(cg.emit(op, insn)));
  }
};

struct TTriModel : CodegenOpInterface::ExternalModel<TTriModel, pto::TTriOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto tri = cast<pto::TTriOp>(op);
    isa::TTri insn;
    insn.half = isa::Triangle(tri.getUpperOrLower());
    return failure(failed(cg.tile(op, tri.getDst(), insn.dst)) || failed(cg.integer(op, tri.getDiagonal(), insn.diagonal)) || failed(cg.emit(op, insn)));
  }
};

struct TGatherModel : CodegenOpInterface::ExternalModel<TGatherModel, pto::TGatherOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto gather = cast<pto::TGatherOp>(op);
    if (gather.getCdst())
      return op->emitOpError("compares, which has no instruction yet");
    if (auto pattern = gather.getMaskPattern()) {
      isa::TGatherMask insn;
      insn.pattern = isa::MaskPattern(unsigned(*pattern) - 1); // the dialect counts from 1
      return failure(failed(cg.tile(op, gather.getDst(), insn.dst)) || failed(cg.tile(op, gather.getSrc(), insn.src)) || failed(cg.emit(op, insn)));
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

struct TMrgSortModel : CodegenOpInterface::ExternalModel<TMrgSortModel, pto::TMrgSortOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto sort = cast<pto::TMrgSortOp>(op);
    if (!sort.getBlockLen())
      return op->emitOpError("merges tiles of their own, which has no instruction yet");
    isa::TMrgsort insn;
    return failure(failed(cg.tile(op, sort.getDsts().front(), insn.dst)) || failed(cg.tile(op, sort.getSrcs().front(), insn.src)) ||
                   failed(cg.integer(op, sort.getBlockLen(), insn.blockLength)) || failed(cg.emit(op, insn)));
  }
};

struct TQuantModel : CodegenOpInterface::ExternalModel<TQuantModel, pto::TQuantOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto quant = cast<pto::TQuantOp>(op);
    if (quant.getOffset())
      return op->emitOpError("takes an offset per row, which has no instruction yet");
    isa::TQuant insn;
    insn.zeroPoint = isa::Value(0);
    return failure(failed(cg.tile(op, quant.getDst(), insn.dst)) || failed(cg.tile(op, quant.getSrc(), insn.src)) ||
                   failed(cg.tile(op, quant.getFp(), insn.multipliers)) || failed(cg.emit(op, insn)));
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
    if (failed(dst) || failed(cg.tile(op, get.getSrc(), insn.src)) || failed(cg.integer(op, get.getOffset(), insn.index)))
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
        failed(cg.binary<isa::Add>(op, ptr->offset, bytes, insn.dst.offset)) || failed(cg.scalar(op, store.getValue(), insn.value)))
      return failure();
    insn.dst.arg = uint8_t(ptr->arg);
    insn.dst.type = *element;
    insn.dst.rank = 1;
    insn.dst.sizes[0] = insn.dst.strides[0] = 1;
    return cg.emit(op, insn);
  }
};

/// A hint: nothing moves.
struct TPrefetchModel : CodegenOpInterface::ExternalModel<TPrefetchModel, pto::TPrefetchOp> {
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
  unary<pto::TRowArgMaxOp, isa::TRowargmax>(c);
  unary<pto::TRowArgMinOp, isa::TRowargmin>(c);
  unary<pto::TColArgMaxOp, isa::TColargmax>(c);
  unary<pto::TColArgMinOp, isa::TColargmin>(c);
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
  pto::TPrefetchOp::attachInterface<TPrefetchModel>(*c);
}

} // namespace

void registerHandwrittenCodegen(DialectRegistry &registry) {
  pto::registerExtraOps(registry);
  registry.addExtension(+[](MLIRContext *context, pto::PTODialect *) { attach(context); });
}

} // namespace pto_mlir::backend
