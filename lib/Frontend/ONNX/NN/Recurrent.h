// What LSTM, GRU and RNN share: their inputs and attributes, the op that has a kernel, and the unrolled recurrence.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_NN_RECURRENT_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_NN_RECURRENT_H

#include "RecurrentActivations.h"

namespace pto_mlir::onnx {

/// The inputs and attributes of a node, with axes in layout 0: X [steps, batch, features], states [directions, batch,
/// hidden].
class Recurrent {
public:
  /// `functions`: the activations of one direction, unless the node names others.
  Recurrent(Node &node, int64_t gates, llvm::ArrayRef<llvm::StringRef> functions)
      : node(node), f(node), gates(gates), functions(functions) {}
  virtual ~Recurrent() = default;

  /// Checks shapes and attributes.
  mlir::LogicalResult read();

  /// Whether there is no step or no batch to compute.
  bool isEmpty() const { return steps == 0 || batch == 0; }
  /// The outputs without any: the states are the initial ones (inputs 5 and on).
  mlir::LogicalResult ofNothing();

  bool isShape(unsigned input, llvm::ArrayRef<int64_t> shape) { return node.type(input).getShape() == shape; }

  /// Activation `which` of a direction, of a gate: 'clip' bounds it first.
  mlir::Value activate(int64_t direction, size_t which, mlir::Value value) {
    return activations[direction * functions.size() + which].ofGate(f, value);
  }
  /// The same of the cell, which 'clip' leaves alone (as in onnxruntime).
  mlir::Value activateCell(int64_t direction, size_t which, mlir::Value value) {
    return activations[direction * functions.size() + which].of(f, value);
  }

  /// Whether the layer becomes top.recurrent: a product that is not this one's own has none.
  virtual bool hasKernel();
  /// Builds the layer as that op, of an LSTM, GRU or RNN.
  mlir::LogicalResult importWhole(llvm::StringRef kind);

  /// Elements [begin, end) of dimension `dim`.
  mlir::Value part(mlir::Value value, int64_t dim, int64_t begin, int64_t end, llvm::StringRef name = "");
  /// Row `index` of dimension 0, which is dropped.
  mlir::Value row(mlir::Value value, int64_t index);
  /// Columns of gates [first, last).
  mlir::Value gate(mlir::Value value, int64_t first, int64_t last);
  /// Gates [first, last) of the sum of two products. The gates of one row lie apart: they are added one by one, so that
  /// a step is a product and one kernel that reads parts of it.
  mlir::Value summed(mlir::Value a, mlir::Value b, int64_t first, int64_t last) {
    return f.of<top::AddOp>(gate(a, first, last), gate(b, first, last));
  }
  /// `value` times the weights of W (1) or R (2), with a bias.
  virtual mlir::Value weighted(int64_t direction, unsigned input, mlir::Value value, mlir::Value bias = {}) {
    return product(value, row(node.input(input), direction), bias);
  }
  /// `value` times the transpose of `weights`.
  mlir::Value product(mlir::Value value, mlir::Value weights, mlir::Value bias = {});
  /// The bias of the inputs (0) or of the recurrence (1); null when absent.
  mlir::Value bias(int64_t direction, int64_t which);
  /// The products of the inputs of all steps, [steps, batch, gates * hidden].
  mlir::Value inputs(int64_t direction, mlir::Value added);
  /// `value` with the peephole number `which` (input P) of `cell` added; as it is without.
  mlir::Value peep(int64_t direction, int64_t which, mlir::Value value, mlir::Value cell);
  mlir::Value recurrence(int64_t direction) { return row(node.input(2), direction); }
  /// The initial state; null for zeros.
  mlir::Value initial(int64_t direction, unsigned input);
  mlir::Value zeros() { return zeros({batch, hidden}); }
  mlir::Value zeros(llvm::ArrayRef<int64_t> shape);

  /// A state after the present step: as it was before where a sequence has ended.
  mlir::Value after(mlir::Value next, mlir::Value before) { return live ? f.where(live, next, before) : next; }

  /// Unrolls `step(direction, products of the inputs, h)`, which returns the next h; sets outputs Y and Y_h.
  mlir::LogicalResult run(llvm::function_ref<mlir::Value(int64_t)> prepare,
                          llvm::function_ref<mlir::Value(int64_t, mlir::Value, mlir::Value)> step);

  /// Sets a state output from one value per direction.
  mlir::LogicalResult setState(unsigned output, llvm::ArrayRef<mlir::Value> values);

  Node &node;
  Formula f;
  int64_t gates, directions = 1, steps = 0, batch = 0, features = 0, hidden = 0;

protected:
  /// Whether W and R have the shapes that the other inputs and attributes ask for.
  virtual bool fitsWeights() {
    return isShape(1, {directions, gates * hidden, features}) && isShape(2, {directions, gates * hidden, hidden});
  }
  /// The size of a state, from R.
  virtual int64_t hiddenSize() { return node.type(2).getDimSize(2); }

private:
  mlir::Value exchanged(llvm::StringRef name, mlir::Value value) {
    return node.create<top::PermuteOp>(name, value, {node.i64s("perm", {1, 0, 2})});
  }
  /// Concatenates; null where one value is.
  mlir::Value joined(llvm::ArrayRef<mlir::Value> values, int64_t axis = 0, llvm::StringRef name = "");
  mlir::Value reshaped(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  std::pair<mlir::Value, mlir::Value> biases(int64_t first, int64_t count, bool resetLast);
  mlir::FailureOr<mlir::Value> liveSteps();
  mlir::LogicalResult checkSize();
  mlir::Value initialStates(int64_t first, int64_t count, unsigned input);
  mlir::Value whole(llvm::StringRef kind, int64_t first, int64_t count, mlir::Value live);
  mlir::LogicalResult readLengths();
  /// How many sequences reach step `t`: the same for every run, or nullopt.
  std::optional<int64_t> reaching(int64_t t) const;
  /// Which sequences reach step `t`, [batch, 1].
  mlir::Value mask(int64_t t);
  mlir::LogicalResult setOutput(llvm::ArrayRef<llvm::SmallVector<mlir::Value>> all);

  llvm::ArrayRef<llvm::StringRef> functions;
  std::vector<Activation> activations; ///< of all directions
  bool isReverse = false, batchFirst = false;
  mlir::Value x;
  std::optional<llvm::SmallVector<int64_t>> lengths; ///< input sequence_lens where it is constant
  mlir::Value given;                                 ///< the same where it is not, [batch, 1]
  mlir::Value live;                                  ///< which sequences the present step is for; null for all
};

/// Imports an LSTM whose inputs and attributes are in `layer`.
mlir::LogicalResult importLongShortTermMemory(Recurrent &layer);

/// The activations of an LSTM.
inline constexpr llvm::StringRef kLSTMFunctions[] = {"Sigmoid", "Tanh", "Tanh"};

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_NN_RECURRENT_H
