// chooseVersion: the program's choice among the versions of a graph, by the sizes that it meets at run time.
#include "../Importer.h"

#include "Body.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Control.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

using namespace mlir;

namespace pto_mlir::onnx {

namespace {

using Results = std::optional<SmallVector<Value>>;

/// Few versions are compared one after the other; more are halved until few are left, so that the nesting of regions
/// grows with the logarithm of their number.
class VersionChoice {
public:
  VersionChoice(OpBuilder &builder, Value decider, const Importer::ShapeSet *set, const std::string &message,
                llvm::function_ref<void(const Twine &)> report)
      : builder(builder), decider(decider), set(set), message(message), report(report) {}

  Results choose(ArrayRef<Importer::Version> versions) {
    constexpr size_t kFew = 8;
    if (versions.size() > kFew)
      if (std::optional<size_t> number = decidingNumber(versions))
        return halve(versions, *number);
    return chain(versions);
  }

private:
  /// The numbers that tell versions apart: elements of a tensor, or extents that are not constant.
  SmallVector<int64_t> numbersOf(const Importer::Version &version) const {
    if (!set)
      return version.elements;
    SmallVector<int64_t> numbers;
    for (auto [value, shape] : llvm::zip_equal(set->values, version.shapes))
      for (auto [axis, size] : llvm::enumerate(shape))
        if (cast<RankedTensorType>(value.getType()).isDynamicDim(axis))
          numbers.push_back(size);
    return numbers;
  }

  /// Number `index` as a tensor of one element.
  Value numberAt(size_t index) {
    Location loc = builder.getUnknownLoc();
    if (set) {
      for (Value value : set->values)
        for (int64_t axis = 0, rank = cast<RankedTensorType>(value.getType()).getRank(); axis < rank; ++axis)
          if (cast<RankedTensorType>(value.getType()).isDynamicDim(axis) && index-- == 0)
            return builder.create<top::DimOp>(loc, RankedTensorType::get({}, builder.getI64Type()), value,
                                              builder.getI64IntegerAttr(axis));
      llvm_unreachable("a version has as many numbers as there are extents");
    }
    if (cast<RankedTensorType>(decider.getType()).getNumElements() == 1)
      return decider;
    auto at = [&](int64_t value) { return builder.getDenseI64ArrayAttr(value); };
    int64_t first = index;
    return builder.create<top::SliceOp>(loc, ValueRange{decider},
                                        ArrayRef<NamedAttribute>{builder.getNamedAttr("starts", at(first)),
                                                                 builder.getNamedAttr("ends", at(first + 1)),
                                                                 builder.getNamedAttr("steps", at(1))});
  }

  Value compare(Value number, StringRef mode, int64_t size) {
    Location loc = builder.getUnknownLoc();
    auto type = cast<RankedTensorType>(number.getType());
    Value constant = top::createConstant(builder, loc, "", type, top::fromInts(type.getElementType(), size));
    return builder.create<top::CompareOp>(loc, ValueRange{number, constant},
                                          builder.getNamedAttr("mode", builder.getStringAttr(mode)));
  }

  /// Whether all numbers are the version's, as one boolean.
  Value isVersion(const Importer::Version &version) {
    Value all;
    for (auto [index, size] : llvm::enumerate(numbersOf(version))) {
      Value same = compare(numberAt(index), "eq", size);
      all = all ? builder.create<top::AndOp>(builder.getUnknownLoc(), ValueRange{all, same}).getResult() : same;
    }
    return all;
  }

  /// The first number in which versions differ. Booleans have no order.
  std::optional<size_t> decidingNumber(ArrayRef<Importer::Version> versions) const {
    if (!set && cast<RankedTensorType>(decider.getType()).getElementType().isInteger(1))
      return std::nullopt;
    SmallVector<int64_t> first = numbersOf(versions.front());
    for (size_t index = 0; index < first.size(); ++index)
      if (llvm::any_of(versions, [&](const auto &version) { return numbersOf(version)[index] != first[index]; }))
        return index;
    return std::nullopt;
  }

  Results halve(ArrayRef<Importer::Version> versions, size_t index) {
    SmallVector<int64_t> sizes;
    for (const Importer::Version &version : versions)
      sizes.push_back(numbersOf(version)[index]);
    llvm::sort(sizes);
    int64_t pivot = sizes[sizes.size() / 2];
    if (pivot == sizes.front())
      pivot = *llvm::upper_bound(sizes, pivot);
    SmallVector<Importer::Version> low, high;
    for (const Importer::Version &version : versions)
      (numbersOf(version)[index] < pivot ? low : high).push_back(version);
    Operation *op = makeControl(builder, builder.getUnknownLoc(), top::IfOp::getOperationName(),
                                compare(numberAt(index), "lt", pivot), {}, 2);
    // Both, so that each block has an owner.
    bool isLowGood = fill(op->getRegion(0), low), isHighGood = fill(op->getRegion(1), high);
    return isLowGood && isHighGood ? finishControl(builder, op, report) : std::nullopt;
  }

  bool fill(mlir::Region &region, ArrayRef<Importer::Version> versions) {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&region);
    Results results = choose(versions);
    if (results)
      builder.create<top::YieldOp>(builder.getUnknownLoc(), *results);
    return results.has_value();
  }

  /// One after the other; the last one is asserted. Their blocks become regions.
  Results chain(ArrayRef<Importer::Version> versions) {
    Location loc = builder.getUnknownLoc();
    Block *block = versions.front().block;
    Value is = isVersion(versions.front());
    if (versions.size() == 1) {
      builder.create<top::RequireOp>(loc, is, builder.getStringAttr(message));
      SmallVector<Value> results(block->getTerminator()->getOperands());
      block->getTerminator()->erase();
      builder.getInsertionBlock()->getOperations().splice(builder.getInsertionPoint(), block->getOperations());
      delete block;
      return results;
    }
    Operation *op = makeControl(builder, loc, top::IfOp::getOperationName(), is, {}, 2);
    op->getRegion(0).push_back(block);
    return fill(op->getRegion(1), versions.drop_front()) ? finishControl(builder, op, report) : std::nullopt;
  }

  OpBuilder &builder;
  Value decider;
  const Importer::ShapeSet *set; ///< of the decider; null when its elements decide
  const std::string &message;    ///< of a run whose size is of no version
  llvm::function_ref<void(const Twine &)> report;
};

} // namespace

std::optional<SmallVector<Value>> Importer::chooseVersion(Value decider, const ShapeSet *set,
                                                          ArrayRef<Version> versions, const std::string &message) {
  auto refuse = [&](const Twine &reason) { report("the sizes that depend on run-time values: " + reason); };
  return VersionChoice(builder, decider, set, message, refuse).choose(versions);
}

} // namespace pto_mlir::onnx
