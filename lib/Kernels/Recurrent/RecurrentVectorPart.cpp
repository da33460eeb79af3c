//===- RecurrentVectorPart.cpp - gates and states of a recurrent kernel ---===//

#include "../Cube/Handover.h"
#include "RecurrentPart.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pto_mlir::recurrent {

namespace {

class VectorPart final : RecurrentPart {
public:
  VectorPart(func::FuncOp func, const Recurrence &recurrence, int64_t cores) : RecurrentPart(func, recurrence, cores) {}

  void run() {
    forUnits([&] {
      begin();
      forSteps([&](Step step) {
        for (size_t stage = 0; stage < r.stages.size(); ++stage)
          compute(stage, step);
      });
    });
    e.b.create<func::ReturnOp>(e.loc);
  }

private:
  func::FuncOp panel(size_t number) { return r.panels[u.size][number]; }
  unsigned argument(Value operand) { return cast<BlockArgument>(operand).getArgNumber(); }
  Value pointer(unsigned number, Ix offset) {
    Value base = e.argument(number);
    return isConstantIntValue(offset, 0)
               ? base
               : e.b.create<pto::AddPtrOp>(e.loc, base.getType(), base, e.value(offset)).getResult();
  }

  void begin() {
    Ix place = e.mul(u.row, r.extents.hidden);
    for (int64_t number = 0; number < r.extents.states; ++number) {
      Value initial = number ? op.getInitialC() : op.getInitialH();
      Value pointers[] = {pointer(argument(initial), place), pointer(r.result, e.mul(state(number), r.extents.hidden))};
      cube::inlinePanel(e, panel(number), pointers);
    }
    cube::raise(e, pto::Pipe::PIPE_MTE3, kReady);
  }

  /// Where a part begins for the unit at a step.
  Value pointerTo(const Part &part, Step now) {
    Ix step = now.number;
    auto [steps, batch, directions, gates, hidden, states] = r.extents;
    auto inDirection = [&](Value operand, int64_t columns) {
      return pointer(argument(operand), e.add(e.mul(u.direction, columns), e.constant(part.gate * hidden)));
    };
    auto inSlot = [&](unsigned slot, int64_t columns) {
      return pointer(r.firstSlot + slot, e.add(e.mul(u.row, columns), e.constant(part.gate * hidden)));
    };
    auto inResult = [&](Ix row) { return pointer(r.result, e.mul(row, hidden)); };
    switch (part.tensor) {
    case Tensor::Given: {
      Ix row = e.mul(e.add(e.mul(step, batch), u.rowOfBatch), directions * gates * hidden);
      Ix column = e.add(e.mul(u.direction, gates * hidden), e.constant(part.gate * hidden));
      return pointer(argument(op.getInput()), e.add(row, column));
    }
    case Tensor::Live:
      return pointer(argument(op.getLive()), e.add(e.mul(step, batch), u.rowOfBatch));
    case Tensor::Bias:
      return inDirection(op.getBias(), hidden);
    case Tensor::Peepholes:
      return inDirection(op.getPeepholes(), 3 * hidden);
    case Tensor::Product:
      return inSlot(kProductSlot, r.productColumns());
    case Tensor::Update:
      return inSlot(kUpdateSlot, hidden);
    case Tensor::Reset:
      return inSlot(kResetSlot, hidden);
    case Tensor::Hidden:
      return inResult(stateRow(now.before));
    case Tensor::Cell:
      return inResult(state(1));
    case Tensor::Output:
      return inResult(stateRow(step));
    }
    llvm_unreachable("covered switch");
  }

  void compute(size_t number, Step step) {
    const Stage &stage = r.stages[number];
    cube::await(e, pto::Pipe::PIPE_MTE2, kFull, /*fromVectors=*/false);
    if (e.arch.laneFlags)
      follow();
    SmallVector<Value> pointers;
    for (const Part &part : stage.reads)
      pointers.push_back(pointerTo(part, step));
    for (const Part &part : stage.writes)
      pointers.push_back(pointerTo(part, step));
    cube::inlinePanel(e, panel(r.extents.states + number), pointers);
    cube::raise(e, pto::Pipe::PIPE_MTE3, kReady);
  }

  /// With lane flags only MTE2 has waited: a core without rows of the panel moves a few numbers, so that what its MTE3
  /// raises comes after.
  void follow() {
    int64_t columns = std::min<int64_t>(8, r.productColumns());
    auto matrix = [&](unsigned slot) {
      cube::Matrix m;
      m.arg = r.firstSlot + slot;
      m.element = e.b.getF32Type();
      m.rows = r.slots[slot].getDimSize(0), m.cols = r.slots[slot].getDimSize(1);
      return m;
    };
    Ix one = e.constant(1), zero = e.constant(0), width = e.constant(columns);
    Value tile = e.tile(pto::makeVecTile(e.context(), 1, 8, e.b.getF32Type()), one, width);
    e.load(e.part(matrix(kProductSlot), u.row, zero, one, width), tile);
    Value lane = e.b.create<pto::GetSubBlockIdxOp>(e.loc, e.b.getI64Type());
    Ix number = e.b.create<arith::IndexCastOp>(e.loc, e.b.getIndexType(), lane).getResult();
    Ix row = e.add(e.mul(u.number, e.arch.vectorCores), number);
    e.b.create<pto::TStoreOp>(e.loc, tile, e.part(matrix(kTurnSlot), row, zero, one, width), pto::ReluPreMode::no_relu);
  }
};

} // namespace

void buildVectorPart(func::FuncOp func, const Recurrence &recurrence, int64_t cores) {
  VectorPart(func, recurrence, cores).run();
}

} // namespace pto_mlir::recurrent
