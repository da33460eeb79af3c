//===- Scatter.cpp - rows replaced or combined at computed places ---------===//
//
// A core has some rows and columns of the data in UB, goes through all updates
// in order, and takes those that fall on its rows. So updates of one row meet in
// their order however many cores there are.
//
//===----------------------------------------------------------------------===//

#include "Scatter.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Support/MathExtras.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace pto_mlir::templates {

namespace {

constexpr int64_t kColumns = 2048;        ///< of a piece, at most
constexpr int64_t kDataBytes = 32 * 1024; ///< of a piece
constexpr int64_t kUpdateBytes = 16 * 1024;

class Scatter {
public:
  Scatter(KernelEmitter &e, const ScatterArguments &given)
      : e(e), data(given.data), updates(given.updates), out(given.out), positions(given.positions),
        reduction(given.reduction), element(data.element), one(e.constant(1)) {
    // No engine computes with bf16.
    if (reduction != "none" && element.isBF16())
      element = e.b.getF32Type();
  }

  void run() {
    // Whole blocks in the types of memory and of the computation.
    int64_t columns = std::min(roundUp<int64_t>(data.cols, 16), kColumns);
    int64_t rowBytes = columns * (pto::getElementBits(element) / 8);
    int64_t strips = ceilDiv(data.cols, columns);
    height = std::min(kDataBytes / rowBytes, std::max<int64_t>(1, ceilDiv(data.rows * strips, e.coreCount())));
    batch = std::min(kUpdateBytes / rowBytes, updates.rows);
    width = columns;
    e.share(ceilDiv(data.rows, height) * strips, [&](Ix piece) {
      Ix row = e.mul(e.div(piece, strips), height), column = e.mul(e.rem(piece, strips), width);
      window(row, e.extent(row, height, data.rows), column, e.extent(column, width, data.cols));
    });
    e.b.create<func::ReturnOp>(e.loc);
  }

private:
  /// A part of `matrix`, converted where the computation is in another type.
  Value load(const Matrix &matrix, int64_t most, Ix row, Ix rows, Ix column, Ix columns) {
    Value tile = e.vec(most, width, matrix.element), given = e.valid(tile, rows, columns);
    e.load(e.part(matrix, row, column, rows, columns), given);
    if (matrix.element == element)
      return tile;
    Value wide = e.vec(most, width, element);
    e.convert(given, e.valid(wide, rows, columns));
    return wide;
  }

  void window(Ix row, Ix rows, Ix column, Ix columns) {
    Value kept = load(data, height, row, rows, column, columns);
    e.loop(e.constant(ceilDiv(updates.rows, batch)), 1, [&](Ix number) {
      Ix first = e.mul(number, batch), count = e.extent(first, batch, updates.rows);
      Value batchTile = load(updates, batch, first, count, column, columns);
      e.loop(count, 1, [&](Ix i) {
        Value place =
            e.b.create<pto::LoadScalarOp>(e.loc, e.b.getI32Type(), e.argument(positions), e.value(e.add(first, i)));
        Ix at = e.sub(e.b.create<arith::IndexCastOp>(e.loc, e.b.getIndexType(), place).getResult(), row);
        e.ifZero(
            isInside(e, at, rows), [] {},
            [&] { combine(e.valid(e.row(kept, at), one, columns), e.valid(e.row(batchTile, i), one, columns)); });
      });
    });
    Value result = e.valid(kept, rows, columns);
    if (out.element != element) {
      Value narrow = e.valid(e.vec(height, width, out.element), rows, columns);
      e.convert(result, narrow);
      result = narrow;
    }
    e.store(result, e.part(out, row, column, rows, columns));
  }

  void combine(Value into, Value update) {
    if (reduction == "add")
      e.b.create<pto::TAddOp>(e.loc, into, update, into);
    else if (reduction == "mul")
      e.b.create<pto::TMulOp>(e.loc, into, update, into);
    else if (reduction == "max")
      e.b.create<pto::TMaxOp>(e.loc, into, update, into);
    else if (reduction == "min")
      e.b.create<pto::TMinOp>(e.loc, into, update, into);
    else
      e.b.create<pto::TMovOp>(e.loc, update, into);
  }

  KernelEmitter &e;
  Matrix data, updates, out;
  unsigned positions;
  StringRef reduction;
  Type element; ///< of the computation
  Ix one;
  int64_t height = 1, width = 1, batch = 1;
};

class ScatterTemplate final : public EmittedTemplate {
public:
  std::string refusal(Operation *op, const pto::Target &target) const override {
    Type element = getElementTypeOrSelf(op->getOperand(0).getType());
    bool known = element.isF32() || element.isF16() || element.isBF16() || element.isSignlessInteger() ||
                 isStoredIn32Bits(element);
    return known ? "" : "elements of f32, f16, bf16, integers and booleans can be scattered";
  }

  void build(KernelEmitter &e, ArrayRef<Operation *> ops, ArrayRef<unsigned> arguments,
             ArrayRef<unsigned> results) const override {
    auto op = cast<top::ScatterOp>(ops.front());
    ScatterArguments given{asRows(op.getData().getType(), arguments[0]),
                           asRows(op.getUpdates().getType(), arguments[2]), asRows(op.getType(), results[0]),
                           arguments[1], op.getReduction()};
    if (given.data.cols == 1)
      return buildElementScatter(e, given);
    Scatter(e, given).run();
  }
};

} // namespace

const Template &scatterTemplate() {
  static const ScatterTemplate instance;
  return instance;
}

} // namespace pto_mlir::templates
