//===- ReduceRows.cpp - reductions over rows known at run time ------------===//
//
// A piece is some columns of one outer index. Rows of several columns are reduced
// tile by tile, and the tiles' rows are combined in order; a single column lies as
// one row in memory, whose tiles are combined element by element and reduced last.
// The order does not depend on the launch.
//
//===----------------------------------------------------------------------===//

#include "Template.h"
#include "pto_mlir/Dialect/PTO/IR/FoldRows.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace pto_mlir::templates {

namespace {

constexpr int64_t kWidth = 64;      ///< of a piece: what a vector instruction takes of f32
constexpr int64_t kRows = 64;       ///< of a tile, as of a sum over constant rows: the same bits
constexpr int64_t kElements = 2048; ///< of a tile of a single column

/// One kernel of this kind under construction.
struct Reduction {
  KernelEmitter &e;
  StringRef kind;
  Matrix in, out;
  Ix rows; ///< that are reduced
  int64_t parts;

  bool adds() const { return kind == "sum" || kind == "mean"; }
  double neutral() const {
    double infinity = std::numeric_limits<double>::infinity();
    return adds() ? 0 : kind == "max" ? -infinity : infinity;
  }
  /// The op of the kind, of three that take the same operands.
  template <typename Sum, typename Max, typename Min, typename... Operands> void create(Operands... operands) {
    if (adds())
      e.b.create<Sum>(e.loc, operands...);
    else if (kind == "max")
      e.b.create<Max>(e.loc, operands...);
    else
      e.b.create<Min>(e.loc, operands...);
  }
  void combine(Value x, Value y, Value to) { create<pto::TAddOp, pto::TMaxOp, pto::TMinOp>(x, y, to); }
  /// To one row, as a reduction of constant rows is: the same bits. `count`: valid columns.
  void columns(Value from, Ix count, Value to) {
    if (pto::canFoldRows(cast<pto::TileBufType>(from.getType()), adds()))
      pto::foldRows(e.b, e.loc, from, e.value(count), to, [&](Value x, Value y, Value sum) { combine(x, y, sum); });
    else
      create<pto::TColSumOp, pto::TColMaxOp, pto::TColMinOp>(from, to);
  }
  void row(Value from, Value scratch, Value to) {
    create<pto::TRowSumOp, pto::TRowMaxOp, pto::TRowMinOp>(from, scratch, to);
  }

  /// Part of the input as f32: a tile of `height` by `width` of which `validRows` by `validColumns` are there.
  Value read(Ix row, Ix column, int64_t height, int64_t width, Ix validRows, Ix validColumns) {
    Value wide = e.valid(e.vec(height, width, e.b.getF32Type()), validRows, validColumns);
    Value given = in.element.isF32() ? wide : e.valid(e.vec(height, width, in.element), validRows, validColumns);
    e.load(e.part(in, row, column, validRows, validColumns), given);
    if (given != wide)
      e.convert(given, wide);
    return wide;
  }

  /// Stores the f32 of one row, for a mean divided by the number of rows.
  void write(Value sums, int64_t width, Ix row, Ix column, Ix count) {
    Ix one = e.constant(1);
    Value result = e.valid(sums, one, count);
    if (kind == "mean") {
      Value number = e.vec(1, width, e.b.getI32Type()), real = e.vec(1, width, e.b.getF32Type());
      e.b.create<pto::TExpandSOp>(e.loc, e.i32(rows), number);
      e.convert(number, real);
      e.b.create<pto::TDivOp>(e.loc, result, e.valid(real, one, count), result);
    }
    if (!out.element.isF32()) {
      Value narrow = e.valid(e.vec(1, width, out.element), one, count);
      e.convert(result, narrow);
      result = narrow;
    }
    e.store(result, e.part(out, row, column, one, count));
  }

  void manyColumns(Ix outer) {
    int64_t width = std::min(kWidth, roundUp(in.cols, kBlock)), pieces = ceilDiv(in.cols, width);
    Ix each = parts == 1 ? rows : e.ceilDiv(rows, parts);
    e.share(e.mul(outer, parts * pieces), [&](Ix number) {
      Ix target = e.div(number, pieces), batch = e.div(target, parts), begin = e.mul(e.rem(target, parts), each);
      Ix column = e.mul(e.rem(number, pieces), width);
      Ix count = e.extent(column, width, in.cols), one = e.constant(1);
      Ix run = parts == 1 ? rows : e.max(e.min(each, e.sub(rows, begin)), e.constant(0));
      Value sums = e.vec(1, width, e.b.getF32Type());
      e.fill(sums, neutral());
      e.loop(e.ceilDiv(run, kRows), 1, [&](Ix trip) {
        Ix done = e.mul(trip, kRows), height = e.extent(done, kRows, run), first = e.add(begin, done);
        Value tile = read(e.add(e.mul(batch, rows), first), column, kRows, width, height, count);
        Value part = e.valid(e.vec(1, width, e.b.getF32Type()), one, count);
        columns(tile, count, part);
        combine(e.valid(sums, one, count), part, e.valid(sums, one, count));
      });
      write(sums, width, target, column, count);
    });
  }

  void oneColumn(Ix outer) {
    in.cols *= in.rows, in.rows = 1;
    e.share(outer, [&](Ix batch) {
      Ix zero = e.constant(0), one = e.constant(1);
      Value sums = e.vec(1, kElements, e.b.getF32Type());
      e.fill(sums, neutral());
      e.loop(e.ceilDiv(rows, kElements), 1, [&](Ix trip) {
        Ix first = e.mul(trip, kElements), count = e.extent(first, kElements, rows);
        Value tile = read(zero, e.add(e.mul(batch, rows), first), 1, kElements, one, count);
        combine(e.valid(sums, one, count), tile, e.valid(sums, one, count));
      });
      Type f32 = e.b.getF32Type();
      Value column = e.tile(pto::makeVecColumnTile(e.context(), kBlock, f32), e.constant(kBlock), one);
      row(sums, e.vec(1, kElements, f32), e.valid(column, one, one));
      Value result = e.b.create<pto::TReshapeOp>(e.loc, pto::makeVecTile(e.context(), 1, kBlock, f32), column);
      write(result, kBlock, batch, zero, one);
    });
  }
};

class ReduceRows final : public EmittedTemplate {
public:
  std::string refusal(Operation *op, const pto::Target &) const override {
    Type element = getElementTypeOrSelf(op->getOperand(0).getType());
    return element.isF32() || element.isF16() || element.isBF16() ? "" : "rows of f32, f16 and bf16 can be reduced";
  }
  bool takesEachSize() const override { return true; }

  void build(KernelEmitter &e, ArrayRef<Operation *> ops, ArrayRef<unsigned> arguments,
             ArrayRef<unsigned> results) const override {
    auto op = cast<top::ReduceRowsOp>(ops.front());
    Reduction reduction{e,
                        op.getKind(),
                        asRows(op.getInput().getType(), arguments[0]),
                        asRows(op.getType(), results[0]),
                        e.extentOf(arguments[0], 1, 2),
                        static_cast<int64_t>(op.getParts())};
    Ix outer = e.extentOf(arguments[0], 0, 1);
    if (reduction.in.cols == 1 && reduction.parts == 1)
      reduction.oneColumn(outer);
    else
      reduction.manyColumns(outer);
    e.b.create<func::ReturnOp>(e.loc);
  }
};

} // namespace

const Template &reduceRowsTemplate() {
  static const ReduceRows instance;
  return instance;
}

} // namespace pto_mlir::templates
