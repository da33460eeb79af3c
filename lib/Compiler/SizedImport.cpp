//===- SizedImport.cpp - models whose sizes are known at run time ---------===//
//
// The importer knows constant shapes only. A model is therefore imported for the
// greatest sizes and for a few others: where the same ops come out, each extent is
// a constant times sizes, which the numbers give. An extent that fits no such
// product, another op, attribute or constant is a reason to compile versions.
//
//===----------------------------------------------------------------------===//

#include "SizedImport.h"

#include "ControlFlowModel.h"
#include "SizedKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pto_mlir {

namespace {

using Values = std::map<std::string, int64_t>;

/// Another import of the model.
struct Probe {
  Values sizes;
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;

  func::FuncOp main() { return module->lookupSymbol<func::FuncOp>("main"); }
};

std::string nameOf(Operation *op) {
  StringRef name = top::getTensorName(op->getLoc());
  return name.empty() ? op->getName().getStringRef().str() : "'" + name.str() + "'";
}

std::string textOf(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

class SizeFinder {
public:
  SizeFinder(ModuleOp module, const std::map<std::string, SizeRange> &ranges, ImportAt importAt)
      : module(module), main(module.lookupSymbol<func::FuncOp>("main")), importAt(importAt),
        symbols(ranges.begin(), ranges.end()), units(symbols.size(), 1) {}

  std::optional<std::string> run();

private:
  Probe importProbe(const Values &sizes);
  std::optional<std::string> addProbe(const Values &sizes);
  std::optional<std::string> addProbes();
  std::optional<std::string> sameOps(Probe &probe);
  std::optional<std::string> sameOp(Operation *op, Operation *other, Probe &probe);
  std::optional<AffineExpr> fit(llvm::function_ref<int64_t(func::FuncOp)> extent, bool isEnd);
  std::optional<std::string> fitShape(RankedTensorType type, const Twine &what,
                                      llvm::function_ref<Type(func::FuncOp)> typeIn, bool isEnd, AffineMap &map);
  void noteSizes(Value value, AffineMap map);
  bool takesRows(top::SliceOp slice);
  std::optional<std::string> annotate();

  ModuleOp module;
  func::FuncOp main;
  ImportAt importAt;
  SmallVector<std::pair<std::string, SizeRange>> symbols;
  /// Extents are counted in so many of each symbol: where an image is made smaller by strides, in its range's multiple.
  SmallVector<int64_t> units;
  /// The first ones change one symbol each, the next ones all; all have the ops of the module.
  std::vector<Probe> probes;
  std::vector<Probe> ends; ///< of which only inputs and outputs count
  llvm::DenseMap<Value, AffineMap> sizes;
};

/// The value of the range that lies at a share of it, not its greatest one.
int64_t valueAt(const SizeRange &range, double share) {
  int64_t count = (range.greatest - range.least) / range.multiple;
  return range.least + range.multiple * std::min<int64_t>(int64_t(double(count) * share), count - 1);
}

Probe SizeFinder::importProbe(const Values &sizes) {
  Probe probe{sizes, std::make_unique<MLIRContext>(module->getContext()->getDialectRegistry()), nullptr};
  probe.module = importAt(sizes, *probe.context);
  return probe;
}

std::optional<std::string> SizeFinder::addProbe(const Values &sizes) {
  Probe probe = importProbe(sizes);
  if (!probe.module)
    return "not every size gives a valid model";
  if (auto problem = sameOps(probe))
    return problem;
  probes.push_back(std::move(probe));
  return std::nullopt;
}

std::optional<std::string> SizeFinder::addProbes() {
  Values greatest;
  for (auto &[name, range] : symbols)
    greatest[name] = range.greatest;
  for (auto &[name, range] : symbols) {
    Values sizes = greatest;
    sizes[name] = valueAt(range, 0.6);
    if (auto problem = addProbe(sizes))
      return problem;
  }
  // Neighbours, so that one of them is odd; and small ones. With an extent of 1 slices and sums vanish from the graph,
  // so that only inputs and outputs are compared.
  for (double share : {0.4, 0.2, 0.0}) {
    Values sizes, atLeastTwo;
    for (auto &[name, range] : symbols) {
      sizes[name] = valueAt(range, share);
      atLeastTwo[name] = sizes[name] > 1 ? sizes[name] : std::min(1 + range.multiple, range.greatest);
    }
    if (llvm::none_of(probes, [&](const Probe &probe) { return probe.sizes == atLeastTwo; }))
      if (auto problem = addProbe(atLeastTwo))
        return problem;
    if (sizes != atLeastTwo && !(ends.emplace_back(importProbe(sizes))).module)
      return "not every size gives a valid model";
  }
  return std::nullopt;
}

/// Does the attribute repeat extents, which are compared by themselves: the shape of a result, the end of a whole
/// dimension?
bool saysExtents(Operation *op, Operation *other, StringRef attribute) {
  if (attribute == "shape")
    return llvm::isa<top::ReshapeOp, top::ExpandOp>(op);
  if (attribute == "sizes")
    return llvm::isa<top::ResizeOp>(op);
  auto slice = dyn_cast<top::SliceOp>(op), otherSlice = dyn_cast<top::SliceOp>(other);
  if (attribute != "ends" || !slice || !otherSlice)
    return false;
  auto shape = slice.getInput().getType().getShape(), otherShape = otherSlice.getInput().getType().getShape();
  for (auto [end, otherEnd, size, otherSize] :
       llvm::zip_equal(slice.getEnds(), otherSlice.getEnds(), shape, otherShape))
    if (end != otherEnd && (end != size || otherEnd != otherSize))
      return false;
  return true;
}

/// Is `part`, a constant of another size, the first rows of `whole`, or are all of its elements the same?
bool startsWith(Value whole, Value part) {
  std::optional<top::Weight> all = top::getConstant(whole), some = top::getConstant(part);
  if (!all || !some || all->type.getRank() != some->type.getRank() ||
      textOf(TypeAttr::get(all->type.getElementType())) != textOf(TypeAttr::get(some->type.getElementType())))
    return false;
  ArrayRef<int64_t> shape = all->type.getShape(), other = some->type.getShape();
  size_t bytes = some->bytes.size();
  // Unchanged weights of the imports are the same bytes of the mapped file.
  if (all->bytes.size() < bytes ||
      (all->bytes.data() != some->bytes.data() && all->bytes.take_front(bytes) != some->bytes))
    return false;
  size_t rows = llvm::find_if(shape, [](int64_t extent) { return extent != 1; }) - shape.begin();
  bool areRows = llvm::all_of(llvm::enumerate(shape), [&](auto extent) {
    return extent.index() == rows || extent.value() == other[extent.index()];
  });
  return areRows || top::getSplat(whole);
}

std::optional<std::string> SizeFinder::sameOp(Operation *op, Operation *other, Probe &probe) {
  if (llvm::isa<top::WeightOp, arith::ConstantOp>(op) && llvm::isa<top::WeightOp, arith::ConstantOp>(other)) {
    if (!startsWith(op->getResult(0), other->getResult(0)))
      return nameOf(op) + " is a constant that depends on the size";
    return std::nullopt;
  }
  if (op->getName().getStringRef() != other->getName().getStringRef() ||
      op->getNumOperands() != other->getNumOperands() || op->getNumResults() != other->getNumResults())
    return nameOf(op) + " is another computation for other sizes";
  if (op->getAttrs().size() != other->getAttrs().size())
    return nameOf(op) + " is another computation for other sizes";
  for (NamedAttribute attribute : op->getAttrs()) {
    Attribute given = other->getAttr(attribute.getName().strref());
    bool same = given && (saysExtents(op, other, attribute.getName()) || textOf(given) == textOf(attribute.getValue()));
    if (!same)
      return "'" + attribute.getName().str() + "' of " + nameOf(op) + " depends on the size";
  }
  return std::nullopt;
}

/// Whether the probe has the same ops on the same operands, with shapes of the same ranks.
std::optional<std::string> SizeFinder::sameOps(Probe &probe) {
  Block &block = main.getBody().front(), &otherBlock = probe.main().getBody().front();
  llvm::DenseMap<Value, Value> map;
  auto sameTypes = [&](ValueRange values, ValueRange others, Operation *op) -> std::optional<std::string> {
    for (auto [value, other] : llvm::zip_equal(values, others)) {
      map[value] = other;
      auto type = dyn_cast<RankedTensorType>(value.getType()), otherType = dyn_cast<RankedTensorType>(other.getType());
      if (!type || !otherType || type.getRank() != otherType.getRank())
        return (op ? nameOf(op) : "an input") + " has another rank for other sizes";
    }
    return std::nullopt;
  };
  if (block.getNumArguments() != otherBlock.getNumArguments() ||
      llvm::range_size(block.getOperations()) != llvm::range_size(otherBlock.getOperations()))
    return "the graph is another one for other sizes";
  if (auto problem = sameTypes(block.getArguments(), otherBlock.getArguments(), nullptr))
    return problem;
  for (auto [op, other] : llvm::zip_equal(block, otherBlock)) {
    if (op.getNumRegions() != 0)
      return nameOf(&op) + " is control flow";
    if (auto problem = sameOp(&op, &other, probe))
      return problem;
    for (auto [operand, otherOperand] : llvm::zip_equal(op.getOperands(), other.getOperands()))
      if (map.lookup(operand) != otherOperand)
        return nameOf(&op) + " reads other tensors for other sizes";
    if (auto problem = sameTypes(op.getResults(), other.getResults(), &op))
      return problem;
  }
  return std::nullopt;
}

/// The extent as a constant times symbols, which all probes confirm.
std::optional<AffineExpr> SizeFinder::fit(llvm::function_ref<int64_t(func::FuncOp)> extent, bool isEnd) {
  MLIRContext *context = module.getContext();
  int64_t most = extent(main), coefficient = most;
  AffineExpr product = getAffineConstantExpr(1, context);
  SmallVector<unsigned> factors;
  for (auto [i, symbol] : llvm::enumerate(symbols)) {
    if (extent(probes[i].main()) == most)
      continue;
    int64_t greatest = symbol.second.greatest / units[i];
    if (coefficient % greatest != 0)
      return std::nullopt;
    coefficient /= greatest;
    factors.push_back(i);
    product = product * getAffineSymbolExpr(i, context);
  }
  auto agrees = [&](Probe &probe) {
    int64_t expected = coefficient;
    for (unsigned factor : factors)
      expected *= probe.sizes.at(symbols[factor].first) / units[factor];
    return extent(probe.main()) == expected;
  };
  if (!llvm::all_of(probes, agrees) || (isEnd && !llvm::all_of(ends, agrees)))
    return std::nullopt;
  return product * coefficient;
}

std::optional<std::string> SizeFinder::fitShape(RankedTensorType type, const Twine &what,
                                                llvm::function_ref<Type(func::FuncOp)> typeIn, bool isEnd,
                                                AffineMap &map) {
  SmallVector<AffineExpr> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    auto extent = [&](func::FuncOp in) {
      auto there = cast<RankedTensorType>(typeIn(in));
      return there.getRank() == type.getRank() ? there.getDimSize(dim) : ShapedType::kDynamic;
    };
    auto size = fit(extent, isEnd);
    if (!size)
      return ("dimension " + Twine(dim) + " of " + what + " is no product of the sizes").str();
    sizes.push_back(*size);
  }
  map = AffineMap::get(0, symbols.size(), sizes, module.getContext());
  return std::nullopt;
}

/// Does the slice take rows that every size has, along one dimension?
bool SizeFinder::takesRows(top::SliceOp slice) {
  AffineMap input = sizes.lookup(slice.getInput());
  ArrayRef<int64_t> from = slice.getInput().getType().getShape(), to = slice.getType().getShape();
  SmallVector<AffineExpr> least;
  for (auto &[name, range] : symbols)
    least.push_back(getAffineConstantExpr(range.least / units[least.size()], module.getContext()));
  unsigned cut = 0, fits = 0;
  for (auto [dim, extent] : llvm::enumerate(from)) {
    if (extent == to[dim])
      continue;
    AffineExpr there = input.getResult(dim).replaceSymbols(least);
    ++cut;
    fits += !llvm::isa<AffineConstantExpr>(input.getResult(dim)) && slice.getSteps()[dim] == 1 &&
            slice.getEnds()[dim] <= llvm::cast<AffineConstantExpr>(there).getValue();
  }
  return cut == 1 && fits == 1;
}

/// Writes what later passes cannot see: the rows of a constant that count, reductions over a size and slices of it.
void SizeFinder::noteSizes(Value value, AffineMap map) {
  Operation *op = value.getDefiningOp();
  bool isConstant = llvm::all_of(map.getResults(), llvm::IsaPred<AffineConstantExpr>);
  if (llvm::isa<top::WeightOp, arith::ConstantOp>(op) && !isConstant)
    op->setAttr(top::kSizesAttr, AffineMapAttr::get(map));
  sizes[value] = map;
  llvm::TypeSwitch<Operation *>(op)
      .Case<top::ReduceSumOp, top::ReduceMeanOp, top::ReduceMaxOp, top::ReduceMinOp>([&](auto reduce) {
        AffineMap input = sizes.lookup(reduce.getInput());
        if (llvm::any_of(reduce.getAxes(),
                         [&](int64_t axis) { return !llvm::isa<AffineConstantExpr>(input.getResult(axis)); }))
          op->setAttr(top::kOverSizeAttr, UnitAttr::get(op->getContext()));
      })
      .Case<top::SliceOp>([&](top::SliceOp slice) {
        if (takesRows(slice))
          op->setAttr(top::kOverSizeAttr, UnitAttr::get(op->getContext()));
      });
}

std::optional<std::string> SizeFinder::annotate() {
  Builder builder(module.getContext());
  for (unsigned i = 0; i < main.getNumArguments() + main.getNumResults(); ++i) {
    bool isArgument = i < main.getNumArguments();
    unsigned at = isArgument ? i : i - main.getNumArguments();
    auto typeIn = [&](func::FuncOp in) { return isArgument ? in.getArgumentTypes()[at] : in.getResultTypes()[at]; };
    AffineMap map;
    auto type = cast<RankedTensorType>(typeIn(main));
    if (auto problem = fitShape(type, (isArgument ? "input " : "output ") + Twine(at), typeIn, true, map))
      return problem;
    if (isArgument)
      sizes[main.getArgument(at)] = map;
    if (llvm::all_of(map.getResults(), llvm::IsaPred<AffineConstantExpr>))
      continue;
    if (isArgument)
      main.setArgAttr(at, top::kSizesAttr, AffineMapAttr::get(map));
    else
      main.setResultAttr(at, top::kSizesAttr, AffineMapAttr::get(map));
  }
  // Every tensor, so that none depends on a size in another way.
  unsigned number = 0;
  for (Operation &op : main.getBody().front()) {
    for (unsigned result = 0; result < op.getNumResults(); ++result) {
      AffineMap map;
      auto typeIn = [&](func::FuncOp in) {
        return std::next(in.getBody().front().begin(), number)->getResult(result).getType();
      };
      if (auto problem =
              fitShape(cast<RankedTensorType>(op.getResult(result).getType()), nameOf(&op), typeIn, false, map))
        return problem;
      noteSizes(op.getResult(result), map);
    }
    ++number;
  }
  SmallVector<Attribute> list;
  for (auto [symbol, unit] : llvm::zip_equal(symbols, units)) {
    auto &[name, range] = symbol;
    auto number = [&, divisor = unit](int64_t value) { return builder.getI64IntegerAttr(value / divisor); };
    std::string counted = unit == 1 ? name : name + "/" + std::to_string(unit);
    list.push_back(builder.getDictionaryAttr({builder.getNamedAttr("name", builder.getStringAttr(counted)),
                                              builder.getNamedAttr("least", number(range.least)),
                                              builder.getNamedAttr("greatest", number(range.greatest)),
                                              builder.getNamedAttr("multiple", number(range.multiple))}));
  }
  main->setAttr(top::kSymbolsAttr, builder.getArrayAttr(list));
  return std::nullopt;
}

std::optional<std::string> SizeFinder::run() {
  if (Operation *op = firstControlFlow(module))
    return nameOf(op) + (llvm::isa<top::HostOp>(op) ? " is computed on the host" : " is control flow");
  if (auto problem = addProbes())
    return problem;
  if (annotate()) {
    for (auto [symbol, unit] : llvm::zip_equal(symbols, units))
      unit = symbol.second.multiple;
    if (auto problem = annotate())
      return problem;
  }
  SizedKernels kernels(module);
  auto problemOf = [&](bool attentions) {
    auto problem = kernels.problem("F32", attentions);
    return problem ? problem : kernels.problem("F16", attentions);
  };
  auto problem = problemOf(/*attentions=*/true);
  if (!problem)
    main->setAttr(top::kSizedAttentionsAttr, UnitAttr::get(module.getContext()));
  else if (!problemOf(/*attentions=*/false))
    return std::nullopt;
  return problem;
}

} // namespace

std::optional<std::string> findSizes(ModuleOp module, const std::map<std::string, SizeRange> &ranges,
                                     ImportAt importAt) {
  std::optional<std::string> problem = SizeFinder(module, ranges, importAt).run();
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (problem && main) {
    main->removeAttr(top::kSymbolsAttr);
    for (Operation &op : main.getBody().front())
      for (StringRef name : {StringRef(top::kSizesAttr), StringRef(top::kOverSizeAttr)})
        op.removeAttr(name);
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      main.removeArgAttr(i, top::kSizesAttr);
    for (unsigned i = 0; i < main.getNumResults(); ++i)
      main.removeResultAttr(i, StringAttr::get(module.getContext(), top::kSizesAttr));
  }
  return problem;
}

} // namespace pto_mlir
