// The outputs of the function, and the nodes they depend on.
#include "Importer.h"

using namespace mlir;

namespace pto_mlir::onnx {

void readNames(const ::onnx::NodeProto &node, llvm::StringSet<> &names) {
  for (const std::string &input : node.input())
    if (!input.empty())
      names.insert(input);
  for (const auto &attribute : node.attribute()) {
    if (attribute.type() != ::onnx::AttributeProto::GRAPH)
      continue;
    llvm::StringSet<> own, read;
    for (const auto &input : attribute.g().input())
      own.insert(input.name());
    for (const auto &weight : attribute.g().initializer())
      own.insert(weight.name());
    for (const auto &output : attribute.g().output())
      read.insert(output.name());
    for (const auto &inner : attribute.g().node()) {
      readNames(inner, read);
      own.insert(inner.output().begin(), inner.output().end());
    }
    for (const auto &entry : read)
      if (!own.contains(entry.getKey()))
        names.insert(entry.getKey());
  }
}

bool Importer::selectNodes() {
  const ::onnx::GraphProto &graph = file.model().graph();
  llvm::StringMap<const ::onnx::NodeProto *> producers;
  llvm::StringSet<> known;
  for (const auto &entry : tensors)
    known.insert(entry.getKey());
  for (const auto *input : inputs)
    if (!known.insert(input->name()).second)
      report("input '" + input->name() + "' is defined twice");
  for (const auto &node : graph.node())
    for (const std::string &output : node.output())
      if (!output.empty() && (known.contains(output) || !producers.try_emplace(output, &node).second))
        reportNode(node, opsetOf(node).value_or(0), "defines '" + output + "' a second time");

  outputs = options.outputNames;
  if (outputs.empty())
    for (const auto &output : graph.output())
      outputs.push_back(output.name());
  if (outputs.empty())
    report("has no outputs");
  llvm::StringSet<> listed;
  for (const std::string &output : outputs)
    if (!listed.insert(output).second)
      report("output '" + output + "' is listed twice");
  placeStateOutputs();
  llvm::SmallPtrSet<const ::onnx::NodeProto *, 32> needed;
  SmallVector<const ::onnx::NodeProto *> pending;
  auto need = [&](StringRef name) {
    read.insert(name);
    auto it = producers.find(name);
    if (it == producers.end())
      return known.contains(name);
    if (needed.insert(it->second).second)
      pending.push_back(it->second);
    return true;
  };
  for (const std::string &output : outputs)
    if (!need(output))
      report("has no tensor '" + output + "' to be an output");
  while (!pending.empty()) {
    const ::onnx::NodeProto *node = pending.pop_back_val();
    llvm::StringSet<> names;
    readNames(*node, names);
    for (const auto &entry : names)
      if (!need(entry.getKey()))
        reportNode(*node, opsetOf(*node).value_or(0), "input '" + entry.getKey() + "' is defined nowhere");
  }
  for (const auto &node : graph.node())
    if (needed.contains(&node))
      nodes.push_back(&node);
  return errors.empty();
}

} // namespace pto_mlir::onnx
