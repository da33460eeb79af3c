//===- RecurrentCubePart.cpp - the products of a recurrent kernel ---------===//
//
// Weights stay where they fit: in L0B, else in L1, else they are loaded tile by
// tile in each step.
//
//===----------------------------------------------------------------------===//

#include "RecurrentPart.h"

#include "pto_mlir/Kernels/CubeTiling.h"

using namespace mlir;

namespace pto_mlir::recurrent {

namespace {

/// Depth of one product; sums are in its order.
constexpr int64_t kDepth = 128;
constexpr int64_t kBox = 16;

class CubePart final : RecurrentPart {
public:
  CubePart(func::FuncOp func, const Recurrence &recurrence, int64_t cores)
      : RecurrentPart(func, recurrence, cores), limits(*cube::cubeLimits(e.arch.name)),
        element(elementOf(op, Tensor::Hidden)), hidden(r.extents.hidden), bytes(element.getIntOrFloatBitWidth() / 8),
        depth(roundUp(hidden, kBox)), columns(roundUp(r.extents.gates * hidden, kBox)), step(std::min(depth, kDepth)) {}

  void run() {
    chooseWidth();
    forUnits([&] {
      box = roundUp(u.rows, kBox);
      hold();
      forSteps([&](Step now) {
        for (const Stage &stage : r.stages) {
          cube::await(e, pto::Pipe::PIPE_MTE2, kReady, /*fromVectors=*/true);
          product(stage, now.before);
          cube::raise(e, pto::Pipe::PIPE_FIX, kFull);
        }
      });
      cube::await(e, pto::Pipe::PIPE_MTE2, kReady, /*fromVectors=*/true);
    });
    e.b.create<func::ReturnOp>(e.loc);
  }

private:
  /// Columns of one product.
  void chooseWidth() {
    int64_t rows = roundUp(r.rows.front(), kBox);
    int64_t ofRight = limits.l0b / 2 / (step * bytes), ofAcc = limits.l0c / 2 / (rows * 4);
    width = std::min({columns, ofRight, ofAcc}) / kBox * kBox;
    whole = depth == step && r.stages.size() == 1 && columns * depth * bytes <= limits.l0b && columns <= ofAcc;
    if (whole)
      width = columns;
    inL1 = (columns + kBox) * depth * bytes + 2 * rows * depth * bytes <= limits.l1;
    leftStays = rows * depth * bytes <= limits.l0a / 2;
  }

  Value alloc(pto::TileBufType type) { return e.tile(type, e.constant(type.getRows()), e.constant(type.getCols())); }
  cube::Matrix matrix(unsigned argument, Type type, int64_t rows, int64_t cols) {
    cube::Matrix m;
    m.arg = argument;
    m.element = type;
    m.rows = rows, m.cols = cols;
    return m;
  }
  /// [hidden, directions * gates * hidden]: what lies in memory, transposed.
  cube::Matrix weights() {
    unsigned number = cast<BlockArgument>(op.getWeights()).getArgNumber();
    cube::Matrix m = matrix(number, element, r.extents.directions * r.extents.gates * hidden, hidden);
    m.transposed = true;
    return m;
  }
  /// The column of weights() where gate `gate` of the unit's direction begins.
  Ix firstColumn(int64_t gate) {
    return e.add(e.mul(u.direction, r.extents.gates * hidden), e.constant(gate * hidden));
  }

  void extract(Value source, Ix row, Ix column, Value tile) {
    e.b.create<pto::TExtractOp>(e.loc, source, e.value(row), e.value(column), tile);
  }

  /// Loads the weights that stay.
  void hold() {
    held.clear();
    if (!inL1)
      return;
    Ix rows = e.constant(hidden), zero = e.constant(0);
    for (const Stage &stage : r.stages) { // a tile of its own: pieces begin at boxes of 16 columns
      Ix all = e.constant(stage.gates * hidden);
      held.push_back(e.valid(
          alloc(pto::makeMatZNTile(e.context(), depth, roundUp(stage.gates * hidden, kBox), element)), rows, all));
      e.load(e.part(weights(), zero, firstColumn(stage.firstGate), rows, all), held.back());
    }
    if (!whole)
      return;
    right = e.valid(alloc(pto::makeRightTile(e.context(), depth, columns, element)), rows,
                    e.constant(r.extents.gates * hidden));
    extract(held.front(), zero, zero, right);
  }

  /// The state, or what replaces it, in L1.
  Value loadLeft(const Stage &stage, Ix before) {
    bool isState = stage.left == Tensor::Hidden;
    int64_t ofAll = r.extents.directions * r.extents.batch;
    cube::Matrix from = isState ? matrix(r.result, element, (r.extents.steps + r.extents.states) * ofAll, hidden)
                                : matrix(r.firstSlot + kResetSlot, element, ofAll, hidden);
    Ix rows = e.constant(u.rows), all = e.constant(hidden);
    Value tile = e.valid(alloc(pto::makeMatTile(e.context(), box, depth, element)), rows, all);
    e.load(e.part(from, isState ? stateRow(before) : u.row, e.constant(0), rows, all), tile);
    return tile;
  }

  int64_t extentAt(int64_t at) { return std::min(step, hidden - at); }
  int64_t boxAt(int64_t at) { return roundUp(extentAt(at), kBox); }

  /// Columns [at, at + extent) of the left operand in L0A.
  Value leftPiece(Value state, int64_t at) {
    Value tile = e.valid(alloc(pto::makeLeftTile(e.context(), e.arch, box, boxAt(at), element)), e.constant(u.rows),
                         e.constant(extentAt(at)));
    extract(state, e.constant(0), e.constant(at), tile);
    return tile;
  }

  /// A piece of the weights in L0B: rows from `at`, columns from `column` of the stage.
  Value rightPiece(const Stage &stage, int64_t at, Ix column, int64_t count) {
    Ix rows = e.constant(extentAt(at)), all = e.constant(count);
    int64_t boxed = roundUp(count, kBox);
    Value source;
    Ix row = e.constant(at), first = column;
    if (inL1) {
      source = held[&stage - r.stages.data()];
    } else {
      source = e.valid(alloc(pto::makeMatZNTile(e.context(), boxAt(at), boxed, element)), rows, all);
      e.load(e.part(weights(), row, e.add(firstColumn(stage.firstGate), column), rows, all), source);
      row = first = e.constant(0);
    }
    Value tile = e.valid(alloc(pto::makeRightTile(e.context(), boxAt(at), boxed, element)), rows, all);
    extract(source, row, first, tile);
    return tile;
  }

  void product(const Stage &stage, Ix before) {
    Value state = loadLeft(stage, before);
    SmallVector<Value> pieces;
    for (int64_t at = 0; at < hidden && (leftStays || whole); at += step)
      pieces.push_back(leftPiece(state, at));
    int64_t all = stage.gates * hidden, full = all / width * width;
    auto columnsAt = [&](Ix column, int64_t count) { columnsOf(stage, state, pieces, column, count); };
    e.loop(e.constant(full), width, [&](Ix column) { columnsAt(column, width); });
    if (full < all)
      columnsAt(e.constant(full), all - full);
  }

  void columnsOf(const Stage &stage, Value state, ArrayRef<Value> pieces, Ix column, int64_t count) {
    Ix rows = e.constant(u.rows), all = e.constant(count);
    Value acc = e.valid(alloc(pto::makeAccTile(e.context(), box, roundUp(count, kBox), e.b.getF32Type())), rows, all);
    for (int64_t at = 0; at < hidden; at += step) {
      Value x = pieces.empty() ? leftPiece(state, at) : pieces[at / step];
      Value y = whole ? right : rightPiece(stage, at, column, count);
      if (at == 0)
        e.b.create<pto::TMatmulOp>(e.loc, x, y, acc);
      else
        e.b.create<pto::TMatmulAccOp>(e.loc, acc, x, y, acc);
    }
    cube::Matrix to =
        matrix(r.firstSlot + kProductSlot, e.b.getF32Type(), r.slots[kProductSlot].getDimSize(0), r.productColumns());
    e.b.create<pto::TStoreOp>(e.loc, acc, e.part(to, u.row, column, rows, all), pto::ReluPreMode::no_relu);
  }

  cube::CubeLimits limits;
  Type element;
  int64_t hidden, bytes, depth, columns, step, width = 0, box = 0;
  bool whole = false;      ///< all weights stay in L0B
  bool inL1 = false;       ///< all weights stay in L1
  bool leftStays = false;  ///< all of the left operand is in L0A
  SmallVector<Value> held; ///< by stage
  Value right;
};

} // namespace

void buildCubePart(func::FuncOp func, const Recurrence &recurrence, int64_t cores) {
  CubePart(func, recurrence, cores).run();
}

} // namespace pto_mlir::recurrent
