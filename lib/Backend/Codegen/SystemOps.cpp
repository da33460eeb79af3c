//===- SystemOps.cpp - Blocks, flags, barriers ----------------------------===//

#include "Models.h"
#include "Types.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

template <typename Op, isa::Query query>
struct QueryModel : CodegenOpInterface::ExternalModel<QueryModel<Op, query>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto dst = cg.registerFor(op, op->getResult(0));
    if (failed(dst) || failed(cg.emit(op, isa::Get{*dst, query})))
      return failure();
    cg.define(op->getResult(0), isa::Value::reg(*dst));
    return success();
  }
};

isa::Pipe toPipe(pto::PipeAttr attribute) { return isa::Pipe(unsigned(attribute.getValue())); }

template <typename Insn>
LogicalResult emitFlag(Operation *op, CodegenContext &cg, pto::PipeAttr src, pto::PipeAttr dst, isa::Value id,
                       int64_t maxId) {
  Insn insn;
  insn.src = toPipe(src);
  insn.dst = toPipe(dst);
  insn.id = id;
  for (int64_t k = id.isRegister ? 0 : maxId; k <= maxId; ++k)
    cg.useEvent(insn.src, insn.dst, k);
  return cg.emit(op, insn);
}

template <typename Op, typename Insn> struct FlagModel : CodegenOpInterface::ExternalModel<FlagModel<Op, Insn>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto flag = cast<Op>(op);
    int64_t id = int64_t(flag.getEventId());
    return emitFlag<Insn>(op, cg, flag.getSrcPipeAttr(), flag.getDstPipeAttr(), isa::Value(id), id);
  }
};

template <typename Op, typename Insn>
struct FlagDynModel : CodegenOpInterface::ExternalModel<FlagDynModel<Op, Insn>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto flag = cast<Op>(op);
    isa::Value id;
    if (failed(cg.integer(op, flag.getEventId(), id)))
      return failure();
    int64_t most = upperBound(flag.getEventId()).value_or(isa::kNumFlagIds - 1);
    return emitFlag<Insn>(op, cg, flag.getSrcPipeAttr(), flag.getDstPipeAttr(), id,
                          std::min<int64_t>(most, isa::kNumFlagIds - 1));
  }
};

struct FifoPopModel : CodegenOpInterface::ExternalModel<FifoPopModel, pto::FifoPopOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto dst = cg.registerFor(op, op->getResult(0));
    isa::Pop insn;
    if (failed(dst))
      return failure();
    insn.dst = *dst;
    auto engine = op->getParentOfType<func::FuncOp>()->getAttrOfType<pto::PipeAttr>(pto::kPipeAttr);
    if (!engine)
      return op->emitOpError("stands in no engine's function");
    insn.engine = toPipe(engine);
    if (failed(cg.emit(op, insn)))
      return failure();
    cg.define(op->getResult(0), isa::Value::reg(*dst));
    return success();
  }
};

} // namespace

void attachSystemModels(MLIRContext *c) {
  pto::GetBlockIdxOp::attachInterface<QueryModel<pto::GetBlockIdxOp, isa::Query::block_idx>>(*c);
  pto::GetBlockNumOp::attachInterface<QueryModel<pto::GetBlockNumOp, isa::Query::block_num>>(*c);
  pto::GetSubBlockIdxOp::attachInterface<QueryModel<pto::GetSubBlockIdxOp, isa::Query::subblock_idx>>(*c);
  pto::GetSubBlockNumOp::attachInterface<QueryModel<pto::GetSubBlockNumOp, isa::Query::subblock_num>>(*c);
  pto::SetFlagOp::attachInterface<FlagModel<pto::SetFlagOp, isa::SetFlag>>(*c);
  pto::WaitFlagOp::attachInterface<FlagModel<pto::WaitFlagOp, isa::WaitFlag>>(*c);
  pto::SetFlagDynOp::attachInterface<FlagDynModel<pto::SetFlagDynOp, isa::SetFlag>>(*c);
  pto::WaitFlagDynOp::attachInterface<FlagDynModel<pto::WaitFlagDynOp, isa::WaitFlag>>(*c);
  pto::FifoPopOp::attachInterface<FifoPopModel>(*c);
}

} // namespace pto_mlir::backend
