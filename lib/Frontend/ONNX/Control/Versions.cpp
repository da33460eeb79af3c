// Dynamic sizes: the graph is imported once per possible size, and the program selects among these versions at run
// time.
#include "../Importer.h"

#include "Body.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Control.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace pto_mlir::onnx {

//===-- Which shapes a tensor may have -------------------------------------===//

void Importer::setShapes(ArrayRef<Value> values, std::vector<Shapes> choices, bool isWhole) {
  if (llvm::all_of(values, [](Value value) { return isStatic(value.getType()); }))
    return;
  auto set = std::make_shared<ShapeSet>();
  set->values.assign(values.begin(), values.end());
  llvm::sort(choices);
  choices.erase(std::unique(choices.begin(), choices.end()), choices.end());
  set->choices = std::move(choices);
  set->isWhole = isWhole;
  for (Value value : values)
    if (!isStatic(value.getType()))
      shapeSets[value] = set;
}

void Importer::setExtents(ArrayRef<Value> values, int64_t least, int64_t most, bool areFew) {
  std::vector<Shapes> choices;
  for (int64_t extent = least; extent <= std::min(most, maxExtent()); ++extent) {
    Shapes &shapes = choices.emplace_back();
    for (Value value : values) {
      shapes.push_back(cast<RankedTensorType>(value.getType()).getShape().vec());
      std::replace(shapes.back().begin(), shapes.back().end(), ShapedType::kDynamic, extent);
    }
  }
  if (!values.empty())
    setShapes(values, std::move(choices), /*isWhole=*/areFew && most <= maxExtent());
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
  for (bool more = true; more && result.size() <= kVersionNodes;) {
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
    // A choice among versions gives `name`: what it was computed from has ended with each version.
    if (llvm::any_of((*producer)->input(),
                     [&](const std::string &input) { return !input.empty() && !isDefined(input); }))
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

int64_t Importer::choicesOfEach(Value numbers) {
  int64_t most = options.maxExtent + 1;
  auto found = counts.find(numbers);
  if (getElementTypeOrSelf(numbers.getType()).isInteger(1))
    return 2;
  return found == counts.end() ? most : std::min(found->second, most);
}

bool Importer::areTooMany(const Graph &graph, const std::string &name) {
  auto producer = llvm::find_if(
      graph.nodes, [&](const ::onnx::NodeProto *node) { return llvm::is_contained(node->output(), name); });
  bool isList = producer != graph.nodes.end() && (*producer)->op_type() == "Concat";
  llvm::StringSet<> roots;
  if (!isList)
    roots.insert(rootOf(graph, name));
  else
    for (const std::string &part : (*producer)->input())
      if (isDefined(part) && !constant(part))
        roots.insert(rootOf(graph, part));
  int64_t all = 1;
  for (const auto &root : roots) {
    Value numbers = tensors[root.getKey()].value;
    // Inputs of the model can be made constants, and what follows stays on the engines.
    if (!isStatic(numbers.getType()) || isa<BlockArgument>(numbers))
      continue;
    for (int64_t i = 0; i < type(root.getKey()).getNumElements() && all <= kFewVersions; ++i)
      all *= choicesOfEach(numbers);
  }
  return all > kFewVersions;
}

//===-- Versions -----------------------------------------------------------===//

bool Importer::importNodes(const Graph &graph, ArrayRef<const ::onnx::NodeProto *> list, ArrayRef<std::string> wanted) {
  size_t atEntry = errors.size();
  for (size_t i = 0; i < list.size(); ++i) {
    size_t before = errors.size();
    if (tryNode(*list[i]))
      continue;
    std::string asked = unknown, root = rootOf(graph, asked);
    unknown = root;
    // The deciding tensor is in an enclosing graph.
    if (!graph.own.contains(root))
      return false;
    bool isOpen = areVersionsTooMany || !haveVersionsAll(root) || areTooMany(graph, asked);
    if (isAtRunTime ? !isOpen || !takeFromRun(asked) : !isOpen && !mayChoose(root)) {
      unknown.clear();
      continue;
    }
    std::vector<std::string> first(errors.begin() + before, errors.end());
    errors.resize(before);
    for (const std::string &output : list[i]->output())
      poisoned.erase(output);
    if (isAtRunTime) { // the same node again, by its form
      --i;
      continue;
    }
    std::vector<std::string> reasons;
    if (isOpen && importAtRunTime(graph, list.drop_front(i), wanted, reasons))
      return errors.size() == atEntry;
    if (!mayChoose(root)) { // there is no second way
      unknown.clear();
      errors.insert(errors.end(), first.begin(), first.end());
      errors.insert(errors.end(), reasons.begin(), reasons.end());
      return false;
    }
    if (importVersionsOrForms(graph, list.drop_front(i), root, wanted))
      return errors.size() == atEntry;
    if (isOpen && errors.size() > before) // neither way: say what the first lacks
      errors.insert(errors.begin() + before, reasons.begin(), reasons.end());
    return false;
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

} // namespace pto_mlir::onnx
