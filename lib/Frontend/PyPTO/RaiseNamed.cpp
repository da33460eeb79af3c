// Ops of kernels whose calls in PyPTO have other operands than the op: windows, transposes, elements, barriers.
#include "RaiseMatrix.h"
#include "Raiser.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using pypto::DataType;

namespace pto_mlir::pypto_frontend {

ir::ExprPtr Raiser::shapeOf(Value value) {
  ir::TileTypePtr type = tile(value);
  return type ? std::make_shared<const ir::MakeTuple>(type->shape_, ir::Span()) : nullptr;
}

LogicalResult Raiser::evaluate(Operation *op, std::string_view name, ir::Attrs arguments) {
  ir::CallPtr call = ir::CreateOp(name, std::move(arguments), ir::Span());
  if (op->getNumResults() == 1)
    scalars[op->getResult(0)] = assign("n", call->type_, call);
  else
    out.push_back(std::make_shared<const ir::EvalStmt>(call, ir::Span()));
  return success();
}

/// Row and column of the element that is `offset` elements from the beginning of an unboxed tile.
FailureOr<ir::ExprPtr> Raiser::indices(Operation *op, Value value, Value offset) {
  auto type = cast<pto::TileBufType>(value.getType());
  if (type.isBoxed())
    return op->emitOpError("reaches an element of a tile in boxes, for which PyPTO has no form");
  auto [major, minor] = split(LinearForm(offset), type.isRowMajor() ? type.getCols() : type.getRows());
  std::vector<ir::ExprPtr> both = {sum(op, major), sum(op, minor)};
  if (!both[0] || !both[1])
    return failure();
  if (!type.isRowMajor())
    std::swap(both[0], both[1]);
  return ir::ExprPtr(std::make_shared<const ir::MakeTuple>(both, ir::Span()));
}

/// Elements of tiles, and barriers.
LogicalResult Raiser::elementOrBarrier(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](pto::TGetValOp get) -> LogicalResult {
        ir::ExprPtr source = read(op, get.getSrc());
        auto at = source ? indices(op, get.getSrc(), get.getOffset()) : FailureOr<ir::ExprPtr>(failure());
        if (failed(at))
          return failure();
        return evaluate(op, "tile.read", {{"", source}, {"", *at}});
      })
      .Case([&](pto::TSetValOp set) -> LogicalResult {
        ir::ExprPtr target = read(op, set.getDst()), value = target ? scalar(op, set.getValue()) : nullptr;
        auto at = value ? indices(op, set.getDst(), set.getOffset()) : FailureOr<ir::ExprPtr>(failure());
        if (failed(at))
          return failure();
        return evaluate(op, "tile.write", {{"", target}, {"", *at}, {"", value}});
      })
      .Case([&](pto::BarrierOp barrier) -> LogicalResult {
        auto pipe = barrier.getPipe();
        std::string_view name = pipe == pto::Pipe::PIPE_ALL ? "system.bar_all"
                                : pipe == pto::Pipe::PIPE_V ? "system.bar_v"
                                : pipe == pto::Pipe::PIPE_M ? "system.bar_m"
                                                            : "";
        return name.empty() ? op->emitOpError("is of a pipe that PyPTO has no barrier for") : evaluate(op, name, {});
      })
      .Default([&](Operation *) { return byTable(op); });
}

LogicalResult Raiser::byName(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](pto::TExtractOp part) -> LogicalResult {
        ir::ExprPtr source = read(op, part.getSrc()), shape = shapeOf(part.getDst());
        ir::ExprPtr row = scalar(op, part.getIndexRow()), col = scalar(op, part.getIndexCol());
        if (!source || !row || !col || !shape || failed(saysOnly(op, *ir::FindOp("tile.extract"))))
          return failure();
        return define(op, part.getDst(), "tile.extract",
                      {{"", source},
                       {"", row},
                       {"", col},
                       {"", shape},
                       {"target_memory", ir::AsEnumValue(*tile(part.getDst())->memory_space_)}});
      })
      .Case([&](pto::TTransOp transposed) -> LogicalResult {
        Operands of = operandsOf(op);
        ir::ExprPtr source = read(op, of.inputs[0]), scratch = of.scratch ? read(op, of.scratch, true) : nullptr;
        if (!source || (of.scratch && !scratch) || failed(saysOnly(op, *ir::FindOp("tile.transpose"))))
          return failure();
        ir::Attrs arguments = {{"", source}, {"", numberOf(0)}, {"", numberOf(1)}};
        if (scratch)
          arguments.emplace_back("", scratch);
        return define(op, of.dst, "tile.transpose", std::move(arguments));
      })
      .Case<pto::TColExpandOp, pto::TRowExpandOp>([&](auto expand) -> LogicalResult {
        // The first operand in PyPTO says the shape.
        Value root = rootOf(expand.getDst());
        if (!held.count(root) && failed(create(op, root)))
          return failure();
        ir::ExprPtr target = read(op, expand.getDst()), source = read(op, expand.getSrc());
        std::string_view name = mlir::isa<pto::TColExpandOp>(op) ? "tile.col_expand" : "tile.row_expand";
        if (!target || !source || failed(saysOnly(op, *ir::FindOp(name))))
          return failure();
        return define(op, expand.getDst(), name, {{"", target}, {"", source}});
      })
      .Default([&](Operation *) { return elementOrBarrier(op); });
}

} // namespace pto_mlir::pypto_frontend
