//===- PitchedViews.cpp - rows of an argument that lie apart ----------------===//

#include "PitchedViews.h"

#include "RunsOfRows.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pto_mlir::kernels {

static std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) ? std::optional(constant.getSExtValue()) : std::nullopt;
}

/// A product of a value and a constant.
static std::optional<std::pair<Value, int64_t>> scaled(Value value) {
  if (auto product = value.getDefiningOp<arith::MulIOp>()) {
    if (auto factor = constantOf(product.getRhs()))
      return std::pair(product.getLhs(), *factor);
    if (auto factor = constantOf(product.getLhs()))
      return std::pair(product.getRhs(), *factor);
  }
  return std::nullopt;
}

/// Whether the value is a number of whole rows, as where a loop over runs of them is.
static bool isWholeRows(Value value, int64_t row) {
  if (auto constant = constantOf(value))
    return *constant % row == 0;
  if (auto sum = value.getDefiningOp<arith::AddIOp>())
    return isWholeRows(sum.getLhs(), row) && isWholeRows(sum.getRhs(), row);
  if (auto product = scaled(value))
    return product->second % row == 0 || isWholeRows(product->first, row);
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  return loop && loop.getInductionVar() == value && isWholeRows(loop.getLowerBound(), row) &&
         isWholeRows(loop.getStep(), row);
}

std::optional<PitchedViews::Range> PitchedViews::rangeOf(Value value) {
  if (auto constant = constantOf(value))
    return Range{*constant, *constant};
  if (!solver) {
    solver = std::make_unique<DataFlowSolver>();
    solver->load<dataflow::DeadCodeAnalysis>();
    solver->load<dataflow::SparseConstantPropagation>();
    solver->load<dataflow::IntegerRangeAnalysis>();
    if (failed(solver->initializeAndRun(func)))
      return std::nullopt;
  }
  auto *state = solver->lookupState<dataflow::IntegerValueRangeLattice>(value);
  if (!state || state->getValue().isUninitialized())
    return std::nullopt;
  const ConstantIntRanges &range = state->getValue().getValue();
  return Range{range.smin().getSExtValue(), range.smax().getSExtValue()};
}

std::optional<PitchedViews::Range> PitchedViews::inRow(Value offset, int64_t row) {
  if (auto constant = constantOf(offset)) {
    int64_t rest = llvm::mod(*constant, row);
    return Range{rest, rest};
  }
  if (auto sum = offset.getDefiningOp<arith::AddIOp>()) {
    auto a = inRow(sum.getLhs(), row), b = inRow(sum.getRhs(), row);
    return a && b ? std::optional(Range{a->least + b->least, a->most + b->most}) : std::nullopt;
  }
  if (isWholeRows(offset, row))
    return Range{0, 0};
  std::optional<Range> range;
  if (auto product = scaled(offset)) {
    auto [value, factor] = *product;
    range = rangeOf(value);
    if (!range || factor < 0 || range->least < 0 || range->most > row / factor)
      return std::nullopt;
    range = Range{range->least * factor, range->most * factor};
  } else {
    range = rangeOf(offset);
  }
  return range && range->least >= 0 && range->most < row ? range : std::nullopt;
}

bool PitchedViews::allowView(Operation *op, Range begin, int64_t row) {
  auto view = cast<pto::MakeTensorViewOp>(op);
  if (auto layout = view.getLayout(); layout && *layout == pto::Layout::nz)
    return false;
  int64_t last = begin.most;
  auto strides = view.getStrides();
  bool isRun = begin.most == 0 && isRunOfRows(view, row);
  for (auto [size, step] : llvm::zip(view.getShape(), isRun ? strides.drop_back() : strides)) {
    auto extent = rangeOf(size);
    if (extent && extent->most == 1 && extent->least == 1)
      continue;
    auto stride = constantOf(step);
    if (!stride || *stride <= 0)
      return false;
    if (*stride % row == 0)
      continue;
    if (!extent || extent->least < 0 || extent->most > row || *stride >= row)
      return false;
    last += std::max<int64_t>(extent->most - 1, 0) * *stride;
  }
  return last < row;
}

bool PitchedViews::allowPointer(Value pointer, Range begin, int64_t row) {
  return llvm::all_of(pointer.getUsers(), [&](Operation *user) {
    if (isa<pto::MakeTensorViewOp>(user))
      return allowView(user, begin, row);
    auto add = dyn_cast<pto::AddPtrOp>(user);
    auto step = add ? inRow(add.getOffset(), row) : std::nullopt;
    return step && allowPointer(add.getResult(), {begin.least + step->least, begin.most + step->most}, row);
  });
}

bool PitchedViews::allow(unsigned argument, int64_t row) {
  return allowPointer(func.getArgument(argument), {0, 0}, row);
}

/// The offset with whole rows at their pitch. Takes the terms as `inRow` does.
Value PitchedViews::spread(OpBuilder &b, Value offset, Pitch pitch) {
  Location loc = offset.getLoc();
  auto number = [&](int64_t value) { return b.create<arith::ConstantIndexOp>(loc, value).getResult(); };
  if (auto constant = constantOf(offset))
    return number(llvm::divideFloorSigned(*constant, pitch.row) * pitch.pitch + llvm::mod(*constant, pitch.row));
  if (auto sum = offset.getDefiningOp<arith::AddIOp>()) {
    Value left = spread(b, sum.getLhs(), pitch), right = spread(b, sum.getRhs(), pitch);
    return b.create<arith::AddIOp>(loc, left, right);
  }
  if (auto product = scaled(offset); product && product->second % pitch.row == 0)
    return b.create<arith::MulIOp>(loc, product->first, number(product->second / pitch.row * pitch.pitch));
  if (isWholeRows(offset, pitch.row))
    return b.create<arith::MulIOp>(loc, b.create<arith::FloorDivSIOp>(loc, offset, number(pitch.row)),
                                   number(pitch.pitch));
  return offset;
}

void PitchedViews::set(unsigned argument, Pitch pitch) {
  OpBuilder b(func.getContext());
  SmallVector<Operation *> users(func.getArgument(argument).getUsers());
  while (!users.empty()) {
    Operation *user = users.pop_back_val();
    b.setInsertionPoint(user);
    if (auto add = dyn_cast<pto::AddPtrOp>(user)) {
      add.getOffsetMutable().assign(spread(b, add.getOffset(), pitch));
      llvm::append_range(users, add.getResult().getUsers());
      continue;
    }
    auto view = cast<pto::MakeTensorViewOp>(user);
    for (OpOperand &step : view.getStridesMutable())
      if (auto stride = constantOf(step.get()); stride && *stride % pitch.row == 0)
        step.set(b.create<arith::ConstantIndexOp>(user->getLoc(), *stride / pitch.row * pitch.pitch));
    if (isRunOfRows(view, pitch.row))
      splitRun(view, pitch.row, pitch.pitch);
  }
  solver.reset();
}

} // namespace pto_mlir::kernels
