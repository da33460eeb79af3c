//===- TopK.cpp - the k greatest elements of rows, with their places ------===//
//
// A row becomes records of value and place in groups of 32 that are sorted by
// one instruction; merges of four runs at a time sort the row. A row longer than
// a tile goes through in pieces, each merged into the best k records so far.
// Earlier runs win ties, so that the lower place comes first.
//
//===----------------------------------------------------------------------===//

#include "Template.h"
#include "pto_mlir/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace pto_mlir::templates {

namespace {

constexpr int64_t kGroup = 32;        ///< elements that one instruction sorts
constexpr int64_t kMostSorted = 2048; ///< elements of a tile: a group times a power of four
constexpr int64_t kMostKept = 4096;   ///< records carried from piece to piece of a long row

/// The least run of merged groups that holds `size` elements.
int64_t runOf(int64_t size) {
  int64_t run = kGroup;
  while (run < size && run < kMostSorted)
    run *= 4;
  return run;
}

/// The computation of one kernel.
class TopK {
public:
  TopK(KernelEmitter &e, Matrix in, std::optional<Matrix> values, std::optional<Matrix> places, int64_t k, bool largest)
      : e(e), in(in), values(values), places(places), k(k), box(roundUp<int64_t>(k, kBlock)), width(runOf(in.cols)),
        largest(largest), f32(e.b.getF32Type()) {}

  void run() {
    if (in.cols <= width) {
      // Short rows side by side, but not so many that cores are left without.
      int64_t together = std::max<int64_t>(1, std::min(kMostSorted / width, in.rows / e.coreCount()));
      e.share(ceilDiv(in.rows, together), [&](Ix piece) { shortRows(e.mul(piece, together), together); });
    } else {
      e.share(in.rows, [&](Ix row) { longRow(row); });
    }
    e.b.create<func::ReturnOp>(e.loc);
  }

private:
  /// An integer that no element of the type comes behind; of wide types, none that f32 holds.
  double lastInteger() const {
    unsigned width = in.element.getIntOrFloatBitWidth();
    bool isUnsigned = in.element.isUnsignedInteger();
    if (width > 16)
      return (largest ? -1 : 1) * double(int64_t(1) << 25);
    if (largest)
      return isUnsigned ? 0 : -double(int64_t(1) << (width - 1));
    return double((int64_t(1) << (isUnsigned ? width : width - 1)) - 1);
  }

  /// Columns [column, column + count) of `count` rows in f32, as what is to be sorted in descending order.
  Value load(Ix row, Ix rows, int64_t height, Ix column, Ix columns) {
    bool whole = getConstantIntValue(rows) == height && getConstantIntValue(columns) == width;
    bool wide = in.element.isF32();
    auto pad = largest ? pto::PadValue::min : pto::PadValue::max;
    Value raw = e.vec(height, width, in.element, pad);
    if (!whole && isa<FloatType>(in.element))
      e.fill(raw, (largest ? -1 : 1) * std::numeric_limits<double>::infinity());
    else if (!whole)
      e.fill(raw, lastInteger());
    e.load(e.part(in, row, column, rows, columns), e.valid(raw, rows, columns));
    Value sorted = raw;
    if (!wide) {
      sorted = e.vec(height, width, f32);
      e.convert(raw, sorted);
    }
    if (!largest)
      e.b.create<pto::TMulSOp>(e.loc, sorted, e.scalar(f32, -1), sorted);
    return sorted;
  }

  /// Records of `tile`, whose columns have places from `first` on, sorted by rows of `width`.
  Value sort(Value tile, int64_t height, Ix first) {
    Value numbers = e.vec(1, width, e.b.getI32Type());
    e.b.create<pto::TCIOp>(e.loc, e.i32(first), numbers, /*descending=*/false);
    Value from = e.vec(height, 2 * width, f32), to = width > kGroup ? e.vec(height, 2 * width, f32) : from;
    Type u32 = e.b.getIntegerType(32, /*isSigned=*/false);
    e.b.create<pto::TSort32Op>(e.loc, tile, e.as(numbers, u32), Value(), from);
    // Rows are whole runs, so that all are merged as one row.
    for (int64_t run = kGroup; run < width; run *= 4) {
      auto line = [&](Value records) { return e.reshaped(records, 1, height * 2 * width); };
      e.b.create<pto::TMrgSortOp>(e.loc, line(from), e.scalar(e.b.getI32Type(), 2.0 * run), line(to), Value(), Value(),
                                  /*exhausted=*/false);
      std::swap(from, to);
    }
    return from;
  }

  /// Stores what the first k records of each row say.
  void store(Value records, Ix row, Ix rows, int64_t height) {
    auto type = cast<pto::TileBufType>(records.getType());
    Value zero = e.value(e.constant(0));
    Value best = records;
    if (type.getCols() != 2 * box)
      best =
          e.b.create<pto::SubViewOp>(e.loc, type.withShape(height, 2 * box).withValid(height, 2 * box), records,
                                     ValueRange{zero, zero}, Value(), Value(), e.b.getI64ArrayAttr({height, 2 * box}));
    auto lanes = [&](pto::MaskPattern pattern) {
      Value tile = e.vec(height, box, f32);
      auto op = e.b.create<pto::TGatherOp>(e.loc, best, tile, Value(), Value(), Value(), Value(),
                                           pto::MaskPatternAttr::get(e.context(), pattern), pto::CmpModeAttr(),
                                           IntegerAttr());
      return op.getDst();
    };
    Ix columns = e.constant(k);
    if (values) {
      Value tile = lanes(pto::MaskPattern::P0101);
      if (!largest)
        e.b.create<pto::TMulSOp>(e.loc, tile, e.scalar(f32, -1), tile);
      if (!values->element.isF32()) {
        Value narrow = e.vec(height, box, values->element);
        e.convert(tile, e.valid(narrow, e.constant(height), e.constant(box)));
        tile = narrow;
      }
      e.store(e.valid(tile, rows, columns), e.part(*values, row, e.constant(0), rows, columns));
    }
    if (places)
      e.store(e.valid(e.as(lanes(pto::MaskPattern::P1010), places->element), rows, columns),
              e.part(*places, row, e.constant(0), rows, columns));
  }

  void shortRows(Ix row, int64_t height) {
    Ix rows = e.extent(row, height, in.rows), zero = e.constant(0);
    Value records = sort(load(row, rows, height, zero, e.constant(in.cols)), height, zero);
    store(records, row, rows, height);
  }

  /// The first `count` columns of a tile of one row.
  Value head(Value tile, int64_t count) {
    auto type = cast<pto::TileBufType>(tile.getType());
    if (type.getCols() == count)
      return tile;
    Value zero = e.value(e.constant(0));
    return e.b.create<pto::SubViewOp>(e.loc, type.withShape(1, count).withValid(1, count), tile, ValueRange{zero, zero},
                                      Value(), Value(), e.b.getI64ArrayAttr({1, count}));
  }

  void longRow(Ix row) {
    Value best = e.vec(1, 2 * box, f32), merged = e.vec(1, 2 * box, f32), scratch = e.vec(1, 2 * box, f32);
    Ix one = e.constant(1);
    auto piece = [&](Ix column, int64_t before) {
      Value records = sort(load(row, one, 1, column, e.extent(column, width, in.cols)), 1, column);
      int64_t kept = 2 * std::min(box, before), after = 2 * std::min(box, before + width);
      if (before == 0)
        return (void)e.b.create<pto::TMovOp>(e.loc, head(records, after), head(best, after));
      Value target = head(merged, after);
      auto executed = e.b.create<arith::ConstantOp>(
          e.loc, DenseElementsAttr::get(VectorType::get({4}, e.b.getI16Type()), int16_t(0)));
      e.b.create<pto::TMrgSortOp>(e.loc, ValueRange{head(best, kept), records}, Value(), target, head(scratch, after),
                                  executed, /*exhausted=*/false);
      e.b.create<pto::TMovOp>(e.loc, target, head(best, after));
    };
    // Pieces until there are k records, then the rest in a loop.
    int64_t column = 0;
    for (; column < box && column < in.cols; column += width)
      piece(e.constant(column), column);
    if (column < in.cols)
      e.loop(e.constant(ceilDiv(in.cols - column, width)), 1,
             [&](Ix number) { piece(e.add(e.mul(number, width), e.constant(column)), column); });
    store(best, row, one, 1);
  }

  KernelEmitter &e;
  Matrix in;
  std::optional<Matrix> values, places;
  int64_t k, box, width;
  bool largest;
  Type f32;
};

class TopKTemplate final : public EmittedTemplate {
public:
  std::string refusal(Operation *op, const pto::Target &target) const override {
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    auto k = cast<IntegerAttr>(op->getAttr("k")).getInt();
    int64_t size = type.getShape().back();
    Type element = type.getElementType();
    if (!element.isF32() && !element.isF16() && !element.isBF16() && !element.isSignlessInteger() &&
        !isStoredIn32Bits(element))
      return "rows of f32, f16, bf16 and integers can be sorted";
    if (size > kMostSorted && k > kMostKept)
      return "k is " + std::to_string(k) + "; " + std::to_string(kMostKept) + " is the most in rows of more than " +
             std::to_string(kMostSorted) + " elements";
    return "";
  }

  void build(KernelEmitter &e, ArrayRef<Operation *> ops, ArrayRef<unsigned> arguments,
             ArrayRef<unsigned> results) const override {
    std::optional<Matrix> values, places;
    for (auto [op, result] : llvm::zip_equal(ops, results))
      (isa<top::TopKValuesOp>(op) ? values : places) = asRows(op->getResult(0).getType(), result);
    bool largest = !ops.front()->hasAttr("largest") || cast<BoolAttr>(ops.front()->getAttr("largest")).getValue();
    TopK(e, asRows(ops.front()->getOperand(0).getType(), arguments[0]), values, places,
         cast<IntegerAttr>(ops.front()->getAttr("k")).getInt(), largest)
        .run();
  }
};

} // namespace

const Template &topKTemplate() {
  static const TopKTemplate instance;
  return instance;
}

} // namespace pto_mlir::templates
