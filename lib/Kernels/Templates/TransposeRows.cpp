//===- TransposeRows.cpp - transposes of sizes known at run time ----------===//
//
// A piece is a tile of the matrix, as wide as the shorter side leaves room for.
//
//===----------------------------------------------------------------------===//

#include "Template.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir::templates {

namespace {

constexpr int64_t kTurned = 4096;   ///< of a tile
constexpr int64_t kTurnedSide = 64; ///< of a tile of a matrix with long sides

class TransposeRows final : public EmittedTemplate {
public:
  std::string refusal(Operation *op, const pto::Target &) const override {
    unsigned bits = storedBits(getElementTypeOrSelf(op->getOperand(0).getType()));
    return bits == 16 || bits == 32 ? "" : "matrices of 16 and 32 bits can be transposed";
  }
  bool takesEachSize() const override { return true; }

  void build(KernelEmitter &e, ArrayRef<Operation *> ops, ArrayRef<unsigned> arguments,
             ArrayRef<unsigned> results) const override {
    auto op = cast<top::TransposeRowsOp>(ops.front());
    Matrix in = asRows(op.getInput().getType(), arguments[0]), out = asRows(op.getType(), results[0]);
    int64_t height = std::min(roundUp(in.rows, kBlock), kTurnedSide),
            width = std::min(roundUp(in.cols, kBlock), kTurnedSide);
    if (height < kTurnedSide)
      width = std::min(roundUp(in.cols, kBlock), kTurned / height / kBlock * kBlock);
    else
      height = std::min(roundUp(in.rows, kBlock), kTurned / width / kBlock * kBlock);
    Ix rows = e.extentOf(arguments[0], 0, 1), columns = e.extentOf(arguments[0], 1, 2), one = e.constant(1);
    Ix across = e.ceilDiv(columns, width);
    e.share(e.mul(e.ceilDiv(rows, height), across), [&](Ix number) {
      Ix row = e.mul(e.div(number, across), height), column = e.mul(e.rem(number, across), width);
      Ix validRows = e.extent(row, height, rows), validColumns = e.extent(column, width, columns);
      auto tile = [&](int64_t h, int64_t w, Ix validH, Ix validW) {
        return e.valid(e.vec(h, w, in.element), validH, validW);
      };
      Value source = tile(height, width, validRows, validColumns);
      Value scratch = tile(height, width, validRows, validColumns);
      Value turned = tile(width, height, validColumns, validRows);
      e.load(e.box(in, e.add(e.mul(row, columns), column), {validRows, validColumns}, ArrayRef<Ix>{columns, one}),
             source);
      e.b.create<pto::TTransOp>(e.loc, source, scratch, turned);
      e.store(turned, e.box(out, e.add(e.mul(column, rows), row), {validColumns, validRows}, ArrayRef<Ix>{rows, one}));
    });
    e.b.create<func::ReturnOp>(e.loc);
  }
};

} // namespace

const Template &transposeRowsTemplate() {
  static const TransposeRows instance;
  return instance;
}

} // namespace pto_mlir::templates
