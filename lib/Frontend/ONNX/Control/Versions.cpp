// Dynamic sizes: the graph is imported once per possible size, and the program selects among these versions at run
// time.
#include "../Importer.h"

#include "Body.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Control.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "llvm/ADT/StringSwitch.h"
#include <functional>

using namespace mlir;

namespace pto_mlir::onnx {

//===-- Which shapes a tensor may have -------------------------------------===//

void Importer::setShapes(ArrayRef<Value> values, std::vector<Shapes> choices) {
  if (llvm::all_of(values, [](Value value) { return isStatic(value.getType()); }))
    return;
  auto set = std::make_shared<ShapeSet>();
  set->values.assign(values.begin(), values.end());
  llvm::sort(choices);
  choices.erase(std::unique(choices.begin(), choices.end()), choices.end());
  set->choices = std::move(choices);
  for (Value value : values)
    if (!isStatic(value.getType()))
      shapeSets[value] = set;
}

std::optional<std::vector<Importer::Shapes>> Importer::shapesOf(ValueRange values) {
  // The distinct shape sets; the result is the product of their choices.
  SmallVector<std::shared_ptr<ShapeSet>> sets;
  for (Value value : values) {
    if (isStatic(value.getType()))
      continue;
    auto found = shapeSets.find(value);
    if (found == shapeSets.end())
      return std::nullopt;
    if (!llvm::is_contained(sets, found->second))
      sets.push_back(found->second);
  }
  std::vector<Shapes> result;
  SmallVector<size_t> chosen(sets.size(), 0);
  for (bool more = true; more && result.size() <= kMaxVersions;) {
    Shapes shapes;
    for (Value value : values) {
      if (isStatic(value.getType())) {
        shapes.push_back(cast<RankedTensorType>(value.getType()).getShape().vec());
        continue;
      }
      size_t s = llvm::find(sets, shapeSets[value]) - sets.begin();
      shapes.push_back(sets[s]->choices[chosen[s]][llvm::find(sets[s]->values, value) - sets[s]->values.begin()]);
    }
    result.push_back(std::move(shapes));
    more = false;
    for (size_t s = 0; s < sets.size() && !more; ++s) {
      more = ++chosen[s] < sets[s]->choices.size();
      if (!more)
        chosen[s] = 0;
    }
  }
  return result;
}

void Importer::noteShapes(Operation *op) {
  std::vector<Shapes> choices;
  if (auto branch = dyn_cast<top::IfOp>(op)) {
    for (mlir::Region *region : {&branch.getThenRegion(), &branch.getElseRegion()}) {
      auto own = shapesOf(region->front().getTerminator()->getOperands());
      if (!own)
        return;
      choices.insert(choices.end(), own->begin(), own->end());
    }
  } else if (auto loop = dyn_cast<top::LoopOp>(op)) {
    std::optional<top::Weight> trips = top::getConstant(loop.getTrips());
    int64_t most = trips ? std::clamp<int64_t>(top::toInts(*trips).front(), 0, options.maxExtent) : options.maxExtent;
    for (int64_t rows = 0; rows <= most; ++rows) {
      Shapes &shapes = choices.emplace_back();
      for (Type type : op->getResultTypes()) {
        shapes.push_back(cast<RankedTensorType>(type).getShape().vec());
        if (!shapes.back().empty() && ShapedType::isDynamic(shapes.back().front()))
          shapes.back().front() = rows;
        if (llvm::any_of(shapes.back(), ShapedType::isDynamic))
          return;
      }
    }
  }
  setShapes(SmallVector<Value>(op->getResults()), std::move(choices));
}

void Importer::forget(Operation *op) {
  op->walk([&](Operation *inner) {
    for (Value value : inner->getResults())
      shapeSets.erase(value);
    for (mlir::Region &region : inner->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          counts.erase(argument);
  });
}

//===-- The deciding tensor ------------------------------------------------===//

// Integer arithmetic on sizes: the result is a function of the inputs.
static bool isSizeArithmetic(StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Add", "Sub", "Mul", "Div", "Min", "Max", "Mod", "Neg", true)
      .Cases("Abs", "Cast", "Clip", "Identity", "Squeeze", "Unsqueeze", "Reshape", true)
      .Cases("Concat", "Gather", "Slice", "Where", "Equal", "Less", "Greater", "Not", true)
      .Default(false);
}

// The tensor that determines `name`: `name` itself, or the only tensor it is computed from. May be a tensor of an
// enclosing graph.
std::string Importer::rootOf(const Graph &graph, std::string name) {
  while (graph.own.contains(name)) {
    if (!isStatic(type(name)))
      return name;
    auto producer = llvm::find_if(
        graph.nodes, [&](const ::onnx::NodeProto *node) { return llvm::is_contained(node->output(), name); });
    if (producer == graph.nodes.end() || !isSizeArithmetic((*producer)->op_type()))
      return name;
    SmallVector<std::string> open;
    for (const std::string &input : (*producer)->input())
      if (!input.empty() && !constant(input) && !llvm::is_contained(open, input))
        open.push_back(input);
    bool isList = (*producer)->op_type() == "Concat";
    if (open.empty() || (open.size() > 1 && !isList))
      return name;
    RankedTensorType from = type(open.front());
    if (!from.hasStaticShape() || !isa<IntegerType>(from.getElementType()) ||
        from.getNumElements() > type(name).getNumElements())
      return name;
    name = open.front();
  }
  return name;
}

//===-- Versions -----------------------------------------------------------===//

namespace {
std::string listText(ArrayRef<int64_t> values) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + "]";
}
} // namespace

bool Importer::importNodes(const Graph &graph, ArrayRef<const ::onnx::NodeProto *> list, ArrayRef<std::string> wanted) {
  size_t atEntry = errors.size();
  for (size_t i = 0; i < list.size(); ++i) {
    size_t before = errors.size();
    if (tryNode(*list[i]))
      continue;
    std::string root = rootOf(graph, unknown);
    unknown = root;
    // The deciding tensor is in an enclosing graph.
    if (!graph.own.contains(root))
      return false;
    if (!mayChoose(root)) {
      unknown.clear();
      continue;
    }
    errors.resize(before);
    for (const std::string &output : list[i]->output())
      poisoned.erase(output);
    return importVersions(graph, list.drop_front(i), root, wanted) && errors.size() == atEntry;
  }
  return errors.size() == atEntry;
}

// Imports a node. False when it requires the value or shape of tensor `unknown`; true when it was imported or has other
// errors.
bool Importer::tryNode(const ::onnx::NodeProto &node) {
  size_t before = errors.size();
  unknown.clear();
  importNode(node);
  if (errors.size() == before)
    unknown.clear(); // the node was imported without it
  return unknown.empty();
}

bool Importer::mayChoose(StringRef name) {
  RankedTensorType tensor = type(name);
  if (!tensor.hasStaticShape())
    return shapeSets.contains(tensors[name].value);
  if (tensor.getRank() > 1 || !isa<IntegerType>(tensor.getElementType()) || !tensors[name].value)
    return false;
  auto count = counts.find(tensors[name].value);
  return count == counts.end() || count->second > 0;
}

// One version per possible combination of shapes.
static std::vector<Importer::Version> versionsOf(ArrayRef<Importer::Shapes> shapes) {
  std::vector<Importer::Version> versions;
  for (const auto &choice : shapes)
    versions.push_back({{}, choice, nullptr});
  return versions;
}

static std::vector<Importer::Version> versionsOf(int64_t elements, int64_t count) {
  std::vector<Importer::Version> versions(1);
  for (int64_t i = 0; i < elements; ++i) {
    std::vector<Importer::Version> longer;
    for (const Importer::Version &version : versions)
      for (int64_t value = 0; value < count && longer.size() <= kMaxVersions; ++value) {
        longer.push_back(version);
        longer.back().elements.push_back(value);
      }
    versions = std::move(longer);
  }
  return versions;
}

bool Importer::importVersions(const Graph &graph, ArrayRef<const ::onnx::NodeProto *> list, const std::string &root,
                              ArrayRef<std::string> wanted) {
  Value decider = tensors[root].value;
  std::shared_ptr<ShapeSet> set = isStatic(decider.getType()) ? nullptr : shapeSets[decider];
  std::vector<Version> versions;
  if (set) {
    versions = versionsOf(set->choices);
  } else {
    auto type = cast<RankedTensorType>(decider.getType());
    auto found = counts.find(decider);
    int64_t most = options.maxExtent + 1;
    versions = versionsOf(type.getNumElements(), type.getElementType().isInteger(1) ? 2
                                                 : found != counts.end()            ? std::min(found->second, most)
                                                                                    : most);
  }
  if ((numVersions += versions.size()) > kMaxVersions) {
    report("'" + root + "' is known at run time only, and the sizes that follow from it make more than " +
           Twine(kMaxVersions) +
           " versions of the graph; allow fewer with a smaller --max_extent, or give the model constants");
    return false;
  }
  // Names of the tensors that are known in a version, with their index in the shape set.
  SmallVector<std::pair<std::string, size_t>> known;
  for (auto &entry : tensors) {
    if (!graph.own.contains(entry.getKey()) || !entry.second.value ||
        (set ? isStatic(entry.second.value.getType()) : entry.second.value != decider))
      continue;
    auto it = set ? llvm::find(set->values, entry.second.value) : nullptr;
    if (!set || it != set->values.end())
      known.push_back({entry.getKey().str(), set ? it - set->values.begin() : 0});
  }
  llvm::sort(known);

  // Names that depend on `known`, and names computed by the nodes that will be imported in versions.
  llvm::StringSet<> changing, later, reads;
  for (auto &[name, index] : known)
    changing.insert(name);
  auto readsAny = [](const ::onnx::NodeProto *node, const llvm::StringSet<> &names) {
    llvm::StringSet<> inputs;
    readNames(*node, inputs);
    return llvm::any_of(inputs.keys(), [&](StringRef name) { return names.contains(name); });
  };
  SmallPtrSet<const ::onnx::NodeProto *, 16> remaining(list.begin(), list.end()), inside;
  SmallVector<const ::onnx::NodeProto *> again, others;
  for (const auto *node : graph.nodes)
    if (readsAny(node, changing)) {
      for (const std::string &output : node->output())
        if (!llvm::any_of(known, [&](auto &entry) { return entry.first == output; }))
          changing.insert(output);
      if (!remaining.contains(node))
        again.push_back(node);
    }
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
  if (!importNodes(graph, others, alsoWanted))
    return false;
  // Nodes already imported are imported again where the remaining nodes need their results.
  for (const auto *node : llvm::reverse(again))
    if (llvm::any_of(node->output(), [&](const std::string &output) { return reads.contains(output); })) {
      inside.insert(node);
      readNames(*node, reads);
    }
  // Weights are shared by all versions.
  for (StringRef name : reads.keys())
    if (auto it = tensors.find(name);
        it != tensors.end() && it->second.weight && it->second.weight->type.getNumElements() > top::kMaxInlineElements)
      (void)value(name);
  SmallVector<const ::onnx::NodeProto *> body;
  llvm::copy_if(graph.nodes, std::back_inserter(body), [&](const auto *node) { return inside.contains(node); });
  SmallVector<std::string> outputs;
  for (const std::string &name : wanted)
    if (later.contains(name) && !llvm::is_contained(outputs, name))
      outputs.push_back(name);

  std::vector<std::string> firstErrors;
  std::string firstReason;
  std::vector<Shapes> choices;
  bool areShapesKnown = true;
  size_t before = errors.size();
  Location loc = builder.getUnknownLoc();
  Block *here = builder.getInsertionBlock();
  SmallVector<std::unique_ptr<Block>> blocks;
  SmallVector<Version> good;
  for (Version &version : versions) {
    version.block = blocks.emplace_back(std::make_unique<Block>()).get();
    builder.setInsertionPointToEnd(version.block);
    llvm::StringMap<Tensor> around = tensors;
    llvm::StringSet<> poisonedAround = poisoned;
    ++depth;
    for (auto &[name, index] : known) {
      Value value = around[name].value;
      auto tensorType = cast<RankedTensorType>(value.getType());
      if (!set) {
        auto bytes =
            std::make_shared<const std::vector<char>>(top::fromInts(tensorType.getElementType(), version.elements));
        tensors[name] = {Value(), top::Weight{tensorType, ArrayRef<char>(*bytes), bytes}};
        continue;
      }
      tensorType = RankedTensorType::get(version.shapes[index], tensorType.getElementType());
      if (tensorType.getNumElements() == 0)
        tensors[name] = {Value(), emptyWeight(tensorType)};
      else
        tensors[name].value =
            builder.create<top::AssumeOp>(top::namedLoc(builder.getContext(), name), tensorType, value);
    }
    bool isGood = importNodes(graph, body, outputs);
    SmallVector<Value> results;
    for (const std::string &name : isGood ? outputs : SmallVector<std::string>())
      results.push_back(value(name));
    --depth;
    tensors = std::move(around);
    poisoned = std::move(poisonedAround);
    if (isGood) {
      auto shapes = shapesOf(results);
      areShapesKnown &= shapes.has_value();
      if (shapes)
        choices.insert(choices.end(), shapes->begin(), shapes->end());
      builder.create<top::YieldOp>(loc, results);
      good.push_back(version);
      continue;
    }
    // Keep the block alive, since its values are recorded in maps.
    version.block->dropAllReferences();
    dropped.push_back(std::move(blocks.back()));
    blocks.pop_back();
    builder.setInsertionPointToEnd(here);
    if (!unknown.empty()) // decided in an enclosing graph
      return false;
    if (firstErrors.empty())
      firstErrors.assign(errors.begin() + before, errors.end());
    errors.resize(before);
  }
  builder.setInsertionPointToEnd(here);
  if (good.empty()) {
    errors.insert(errors.end(), firstErrors.begin(), firstErrors.end());
    return false;
  }
  auto textOf = [&](const Version &version) {
    if (!set)
      return version.elements.size() == 1 ? std::to_string(version.elements.front()) : listText(version.elements);
    return listText(version.shapes[llvm::find(set->values, decider) - set->values.begin()]);
  };
  std::string message = "'" + root + "' has a " + (set ? "shape" : "value") + " that the model was not compiled for: ";
  for (size_t i = 0; i < good.size(); ++i) {
    if (i == 3 && good.size() > 4) {
      message += " to " + textOf(good.back());
      break;
    }
    message += (i ? ", " : "") + textOf(good[i]);
  }
  message += " (model_transform --max_extent, --dynamic)";

  for (auto &block : blocks)
    (void)block.release(); // owned by a region, or emptied below
  std::optional<SmallVector<Value>> results = chooseVersion(decider, set.get(), good, message);
  if (!results)
    return false;
  for (auto [name, result] : llvm::zip_equal(outputs, *results))
    tensors[name] = {result, std::nullopt};
  if (areShapesKnown)
    setShapes(*results, std::move(choices));
  return true;
}

// A boolean value: whether `decider` (or the shapes of `set`) has the values of `version`.
static Value isVersion(OpBuilder &b, Value decider, const Importer::ShapeSet *set, const Importer::Version &version) {
  Location loc = b.getUnknownLoc();
  Value all;
  auto add = [&](Value number, int64_t size) {
    auto type = cast<RankedTensorType>(number.getType());
    Value constant = top::createConstant(b, loc, "", type, top::fromInts(type.getElementType(), size));
    Value same =
        b.create<top::CompareOp>(loc, ValueRange{number, constant}, b.getNamedAttr("mode", b.getStringAttr("eq")))
            .getResult();
    all = all ? b.create<top::AndOp>(loc, ValueRange{all, same}).getResult() : same;
  };
  if (!set) {
    for (auto [i, size] : llvm::enumerate(version.elements)) {
      auto at = [&](int64_t value) { return b.getDenseI64ArrayAttr(value); };
      int64_t first = i;
      add(version.elements.size() == 1
              ? decider
              : b.create<top::SliceOp>(loc, ValueRange{decider},
                                       ArrayRef<NamedAttribute>{b.getNamedAttr("starts", at(first)),
                                                                b.getNamedAttr("ends", at(first + 1)),
                                                                b.getNamedAttr("steps", at(1))})
                    .getResult(),
          size);
    }
    return all;
  }
  // Skip static extents, which are the same in all versions.
  for (auto [value, shape] : llvm::zip_equal(set->values, version.shapes))
    for (auto [axis, size] : llvm::enumerate(shape))
      if (cast<RankedTensorType>(value.getType()).isDynamicDim(axis))
        add(b.create<top::DimOp>(loc, RankedTensorType::get({}, b.getI64Type()), value, b.getI64IntegerAttr(axis)),
            size);
  return all;
}

// Builds a chain of top.if over the versions; the last one is asserted. Their blocks become regions.
std::optional<SmallVector<Value>> Importer::chooseVersion(Value decider, const ShapeSet *set,
                                                          ArrayRef<Version> versions, const std::string &message) {
  Location loc = builder.getUnknownLoc();
  std::function<std::optional<SmallVector<Value>>(size_t)> choose = [&](size_t i) -> std::optional<SmallVector<Value>> {
    Block *block = versions[i].block;
    Value is = isVersion(builder, decider, set, versions[i]);
    if (i + 1 == versions.size()) {
      builder.create<top::RequireOp>(loc, is, builder.getStringAttr(message));
      SmallVector<Value> results(block->getTerminator()->getOperands());
      block->getTerminator()->erase();
      builder.getInsertionBlock()->getOperations().splice(builder.getInsertionPoint(), block->getOperations());
      delete block;
      return results;
    }
    Operation *op = makeControl(builder, loc, top::IfOp::getOperationName(), is, {}, 2);
    op->getRegion(0).push_back(block);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.createBlock(&op->getRegion(1));
      auto others = choose(i + 1);
      if (!others)
        return std::nullopt;
      builder.create<top::YieldOp>(loc, *others);
    }
    return finishControl(builder, op,
                         [&](const Twine &reason) { report("the sizes that depend on run-time values: " + reason); });
  };
  return choose(0);
}

} // namespace pto_mlir::onnx
