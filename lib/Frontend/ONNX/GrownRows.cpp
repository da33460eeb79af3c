// Readers of a state that grows: behind the rows that exist, its elements are of no run, and an op must not let them
// reach others. Attention takes the number of rows; around a product and a softmax spelled out, the softmax hides what
// is behind.
#include "Importer.h"

#include "Composite.h"
#include "Node.h"

#include <limits>
#include <numeric>

using namespace mlir;

namespace pto_mlir::onnx {

static int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

/// Whether an operand has one extent for all rows of another one, `fromEnd` dimensions from the end, or as many.
static bool fitsRows(RankedTensorType type, int64_t fromEnd, int64_t rows) {
  int64_t axis = type.getRank() - fromEnd;
  return axis < 0 || type.getDimSize(axis) == 1 || type.getDimSize(axis) == rows;
}

std::optional<Importer::Grown> Importer::grownOf(StringRef name) const {
  auto tensor = tensors.find(name);
  auto it = tensor == tensors.end() ? grown.end() : grown.find(tensor->second.value);
  return it == grown.end() ? std::nullopt : std::optional(it->second);
}

/// The rows of a product; nullopt where elements behind the rows would be summed.
std::optional<Importer::Grown> Importer::grownProduct(const ::onnx::NodeProto &node) {
  RankedTensorType left = type(node.input(0)), right = type(node.input(1));
  std::optional<Grown> a = grownOf(node.input(0)), b = grownOf(node.input(1));
  int64_t rank = std::max(left.getRank(), right.getRank());
  if (left.getRank() < 2 || right.getRank() < 2)
    return std::nullopt;
  if (a && b && a->axis == left.getRank() - 1 && b->axis == right.getRank() - 2 && a->isZero)
    return Grown{-1, false};
  if (b && !a && b->axis == right.getRank() - 1)
    return Grown{rank - 1, false};
  if (a && !b && a->axis == left.getRank() - 2)
    return Grown{rank - 2, false};
  return std::nullopt;
}

/// The rows of what a node makes of a state that grew (axis -1: none); nullopt where it cannot tell.
std::optional<Importer::Grown> Importer::grownResult(const ::onnx::NodeProto &node) {
  StringRef op = node.op_type();
  if (!node.domain().empty() && node.domain() != "ai.onnx")
    return std::nullopt;
  if (op == "MatMul")
    return grownProduct(node);
  if (std::optional<Grown> rows = grownOf(node.input(0))) {
    int64_t rank = type(node.input(0)).getRank();
    if (op == "Identity" || op == "Cast")
      return rows;
    if (op == "Transpose") {
      int64_t axis = rank - 1 - rows->axis;
      for (const auto &attribute : node.attribute())
        if (attribute.name() == "perm")
          axis = llvm::find(attribute.ints(), rows->axis) - attribute.ints().begin();
      return Grown{axis, rows->isZero};
    }
    if (op == "Softmax" && opsetOf(node).value_or(0) >= 13) {
      int64_t axis = -1;
      for (const auto &attribute : node.attribute())
        if (attribute.name() == "axis")
          axis = attribute.i();
      return Grown{rows->axis, (axis < 0 ? axis + rank : axis) == rows->axis};
    }
  }
  if (op != "Add" && op != "Sub" && op != "Mul" && op != "Div")
    return std::nullopt;
  std::optional<int64_t> fromEnd;
  int64_t rank = 0, extent = 0;
  for (const std::string &name : node.input()) {
    rank = std::max(rank, type(name).getRank());
    if (std::optional<Grown> rows = grownOf(name)) {
      int64_t place = type(name).getRank() - rows->axis;
      if (fromEnd && *fromEnd != place)
        return std::nullopt;
      fromEnd = place;
      extent = type(name).getDimSize(rows->axis);
    }
  }
  for (const std::string &name : node.input())
    if (!fromEnd || !fitsRows(type(name), *fromEnd, extent))
      return std::nullopt;
  return Grown{rank - *fromEnd, false};
}

LogicalResult Importer::checkReader(const ::onnx::NodeProto &node, const Twine &op, std::optional<Grown> &result) {
  auto refuse = [&](const std::string &name) {
    reportNode(node, opsetOf(node).value_or(0),
               "reads '" + name + "', a state whose rows are counted at run time; " + op +
                   " does not take their number. Attention does; leave the pair out of --state, or " +
                   (node.op_type() == "Where" ? "give the mask as an input that is added"
                                              : "give what is computed of its length as an input"));
    return failure();
  };
  bool isAttention = node.op_type() == "Attention" && node.domain().empty();
  for (int i = 0; i < node.input_size(); ++i) {
    const std::string &name = node.input(i);
    const StatePair *pair = stateOf(name);
    if (pair && pair->grows && !llvm::is_contained(node.output(), pair->output))
      return refuse(name);
    if (name.empty() || !grownOf(name) || (isAttention && (i == 1 || i == 2)))
      continue;
    result = grownResult(node);
    if (!result)
      return refuse(name);
  }
  return success();
}

bool Importer::mayLeaveBody(const Twine &who, StringRef name, Value made) {
  bool isPast = llvm::any_of(states, [&](const StatePair &pair) { return pair.grows && value(pair.input) == made; });
  if (isPast || grown.contains(made))
    report(who + "gives out '" + name +
           "', a state whose rows are counted at run time, and no op behind it would know their number; read it "
           "inside by Attention, or leave the pair out of --state");
  return !isPast && !grown.contains(made);
}

Value Node::grownLength(Value value, int64_t axis, int64_t batch) {
  auto it = importer.grown.find(value);
  if (it == importer.grown.end() || it->second.axis != axis)
    return {};
  Value inBody; // of a branch, whose values end with it
  Value &length = importer.isInBody() ? inBody : importer.lengths[batch];
  if (!length) {
    OpBuilder &b = builder();
    Type i32 = b.getI32Type();
    Value rows = top::createConstant(b, b.getUnknownLoc(), "", RankedTensorType::get({batch}, i32),
                                     top::fromInts(i32, std::vector<int64_t>(batch, *importer.stateRows)));
    length = create<top::AddOp>("", {importer.position, rows});
  }
  return length;
}

Value Node::hideGrownRows(Value value, int64_t axis) {
  Value length = grownLength(value, axis, 1);
  if (!length)
    return value;
  int64_t rows = cast<RankedTensorType>(value.getType()).getDimSize(axis);
  std::vector<int64_t> numbers(rows);
  std::iota(numbers.begin(), numbers.end(), 0);
  SmallVector<int64_t> shape(rankOf(value) - axis, 1);
  shape[0] = rows;
  Type i32 = builder().getI32Type();
  Value number = top::createConstant(builder(), builder().getUnknownLoc(), (outputName() + "_rows").str(),
                                     RankedTensorType::get(shape, i32), top::fromInts(i32, numbers));
  Formula f(*this);
  return f.where(f.compare(number, "lt", length), value, f.constant(value, -std::numeric_limits<double>::infinity()));
}

} // namespace pto_mlir::onnx
