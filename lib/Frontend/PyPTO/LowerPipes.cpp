// Queues of tiles between the cores of a block, and the buffers that they arrive in.
#include "Lowering.h"

#include "../../Dialect/PTO/Transforms/QueueBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {
namespace {

/// What an op of queues says of its own: the number of the queue and how a tile is divided.
SmallVector<NamedAttribute> queueOf(OpBuilder &b, const ir::OpView &call, const ir::Span &span) {
  SmallVector<NamedAttribute> attributes;
  if (int64_t id = *call.Keyword<int64_t>("id"))
    attributes.push_back(b.getNamedAttr("id", b.getI32IntegerAttr(int32_t(id))));
  if (call.row()->Find("split") >= 0) {
    int64_t split = *call.Keyword<int64_t>("split");
    if (split < 0 || split > 4)
      fail(span, "split is 0 to 4, not " + std::to_string(split));
    attributes.push_back(b.getNamedAttr("split", b.getI8IntegerAttr(int8_t(split))));
  }
  return attributes;
}

} // namespace

Value Lowering::openQueue(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &) {
  int64_t directions = *call.Keyword<int64_t>("dir_mask");
  if (directions < 1 || directions > 3)
    fail(op->span_, "dir_mask is 1, 2 or 3, not " + std::to_string(directions));
  auto slots = call.Keyword<int64_t>("slot_num"), localSlots = call.Keyword<int64_t>("local_slot_num");
  int64_t mostSlots = directions == 3 ? 4 : 8;
  if (slots && (*slots < 1 || *slots > mostSlots))
    fail(op->span_, "a queue has up to 8 slots, or 4 in each of two directions; other numbers are not lowered yet");
  const pto::Target &target = processor();
  if (localSlots && target.directTiles)
    fail(op->span_, "tiles of a queue go from core to core on " + std::string(target.name) +
                        ": all of its slots are local; leave local_slot_num out, slot_num says how many they are");
  if (localSlots && (*localSlots < 1 || *localSlots > slots.value_or(mostSlots)))
    fail(op->span_, "local_slot_num is 1 to " + std::to_string(slots.value_or(mostSlots)) +
                        ", the slots of the queue, not " + std::to_string(*localSlots));
  Value slotBuffer;
  if (!target.directTiles) { // tiles travel through global memory, the last argument
    auto func = cast<func::FuncOp>(constants.getInsertionBlock()->getParentOp());
    if (!queueMemory) {
      func.insertArgument(func.getNumArguments(), pto::PtrType::get(b.getF32Type()), {}, loc);
      queueMemory = func.getArguments().back();
    }
    // Each block has 8 slots of its own in each queue.
    Value block = convert(b.create<pto::GetBlockIdxOp>(loc), b.getIndexType(), true);
    Value offset = b.create<arith::MulIOp>(loc, block, indexConstant(queueSpace.words));
    if (int64_t first = queueSpace.offsets[*call.Keyword<int64_t>("id")])
      offset = b.create<arith::AddIOp>(loc, offset, indexConstant(first));
    slotBuffer = b.create<pto::AddPtrOp>(loc, queueMemory.getType(), queueMemory, offset);
  }
  auto address = [&](const char *name) {
    ir::ExprPtr given = call.Operand(name);
    return given ? scalarOf(given, b.getI32Type()) : constant(b.getI32IntegerAttr(0), b.getI32Type());
  };
  SmallVector<NamedAttribute> attributes = queueOf(b, call, op->span_);
  attributes.push_back(b.getNamedAttr("dir_mask", b.getI8IntegerAttr(int8_t(directions))));
  attributes.push_back(b.getNamedAttr("slot_size", b.getI32IntegerAttr(int32_t(*call.Keyword<int64_t>("slot_size")))));
  if (slots && *slots != mostSlots)
    attributes.push_back(b.getNamedAttr(pto::kSlotNumAttr, b.getI32IntegerAttr(int32_t(*slots))));
  if (localSlots)
    attributes.push_back(b.getNamedAttr(pto::kLocalSlotNumAttr, b.getI32IntegerAttr(int32_t(*localSlots))));
  createOp(call.row()->pto, {{slotBuffer}, {address("c2v_consumer_buf")}, {address("v2c_consumer_buf")}}, attributes,
           false);
  return nullptr;
}

Value Lowering::push(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &) {
  if (call.Keyword<int64_t>("lane_stride") && *call.Keyword<int64_t>("split") == 0)
    fail(op->span_, "lane_stride says where parts begin; this tile is whole");
  createOp(call.row()->pto, {{valueOf(call.Operand("tile"))}}, queueOf(b, call, op->span_), false);
  return nullptr;
}

Value Lowering::pop(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  auto type = ir::As<ir::TileType>(var ? var->type_ : op->type_);
  if (type->memref_ && (*type->memref_)->addr_)
    fail(op->span_, "a tile of a queue lies in the queue's buffer; it has no address of its own");
  OperationState state(loc, "pto." + std::string(call.row()->pto));
  state.addAttributes(queueOf(b, call, op->span_));
  // The parts of two cores lie a box apart.
  if (auto stride = call.Keyword<int64_t>("lane_stride")) {
    int64_t split = *call.Keyword<int64_t>("split");
    auto box = ir::ConstantInt(split % 2 ? type->shape_.front() : type->shape_.back());
    if (split == 0 || stride != box)
      fail(op->span_, "lane_stride is what a tile of a queue has along the axis that is split; another one is not "
                      "lowered yet");
  }
  auto tile = tileType(*b.getContext(), *type, options);
  if (tile.hasDynamicValidRows() || tile.hasDynamicValidCols()) {
    const std::vector<ir::ExprPtr> &valid = type->tile_view_->valid_shape;
    if (valid.size() != 2)
      fail(op->span_, "the valid extent of a tile of a queue is one of rows and columns");
    state.addOperands({indexOf(valid[0]), indexOf(valid[1])});
  }
  int32_t given = state.operands.empty() ? 0 : 1;
  state.addAttribute("operandSegmentSizes", b.getDenseI32ArrayAttr({given, given}));
  state.addTypes(tile);
  return b.create(state)->getResult(0);
}

Value Lowering::freeSlot(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &) {
  bool cube = StringRef(call.row()->pto).ends_with("aic");
  createOp(cube ? "tfree_from_aic" : "tfree_from_aiv", {}, queueOf(b, call, op->span_), false);
  return nullptr;
}

Value Lowering::reserveBuffer(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &) {
  auto func = cast<func::FuncOp>(constants.getInsertionBlock()->getParentOp());
  auto kind = func->getAttrOfType<pto::KernelKindAttr>(pto::kKernelKindAttr);
  if (!kind)
    fail(op->span_, "a buffer is reserved in a function of kind AIC or AIV");
  auto space = kind.getValue() == pto::KernelKind::cube ? pto::AddressSpace::mat : pto::AddressSpace::vec;
  auto base = call.Keyword<int64_t>("base");
  OperationState state(loc, "pto.reserve_buffer");
  state.addAttribute("name", b.getStringAttr(*call.Keyword<std::string>("name")));
  state.addAttribute("size", b.getI32IntegerAttr(int32_t(*call.Keyword<int64_t>("size"))));
  state.addAttribute("location", pto::AddressSpaceAttr::get(b.getContext(), space));
  state.addAttribute("autoAlloc", b.getBoolAttr(!base));
  if (base)
    state.addAttribute("base", b.getI32IntegerAttr(int32_t(*base)));
  state.addTypes(b.getI32Type());
  return b.create(state)->getResult(0);
}

Value Lowering::importBuffer(const ir::OpView &call, const ir::CallPtr &, const ir::VarPtr &) {
  OperationState state(loc, "pto.import_reserved_buffer");
  state.addAttribute("name", b.getStringAttr(*call.Keyword<std::string>("name")));
  std::string peer = *call.Keyword<std::string>("peer_func");
  if (plan)
    if (auto found = plan->peers.find(peer); found != plan->peers.end())
      peer = found->second;
  state.addAttribute("peer_func", FlatSymbolRefAttr::get(b.getContext(), peer));
  state.addTypes(b.getI32Type());
  return b.create(state)->getResult(0);
}

Value Lowering::semaphore(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &) {
  if (call.row()->name == "system.set_ffts") // the device has memory for them
    return nullptr;
  int64_t event = *call.Keyword<int64_t>("event_id"), mode = *call.Keyword<int64_t>("ffts_mode");
  // Where flags are those of one vector core, the second one's come behind the first one's.
  int64_t events = processor().crossFlags * (processor().laneFlags ? processor().vectorCores : 1);
  if (event < 0 || event >= events)
    fail(op->span_, "Event ID must be in range [0, " + std::to_string(events - 1) + "], got " + std::to_string(event));
  auto pipe = pto::symbolizePipe("PIPE_" + std::string(ir::ValueName(*call.Enum<ir::PipeType>("pipe"))));
  SmallVector<NamedAttribute> attributes = {b.getNamedAttr("pipe", pto::PipeAttr::get(b.getContext(), *pipe)),
                                            b.getNamedAttr("event_id", b.getI32IntegerAttr(int32_t(event)))};
  if (call.row()->pto == "sync.set")
    attributes.push_back(b.getNamedAttr("ffts_mode", b.getI32IntegerAttr(int32_t(mode))));
  createOp(call.row()->pto, {}, attributes, false);
  return nullptr;
}

} // namespace pto_mlir::pypto_frontend
