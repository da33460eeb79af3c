#include "pto_mlir/Dialect/Top/IR/WeightStore.h"

#include "pto_mlir/Dialect/Top/IR/Quantised.h"
#include "pto_mlir/Support/FreeName.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir::top {

int64_t elementBytes(Type elementType) { return (storageType(elementType).getIntOrFloatBitWidth() + 7) / 8; }

std::optional<int64_t> tensorBytes(RankedTensorType type) {
  int64_t bytes = elementBytes(type.getElementType());
  for (int64_t size : type.getShape())
    if (size < 0 || llvm::MulOverflow(bytes, size, bytes))
      return std::nullopt;
  return bytes;
}

const Weight *WeightStore::lookup(llvm::StringRef name) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = weights.find(name);
  return it == weights.end() ? nullptr : it->second.get();
}

std::string WeightStore::add(llvm::StringRef name, RankedTensorType type, std::vector<char> bytes) {
  auto owner = std::make_shared<const std::vector<char>>(std::move(bytes));
  llvm::ArrayRef<char> view(*owner);
  return addExternal(name, type, view, owner);
}

std::string WeightStore::addExternal(llvm::StringRef name, RankedTensorType type, llvm::ArrayRef<char> bytes,
                                     std::shared_ptr<const void> owner) {
  assert(tensorBytes(type) == static_cast<int64_t>(bytes.size()) && "a weight's bytes match its type");
  std::lock_guard<std::mutex> lock(mutex);
  if (name.empty())
    name = "constant"; // files have no weight without a name
  std::string unique = freeName(name.str(), [&](const std::string &each) { return weights.contains(each); });
  weights[unique] = std::make_unique<Weight>(Weight{type, bytes, std::move(owner)});
  return unique;
}

} // namespace pto_mlir::top
