// Queues of tiles between the cores of a block, as PyPTO's.
#include "../../Dialect/PTO/Transforms/QueueBuffers.h"
#include "Raiser.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using pypto::DataType;

namespace pto_mlir::pypto_frontend {

bool isOfQueue(Operation *op) {
  return mlir::isa<pto::AicInitializePipeOp, pto::AivInitializePipeOp, pto::TPushToAivOp, pto::TPushToAicOp,
                   pto::TPopFromAicOp, pto::TPopFromAivOp, pto::TFreeFromAicOp, pto::TFreeFromAivOp,
                   pto::ReserveBufferOp, pto::ImportReservedBufferOp>(op);
}

/// Whether a pointer only says where the slots of queues lie, and does so somewhere.
static bool isOfSlots(Value pointer) {
  return !pointer.use_empty() && llvm::all_of(pointer.getUsers(), [](Operation *user) {
    auto next = dyn_cast<pto::AddPtrOp>(user);
    return next ? isOfSlots(next.getResult()) : mlir::isa<pto::AicInitializePipeOp, pto::AivInitializePipeOp>(user);
  });
}

bool isOfCores(BlockArgument argument) {
  auto isSetUp = [](Operation *user) { return mlir::isa<pto::SetFFTsOp>(user); };
  return mlir::isa<MemRefType>(argument.getType()) ? llvm::all_of(argument.getUsers(), isSetUp)
                                                   : mlir::isa<pto::PtrType>(argument.getType()) && isOfSlots(argument);
}

/// The keywords that name a queue.
static ir::Attrs queueOf(Operation *op) {
  ir::Attrs keywords;
  if (auto split = op->getAttrOfType<IntegerAttr>("split"); split && split.getInt())
    keywords.emplace_back("split", split.getInt());
  if (int64_t id = pto::queueId(op))
    keywords.emplace_back("id", id);
  return keywords;
}

LogicalResult Raiser::openQueue(Operation *op) {
  auto number = [&](StringRef name) { return op->getAttrOfType<IntegerAttr>(name); };
  if (op->hasAttr("nosplit"))
    return op->emitOpError("says nosplit, for which PyPTO has no keyword");
  ir::Attrs arguments = queueOf(op);
  const std::pair<const char *, Value> buffers[] = {{"c2v_consumer_buf", op->getOperand(op->getNumOperands() - 2)},
                                                    {"v2c_consumer_buf", op->getOperand(op->getNumOperands() - 1)}};
  for (auto [name, buffer] : buffers) {
    if (getConstantIntValue(buffer)) // a direction that is not used
      continue;
    ir::ExprPtr address = scalar(op, buffer);
    if (!address)
      return failure();
    arguments.emplace_back(name, address);
  }
  arguments.emplace_back("dir_mask", number("dir_mask").getInt());
  arguments.emplace_back("slot_size", number("slot_size").getInt());
  for (StringRef name : {pto::kSlotNumAttr, pto::kLocalSlotNumAttr})
    if (IntegerAttr given = number(name))
      arguments.emplace_back(name.str(), given.getInt());
  return evaluate(op, "system." + op->getName().stripDialect().str(), std::move(arguments));
}

LogicalResult Raiser::pop(Operation *op) {
  Value result = op->getResult(0);
  ir::TileTypePtr type = op->getNumOperands() == 0 ? tile(result) : nullptr;
  if (!type)
    return op->emitOpError("gives a tile that PyPTO has no type for, or one whose valid extent only a run knows");
  // It lies in the buffer of the queue.
  type = types[result] = std::make_shared<const ir::TileType>(type->shape_, type->dtype_, std::nullopt,
                                                              type->tile_view_, type->memory_space_);
  ir::Attrs arguments = {{"shape", shapeOf(result)}, {"dtype", type->dtype_}};
  for (ir::Attrs::value_type &each : queueOf(op))
    arguments.push_back(each);
  ir::VarPtr made =
      assign("t", type, ir::CreateOp("tile." + op->getName().stripDialect().str(), std::move(arguments), ir::Span()));
  held[result] = {made, result};
  popped[pto::queueId(op)] = made;
  return success();
}

LogicalResult Raiser::queue(Operation *op) {
  std::string name = op->getName().stripDialect().str();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<pto::AicInitializePipeOp, pto::AivInitializePipeOp>([&](auto) { return openQueue(op); })
      .Case<pto::TPopFromAicOp, pto::TPopFromAivOp>([&](auto) { return pop(op); })
      .Case<pto::TPushToAivOp, pto::TPushToAicOp>([&](auto push) -> LogicalResult {
        ir::ExprPtr tile = read(op, push.getTile());
        if (!tile)
          return failure();
        ir::Attrs arguments = {{"tile", tile}};
        for (ir::Attrs::value_type &each : queueOf(op))
          arguments.push_back(each);
        return evaluate(op, "tile." + name, std::move(arguments));
      })
      .Case<pto::TFreeFromAicOp, pto::TFreeFromAivOp>([&](auto) -> LogicalResult {
        ir::VarPtr tile = popped[pto::queueId(op)];
        if (!tile)
          return op->emitOpError("gives back the slot of a tile that was taken elsewhere, for which PyPTO has no form");
        ir::Attrs arguments = {{"tile", ir::ExprPtr(tile)}};
        for (ir::Attrs::value_type &each : queueOf(op))
          arguments.push_back(each);
        return evaluate(op, mlir::isa<pto::TFreeFromAicOp>(op) ? "tile.tfree_to_aic" : "tile.tfree_to_aiv",
                        std::move(arguments));
      })
      .Case([&](pto::ReserveBufferOp reserve) {
        ir::Attrs arguments = {{"name", reserve.getName().str()}, {"size", int64_t(reserve.getSize())}};
        if (auto base = reserve.getBase())
          arguments.emplace_back("base", int64_t(*base));
        return evaluate(op, "system.reserve_buffer", std::move(arguments));
      })
      .Case([&](pto::ImportReservedBufferOp import) {
        return evaluate(op, "system.import_peer_buffer",
                        {{"name", import.getName().str()}, {"peer_func", import.getPeerFunc().str()}});
      });
}

} // namespace pto_mlir::pypto_frontend
