// LSTM, GRU, RNN: one product for the inputs of all steps, then the recurrence.
#include "Recurrent.h"
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {
static Value sum(Formula &f, Value a, Value b) { return a && b ? f.of<top::AddOp>(a, b) : a ? a : b; }

// i, o, f, g = sigma(..), c = f c + i g, h = o tanh(c). Peepholes: i and f see the cell before, o the one after.
LogicalResult importLongShortTermMemory(Recurrent &r) {
  Node &node = r.node;
  if (failed(r.read()))
    return failure();
  bool isCoupled = node.intAttr("input_forget", 0);
  if (node.has(7) && !r.isShape(7, {r.directions, 3 * r.hidden}))
    return node.error("P does not have the shape that direction and hidden_size ask for");
  if (r.isEmpty())
    return r.ofNothing();
  if (r.hasKernel())
    return r.importWhole("LSTM");
  SmallVector<Value> cells;
  LogicalResult done = r.run(
      [&](int64_t d) {
        cells.push_back(node.has(6) ? r.initial(d, 6) : r.zeros());
        return r.inputs(d, sum(r.f, r.bias(d, 0), r.bias(d, 1)));
      },
      [&](int64_t d, Value given, Value h) -> Value {
        Value known = r.weighted(d, 2, h), all = r.batch == 1 ? Value() : r.f.of<top::AddOp>(known, given);
        auto gate = [&](int64_t n) { return all ? r.gate(all, n, n + 1) : r.summed(known, given, n, n + 1); };
        Value i = r.activate(d, 0, r.peep(d, 0, gate(0), cells[d])),
              f = isCoupled ? r.f.of<top::SubOp>(r.f.constant(i, 1), i)
                            : r.activate(d, 0, r.peep(d, 2, gate(2), cells[d]));
        Value g = r.activate(d, 1, gate(3));
        Value cell = r.f.of<top::AddOp>(r.f.of<top::MulOp>(f, cells[d]), r.f.of<top::MulOp>(i, g));
        Value o = r.activate(d, 0, r.peep(d, 1, gate(1), cell));
        cells[d] = cell ? r.after(cell, cells[d]) : cell;
        return cell ? r.f.of<top::MulOp>(o, r.activateCell(d, 2, cell)) : Value();
      });
  if (failed(done))
    return failure();
  for (Value &cell : cells)
    cell = node.reshape("", cell, {1, r.batch, r.hidden});
  return r.setState(2, cells);
}

namespace {

LogicalResult importLSTM(Node &node) {
  Recurrent layer(node, 4, kLSTMFunctions);
  return importLongShortTermMemory(layer);
}

// z, r = sigma(..), n = tanh(x + (r h) R) or tanh(x + r (h R + b)), h = (1 - z) n + z h = n + z (h - n).
LogicalResult importGRU(Node &node) {
  StringRef functions[] = {"Sigmoid", "Tanh"};
  Recurrent r(node, 3, functions);
  if (failed(r.read()))
    return failure();
  bool resetLast = node.intAttr("linear_before_reset", 0);
  if (r.isEmpty())
    return r.ofNothing();
  if (r.hasKernel())
    return r.importWhole("GRU");
  SmallVector<Value> weights, biases;
  return r.run(
      [&](int64_t d) {
        weights.push_back(r.recurrence(d));
        biases.push_back(resetLast ? r.bias(d, 1) : Value());
        return r.inputs(d, resetLast ? r.bias(d, 0) : sum(r.f, r.bias(d, 0), r.bias(d, 1)));
      },
      [&](int64_t d, Value given, Value h) -> Value {
        Value known =
            resetLast ? r.product(h, weights[d], biases[d]) : r.product(h, r.part(weights[d], 0, 0, 2 * r.hidden));
        Value both = r.batch == 1 ? Value() : r.activate(d, 0, r.summed(known, given, 0, 2));
        auto gate = [&](int64_t n) {
          return both ? r.gate(both, n, n + 1) : r.activate(d, 0, r.summed(known, given, n, n + 1));
        };
        Value z = gate(0), reset = gate(1);
        Value inner = resetLast
                          ? r.f.of<top::MulOp>(reset, r.gate(known, 2, 3))
                          : r.product(r.f.of<top::MulOp>(reset, h), r.part(weights[d], 0, 2 * r.hidden, 3 * r.hidden));
        Value n = r.activate(d, 1, r.f.of<top::AddOp>(inner, r.gate(given, 2, 3)));
        return r.f.of<top::AddOp>(n, r.f.of<top::MulOp>(z, r.f.of<top::SubOp>(h, n)));
      });
}

// h = tanh(x W + h R + b).
LogicalResult importRNN(Node &node) {
  StringRef functions[] = {"Tanh"};
  Recurrent r(node, 1, functions);
  if (failed(r.read()))
    return failure();
  if (r.isEmpty())
    return r.ofNothing();
  if (r.hasKernel())
    return r.importWhole("RNN");
  SmallVector<Value> weights;
  return r.run(
      [&](int64_t d) {
        weights.push_back(r.recurrence(d));
        return r.inputs(d, sum(r.f, r.bias(d, 0), r.bias(d, 1)));
      },
      [&](int64_t d, Value given, Value h) {
        return r.activate(d, 0, r.f.of<top::AddOp>(r.product(h, weights[d]), given));
      });
}

} // namespace

void registerRecurrent(Registry &registry) {
  registry.add("LSTM", {7, kMaxOpset, 3, 8, importLSTM});
  registry.add("GRU", {7, kMaxOpset, 3, 6, importGRU});
  registry.add("RNN", {7, kMaxOpset, 3, 6, importRNN});
}

} // namespace pto_mlir::onnx
