// What a model computes with the extents of its tensors.
#include "ModelFile.h"
#include "pto_mlir/Frontend/ONNX/Import.h"

#include "llvm/ADT/StringSet.h"

#include <set>

namespace pto_mlir::onnx {

namespace {

/// Whether the op makes products of the extents in that operand, or selects among them.
bool keepsProducts(llvm::StringRef op, int operand) {
  static const llvm::StringSet<> all = {"Concat", "Mul"}, first = {"Cast",    "Gather",  "Identity", "ReduceProd",
                                                                   "Reshape", "Squeeze", "Slice",    "Unsqueeze"};
  return all.contains(op) || (operand == 0 && first.contains(op));
}

/// Operands of an op that are extents of its result: a shape, the end of a slice, the length of a range. What else they
/// may change, the importer's probes see.
bool isShapeOperand(const ::onnx::NodeProto &node, int operand) {
  static const std::set<std::pair<llvm::StringRef, int>> shapes = {
      {"Reshape", 1}, {"Expand", 1}, {"ConstantOfShape", 0}, {"Slice", 2}, {"Range", 1}};
  return shapes.count({node.op_type(), operand});
}

} // namespace

std::optional<std::string> sizeUseProblem(llvm::StringRef path) {
  std::string error;
  std::optional<ModelFile> file = ModelFile::open(path, error);
  if (!file)
    return error;
  auto readsShape = [](const ::onnx::NodeProto &node) { return node.op_type() == "Shape" || node.op_type() == "Size"; };
  for (const auto &function : file->model().functions())
    if (llvm::any_of(function.node(), readsShape))
      return "the function '" + function.name() + "' computes with extents";
  llvm::StringSet<> extents; // values computed from shapes
  for (const auto &node : file->model().graph().node()) {
    std::string who = "'" + (node.output_size() ? node.output(0) : node.name()) + "' (" + node.op_type() + ")";
    for (const auto &attribute : node.attribute())
      if (attribute.has_g() || attribute.graphs_size())
        return who + " is control flow";
    bool derived = readsShape(node);
    for (int i = 0; i < node.input_size(); ++i) {
      if (!extents.contains(node.input(i)) || isShapeOperand(node, i))
        continue;
      if (!keepsProducts(node.op_type(), i))
        return who + " computes with an extent, and not only products";
      derived = true;
    }
    if (derived)
      for (const std::string &output : node.output())
        extents.insert(output);
  }
  return std::nullopt;
}

} // namespace pto_mlir::onnx
