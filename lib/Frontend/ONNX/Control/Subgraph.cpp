// Subgraphs of control flow.
#include "../Importer.h"

using namespace mlir;

namespace pto_mlir::onnx {

std::optional<SmallVector<Value>> Importer::importSubgraph(const ::onnx::GraphProto &graph, ArrayRef<Value> arguments) {
  size_t before = errors.size();
  llvm::StringMap<Tensor> around = tensors;
  llvm::StringSet<> poisonedAround = poisoned;
  ++depth;
  auto end = [&](bool isGood) {
    --depth;
    tensors = std::move(around);
    poisoned = std::move(poisonedAround);
    return isGood && errors.size() == before;
  };
  std::string name = "subgraph '" + graph.name() + "': ";
  if (static_cast<size_t>(graph.input_size()) != arguments.size()) {
    report(name + "has " + Twine(graph.input_size()) + " inputs, gets " + Twine(arguments.size()));
    return end(false), std::nullopt;
  }
  for (const auto &weight : graph.initializer())
    importInitializer(weight, weight.raw_data(), /*isMapped=*/false);
  for (auto [input, value] : llvm::zip_equal(graph.input(), arguments))
    tensors[input.name()] = {value, std::nullopt};
  Graph own;
  for (const auto &input : graph.input())
    own.own.insert(input.name());
  for (const auto &node : graph.node()) {
    own.nodes.push_back(&node);
    // Names defined in the subgraph shadow those of enclosing graphs, even before their definition.
    for (const std::string &output : node.output()) {
      tensors.erase(output);
      if (!output.empty())
        own.own.insert(output);
    }
    readNames(node, read);
  }
  SmallVector<std::string> wanted;
  for (const auto &output : graph.output()) {
    wanted.push_back(output.name());
    read.insert(output.name());
  }
  if (!importNodes(own, own.nodes, wanted) && !unknown.empty())
    return end(false), std::nullopt;
  SmallVector<Value> results;
  for (const auto &output : graph.output()) {
    if (!isDefined(output.name())) {
      if (!poisoned.contains(output.name()))
        report(name + "output '" + output.name() + "' is defined nowhere");
      continue;
    }
    if (mayLeaveBody(name, output.name(), value(output.name())))
      results.push_back(value(output.name()));
  }
  if (!end(results.size() == static_cast<size_t>(graph.output_size())))
    return std::nullopt;
  return results;
}

} // namespace pto_mlir::onnx
