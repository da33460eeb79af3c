// Queues of tiles between the cube core and the vector cores: the library's TPipe, TPUSH, TPOP and TFREE.
#include "FunctionEmitter.h"

#include "../../Dialect/PTO/Transforms/QueueBuffers.h"

using namespace mlir;

namespace pto_mlir::cpp {

/// What the library calls the ways that tiles take: by the directions and the memory in between.
static std::string directionOf(const pto::Queue &queue, bool namesMemory) {
  StringRef way = queue.both() ? "DIR_BOTH" : queue.dirMask == 1 ? "DIR_C2V" : "DIR_V2C";
  return ("Direction::" + way + (namesMemory ? "_GM" : "")).str();
}

static StringRef splitOf(int64_t split) {
  static constexpr StringLiteral names[] = {"TILE_NO_SPLIT", "TILE_UP_DOWN", "TILE_LEFT_RIGHT", "TILE_UP_DOWN_ODD",
                                            "TILE_LEFT_RIGHT_ODD"};
  return names[split];
}

LogicalResult FunctionEmitter::openQueue(Operation *op) {
  pto::Queue queue = pto::Queue::of(op);
  bool nosplit = op->hasAttr("nosplit") && cast<BoolAttr>(op->getAttr("nosplit")).getValue();
  // A target with a way from core to core has names of its own for the one through global memory.
  bool namesMemory = !queue.direct && pto::targetOf(op).directTiles;
  constexpr int64_t usualLocalSlots = 2; // of the library; what a queue from core to core has locally is its slots
  std::string type = "TPipe<" + std::to_string(*queue.flagBase) + ", " + directionOf(queue, namesMemory) + ", " +
                     std::to_string(queue.slotBytes) + ", " + std::to_string(queue.slots) + ", " +
                     std::to_string(queue.direct ? usualLocalSlots : queue.localSlots) + ", " +
                     (nosplit ? "true" : "false") + ">";
  std::string first = text(queue.local).str(), second = queue.both() ? text(queue.peerLocal).str() : "0";
  if (queue.dirMask == 2)
    std::swap(first, second);
  std::string name = nameFor(queue.handle());
  out.line(type + " " + name + "(" + (queue.direct ? "nullptr" : text(queue.gm)) + ", " + first + ", " + second + ");");
  texts[queue.handle()] = name;
  typeTexts[queue.handle()] = type;
  return success();
}

LogicalResult FunctionEmitter::queueCall(Operation *op, StringRef callee, Value queue, Value tile, int64_t split) {
  if (!texts.contains(queue))
    return op->emitError() << "'" << op->getName() << "' has no C++: expects a queue that the function opens";
  std::string types =
      typeText(queue) + (tile ? ", " + typeText(tile) : "") + ", TileSplitAxis::" + splitOf(split).str();
  out.line(callee + "<" + types + ">(" + text(queue) + (tile ? ", " + text(tile).str() : "") + ");");
  return success();
}

/// The library loads as much as the tile says, so its valid extent comes first.
LogicalResult FunctionEmitter::popTile(pto::TPopOp op) {
  if (auto set = dyn_cast_or_null<pto::SetValidShapeOp>(op->getNextNode()); set && set.getSource() == op.getTile())
    if (failed(setValidShape(set)))
      return failure();
  return queueCall(op, "TPOP", op.getPipeHandle(), op.getTile(), op.getSplit());
}

} // namespace pto_mlir::cpp
