//===- Distribute.cpp - distribute a kernel over the vector cores -------------===//

#include "Distribute.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir {
namespace {

constexpr llvm::StringLiteral kDistributeAttr = "pto.distribute";

/// Whether `op` or an op nested in it stores to global memory.
bool stores(Operation *op) {
  return op->walk([](pto::TStoreOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

struct Range {
  int64_t lower, step, trips;
  Value upper;     ///< if it is known at run time; `trips` are the most then
  Value stepAtRun; ///< if the step is known at run time: `step` is the least then, 1
};

/// Nothing if it is not known how many steps there may be.
std::optional<Range> rangeOf(scf::ForOp loop, std::optional<int64_t> greatest) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()), step = getConstantIntValue(loop.getStep());
  std::optional<int64_t> constant = getConstantIntValue(loop.getUpperBound()), upper = constant ? constant : greatest;
  if (!lower || !upper || (step && *step <= 0))
    return std::nullopt;
  return Range{*lower, step.value_or(1), std::max<int64_t>(llvm::divideCeil(*upper - *lower, step.value_or(1)), 0),
               constant ? Value() : loop.getUpperBound(), step ? Value() : loop.getStep()};
}

/// The number of trips as a value.
Value tripsOf(OpBuilder &builder, Location loc, const Range &range) {
  auto constant = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(loc, value); };
  if (range.stepAtRun) {
    Value upper = range.upper ? range.upper : constant(range.lower + range.trips);
    Value last = builder.create<arith::AddIOp>(loc, upper, constant(-1 - range.lower));
    Value end = builder.create<arith::AddIOp>(loc, last, range.stepAtRun);
    return builder.create<arith::FloorDivSIOp>(loc, end, range.stepAtRun);
  }
  if (!range.upper)
    return constant(range.trips);
  if (range.step == 1 && range.lower == 0)
    return range.upper;
  Value end = builder.create<arith::AddIOp>(loc, range.upper, constant(range.step - 1 - range.lower));
  return builder.create<arith::FloorDivSIOp>(loc, end, constant(range.step));
}

/// The single marked loop nested in `loop` that does all its work. Ops before it are recomputed in each iteration after
/// coalescing, so they must not store.
scf::ForOp innerLoop(scf::ForOp loop) {
  scf::ForOp inner;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (inner)
      return nullptr;
    if (op.getNumRegions() != 0) {
      inner = dyn_cast<scf::ForOp>(op);
      if (!inner || !inner->hasAttr(kDistributeAttr))
        return nullptr;
    } else if (stores(&op)) {
      return nullptr;
    }
  }
  return inner;
}

class Distributor {
public:
  Distributor(func::FuncOp func, int64_t numBlocks, std::optional<int64_t> greatestRows)
      : func(func), greatestRows(greatestRows), oneBlock(func->hasAttr(pto::kPanelAttr)),
        planned(pto::targetOf(func).vectorCores * (oneBlock ? 1 : std::max<int64_t>(numBlocks, 1))) {}
  void run();

private:
  scf::ForOp merge(scf::ForOp outer);
  void spread(scf::ForOp loop);
  void firstCoreOnly(ArrayRef<Operation *> ops);
  void numberCores();

  func::FuncOp func;
  std::optional<int64_t> greatestRows; ///< of loops that end at a size known at run time
  bool oneBlock;                       ///< a single block executes the kernel
  int64_t planned;                     ///< number of vector cores planned for
  Value index, count;
};

/// Emits the index of this vector core (block * cores per block + core in its block) and the number of cores; for a
/// kernel of a single block those within the block.
void Distributor::numberCores() {
  if (index)
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(&func.getBody().front());
  Location loc = func.getLoc();
  Type i64 = builder.getI64Type(), indexType = builder.getIndexType();
  if (oneBlock) {
    index = builder.create<arith::IndexCastOp>(loc, indexType, builder.create<pto::GetSubBlockIdxOp>(loc, i64));
    count = builder.create<arith::IndexCastOp>(loc, indexType, builder.create<pto::GetSubBlockNumOp>(loc, i64));
    return;
  }
  Value block = builder.create<pto::GetBlockIdxOp>(loc, i64);
  Value blocks = builder.create<pto::GetBlockNumOp>(loc, i64);
  Value sub = builder.create<pto::GetSubBlockIdxOp>(loc, i64);
  Value subs = builder.create<pto::GetSubBlockNumOp>(loc, i64);
  Value number = builder.create<arith::AddIOp>(loc, builder.create<arith::MulIOp>(loc, block, subs), sub);
  Value all = builder.create<arith::MulIOp>(loc, blocks, subs);
  index = builder.create<arith::IndexCastOp>(loc, indexType, number);
  count = builder.create<arith::IndexCastOp>(loc, indexType, all);
}

/// Coalesces `outer` with marked loops nested in it until its iterations can be distributed evenly.
scf::ForOp Distributor::merge(scf::ForOp outer) {
  std::optional<Range> range = rangeOf(outer, greatestRows);
  while (true) {
    if (!range || range->trips == 0)
      return outer;
    // Stop when the imbalance is below 10 %; a step at run time is chosen for all loops together.
    if (!range->stepAtRun && llvm::divideCeil(range->trips, planned) * planned * 10 <= range->trips * 11)
      return outer;
    scf::ForOp inner = innerLoop(outer);
    std::optional<Range> innerRange = inner ? rangeOf(inner, greatestRows) : std::nullopt;
    if (!innerRange || innerRange->trips == 0 || !outer.isDefinedOutsideOfLoop(inner.getUpperBound()) ||
        !outer.isDefinedOutsideOfLoop(inner.getStep()))
      return outer;
    OpBuilder builder(outer);
    Location loc = outer.getLoc();
    auto constant = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(loc, value); };
    int64_t most = range->trips * innerRange->trips;
    bool known = !range->upper && !innerRange->upper && !range->stepAtRun && !innerRange->stepAtRun;
    Value allTrips =
        known ? constant(most)
              : builder.create<arith::MulIOp>(loc, tripsOf(builder, loc, *range), tripsOf(builder, loc, *innerRange));
    Value innerTrips = known ? Value() : tripsOf(builder, loc, *innerRange);
    auto merged = builder.create<scf::ForOp>(loc, constant(0), allTrips, constant(1));
    merged->setAttr(kDistributeAttr, builder.getUnitAttr());
    builder.setInsertionPointToStart(merged.getBody());
    auto value = [&](Value trip, const Range &r) -> Value {
      Value scaled = builder.create<arith::MulIOp>(loc, trip, r.stepAtRun ? r.stepAtRun : constant(r.step));
      return builder.create<arith::AddIOp>(loc, scaled, constant(r.lower));
    };
    Value trip = merged.getInductionVar(), trips = known ? constant(innerRange->trips) : innerTrips;
    Value major = builder.create<arith::FloorDivSIOp>(loc, trip, trips);
    Value minor = builder.create<arith::RemSIOp>(loc, trip, trips);
    outer.getInductionVar().replaceAllUsesWith(value(major, *range));
    inner.getInductionVar().replaceAllUsesWith(value(minor, *innerRange));
    Operation *end = merged.getBody()->getTerminator();
    for (Operation &op : llvm::make_early_inc_range(outer.getBody()->without_terminator()))
      if (&op != inner)
        op.moveBefore(end);
    for (Operation &op : llvm::make_early_inc_range(inner.getBody()->without_terminator()))
      op.moveBefore(end);
    outer.erase();
    outer = merged;
    range = Range{0, 1, most, known ? Value() : allTrips, Value()};
  }
}

void Distributor::spread(scf::ForOp loop) {
  numberCores();
  loop->walk([](scf::ForOp inner) { inner->removeAttr(kDistributeAttr); });
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value start = builder.create<arith::MulIOp>(loc, index, loop.getStep());
  loop.setLowerBound(builder.create<arith::AddIOp>(loc, loop.getLowerBound(), start));
  loop.setStep(builder.create<arith::MulIOp>(loc, loop.getStep(), count));
}

/// Wraps ops in a loop from the core's index to 1, which runs once on the first core and not at all on others.
void Distributor::firstCoreOnly(ArrayRef<Operation *> ops) {
  numberCores();
  OpBuilder builder(ops.front());
  Value one = builder.create<arith::ConstantIndexOp>(func.getLoc(), 1);
  auto once = builder.create<scf::ForOp>(func.getLoc(), index, one, count);
  for (Operation *op : ops)
    op->moveBefore(once.getBody()->getTerminator());
}

void Distributor::run() {
  SmallVector<scf::ForOp> parallel;
  SmallVector<Operation *> shared;
  for (Operation &op : func.getBody().front()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && loop->hasAttr(kDistributeAttr))
      parallel.push_back(loop);
    else if (stores(&op))
      shared.push_back(&op);
  }
  for (scf::ForOp loop : parallel)
    spread(merge(loop));
  // Without parallel loops the first core executes the whole kernel.
  if (parallel.empty()) {
    shared.clear();
    for (Operation &op : func.getBody().front().without_terminator())
      shared.push_back(&op);
    if (!shared.empty())
      firstCoreOnly(shared);
    return;
  }
  for (Operation *op : shared)
    firstCoreOnly(op);
}

} // namespace

void distributeKernel(func::FuncOp func, int64_t numBlocks, std::optional<int64_t> greatestRows) {
  Distributor(func, numBlocks, greatestRows).run();
}

} // namespace pto_mlir
