// The outputs of the function, and the nodes they depend on.
#include "Importer.h"

#include "llvm/ADT/StringExtras.h"

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

using Producers = llvm::StringMap<const ::onnx::NodeProto *>;

// The nodes that compute what a node reads, with the names; in alphabetic order.
static SmallVector<std::pair<StringRef, const ::onnx::NodeProto *>> readsOf(const ::onnx::NodeProto &node,
                                                                            const Producers &producers) {
  llvm::StringSet<> names;
  readNames(node, names);
  SmallVector<std::pair<StringRef, const ::onnx::NodeProto *>> result;
  for (const auto &entry : names)
    if (auto it = producers.find(entry.getKey()); it != producers.end())
      result.push_back({it->getKey(), it->second});
  llvm::sort(result);
  return result;
}

// The tensors of a cycle; none when each node can follow those that it reads.
static SmallVector<StringRef> findCycle(ArrayRef<const ::onnx::NodeProto *> nodes, const Producers &producers) {
  llvm::DenseMap<const ::onnx::NodeProto *, SmallVector<const ::onnx::NodeProto *>> users;
  llvm::DenseMap<const ::onnx::NodeProto *, unsigned> open; // inputs that are not computed yet
  for (const auto *node : nodes)
    for (auto [name, producer] : readsOf(*node, producers)) {
      users[producer].push_back(node);
      ++open[node];
    }
  SmallVector<const ::onnx::NodeProto *> ready;
  llvm::copy_if(nodes, std::back_inserter(ready), [&](const auto *node) { return open.lookup(node) == 0; });
  while (!ready.empty())
    for (const auto *user : users.lookup(ready.pop_back_val()))
      if (--open[user] == 0)
        ready.push_back(user);
  // Each node that is left reads another one, so that a walk from node to node comes back.
  const auto *left = llvm::find_if(nodes, [&](const auto *node) { return open.lookup(node) > 0; });
  SmallVector<StringRef> walk;
  for (const auto *node = left == nodes.end() ? nullptr : *left; node;) {
    auto reads = readsOf(*node, producers);
    auto next = llvm::find_if(reads, [&](const auto &read) { return open.lookup(read.second) > 0; });
    if (auto *again = llvm::find(walk, next->first); again != walk.end())
      return {again, walk.end()};
    walk.push_back(next->first);
    node = next->second;
  }
  return {};
}

void Importer::reportCycle(ArrayRef<StringRef> cycle) {
  if (cycle.empty())
    return;
  constexpr size_t kShown = 8;
  std::string text =
      "'" + llvm::join(cycle.take_front(kShown), "' <- '") + (cycle.size() > kShown ? "' .. '" : "' <- '");
  report("the graph has a cycle: " + text + cycle.front() + "'");
}

bool Importer::selectNodes() {
  const ::onnx::GraphProto &graph = file.model().graph();
  Producers producers;
  llvm::StringSet<> known;
  for (const auto &entry : tensors)
    known.insert(entry.getKey());
  for (const auto *input : inputs)
    if (!known.insert(input->name()).second)
      report("input '" + input->name() + "' is defined twice");
  llvm::DenseMap<const ::onnx::NodeProto *, size_t> places; // in the file
  for (const auto &node : graph.node()) {
    places.insert({&node, places.size()});
    for (const std::string &output : node.output())
      if (!output.empty() && (known.contains(output) || !producers.try_emplace(output, &node).second))
        reportNode(node, opsetOf(node).value_or(0), "defines '" + output + "' a second time");
  }

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
  bool isInOrder = true;
  auto need = [&](StringRef name, size_t place) {
    read.insert(name);
    auto it = producers.find(name);
    if (it == producers.end())
      return known.contains(name);
    isInOrder &= places[it->second] < place;
    if (needed.insert(it->second).second)
      pending.push_back(it->second);
    return true;
  };
  for (const std::string &output : outputs)
    if (!need(output, places.size()))
      report("has no tensor '" + output + "' to be an output");
  while (!pending.empty()) {
    const ::onnx::NodeProto *node = pending.pop_back_val();
    llvm::StringSet<> names;
    readNames(*node, names);
    for (const auto &entry : names)
      if (!need(entry.getKey(), places[node]))
        reportNode(*node, opsetOf(*node).value_or(0), "input '" + entry.getKey() + "' is defined nowhere");
  }
  for (const auto &node : graph.node())
    if (needed.contains(&node))
      nodes.push_back(&node);
  if (!isInOrder)
    reportCycle(findCycle(nodes, producers));
  return errors.empty();
}

} // namespace pto_mlir::onnx
