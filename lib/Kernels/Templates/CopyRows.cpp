//===- CopyRows.cpp - copies of rows known at run time --------------------===//
//
// repeat_rows: a tensor once for each outer index. take_rows: some rows of each.
//
//===----------------------------------------------------------------------===//

#include "Template.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir::templates {

namespace {

constexpr int64_t kMostRows = 64; ///< of a piece, so that short tensors are shared, too

std::string refusalOf(Operation *op) {
  unsigned bits = storedBits(getElementTypeOrSelf(op->getOperand(0).getType()));
  return bits == 16 || bits == 32 ? "" : "elements of 16 and 32 bits can be copied";
}

/// Of a tile: with two buffers half of what tiles may take.
int64_t mostBytes(const KernelEmitter &e) { return e.arch.tileBytes / 4 / 32 * 32; }

/// All elements as one row.
void flatten(Matrix &matrix) { matrix.cols *= matrix.rows, matrix.rows = 1; }

class RepeatRows final : public EmittedTemplate {
public:
  std::string refusal(Operation *op, const pto::Target &) const override { return refusalOf(op); }
  bool takesEachSize() const override { return true; }

  void build(KernelEmitter &e, ArrayRef<Operation *> ops, ArrayRef<unsigned> arguments,
             ArrayRef<unsigned> results) const override {
    Operation *op = ops.front();
    Matrix in = asRows(op->getOperand(0).getType(), arguments[0]), out = asRows(op->getResult(0).getType(), results[0]);
    unsigned rank = e.sizes[arguments[0]].size();
    int64_t bytes = pto::getElementBits(in.element) / 8, most = mostBytes(e);
    // Rows of a constant length that fit; else the elements follow each other.
    bool byRow = isa<AffineConstantExpr>(e.sizes[arguments[0]].back()) && roundUp(in.cols * bytes, int64_t(32)) <= most;
    Ix outer = e.extentOf(results[0], 0, 1), whole = e.extentOf(arguments[0], 0, byRow ? rank - 1 : rank);
    if (!byRow)
      flatten(in), flatten(out);
    int64_t row = roundUp(in.cols * bytes, int64_t(32));
    int64_t step = byRow ? std::clamp<int64_t>(most / row, 1, kMostRows) : most / bytes / kBlock * kBlock;
    Ix pieces = e.ceilDiv(whole, step), zero = e.constant(0), one = e.constant(1);
    e.share(e.mul(outer, pieces), [&](Ix number) {
      Ix first = e.mul(e.rem(number, pieces), step), count = e.extent(first, step, whole);
      Ix target = e.add(e.mul(e.div(number, pieces), whole), first);
      Ix columns = byRow ? e.constant(in.cols) : count, rows = byRow ? count : one;
      Value tile = e.valid(e.vec(byRow ? step : 1, byRow ? in.cols : step, in.element), rows, columns);
      auto part = [&](const Matrix &matrix, Ix at) {
        return e.part(matrix, byRow ? at : zero, byRow ? zero : at, rows, columns);
      };
      e.load(part(in, first), tile);
      e.store(tile, part(out, target));
    });
    e.b.create<func::ReturnOp>(e.loc);
  }
};

class TakeRows final : public EmittedTemplate {
public:
  std::string refusal(Operation *op, const pto::Target &) const override { return refusalOf(op); }
  bool takesEachSize() const override { return true; }

  void build(KernelEmitter &e, ArrayRef<Operation *> ops, ArrayRef<unsigned> arguments,
             ArrayRef<unsigned> results) const override {
    auto op = cast<top::TakeRowsOp>(ops.front());
    Matrix in = asRows(op.getInput().getType(), arguments[0]), out = asRows(op.getType(), results[0]);
    int64_t width = in.cols, whole = op.getCount() * width;
    int64_t step = std::min(roundUp(whole, kBlock), mostBytes(e) / (pto::getElementBits(in.element) / 8));
    Ix rows = e.extentOf(arguments[0], 1, 2), outer = e.extentOf(arguments[0], 0, 1), zero = e.constant(0);
    flatten(in), flatten(out);
    int64_t pieces = ceilDiv(whole, step);
    e.share(e.mul(outer, pieces), [&](Ix number) {
      Ix batch = e.div(number, pieces), first = e.mul(e.rem(number, pieces), step), one = e.constant(1);
      Ix count = e.extent(first, step, whole);
      Ix source = e.add(e.mul(e.add(e.mul(batch, rows), e.constant(op.getFirst())), width), first);
      Value tile = e.valid(e.vec(1, step, in.element), one, count);
      e.load(e.part(in, zero, source, one, count), tile);
      e.store(tile, e.part(out, zero, e.add(e.mul(batch, whole), first), one, count));
    });
    e.b.create<func::ReturnOp>(e.loc);
  }
};

} // namespace

const Template &takeRowsTemplate() {
  static const TakeRows instance;
  return instance;
}

const Template &repeatRowsTemplate() {
  static const RepeatRows instance;
  return instance;
}

} // namespace pto_mlir::templates
