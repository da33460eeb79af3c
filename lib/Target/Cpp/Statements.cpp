// Blocks, statement by statement.
#include "FunctionEmitter.h"
#include "Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace pto_mlir::cpp {

StringRef FunctionEmitter::text(Value value) const {
  auto found = texts.find(value);
  if (found != texts.end())
    return found->second;
  lost = true;
  return "?";
}

InFlightDiagnostic FunctionEmitter::refuse(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    op = cast<BlockArgument>(value).getOwner()->getParentOp();
  return emitError(value.getLoc()) << "'" << op->getName() << "' has no C++: ";
}

std::string FunctionEmitter::typeText(Value value) const {
  auto found = typeTexts.find(value);
  return found != typeTexts.end() && !found->second.empty() ? found->second : scalarType(value.getType(), policy);
}

LogicalResult FunctionEmitter::block(Block &block) {
  for (Operation &op : block)
    if (failed(statement(&op)))
      return failure();
  return success();
}

LogicalResult FunctionEmitter::section(Operation *op, StringRef guard) {
  out.marginLine("#if defined(" + guard + ")");
  if (isa<pto::SectionVectorOp>(op)) {
    out.line("set_mask_norm();");
    out.line("set_vector_mask(-1, -1);");
  }
  LogicalResult written = block(op->getRegion(0).front());
  out.marginLine("#endif // " + guard);
  return written;
}

LogicalResult FunctionEmitter::call(func::CallOp op) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
  if (!callee || callee.isExternal() || op.getNumResults() > 1)
    return op.emitError("'func.call' has no C++: expects a function of this file with at most one result");
  std::string arguments;
  for (Value operand : op.getOperands())
    arguments += (arguments.empty() ? "" : ", ") + text(operand).str();
  std::string shown = sanitized(op.getCallee()) + "(" + arguments + ")";
  if (op.getNumResults() == 1)
    return defineVariable(op.getResult(0), shown);
  out.line(shown + ";");
  return success();
}

LogicalResult FunctionEmitter::returns(func::ReturnOp op) {
  if (op.getNumOperands() == 1)
    out.line("return " + text(op.getOperand(0)) + ";");
  return success();
}

/// `x.pto:12`; empty for what has no place in a text.
static std::string placeOf(Operation *op) {
  auto place = op->getLoc()->findInstanceOf<FileLineColLoc>();
  return place ? (llvm::sys::path::filename(place.getFilename()) + ":" + Twine(place.getLine())).str() : "";
}

LogicalResult FunctionEmitter::statement(Operation *op) {
  if (options.places)
    out.noteBefore(placeOf(op));
  if (std::optional<std::string> scalar = expression(op)) {
    if (isa<pto::TileBufType>(op->getResult(0).getType())) { // a choice of tiles
      texts[op->getResult(0)] = nameFor(op->getResult(0));
      typeTexts[op->getResult(0)] = typeText(op->getOperand(1));
      out.line(typeText(op->getOperand(1)) + " " + text(op->getResult(0)) + " = " + *scalar + ";");
      return success();
    }
    return define(op->getResult(0), *scalar);
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](scf::ForOp loopOp) { return loop(loopOp); })
      .Case([&](scf::WhileOp loopOp) { return whileLoop(loopOp); })
      .Case([&](scf::IfOp branchOp) { return branch(branchOp); })
      .Case<scf::YieldOp, scf::ConditionOp>([](auto) { return success(); }) // read by the op around them
      .Case([&](func::CallOp callOp) { return call(callOp); })
      .Case([&](func::ReturnOp returnOp) { return returns(returnOp); })
      .Case([&](pto::SectionCubeOp) { return section(op, "__DAV_CUBE__"); })
      .Case([&](pto::SectionVectorOp) { return section(op, "__DAV_VEC__"); })
      .Case([&](pto::SyncSetOp set) { return raiseSemaphore(set); })
      .Case([&](pto::SyncWaitOp wait) { return awaitSemaphore(wait); })
      .Case([&](pto::MakeTensorViewOp view) { return makeView(view); })
      .Case([&](pto::PartitionViewOp part) { return partition(part); })
      .Case([&](pto::GetTensorViewDimOp dim) { return viewDim(dim); })
      .Case([&](pto::AddPtrOp add) {
        return define(add.getResult(), ("(" + text(add.getPtr()) + " + " + text(add.getOffset()) + ")").str());
      })
      .Case([&](pto::AllocTileOp alloc) { return allocTile(alloc); })
      .Case([&](pto::DeclareTileOp declared) {
        pto::TileBufType type = declared.getResult().getType();
        return declareTile(declared.getResult(), type, std::to_string(type.getRows()), std::to_string(type.getCols()),
                           "");
      })
      .Case<pto::InitializeL2G2LPipeOp, pto::InitializeL2LPipeOp>([&](auto) { return openQueue(op); })
      .Case([&](pto::TPushOp push) {
        return queueCall(op, "TPUSH", push.getPipeHandle(), push.getTile(), push.getSplit());
      })
      .Case([&](pto::TPopOp pop) { return popTile(pop); })
      .Case([&](pto::TFreeOp free) { return queueCall(op, "TFREE", free.getPipeHandle(), {}, free.getSplit()); })
      .Case<pto::TAssignOp>([&](auto alias) { return aliasTile(op, alias.getSource()); })
      .Case<pto::TReshapeOp, pto::BitcastOp>([&](auto alias) { return aliasTile(op, alias.getSrc()); })
      .Case<pto::SubsetOp, pto::SubViewOp>(
          [&](auto part) { return partOfTile(op, part.getSource(), part.getOffsets()[0], part.getOffsets()[1]); })
      .Case([&](pto::SetValidShapeOp set) {
        auto pop = dyn_cast_or_null<pto::TPopOp>(op->getPrevNode());
        return pop && pop.getTile() == set.getSource() ? success() : setValidShape(set); // the pop has it
      })
      .Case([&](pto::DeclareEventIdArrayOp array) {
        texts[array.getArray()] = nameFor(array.getArray());
        out.line("int64_t " + text(array.getArray()) + "[" + Twine(array.getArray().getType().getSize()) + "] = {};");
        return success();
      })
      .Default([&](Operation *) { return observedCall(op); });
}

} // namespace pto_mlir::cpp
