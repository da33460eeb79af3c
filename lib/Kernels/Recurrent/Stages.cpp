//===- Stages.cpp - what a recurrence computes in a step ------------------===//

#include "Activations.h"
#include "pto_mlir/Kernels/Recurrence.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace pto_mlir::recurrent {

namespace {

void addGates(Stage &stage) {
  for (int64_t gate = 0; gate < stage.gates; ++gate) {
    stage.reads.push_back({Tensor::Product, gate});
    stage.reads.push_back({Tensor::Given, stage.firstGate + gate});
  }
}

/// Writes one stage as elementwise ops on [rows, hidden].
class StageBuilder {
public:
  StageBuilder(top::RecurrentOp op, const Stage &stage, OpBuilder &b, Location loc, ArrayRef<Value> reads,
               ArrayRef<Value> inits)
      : op(op), stage(stage), b(b), loc(loc), reads(reads), inits(inits) {}

  SmallVector<Value> run() {
    results.resize(inits.size());
    if (op.getKind() == "LSTM")
      lstm();
    else if (op.getKind() == "GRU")
      gru();
    else
      finish([&](Value init) { return gate(0, 0, init); });
    return results;
  }

private:
  using Body = llvm::function_ref<Value(Scalars &, ArrayRef<Value>)>;

  /// The operand that the stage reads; null where it does not.
  Value read(Tensor tensor, int64_t gate = 0) {
    for (auto [part, value] : llvm::zip_equal(stage.reads, reads))
      if (part.tensor == tensor && part.gate == gate)
        return value;
    return {};
  }
  Value init(Tensor tensor) {
    for (auto [part, value] : llvm::zip_equal(stage.writes, inits))
      if (part.tensor == tensor)
        return value;
    return {};
  }
  void write(Tensor tensor, Value value) {
    for (auto [part, result] : llvm::zip_equal(stage.writes, results))
      if (part.tensor == tensor)
        result = value;
  }
  AffineMap mapOf(Value value) {
    for (auto [part, known] : llvm::zip_equal(stage.reads, reads))
      if (known == value && isVector(part.tensor))
        return AffineMap::get(2, 0, b.getAffineDimExpr(part.tensor == Tensor::Live ? 0 : 1));
    return b.getMultiDimIdentityMap(2);
  }

  /// An op on f32 elements of `operands`; the result has the type of `init`, or is f32 without.
  Value apply(ArrayRef<Value> operands, Value init, Body body) {
    if (!init) {
      auto shape = cast<RankedTensorType>(inits.front().getType()).getShape();
      init = b.create<tensor::EmptyOp>(loc, shape, b.getF32Type());
    }
    auto type = cast<RankedTensorType>(init.getType());
    SmallVector<AffineMap> maps = llvm::map_to_vector(operands, [&](Value value) { return mapOf(value); });
    maps.push_back(b.getMultiDimIdentityMap(2));
    SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
    auto fill = [&](OpBuilder &inner, Location at, ValueRange elements) {
      SmallVector<Value> wide;
      for (Value element : elements.drop_back())
        wide.push_back(element.getType().isF32() ? element
                                                 : inner.create<arith::ExtFOp>(at, inner.getF32Type(), element));
      Scalars scalars{inner, at};
      Value result = body(scalars, wide);
      if (!type.getElementType().isF32())
        result = inner.create<arith::TruncFOp>(at, type.getElementType(), result);
      inner.create<linalg::YieldOp>(at, result);
    };
    return b.create<linalg::GenericOp>(loc, type, operands, init, maps, loops, fill).getResult(0);
  }

  Value activate(Scalars &s, int64_t which, Value x, bool isGate = true) {
    if (auto clip = op.getClip(); clip && isGate)
      x = s.max(s.min(x, clip->convertToDouble()), -clip->convertToDouble());
    return s.activation(cast<StringAttr>(op.getActivations()[which]).getValue(), x, op.getAlphas()[which],
                        op.getBetas()[which]);
  }

  /// Activation `which` of the gate: of input and product, and peephole number `peep` times `cell`.
  Value gate(int64_t number, int64_t which, Value init = {}, std::optional<int64_t> peep = {}, Value cell = {}) {
    SmallVector<Value> operands{read(Tensor::Given, stage.firstGate + number), read(Tensor::Product, number)};
    if (Value weights = peep ? read(Tensor::Peepholes, *peep) : Value())
      operands.append({weights, cell});
    return apply(operands, init, [&](Scalars &s, ArrayRef<Value> x) {
      Value sum = s.add(x[0], x[1]);
      if (x.size() > 2)
        sum = s.add(sum, s.mul(x[2], x[3]));
      return activate(s, which, sum);
    });
  }

  // What is stored leads to the output, so that one loop computes it all: states are overwritten in place.

  /// Writes the output from `next(init)`; where a sequence has ended, the state stays and the output is 0.
  void finish(llvm::function_ref<Value(Value init)> next) {
    Value live = read(Tensor::Live), output = init(Tensor::Output);
    if (!live)
      return write(Tensor::Output, next(output));
    Value hidden = keep(Tensor::Hidden, next({}));
    write(Tensor::Output, apply({live, hidden}, output,
                                [](Scalars &s, ArrayRef<Value> x) { return s.where(x[0], x[1], s.number(0)); }));
  }
  /// Writes and returns `value`, or the state before where a sequence has ended.
  Value keep(Tensor state, Value value) {
    Value kept = apply({read(Tensor::Live), value, read(state)}, init(state),
                       [](Scalars &s, ArrayRef<Value> x) { return s.where(x[0], x[1], x[2]); });
    write(state, kept);
    return kept;
  }

  void lstm() {
    Value before = read(Tensor::Cell), i = gate(0, 0, {}, 0, before);
    Value f = op.getCoupled() ? Value() : gate(2, 0, {}, 2, before), g = gate(3, 1);
    SmallVector<Value> operands{i, g, before};
    if (f)
      operands.push_back(f);
    bool ends = read(Tensor::Live) != nullptr;
    Value cell = apply(operands, ends ? Value() : init(Tensor::Cell), [](Scalars &s, ArrayRef<Value> x) {
      Value forget = x.size() > 3 ? x[3] : s.sub(s.number(1), x[0]);
      return s.add(s.mul(forget, x[2]), s.mul(x[0], x[1]));
    });
    if (ends)
      cell = keep(Tensor::Cell, cell);
    else
      write(Tensor::Cell, cell);
    Value o = gate(1, 0, {}, 1, cell);
    finish([&](Value init) {
      return apply({o, cell}, init,
                   [&](Scalars &s, ArrayRef<Value> x) { return s.mul(x[0], activate(s, 2, x[1], false)); });
    });
  }

  void gru() {
    Value before = read(Tensor::Hidden), update = read(Tensor::Update), next;
    if (Value reset = init(Tensor::Reset)) {
      Value r = gate(1, 0);
      write(Tensor::Update, gate(0, 0, init(Tensor::Update)));
      write(Tensor::Reset, apply({r, before}, reset, [](Scalars &s, ArrayRef<Value> x) { return s.mul(x[0], x[1]); }));
      return;
    }
    if (op.getResetLast()) {
      update = gate(0, 0);
      SmallVector<Value> operands{read(Tensor::Given, 2), gate(1, 0), read(Tensor::Product, 2)};
      if (Value bias = read(Tensor::Bias))
        operands.push_back(bias);
      next = apply(operands, {}, [&](Scalars &s, ArrayRef<Value> x) {
        Value inner = x.size() > 3 ? s.add(x[2], x[3]) : x[2];
        return activate(s, 1, s.add(s.mul(x[1], inner), x[0]));
      });
    } else {
      next = gate(0, 1);
    }
    finish([&](Value init) {
      return apply({next, update, before}, init,
                   [](Scalars &s, ArrayRef<Value> x) { return s.add(x[0], s.mul(x[1], s.sub(x[2], x[0]))); });
    });
  }

  top::RecurrentOp op;
  const Stage &stage;
  OpBuilder &b;
  Location loc;
  ArrayRef<Value> reads, inits;
  SmallVector<Value> results;
};

} // namespace

SmallVector<Stage> stagesOf(top::RecurrentOp op) {
  auto [steps, batch, directions, gates, hidden, states] = op.getExtents();
  Stage stage;
  stage.gates = gates;
  SmallVector<Stage> stages;
  bool early = op.getKind() == "GRU" && !op.getResetLast();
  if (early) {
    Stage first;
    first.gates = 2;
    addGates(first);
    first.reads.push_back({Tensor::Hidden});
    first.writes = {{Tensor::Update}, {Tensor::Reset}};
    stages.push_back(first);
    stage.left = Tensor::Reset, stage.firstGate = 2, stage.gates = 1;
  }
  addGates(stage);
  if (early)
    stage.reads.push_back({Tensor::Update});
  if (op.getKind() == "LSTM")
    stage.reads.push_back({Tensor::Cell});
  if (op.getKind() == "GRU" || op.getLive())
    stage.reads.push_back({Tensor::Hidden});
  if (op.getLive())
    stage.reads.push_back({Tensor::Live});
  if (op.getBias() && op.getResetLast())
    stage.reads.push_back({Tensor::Bias});
  for (int64_t number = 0; number < 3 && op.getPeepholes() && op.getKind() == "LSTM"; ++number)
    stage.reads.push_back({Tensor::Peepholes, number});
  stage.writes = {{Tensor::Output}};
  if (op.getKind() == "LSTM")
    stage.writes.push_back({Tensor::Cell});
  if (op.getLive())
    stage.writes.push_back({Tensor::Hidden});
  stages.push_back(stage);
  return stages;
}

bool isVector(Tensor tensor) { return tensor == Tensor::Live || tensor == Tensor::Bias || tensor == Tensor::Peepholes; }

Type elementOf(top::RecurrentOp op, Tensor tensor) {
  switch (tensor) {
  case Tensor::Product:
  case Tensor::Update:
    return Float32Type::get(op.getContext());
  case Tensor::Bias:
    return getElementTypeOrSelf(op.getBias().getType());
  case Tensor::Peepholes:
    return getElementTypeOrSelf(op.getPeepholes().getType());
  default:
    return getElementTypeOrSelf(op.getType());
  }
}

LogicalResult checkActivations(top::RecurrentOp op) {
  for (StringRef name : op.getActivations().getAsValueRange<StringAttr>())
    if (!isActivation(name))
      return op.emitOpError("has an activation '") << name << "' that no kernel computes";
  return success();
}

SmallVector<Value> buildStage(top::RecurrentOp op, const Stage &stage, OpBuilder &b, Location loc,
                              ArrayRef<Value> reads, ArrayRef<Value> inits) {
  return StageBuilder(op, stage, b, loc, reads, inits).run();
}

} // namespace pto_mlir::recurrent
