//===- CheckSync.cpp - execute the flags of sliced kernels --------------------------------===//
//
// Every engine's function is interpreted alone (nothing that an engine computes depends on another one), which gives a
// list of events: accesses, sets, waits. The k-th wait of a flag is served by its k-th set. Vector clocks over the
// lists then say what happens before what.
//
//===----------------------------------------------------------------------===//

#include "Accesses.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <deque>
#include <map>

#define DEBUG_TYPE "pto-check-sync"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOCHECKSYNC
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

namespace {
struct Core {
  int64_t block, blockNum, subblock;
};

using Flag = std::tuple<Pipe, Pipe, int64_t>;

/// Bytes [begin, end) of a memory; `memory` is 100 + argument for global memory, else the address space.
struct Touch {
  unsigned memory;
  int64_t begin, end;
  bool write;
};
struct Event {
  enum Kind { touch, set, wait } kind;
  Operation *op;
  Flag flag;
  SmallVector<Touch, 3> touches;
};

/// The scalar meaning of one engine's function.
class Interpreter {
public:
  Interpreter(const Core &core, std::vector<Event> &events) : core(core), events(events) {}
  LogicalResult run(Block &block);

private:
  LogicalResult runOp(Operation *op);
  std::optional<int64_t> evaluate(Operation *op);
  int64_t get(Value value) const { return values.lookup(value); }
  std::optional<Touch> locate(Value value, bool write);

  const Core &core;
  std::vector<Event> &events;
  DenseMap<Value, int64_t> values;
  DenseMap<Value, int64_t> addresses; // of alloc_tile, at its last execution
};
} // namespace

static int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return a < b;
  case arith::CmpIPredicate::sle:
    return a <= b;
  case arith::CmpIPredicate::sgt:
    return a > b;
  case arith::CmpIPredicate::sge:
    return a >= b;
  case arith::CmpIPredicate::ult:
    return uint64_t(a) < uint64_t(b);
  case arith::CmpIPredicate::ule:
    return uint64_t(a) <= uint64_t(b);
  case arith::CmpIPredicate::ugt:
    return uint64_t(a) > uint64_t(b);
  case arith::CmpIPredicate::uge:
    return uint64_t(a) >= uint64_t(b);
  }
  return false;
}

/// Value of a scalar op; nullopt when this interpreter cannot compute it.
std::optional<int64_t> Interpreter::evaluate(Operation *op) {
  auto in = [&](unsigned i) { return get(op->getOperand(i)); };
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto integer = dyn_cast<IntegerAttr>(constant.getValue());
    return integer ? integer.getInt() : 0; // a float never steers control flow
  }
  if (isa<arith::AddIOp>(op))
    return in(0) + in(1);
  if (isa<arith::SubIOp>(op))
    return in(0) - in(1);
  if (isa<arith::MulIOp>(op))
    return in(0) * in(1);
  if (isa<arith::FloorDivSIOp, arith::DivSIOp, arith::CeilDivSIOp, arith::RemSIOp>(op)) {
    if (in(1) == 0)
      return std::nullopt;
    if (isa<arith::FloorDivSIOp>(op))
      return floorDiv(in(0), in(1));
    if (isa<arith::CeilDivSIOp>(op))
      return -floorDiv(-in(0), in(1));
    return isa<arith::DivSIOp>(op) ? in(0) / in(1) : in(0) % in(1);
  }
  if (isa<arith::MinSIOp>(op))
    return std::min(in(0), in(1));
  if (isa<arith::MaxSIOp>(op))
    return std::max(in(0), in(1));
  if (isa<arith::AndIOp>(op))
    return in(0) & in(1);
  if (isa<arith::OrIOp>(op))
    return in(0) | in(1);
  if (isa<arith::XOrIOp>(op))
    return in(0) ^ in(1);
  if (auto cmp = dyn_cast<arith::CmpIOp>(op))
    return compare(cmp.getPredicate(), in(0), in(1));
  if (isa<arith::SelectOp>(op))
    return in(0) ? in(1) : in(2);
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op))
    return in(0);
  if (isa<GetBlockIdxOp>(op))
    return core.block;
  if (isa<GetBlockNumOp>(op))
    return core.blockNum;
  if (isa<GetSubBlockIdxOp>(op))
    return core.subblock;
  if (isa<GetSubBlockNumOp>(op))
    return 2;
  return std::nullopt;
}

/// The bytes behind an operand. A global view is the run from its first to its last element.
std::optional<Touch> Interpreter::locate(Value value, bool write) {
  if (!isa<TileBufType>(value.getType())) {
    int64_t begin = 0, last = 0;
    Type element;
    if (auto part = value.getDefiningOp<PartitionViewOp>()) {
      auto whole = part.getSource().getDefiningOp<MakeTensorViewOp>();
      if (!whole)
        return std::nullopt;
      for (auto [offset, size, stride] : llvm::zip(part.getOffsets(), part.getSizes(), whole.getStrides())) {
        begin += get(offset) * get(stride);
        last += (get(size) - 1) * get(stride);
      }
      value = whole.getPtr();
      element = part.getResult().getType().getElementType();
    } else if (isa<PtrType>(value.getType())) {
      return std::nullopt;
    }
    while (auto moved = value.getDefiningOp<AddPtrOp>()) {
      begin += get(moved.getOffset());
      value = moved.getPtr();
    }
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || !element)
      return std::nullopt;
    int64_t bytes = std::max<int64_t>(1, getElementBits(element) / 8);
    return Touch{100 + argument.getArgNumber(), begin * bytes, (begin + last + 1) * bytes, write};
  }
  // The part of the tile that is a plain run of rows, else the whole tile.
  int64_t offset = 0, size = getTileBytes(cast<TileBufType>(value.getType()));
  while (auto alias = value.getDefiningOp<TileAliasOpInterface>()) {
    Value source = alias.getAliasSource();
    auto sourceType = cast<TileBufType>(source.getType());
    if (auto begin = getPartBegin(alias)) {
      auto part = cast<TileBufType>(value.getType());
      if (!sourceType.isBoxed() && sourceType.isRowMajor() && part.getCols() == sourceType.getCols() &&
          get(begin->second) == 0) {
        offset += get(begin->first) * sourceType.getCols() * getElementBits(sourceType.getElementType()) / 8;
      } else {
        offset = 0;
        size = getTileBytes(sourceType);
      }
    }
    value = source;
  }
  auto found = addresses.find(value);
  if (found == addresses.end())
    return std::nullopt;
  auto space = static_cast<unsigned>(cast<TileBufType>(value.getType()).getLoc());
  return Touch{space, found->second + offset, found->second + offset + size, write};
}

LogicalResult Interpreter::runOp(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    int64_t step = get(loop.getStep());
    if (step <= 0 || loop.getNumResults() != 0)
      return op->emitOpError("expects a positive step and no results");
    for (int64_t iv = get(loop.getLowerBound()), end = get(loop.getUpperBound()); iv < end; iv += step) {
      values[loop.getInductionVar()] = iv;
      if (failed(run(*loop.getBody())))
        return failure();
    }
    return success();
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    Block *block = get(branch.getCondition()) ? branch.thenBlock() : branch.elseBlock();
    return block ? run(*block) : success();
  }
  auto flag = [&](Event::Kind kind, auto typed, int64_t id) {
    events.push_back({kind, op, {typed.getSrcPipe(), typed.getDstPipe(), id}, {}});
    return success();
  };
  if (auto typed = dyn_cast<SetFlagOp>(op))
    return flag(Event::set, typed, static_cast<int64_t>(typed.getEventId()));
  if (auto typed = dyn_cast<WaitFlagOp>(op))
    return flag(Event::wait, typed, static_cast<int64_t>(typed.getEventId()));
  if (auto typed = dyn_cast<SetFlagDynOp>(op))
    return flag(Event::set, typed, get(typed.getEventId()));
  if (auto typed = dyn_cast<WaitFlagDynOp>(op))
    return flag(Event::wait, typed, get(typed.getEventId()));
  if (auto alloc = dyn_cast<AllocTileOp>(op)) {
    if (!alloc.getAddr())
      return op->emitOpError("has no address; run pto-plan-local-memory first");
    addresses[alloc.getResult()] = get(alloc.getAddr());
    return success();
  }
  if (isEngineOp(op)) {
    Event event{Event::touch, op, {}, {}};
    for (bool write : {false, true})
      for (Value value : write ? getTileWrites(op) : getTileReads(op))
        if (std::optional<Touch> touch = locate(value, write))
          event.touches.push_back(*touch);
    events.push_back(std::move(event));
    return success();
  }
  if (op->getNumResults() == 1 && op->getResult(0).getType().isIntOrIndex())
    if (std::optional<int64_t> value = evaluate(op))
      values[op->getResult(0)] = *value;
  return success();
}

LogicalResult Interpreter::run(Block &block) {
  for (Operation &op : block)
    if (failed(runOp(&op)))
      return failure();
  return success();
}

//===- happens-before -----------------------------------------------------------------===//

namespace {
using Clock = SmallVector<int64_t, 8>; // events of each engine that are known to be over

class Replay {
public:
  explicit Replay(ModuleOp kernel) : kernel(kernel) {}
  LogicalResult run(const Core &core);

private:
  LogicalResult step(size_t engine);
  LogicalResult touch(size_t engine, const Event &event);
  LogicalResult finish();

  struct Past {
    Touch touch;
    size_t engine;
    int64_t time;
    Operation *op;
  };
  struct FlagState {
    std::deque<Clock> raised;      // sets that no wait has consumed
    std::optional<Clock> consumed; // clock of the last wait
  };

  ModuleOp kernel;
  std::vector<func::FuncOp> engines;
  std::vector<std::vector<Event>> events;
  std::vector<size_t> at;
  std::vector<Clock> clocks;
  std::map<Flag, FlagState> flags;
  std::map<unsigned, std::vector<Past>> past;
};
} // namespace

static void join(Clock &into, const Clock &other) {
  for (size_t i = 0; i < into.size(); ++i)
    into[i] = std::max(into[i], other[i]);
}

static std::string flagText(const Flag &flag) {
  return llvm::formatv("({0}, {1}, {2})", stringifyPipe(std::get<0>(flag)), stringifyPipe(std::get<1>(flag)),
                       std::get<2>(flag))
      .str();
}

LogicalResult Replay::touch(size_t engine, const Event &event) {
  for (const Touch &touch : event.touches) {
    std::vector<Past> &known = past[touch.memory];
    for (const Past &other : known) {
      bool overlap = touch.begin < other.touch.end && other.touch.begin < touch.end;
      if (other.engine == engine || !overlap || !(touch.write || other.touch.write) ||
          clocks[engine][other.engine] >= other.time)
        continue;
      InFlightDiagnostic diag = event.op->emitError("nothing orders this access of ")
                                << engines[engine].getName() << " and one of " << engines[other.engine].getName();
      diag.attachNote(other.op->getLoc()) << "the other access";
      return diag;
    }
  }
  for (const Touch &touch : event.touches) {
    std::vector<Past> &known = past[touch.memory];
    // A later access of the same engine and bytes stands for the earlier one.
    llvm::erase_if(known, [&](const Past &other) {
      return other.engine == engine && other.touch.begin == touch.begin && other.touch.end == touch.end &&
             other.touch.write == touch.write;
    });
    known.push_back({touch, engine, clocks[engine][engine], event.op});
  }
  return success();
}

LogicalResult Replay::step(size_t engine) {
  const Event &event = events[engine][at[engine]++];
  Clock &clock = clocks[engine];
  ++clock[engine];
  if (event.kind == Event::touch)
    return touch(engine, event);
  FlagState &flag = flags[event.flag];
  if (event.kind == Event::set) {
    // Where nothing orders this set after the wait for the last token, two tokens may meet.
    if (flag.consumed)
      for (size_t i = 0; i < clock.size(); ++i)
        if (engines[i]->getAttrOfType<PipeAttr>(kPipeAttr).getValue() == std::get<1>(event.flag) &&
            clock[i] < (*flag.consumed)[i])
          return event.op->emitError("may raise flag ") << flagText(event.flag) << " before its last wait is over";
    flag.raised.push_back(clock);
    return success();
  }
  join(clock, flag.raised.front());
  flag.raised.pop_front();
  flag.consumed = clock;
  return success();
}

LogicalResult Replay::finish() {
  for (size_t i = 0; i < engines.size(); ++i)
    if (at[i] < events[i].size()) {
      const Event &event = events[i][at[i]];
      return event.op->emitError(event.kind == Event::wait ? "waits for ever for flag " : "raises twice flag ")
             << flagText(event.flag);
    }
  for (auto &[flag, state] : flags)
    if (!state.raised.empty())
      return kernel.emitError("flag ") << flagText(flag) << " is left raised at the end of the kernel";
  return success();
}

LogicalResult Replay::run(const Core &core) {
  for (func::FuncOp engine : kernel.getOps<func::FuncOp>()) {
    if (!engine->hasAttr(kPipeAttr))
      continue;
    engines.push_back(engine);
    events.emplace_back();
    if (failed(Interpreter(core, events.back()).run(engine.getBody().front())))
      return failure();
  }
  at.assign(engines.size(), 0);
  clocks.assign(engines.size(), Clock(engines.size(), 0));
  // Engines run as far as they can in turn; since matching is by count, the order of turns changes nothing.
  bool moved = true;
  while (moved) {
    moved = false;
    for (size_t i = 0; i < engines.size(); ++i)
      while (at[i] < events[i].size()) {
        // A wait needs a token; a set lets the consumer of the last token go first, and the clocks tell whether it had
        // to.
        const Event &event = events[i][at[i]];
        if (event.kind != Event::touch && flags[event.flag].raised.empty() == (event.kind == Event::wait))
          break;
        if (failed(step(i)))
          return failure();
        moved = true;
      }
  }
  return finish();
}

namespace {
struct CheckSyncPass : public pto_mlir::pto::impl::PTOCheckSyncBase<CheckSyncPass> {
  using PTOCheckSyncBase::PTOCheckSyncBase;
  void runOnOperation() override {
    Core core{block, blockNum, subblock};
    WalkResult result = getOperation().walk([&](ModuleOp module) {
      if (!module->hasAttr(kKernelKindAttr))
        return WalkResult::advance();
      PTO_DEBUG("replays @" << module.getName().value_or("") << " as block " << core.block << " of " << core.blockNum);
      return WalkResult(Replay(module).run(core));
    });
    if (result.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
