//===- EstimateEngines.cpp - what engines do on a core's way through a kernel -------===//

#include "EstimateWalk.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pto_mlir::pto {

bool EstimateWalk::runFlag(Operation *op) {
  auto note = [&](bool sets, auto flag, std::optional<int64_t> id) {
    auto src = static_cast<unsigned>(flag.getSrcPipe()), dst = static_cast<unsigned>(flag.getDstPipe());
    if (id && sets)
      sketch.setFlag(src, dst, static_cast<unsigned>(*id));
    else if (id)
      sketch.waitFlag(src, dst, static_cast<unsigned>(*id));
    return id.has_value();
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<SetFlagOp, WaitFlagOp>(
          [&](auto flag) { return note(isa<SetFlagOp>(op), flag, static_cast<int64_t>(flag.getEventId())); })
      .Case<SetFlagDynOp, WaitFlagDynOp>(
          [&](auto flag) { return note(isa<SetFlagDynOp>(op), flag, integer(flag.getEventId())); });
}

bool EstimateWalk::runEngine(Operation *op) {
  if (auto set = dyn_cast<SyncSetOp>(op)) {
    auto id = set.getEventIdDyn() ? integer(set.getEventIdDyn()) : std::optional<int64_t>(*set.getEventId());
    if (id)
      sketch.raise(static_cast<unsigned>(set.getPipe()), static_cast<unsigned>(*id));
    return id.has_value();
  }
  if (auto wait = dyn_cast<SyncWaitOp>(op)) {
    auto id = wait.getEventIdDyn() ? integer(wait.getEventIdDyn()) : std::optional<int64_t>(*wait.getEventId());
    auto pipe = static_cast<unsigned>(wait.getPipe());
    if (id)
      sketch.await(function.laneFlags ? ArrayRef<unsigned>(pipe) : ArrayRef<unsigned>(function.engines),
                   static_cast<unsigned>(*id));
    return id.has_value();
  }
  SmallVector<cost::SketchTile> written, read;
  const cost::SketchView *view = nullptr;
  for (auto [values, list] : {std::pair(getTileReads(op), &read), {getTileWrites(op), &written}})
    for (Value value : values) {
      if (auto tile = tiles.find(value); tile != tiles.end())
        list->push_back(tile->second);
      else if (auto part = views.find(value); part != views.end())
        view = view ? view : &part->second;
      else
        return false;
    }
  SmallVector<cost::SketchAccess> accesses;
  for (const Access &access : function.ordered ? ArrayRef<Access>() : function.accessesOf(op)) {
    uint64_t space = access.global ? 64 : static_cast<uint64_t>(access.space);
    if (access.global) {
      auto argument = views.find(access.root);
      accesses.push_back({space + (argument == views.end() ? 0 : argument->second.arg), 0, 1, access.write});
    } else if (auto root = tiles.find(access.root); root != tiles.end() && !access.anywhere) {
      accesses.push_back({space, root->second.address + static_cast<uint64_t>(access.begin),
                          root->second.address + static_cast<uint64_t>(access.end), access.write});
    } else {
      accesses.push_back({space, 0, ~uint64_t(0), access.write});
    }
  }
  auto pipe = static_cast<unsigned>(cast<PipeOpInterface>(op).getPipe());
  return sketch.note(op->getName().stripDialect(), pipe, written, read, view, accesses);
}

} // namespace pto_mlir::pto
