// Nodes whose sizes are known at run time only, where versions would not serve every run.
#include "../Importer.h"
#include "Forms.h"

using namespace mlir;

namespace pto_mlir::onnx {

bool Importer::haveVersionsAll(StringRef name) {
  if (isStatic(type(name)))
    return true;
  auto found = shapeSets.find(tensors[name].value);
  return found != shapeSets.end() && found->second->isWhole;
}

ImportFn Importer::formOf(const ::onnx::NodeProto &node, StringRef op) {
  auto isOfRunTime = [&](const std::string &name) {
    auto found = tensors.find(name);
    Value value = found == tensors.end() ? Value() : found->second.value;
    return value && (!isStatic(value.getType()) || ofRunTime.contains(value));
  };
  return isAtRunTime && llvm::any_of(node.input(), isOfRunTime) ? formAtRunTime(op) : nullptr;
}

bool Importer::takeFromRun(StringRef name) {
  Value value = tensors[name].value;
  return value && ofRunTime.insert(value).second;
}

bool Importer::importAtRunTime(const Graph &graph, ArrayRef<const ::onnx::NodeProto *> list,
                               ArrayRef<std::string> wanted, std::vector<std::string> &reasons) {
  size_t before = errors.size();
  llvm::StringMap<Tensor> around = tensors;
  llvm::StringSet<> poisonedAround = poisoned;
  llvm::DenseSet<Value> ofRunTimeAround = ofRunTime;
  Block *here = builder.getInsertionBlock();
  auto block = std::make_unique<Block>();
  builder.setInsertionPointToEnd(block.get());
  isAtRunTime = true;
  bool isGood = importNodes(graph, list, wanted);
  isAtRunTime = false;
  unknown.clear();
  builder.setInsertionPointToEnd(here);
  if (isGood) {
    here->getOperations().splice(here->end(), block->getOperations());
    return true;
  }
  reasons.assign(errors.begin() + before, errors.end());
  errors.resize(before);
  tensors = std::move(around);
  poisoned = std::move(poisonedAround);
  ofRunTime = std::move(ofRunTimeAround);
  block->dropAllReferences();
  dropped.push_back(std::move(block)); // its values have been noted
  return false;
}

bool Importer::importVersionsOrForms(const Graph &graph, ArrayRef<const ::onnx::NodeProto *> list,
                                     const std::string &root, ArrayRef<std::string> wanted) {
  // Inputs of the model can be made constants, and what follows stays on the engines.
  bool mayRetry = !isInBody() && !areVersionsTooMany && !isa<BlockArgument>(tensors[root].value);
  Block *here = builder.getInsertionBlock();
  Operation *last = here->empty() ? nullptr : &here->back();
  size_t before = errors.size();
  llvm::StringMap<Tensor> around;
  llvm::StringSet<> poisonedAround;
  if (mayRetry) {
    around = tensors;
    poisonedAround = poisoned;
  }
  if (importVersions(graph, list, root, wanted))
    return true;
  if (!mayRetry || !areVersionsTooMany)
    return false;
  std::vector<std::string> first(errors.begin() + before, errors.end()), reasons;
  errors.resize(before);
  unknown.clear();
  tensors = std::move(around);
  poisoned = std::move(poisonedAround);
  auto block = std::make_unique<Block>();
  block->getOperations().splice(block->end(), here->getOperations(),
                                last ? std::next(Block::iterator(last)) : here->begin(), here->end());
  block->dropAllReferences();
  dropped.push_back(std::move(block)); // its values have been noted
  builder.setInsertionPointToEnd(here);
  if (importAtRunTime(graph, list, wanted, reasons))
    return true;
  errors.insert(errors.end(), first.begin(), first.end());
  errors.insert(errors.end(), reasons.begin(), reasons.end());
  return false;
}

} // namespace pto_mlir::onnx
