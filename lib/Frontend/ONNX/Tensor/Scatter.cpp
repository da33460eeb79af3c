// ScatterND and ScatterElements. Known indices become gathers: for each row of the result, which update it takes, one
// list per update that falls on the same row. Computed indices, or many updates of one row, go to a kernel that applies
// update after update.
#include "../Registry.h"
#include "Positions.h"

using namespace mlir;

namespace pto_mlir::onnx {

namespace {

/// One element or row of the flattened data takes one of the flattened updates.
class Scatter {
public:
  Scatter(Node &node, Value positions, int64_t rows, int64_t rowSize)
      : node(node), f(node), positions(positions), rows(rows), rowSize(rowSize) {}

  LogicalResult run() {
    std::string reduction = node.opset() >= 16 ? node.stringAttr("reduction", "none") : "none";
    int64_t count = cast<RankedTensorType>(positions.getType()).getNumElements();
    if (reduction != "none" && reduction != "add" && reduction != "mul" && reduction != "max" && reduction != "min")
      return node.error("attribute 'reduction' = '" + reduction + "' is not known");
    positions = node.reshape("", positions, {count});
    data = node.reshape("", node.input(0), {rows, rowSize});
    updates = node.reshape("", node.input(2), {count, rowSize});
    if (!positions || !data || !updates)
      return failure();
    std::optional<top::Weight> known = top::getConstant(positions);
    auto rounds = known && rows <= kMostRows ? roundsOf(top::toInts(*known), reduction) : Rounds();
    if (rounds.empty() || rounds.size() > kMaxRounds)
      data = node.create<top::ScatterOp>("", {data, positions, updates},
                                         {node.named("reduction", node.builder().getStringAttr(reduction))});
    else if (failed(applyKnown(rounds, reduction)))
      return failure();
    if (!data)
      return failure();
    return node.finish(node.reshape(node.outputName(), data, node.type(0).getShape()));
  }

private:
  using Rounds = std::vector<std::vector<int64_t>>;

  /// Round r: the r-th update of each row, or -1; without a reduction the last one alone.
  Rounds roundsOf(ArrayRef<int64_t> places, StringRef reduction) const {
    Rounds rounds;
    std::vector<size_t> seen(rows, 0);
    for (auto [update, row] : llvm::enumerate(places)) {
      size_t round = reduction == "none" ? 0 : seen[row]++;
      if (round == rounds.size())
        rounds.emplace_back(rows, -1);
      rounds[round][row] = update;
      if (rounds.size() > kMaxRounds)
        break;
    }
    return rounds;
  }

  LogicalResult applyKnown(const Rounds &rounds, StringRef reduction) {
    OpBuilder &b = node.builder();
    for (const std::vector<int64_t> &takes : rounds) {
      std::vector<int64_t> sources, mask;
      for (int64_t source : takes) {
        sources.push_back(std::max<int64_t>(source, 0));
        mask.push_back(source >= 0);
      }
      auto constant = [&](ArrayRef<int64_t> values, ArrayRef<int64_t> shape, Type element) {
        return top::createConstant(b, b.getUnknownLoc(), "scatter", RankedTensorType::get(shape, element),
                                   top::fromInts(element, values));
      };
      Value selected =
          node.create<top::GatherOp>("", {updates, constant(sources, {rows}, b.getI64Type())}, {node.i64("axis", 0)});
      if (failed(apply(constant(mask, {rows, 1}, b.getI1Type()), selected, reduction)))
        return failure();
    }
    return success();
  }

  // data = mask ? combined : data
  LogicalResult apply(Value mask, Value selected, StringRef reduction) {
    if (!selected)
      return failure();
    Value combined = reduction == "add"   ? f.of<top::AddOp>(data, selected)
                     : reduction == "mul" ? f.of<top::MulOp>(data, selected)
                     : reduction == "max" ? f.of<top::MaxOp>(data, selected)
                     : reduction == "min" ? f.of<top::MinOp>(data, selected)
                                          : selected;
    data = f.where(mask, combined, data);
    return success(data != nullptr);
  }

  // Each round is a gather and a selection over the whole tensor.
  static constexpr size_t kMaxRounds = 64;
  static constexpr int64_t kMostRows = int64_t(1) << 26; // whose updates are listed here
  Node &node;
  Formula f;
  Value positions, data, updates;
  int64_t rows, rowSize;
};

} // namespace

static LogicalResult importScatterElements(Node &node) {
  RankedTensorType type = node.type(0), indexType = node.type(1);
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", 0), type.getRank());
  if (!axis)
    return failure();
  bool fits = indexType.getRank() == type.getRank() && indexType.getShape() == node.type(2).getShape();
  for (int64_t d = 0; fits && d < type.getRank(); ++d)
    fits &= d == *axis || indexType.getDimSize(d) <= type.getDimSize(d);
  if (!fits)
    return node.error("indices of shape " + shapeText(indexType.getShape()) + " and updates of shape " +
                      shapeText(node.type(2).getShape()) + " do not fit data of shape " + shapeText(type.getShape()));
  Value indices = readIndices(node, 1, type.getDimSize(*axis));
  Value positions = indices ? elementPositions(node, indices, type.getShape(), *axis) : indices;
  return positions ? Scatter(node, positions, type.getNumElements(), 1).run() : failure();
}

static LogicalResult importScatterND(Node &node) {
  ArrayRef<int64_t> shape = node.type(0).getShape();
  Value positions = tuplePositions(node, 1, shape, 0);
  if (!positions)
    return failure();
  ArrayRef<int64_t> indices = node.type(1).getShape(), row = shape.drop_front(indices.back());
  SmallVector<int64_t> expected(indices.drop_back());
  llvm::append_range(expected, row);
  if (ArrayRef<int64_t>(expected) != node.type(2).getShape())
    return node.error("expects updates of shape " + shapeText(expected) + ", got " +
                      shapeText(node.type(2).getShape()));
  return Scatter(node, positions, ShapedType::getNumElements(shape.take_front(indices.back())),
                 ShapedType::getNumElements(row))
      .run();
}

void registerScatter(Registry &registry) {
  registry.add("Scatter", {9, 10, 3, 3, importScatterElements, kTakesStrings});
  registry.add("ScatterElements", {11, kMaxOpset, 3, 3, importScatterElements, kTakesStrings});
  registry.add("ScatterND", {11, kMaxOpset, 3, 3, importScatterND, kTakesStrings});
}

} // namespace pto_mlir::onnx
