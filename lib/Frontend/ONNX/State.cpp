// State in the graph: arguments and results, and rows that nodes append (StatePairs.cpp finds the pairs).
#include "Importer.h"

#include "Node.h"
#include "pto_mlir/Dialect/Top/IR/State.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace pto_mlir::onnx {

const Importer::StatePair *Importer::stateOf(StringRef input) const {
  auto it = llvm::find_if(states, [&](const StatePair &pair) { return pair.input == input; });
  return it == states.end() ? nullptr : &*it;
}

void Importer::markStates(func::FuncOp func) {
  bool grows = false;
  for (auto [i, input] : llvm::enumerate(inputs))
    if (const StatePair *pair = stateOf(input->name())) {
      func.setArgAttr(i, top::kStateAxisAttr, builder.getI64IntegerAttr(pair->axis));
      grows |= pair->grows;
    }
  if (!grows)
    return;
  unsigned number = func.getNumArguments();
  func.insertArgument(number, RankedTensorType::get({1}, builder.getI32Type()),
                      builder.getDictionaryAttr({builder.getNamedAttr(top::kStatePositionAttr, builder.getUnitAttr())}),
                      top::namedLoc(builder.getContext(), top::kStatePositionName));
  position = func.getArgument(number);
}

LogicalResult Importer::countRows(Node &node, int64_t rows, bool grows) {
  if (depth)
    return node.error("writes a state inside of a branch or loop; only the model's own graph may");
  if (stateRows && *stateRows != rows && (grows || rowsGrow))
    return node.error("adds " + Twine(rows) + " rows to a state, other nodes add " + Twine(*stateRows));
  if (!stateRows || grows)
    stateRows = rows;
  rowsGrow |= grows;
  return success();
}

bool Node::appendsToState(unsigned i) const {
  const Importer::StatePair *pair = i < numInputs() ? importer.stateOf(proto.input(i)) : nullptr;
  return pair && pair->grows && llvm::is_contained(proto.output(), pair->output);
}

Value Node::appendToState(StringRef name, unsigned i, Value rows, int64_t axis) {
  if (!rows)
    return {};
  int64_t added = cast<RankedTensorType>(rows.getType()).getDimSize(axis);
  if (int64_t room = type(i).getDimSize(axis); added > room)
    return (void)error("adds " + Twine(added) + " rows a run to state '" + proto.input(i) + "', which has room for " +
                       Twine(room) + "; give it more with --state_length"),
           Value();
  if (failed(importer.countRows(*this, added, true)))
    return {};
  Value written = create<top::StateWriteOp>(name, {input(i), rows, importer.position}, {i64("axis", axis)});
  if (written)
    importer.grown[written] = {axis, false};
  return written;
}

LogicalResult Node::countStateRows(int64_t rows) { return importer.countRows(*this, rows, false); }

//===-- At the end ------------------------------------------------------------===//

void Importer::placeStateOutputs() {
  for (const StatePair &pair : states)
    llvm::erase(outputs, pair.output);
  for (const StatePair &pair : states)
    outputs.push_back(pair.output);
}

bool Importer::finishStates(func::FuncOp func) {
  if (states.empty())
    return true;
  for (const StatePair &pair : states) {
    Value before = value(pair.input), after = value(pair.output);
    auto type = cast<RankedTensorType>(before.getType());
    if (Type element = type.getElementType(); element.isInteger(1) || element.isInteger(64))
      report("state '" + pair.input + "': elements of type " + llvm::formatv("{0}", element).str() +
             " are stored as others, which a state cannot be; cast it in the model");
    else if (before.getType() != after.getType())
      report("state '" + pair.input + "' is " + llvm::formatv("{0}", before.getType()).str() + ", its new value '" +
             pair.output + "' " + llvm::formatv("{0}", after.getType()).str() + "; both must have one type and shape");
    else if (after == before) // nothing is written
      llvm::erase(outputs, pair.output);
  }
  if (position)
    func.setArgAttr(cast<BlockArgument>(position).getArgNumber(), top::kNameAttr,
                    builder.getStringAttr(top::kStatePositionName));
  func->setAttr(top::kStateRowsAttr, builder.getI64IntegerAttr(stateRows.value_or(0)));
  func->setAttr(top::kStateLimitAttr, builder.getI64IntegerAttr(rowsGrow ? options.stateLength : 0));
  return errors.empty();
}

} // namespace pto_mlir::onnx
