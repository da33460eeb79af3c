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
      .Case<pto::SyncSetOp, pto::SyncWaitOp>([&](auto) { return event(op); })
      .Case([&](pto::TDivSOp divide) { return quotient(divide); })
      .Case([&](pto::TImg2ColOp of) { return columns(of); })
      .Default([&](Operation *) { return byTable(op); });
}

/// A number by a tile, which PyPTO divides as tiles.
LogicalResult Raiser::quotient(pto::TDivSOp op) {
  auto [inputs, scratch, dst] = operandsOf(op);
  if (!dst || inputs.size() != 2 || mlir::isa<pto::TileBufType>(inputs[0].getType()))
    return byTable(op);
  ir::TileTypePtr type = tile(dst);
  ir::ExprPtr value = type ? scalar(op, inputs[0]) : nullptr, by = value ? read(op, inputs[1]) : nullptr;
  ir::ExprPtr shape = by ? shapeOf(dst) : nullptr;
  if (!shape || failed(saysOnly(op, *ir::FindOp("tile.divs"))))
    return failure();
  // It lies in the result where that is no operand.
  if (partOf(dst) || rootOf(dst) == rootOf(inputs[1]))
    type = std::make_shared<const ir::TileType>(type->shape_, type->dtype_, std::nullopt, type->tile_view_,
                                                type->memory_space_);
  ir::Attrs arguments = {{"shape", shape}, {"dtype", type->dtype_}, {"value", value}};
  ir::VarPtr number = assign("t", type, ir::CreateOp("tile.full", std::move(arguments), ir::Span()));
  return define(op, dst, "tile.div", {{"", ir::ExprPtr(number)}, {"", by}});
}

/// The left operand of a convolution.
LogicalResult Raiser::columns(pto::TImg2ColOp op) {
  ir::ExprPtr image = read(op, op.getSrc()), shape = image ? shapeOf(op.getDst()) : nullptr;
  ir::ExprPtr row = shape ? scalar(op, op.getPosM()) : nullptr, col = row ? scalar(op, op.getPosK()) : nullptr;
  if (!col)
    return failure();
  ir::Attrs arguments = {{"", image}, {"", row}, {"", col}, {"", shape}};
  for (ArrayAttr numbers : {op.getKernel(), op.getStrides(), op.getDilations(), op.getPads(), op.getImage()}) {
    std::vector<ir::ExprPtr> elements;
    for (auto number : numbers.getAsRange<IntegerAttr>())
      elements.push_back(numberOf(number.getInt()));
    arguments.emplace_back("", ir::ExprPtr(std::make_shared<const ir::MakeTuple>(elements, ir::Span())));
  }
  arguments.emplace_back("channels", int64_t(op.getChannels()));
  return define(op, op.getDst(), "tile.img2col", std::move(arguments));
}

/// Semaphores between the cores of a block.
LogicalResult Raiser::event(Operation *op) {
  auto set = dyn_cast<pto::SyncSetOp>(op);
  auto wait = dyn_cast<pto::SyncWaitOp>(op);
  auto id = set ? set.getEventId() : wait.getEventId();
  if (!id)
    return op->emitOpError("has an event whose number is known at run time only, for which PyPTO has no form");
  StringRef pipe = pto::stringifyPipe(set ? set.getPipe() : wait.getPipe()).drop_front(StringRef("PIPE_").size());
  std::string_view name = set ? "system.sync_set" : "system.sync_wait";
  auto named = ir::ValueFromName(ir::EnumKind::PipeType, std::string_view(pipe));
  if (!named)
    return op->emitOpError("is of a pipe that PyPTO has no event for");
  ir::Attrs arguments = {{"event_id", int64_t(*id)}, {"pipe", ir::EnumValue{ir::EnumKind::PipeType, *named}}};
  if (set && set.getFftsMode())
    arguments.emplace_back("ffts_mode", int64_t(*set.getFftsMode()));
  return evaluate(op, name, std::move(arguments));
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
      .Case([&](pto::TTriOp triangle) -> LogicalResult {
        ir::TileTypePtr type = tile(triangle.getDst());
        ir::ExprPtr diagonal = type ? scalar(op, triangle.getDiagonal()) : nullptr;
        if (!diagonal)
          return failure();
        ir::Attrs arguments = {{"", diagonal}, {"", shapeOf(triangle.getDst())}, {"dtype", type->dtype_}};
        if (triangle.getUpperOrLower())
          arguments.emplace_back("upper", true);
        return define(op, triangle.getDst(), "tile.tri", std::move(arguments));
      })
      .Default([&](Operation *) { return elementOrBarrier(op); });
}

} // namespace pto_mlir::pypto_frontend
