//===- WhileLoops.cpp - scf.while -> loop, break_if_zero, end -------------===//

#include "Carried.h"
#include "Models.h"
#include "Scalars.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

#include <limits>

using namespace mlir;

namespace pto_mlir::backend {

namespace {

/// An endless loop with an exit at its condition. The arguments of both regions have registers of their own, so that
/// an assignment never overwrites a value that is still to be read.
struct WhileModel : CodegenOpInterface::ExternalModel<WhileModel, scf::WhileOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto loop = cast<scf::WhileOp>(op);
    scf::ConditionOp condition = loop.getConditionOp();
    auto before = allocateCarried(op, cg, loop.getInits().getTypes());
    auto after = allocateCarried(op, cg, loop.getResultTypes());
    auto trips = cg.loopRegister(op), end = cg.temporary(op);
    if (failed(before) || failed(after) || failed(trips) || failed(end) ||
        failed(assignCarried(op, cg, loop.getInits(), *before)))
      return failure();
    // The stream's verifier does not know that the first trip begins.
    for (const Carried &carried : *after)
      for (uint8_t reg : carried.registers)
        if (failed(cg.emit(op, isa::Mov{reg, 0})))
          return failure();
    isa::Value go;
    if (failed(cg.emit(op, isa::Li{*end, std::numeric_limits<int64_t>::max()})) ||
        failed(cg.emit(op, isa::Loop{*trips, 0, isa::Value::reg(*end), 1})) ||
        failed(defineCarried(op, cg, loop.getBeforeArguments(), *before)) ||
        failed(cg.generateBlock(*loop.getBeforeBody())) || failed(cg.integer(op, condition.getCondition(), go)) ||
        failed(assignCarried(op, cg, condition.getArgs(), *after)) || failed(cg.emit(op, isa::BreakIfZero{go})))
      return failure();
    if (failed(defineCarried(op, cg, loop.getAfterArguments(), *after)) ||
        failed(cg.generateBlock(*loop.getAfterBody())) ||
        failed(assignCarried(op, cg, loop.getYieldOp().getResults(), *before)) || failed(cg.emit(op, isa::End{})))
      return failure();
    return defineCarried(op, cg, loop.getResults(), *after);
  }
};

/// A value that no path reads, from branches that were made structured: any value will do.
struct PoisonModel : CodegenOpInterface::ExternalModel<PoisonModel, ub::PoisonOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto type = dyn_cast<pto::TileBufType>(op->getResult(0).getType());
    if (!type) {
      cg.define(op->getResult(0), isa::Value(0));
      return success();
    }
    auto desc = describeTile(op, type);
    if (failed(desc))
      return failure();
    isa::Tile &tile = desc->tile;
    tile.address = isa::Value(0);
    for (isa::Value *extent : {&tile.validRows, &tile.validCols})
      if (extent->value < 0)
        *extent = isa::Value(0);
    cg.define(op->getResult(0), *desc);
    return success();
  }
};

} // namespace

void attachWhileModel(MLIRContext *c) { scf::WhileOp::attachInterface<WhileModel>(*c); }
void attachPoisonModel(MLIRContext *c) { ub::PoisonOp::attachInterface<PoisonModel>(*c); }

} // namespace pto_mlir::backend
