// importVersions: a graph's nodes imported once per size that it may have.
#include "../Importer.h"

#include "Body.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Control.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;

namespace pto_mlir::onnx {

namespace {
std::string listText(ArrayRef<int64_t> values) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + "]";
}
} // namespace

// The versions that there may be of what reads `name`.
static std::vector<Importer::Version> versionsOf(ArrayRef<Importer::Shapes> shapes) {
  std::vector<Importer::Version> versions;
  for (const auto &choice : shapes)
    versions.push_back({{}, choice, nullptr});
  return versions;
}

// Of a tensor of `elements` numbers below `count`; more than kVersionNodes of them when there are too many to list.
static std::vector<Importer::Version> versionsOf(int64_t elements, int64_t count) {
  constexpr int64_t kMostElements = 1 << 10; // also where each has one value only
  if (elements > kMostElements)
    return std::vector<Importer::Version>(kVersionNodes + 1);
  std::vector<Importer::Version> versions(1);
  for (int64_t i = 0; i < elements && versions.size() <= kVersionNodes; ++i) {
    std::vector<Importer::Version> longer;
    for (const Importer::Version &version : versions)
      for (int64_t value = 0; value < count && longer.size() <= kVersionNodes; ++value) {
        longer.push_back(version);
        longer.back().elements.push_back(value);
      }
    versions = std::move(longer);
  }
  return versions;
}

// One call of importVersions, in phases.
class Importer::VersionImport {
public:
  VersionImport(Importer &importer, const Graph &graph, ArrayRef<const ::onnx::NodeProto *> list,
                const std::string &root, ArrayRef<std::string> wanted)
      : importer(importer), graph(graph), list(list), root(root), wanted(wanted), decider(importer.tensors[root].value),
        set(isStatic(decider.getType()) ? nullptr : importer.shapeSets[decider]) {}

  bool run() {
    if (!enumerate())
      return false;
    findKnown();
    if (!importOthers())
      return false;
    findBody();
    Block *here = importer.builder.getInsertionBlock();
    for (Version &version : versions)
      if (!importVersion(version, here))
        return false;
    importer.builder.setInsertionPointToEnd(here);
    if (good.empty()) {
      reportMostFrequent();
      return false;
    }
    return choose();
  }

private:
  // The versions that there may be; an error when they are too many.
  bool enumerate() {
    if (set) {
      versions = versionsOf(set->choices);
    } else {
      int64_t elements = cast<RankedTensorType>(decider.getType()).getNumElements();
      versions = versionsOf(elements, importer.choicesOfEach(decider));
    }
    importer.numVersions += versions.size();
    importer.versionNodes += versions.size() * list.size();
    if (importer.numVersions <= kFewVersions || importer.versionNodes <= kVersionNodes)
      return true;
    importer.areVersionsTooMany = true;
    importer.report("'" + root + "' is known at run time only, and the sizes that follow from it make more than " +
                    Twine(kFewVersions) + " versions of the graph with more than " + Twine(kVersionNodes) +
                    " nodes in all; allow fewer with a smaller --max_extent, or give the model constants");
    return false;
  }

  // Names that are known in a version, and which of its values each is.
  void findKnown() {
    for (auto &entry : importer.tensors) {
      Value value = entry.second.value;
      if (!graph.own.contains(entry.getKey()) || !value || (set ? isStatic(value.getType()) : value != decider))
        continue;
      auto it = set ? llvm::find(set->values, value) : nullptr;
      if (!set || it != set->values.end())
        known.push_back({entry.getKey().str(), set ? it - set->values.begin() : 0});
    }
    llvm::sort(known);
  }

  static bool readsAny(const ::onnx::NodeProto *node, const llvm::StringSet<> &names) {
    llvm::StringSet<> inputs;
    readNames(*node, inputs);
    return llvm::any_of(inputs.keys(), [&](StringRef name) { return names.contains(name); });
  }

  // Nodes that have been imported already and read what is known in a version; all that changes with it.
  void findChanging() {
    for (auto &[name, index] : known)
      changing.insert(name);
    SmallPtrSet<const ::onnx::NodeProto *, 16> remaining(list.begin(), list.end());
    for (const auto *node : graph.nodes) {
      if (!readsAny(node, changing))
        continue;
      for (const std::string &output : node->output())
        if (!llvm::any_of(known, [&](auto &entry) { return entry.first == output; }))
          changing.insert(output);
      if (!remaining.contains(node))
        again.push_back(node);
    }
  }

  // Sorts the remaining nodes into those of the versions and others, and imports the others.
  bool importOthers() {
    findChanging();
    SmallVector<const ::onnx::NodeProto *> others;
    for (const auto *node : list) {
      if (node != list.front() && !readsAny(node, changing) && !readsAny(node, later)) {
        others.push_back(node);
        continue;
      }
      inside.insert(node);
      readNames(*node, reads);
      later.insert(node->output().begin(), node->output().end());
    }
    SmallVector<std::string> alsoWanted(wanted);
    for (StringRef name : reads.keys())
      alsoWanted.push_back(name.str());
    llvm::sort(alsoWanted);
    return importer.importNodes(graph, others, alsoWanted);
  }

  // The nodes of each version, and what they give.
  void findBody() {
    // What has been imported already comes again where the rest needs it.
    for (const auto *node : llvm::reverse(again))
      if (llvm::any_of(node->output(), [&](const std::string &output) { return reads.contains(output); })) {
        inside.insert(node);
        readNames(*node, reads);
      }
    // Weights are one for all versions.
    for (StringRef name : reads.keys())
      if (auto it = importer.tensors.find(name); it != importer.tensors.end() && it->second.weight &&
                                                 it->second.weight->type.getNumElements() > top::kMaxInlineElements)
        (void)importer.value(name);
    llvm::copy_if(graph.nodes, std::back_inserter(body), [&](const auto *node) { return inside.contains(node); });
    for (const std::string &name : wanted)
      if (later.contains(name) && !llvm::is_contained(outputs, name))
        outputs.push_back(name);
  }

  // The names' values in a version: a constant, or a tensor whose shape is assumed.
  void bindKnown(const Version &version) {
    for (auto &[name, index] : known) {
      Value value = importer.tensors[name].value;
      auto type = cast<RankedTensorType>(value.getType());
      if (!set) {
        auto bytes = std::make_shared<const std::vector<char>>(top::fromInts(type.getElementType(), version.elements));
        importer.tensors[name] = {Value(), top::Weight{type, ArrayRef<char>(*bytes), bytes}};
        continue;
      }
      type = RankedTensorType::get(version.shapes[index], type.getElementType());
      if (type.getNumElements() == 0)
        importer.tensors[name] = {Value(), emptyWeight(type)};
      else
        importer.tensors[name].value =
            importer.builder.create<top::AssumeOp>(top::namedLoc(importer.builder.getContext(), name), type, value);
    }
  }

  // Imports the body as it is in a version. A version that cannot be is left out; false when a graph around this one
  // decides.
  bool importVersion(Version &version, Block *here) {
    size_t before = importer.errors.size();
    version.block = blocks.emplace_back(std::make_unique<Block>()).get();
    importer.builder.setInsertionPointToEnd(version.block);
    llvm::StringMap<Tensor> around = importer.tensors;
    llvm::StringSet<> poisonedAround = importer.poisoned;
    ++importer.depth;
    bindKnown(version);
    // An output may depend on a node that was refused before.
    bool isGood = importer.importNodes(graph, body, outputs) &&
                  llvm::all_of(outputs, [&](const std::string &name) { return importer.isDefined(name); });
    SmallVector<Value> results;
    for (const std::string &name : isGood ? outputs : SmallVector<std::string>())
      if (importer.mayLeaveBody("a graph of sizes known at run time only ", name, importer.value(name)))
        results.push_back(importer.value(name));
      else
        isGood = false;
    --importer.depth;
    importer.tensors = std::move(around);
    importer.poisoned = std::move(poisonedAround);
    if (isGood) {
      auto shapes = importer.shapesOf(results);
      areShapesKnown &= shapes.has_value();
      if (shapes)
        choices.insert(choices.end(), shapes->begin(), shapes->end());
      importer.builder.create<top::YieldOp>(importer.builder.getUnknownLoc(), results);
      good.push_back(version);
      return true;
    }
    // Its values stay what they are: they have been noted.
    version.block->dropAllReferences();
    importer.dropped.push_back(std::move(blocks.back()));
    blocks.pop_back();
    importer.builder.setInsertionPointToEnd(here);
    if (!importer.unknown.empty())
      return false;
    if (importer.areVersionsTooMany) { // no version of this size would be complete
      for (auto &block : blocks) {
        block->dropAllReferences();
        importer.dropped.push_back(std::move(block));
      }
      blocks.clear();
      return false;
    }
    ++failures[std::vector<std::string>(importer.errors.begin() + before, importer.errors.end())];
    importer.errors.resize(before);
    return true;
  }

  // No version can be: what most of them lack is what the model lacks, not what is wrong with a size of 0.
  void reportMostFrequent() {
    auto most = llvm::max_element(failures, [](auto &a, auto &b) { return a.second < b.second; });
    if (most != failures.end())
      importer.errors.insert(importer.errors.end(), most->first.begin(), most->first.end());
  }

  std::string textOf(const Version &version) {
    if (!set)
      return version.elements.size() == 1 ? std::to_string(version.elements.front()) : listText(version.elements);
    return listText(version.shapes[llvm::find(set->values, decider) - set->values.begin()]);
  }

  // What a run says whose size is of no version.
  std::string message() {
    std::string text = "'" + root + "' has a " + (set ? "shape" : "value") + " that the model was not compiled for: ";
    for (size_t i = 0; i < good.size(); ++i) {
      if (i == 3 && good.size() > 4) {
        text += " to " + textOf(good.back());
        break;
      }
      text += (i ? ", " : "") + textOf(good[i]);
    }
    return text + " (model_transform --max_extent, --dynamic)";
  }

  // Builds the choice among the good versions; its results are the outputs.
  bool choose() {
    for (auto &block : blocks)
      block.release(); // NOLINT(bugprone-unused-return-value): chooseVersion gives it to a region, or erases it
    std::optional<SmallVector<Value>> results = importer.chooseVersion(decider, set.get(), good, message());
    if (!results)
      return false;
    for (auto [name, result] : llvm::zip_equal(outputs, *results))
      importer.tensors[name] = {result, std::nullopt};
    if (areShapesKnown)
      importer.setShapes(*results, std::move(choices));
    return true;
  }

  Importer &importer;
  const Graph &graph;
  ArrayRef<const ::onnx::NodeProto *> list;
  const std::string &root;
  ArrayRef<std::string> wanted;
  Value decider;
  std::shared_ptr<ShapeSet> set; // of the decider; null when its elements decide
  std::vector<Version> versions;
  SmallVector<std::pair<std::string, size_t>> known;
  llvm::StringSet<> changing, later, reads; // names
  SmallVector<const ::onnx::NodeProto *> again, body;
  SmallPtrSet<const ::onnx::NodeProto *, 16> inside;
  SmallVector<std::string> outputs;
  SmallVector<std::unique_ptr<Block>> blocks;
  SmallVector<Version> good;
  llvm::MapVector<std::vector<std::string>, size_t, std::map<std::vector<std::string>, unsigned>>
      failures; // errors, and how many versions have them
  std::vector<Shapes> choices;
  bool areShapesKnown = true;
};

bool Importer::importVersions(const Graph &graph, ArrayRef<const ::onnx::NodeProto *> list, const std::string &root,
                              ArrayRef<std::string> wanted) {
  return VersionImport(*this, graph, list, root, wanted).run();
}

} // namespace pto_mlir::onnx
