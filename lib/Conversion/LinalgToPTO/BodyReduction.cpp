//===- BodyReduction.cpp - reductions of a linalg body --------------------------------===//

#include "BodyEmitter.h"
#include "pto_mlir/Dialect/PTO/IR/FoldRows.h"

using namespace mlir;

namespace pto_mlir {

/// Reduces the columns of `source` to one value per row, or its rows to one value per column.
void BodyEmitter::reduceTile(Binary kind, Value source, bool columns, Value partial) {
  if (columns) {
    Value scratch = tile->temporary(Role::Full, cast<pto::TileBufType>(partial.getType()).getElementType());
    Value from = tile->work(source), tmp = tile->work(scratch);
    switch (kind) {
    case Binary::Add:
      builder.create<pto::TRowSumOp>(loc, from, tmp, partial);
      break;
    case Binary::Max:
      builder.create<pto::TRowMaxOp>(loc, from, tmp, partial);
      break;
    case Binary::Min:
      builder.create<pto::TRowMinOp>(loc, from, tmp, partial);
      break;
    default:
      builder.create<pto::TRowProdOp>(loc, from, tmp, partial);
      break;
    }
    tile->release(scratch);
  } else {
    Value from = tile->work(source);
    auto combine = [&](Value a, Value b, Value to) { tile->tileTile(kind, a, b, to); };
    if (pto::canFoldRows(cast<pto::TileBufType>(from.getType()), kind == Binary::Add)) {
      pto::foldRows(builder, loc, from, tile->validColumns(), partial, combine);
      return;
    }
    switch (kind) {
    case Binary::Add:
      builder.create<pto::TColSumOp>(loc, from, partial);
      break;
    case Binary::Max:
      builder.create<pto::TColMaxOp>(loc, from, partial);
      break;
    case Binary::Min:
      builder.create<pto::TColMinOp>(loc, from, partial);
      break;
    default:
      builder.create<pto::TColProdOp>(loc, from, partial);
      break;
    }
  }
}

/// The yielded value is `combine(accumulator, value)`: reduce the tile of `value`
/// to a vector, then combine that with the accumulator.
LogicalResult BodyEmitter::emitReduction(Value yielded, unsigned index) {
  Operation *combiner = yielded.getDefiningOp();
  std::optional<Binary> kind = combiner ? binaryKind(combiner) : std::nullopt;
  BlockArgument accumulator = op.getMatchingBlockArgument(op.getDpsInitOperand(index));
  if (!kind || *kind == Binary::Sub || *kind == Binary::Div ||
      (combiner->getOperand(0) != accumulator && combiner->getOperand(1) != accumulator))
    return op->emitOpError("reduces with something else than a sum, product, maximum or minimum");
  Value reduced = combiner->getOperand(combiner->getOperand(0) == accumulator ? 1 : 0);
  Type element = yielded.getType();
  FailureOr<Item> item = itemOf(combiner, reduced);
  if (failed(item))
    return failure();
  Item source = tile->as(*item, Role::Full, element);
  bool columns = roles.reduced() == Role::Column;
  Role resultRole = roles.of(*op.getDpsInitOperand(index));
  // The form of the partial result: one value per row (columns reduced), or per column.
  Role partialRole = columns ? Role::Column : Role::Row;
  if (resultRole != partialRole && !(resultRole == Role::Full && !columns))
    return op->emitOpError("its result does not have the form of a reduced tile");
  Value partial = tile->temporary(partialRole, element);
  reduceTile(*kind, source.tile, columns, partial);
  Item left, right;
  left.tile = initTile(index);
  right.tile = partial;
  left.role = right.role = partialRole;
  Value target = initTile(index);
  FailureOr<Item> sum = tile->binary(combiner, *kind, left, right, element, [&](Role) { return target; });
  tile->release(partial);
  return success(succeeded(sum));
}

} // namespace pto_mlir
