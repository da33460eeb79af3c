//===- AssignSizes.cpp - which extents of kernels are known at run time ---===//

#include "Sizes/SizeAnalysis.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Kernels/Attention.h"
#include "pto_mlir/Kernels/Passes.h"
#include "pto_mlir/Kernels/Templates.h"

#include "mlir/IR/SymbolTable.h"

#define DEBUG_TYPE "assign-sizes"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {
#define GEN_PASS_DEF_ASSIGNSIZES
#include "pto_mlir/Kernels/Passes.h.inc"

namespace {

using kernels::Sizes;

class SizeAssigner {
public:
  SizeAssigner(func::FuncOp main, ArrayAttr symbols)
      : main(main), table(main->getParentOp()), numSymbols(symbols.size()), context(main.getContext()) {
    for (auto symbol : symbols.getAsRange<DictionaryAttr>()) {
      greatest.push_back(symbol.getAs<IntegerAttr>("greatest").getInt());
      least.push_back(symbol.getAs<IntegerAttr>("least").getInt());
    }
  }

  LogicalResult run() {
    analysis = kernels::SizeAnalysis::ofMain(main);
    for (Operation &op : main.getBody().front()) {
      auto launch = dyn_cast<top::LaunchOp>(op);
      if (failed(launch ? visit(launch) : analysis.visit(&op)))
        return failure();
    }
    return checkResults();
  }

private:
  LogicalResult visit(top::LaunchOp launch);
  FailureOr<SmallVector<AffineExpr>> scalarsOf(top::LaunchOp launch, bool takesEach);
  FailureOr<func::FuncOp> specialize(top::LaunchOp launch, ArrayRef<Sizes> inputs, ArrayRef<AffineExpr> scalars);
  LogicalResult checkKernel(func::FuncOp kernel, ArrayRef<Sizes> inputs, SmallVectorImpl<Sizes> &results);
  LogicalResult checkResults();

  func::FuncOp main;
  SymbolTable table;
  unsigned numSymbols;
  MLIRContext *context;
  SmallVector<int64_t> greatest, least; ///< of the symbols
  kernels::SizeAnalysis analysis;
  /// The kernel of a launch with such operands: by its name and the sizes as text.
  llvm::StringMap<func::FuncOp> special;
};

/// Kernels that take each symbol by itself, wherever it stands: their ops say what they can read.
bool takesEachSize(func::FuncOp kernel) {
  return llvm::any_of(kernel.getBody().front(),
                      [](Operation &op) { return isa<top::AttentionOp>(op) || templates::takesEachSize(&op); });
}

/// What the launch passes: the one product of symbols of which all extents of the operands are multiples, or each
/// symbol by itself.
FailureOr<SmallVector<AffineExpr>> SizeAssigner::scalarsOf(top::LaunchOp launch, bool takesEach) {
  SmallVector<AffineExpr> scalars;
  SmallVector<bool> used(numSymbols);
  for (Value input : launch.getInputs()) {
    Sizes sizes = analysis.of(input);
    if (!takesEach && !kernels::symbolicRow(sizes)) {
      StringRef name = top::getTensorName(input);
      return launch.emitError("reads ") << (name.empty() ? "" : "'" + name.str() + "', ")
                                        << "a tensor whose size at run time is not its outermost one";
    }
    for (AffineExpr size : sizes) {
      if (isa<AffineConstantExpr>(size))
        continue;
      for (unsigned i = 0; i < numSymbols; ++i)
        used[i] = used[i] || size.isFunctionOfSymbol(i);
      AffineExpr rest = kernels::factor(size).rest;
      if (takesEach || llvm::is_contained(scalars, rest))
        continue;
      if (!scalars.empty())
        return launch.emitError("depends on two sizes that are known at run time");
      scalars.push_back(rest);
    }
  }
  for (unsigned i = 0; takesEach && i < numSymbols; ++i)
    if (used[i])
      scalars.push_back(getAffineSymbolExpr(i, context));
  return scalars;
}

/// `size`, an expression of the model's symbols, as one of a launch's scalars.
AffineExpr inScalars(AffineExpr size, ArrayRef<AffineExpr> scalars, unsigned numSymbols) {
  MLIRContext *context = size.getContext();
  if (isa<AffineConstantExpr>(size))
    return size;
  if (scalars.size() == 1 && kernels::factor(size).rest == scalars.front())
    return getAffineSymbolExpr(0, context) * kernels::factor(size).coefficient;
  SmallVector<AffineExpr> numbers(numSymbols, getAffineConstantExpr(0, context));
  for (auto [i, scalar] : llvm::enumerate(scalars))
    numbers[cast<AffineSymbolExpr>(scalar).getPosition()] = getAffineSymbolExpr(i, context);
  return size.replaceSymbols(numbers);
}

/// Follows the sizes through the kernel's ops; each tensor must have its size at run time outermost, but in
/// kernels that take each size by itself.
LogicalResult SizeAssigner::checkKernel(func::FuncOp kernel, ArrayRef<Sizes> inputs, SmallVectorImpl<Sizes> &results) {
  kernels::SizeAnalysis inside(kernel);
  for (auto [argument, sizes] : llvm::zip(kernel.getArguments(), inputs))
    inside.set(argument, sizes);
  auto kind = kernel->getAttrOfType<pto::KernelKindAttr>(pto::kKernelKindAttr);
  bool isCube = kind && kind.getValue() == pto::KernelKind::cube;
  bool takesEach = takesEachSize(kernel);
  for (Operation &op : kernel.getBody().front()) {
    if (failed(inside.visit(&op)))
      return failure();
    for (Value result : op.getResults())
      if (!takesEach && isa<RankedTensorType>(result.getType()) && !kernels::symbolicRow(inside.of(result)))
        return op.emitError("makes a tensor whose size at run time is not its outermost one");
    // What matchSizes of the cube kernels reads.
    bool symbolic = op.getNumResults() == 1 && isa<linalg::LinalgOp>(op) && inside.isSymbolic(op.getResult(0));
    bool product = isa<linalg::MatmulOp, linalg::MatmulTransposeBOp, linalg::BatchMatmulOp,
                       linalg::BatchMatmulTransposeBOp, linalg::TransposeOp, linalg::Conv2DNhwcHwcfOp>(op);
    if (isCube && symbolic && !product && !isa<linalg::GenericOp, linalg::FillOp, linalg::BroadcastOp>(op))
      return op.emitError("is a kernel of a kind that has no sizes at run time yet");
  }
  for (Value value : kernel.getBody().front().getTerminator()->getOperands())
    results.push_back(inside.of(value));
  return success();
}

/// The kernel of `launch` with the extents written on its arguments. A kernel that others launch with other extents is
/// copied.
FailureOr<func::FuncOp> SizeAssigner::specialize(top::LaunchOp launch, ArrayRef<Sizes> inputs,
                                                 ArrayRef<AffineExpr> scalars) {
  auto valuesOf = [&](ArrayRef<int64_t> symbols) {
    return llvm::map_to_vector(scalars, [&](AffineExpr scalar) { return kernels::valueOf(scalar, symbols); });
  };
  SmallVector<int64_t> most = valuesOf(greatest), fewest = valuesOf(least);
  auto kernel = table.lookup<func::FuncOp>(launch.getKernel());
  std::string key;
  llvm::raw_string_ostream text(key);
  text << launch.getKernel() << " ";
  llvm::interleave(most, text, ",");
  text << " ";
  llvm::interleave(fewest, text, ",");
  for (const Sizes &sizes : inputs) {
    text << "|";
    llvm::interleave(sizes, text, ",");
  }
  func::FuncOp &found = special[text.str()];
  if (found)
    return found;
  func::FuncOp copy = kernel.clone();
  copy.setName((kernel.getName() + "_sized").str());
  copy->setAttr(pto::kGreatestSizesAttr, DenseI64ArrayAttr::get(context, most));
  copy->setAttr(pto::kLeastSizesAttr, DenseI64ArrayAttr::get(context, fewest));
  table.insert(copy, std::next(Block::iterator(kernel)));
  SmallVector<Sizes> all(inputs), results;
  if (failed(checkKernel(copy, inputs, results)))
    return failure();
  llvm::append_range(all, results);
  for (auto [i, sizes] : llvm::enumerate(all))
    copy.setArgAttr(i, pto::kSizesAttr, AffineMapAttr::get(AffineMap::get(0, most.size(), sizes, context)));
  if (top::AttentionOp attention = attention::attentionIn(copy); attention && failed(attention::checkSizes(attention)))
    return failure();
  return found = copy;
}

LogicalResult SizeAssigner::visit(top::LaunchOp launch) {
  if (llvm::none_of(launch.getInputs(), [&](Value input) { return analysis.isSymbolic(input); }))
    return success();
  func::FuncOp before = table.lookup<func::FuncOp>(launch.getKernel());
  FailureOr<SmallVector<AffineExpr>> scalars = scalarsOf(launch, takesEachSize(before));
  if (failed(scalars))
    return failure();
  if (launch->hasAttr(top::kComputedIndexAttr))
    return launch.emitError("reads computed indices of a size that is known at run time");
  SmallVector<Sizes> inputs;
  for (Value input : launch.getInputs()) {
    Sizes &sizes = inputs.emplace_back(analysis.of(input));
    for (AffineExpr &size : sizes)
      size = inScalars(size, *scalars, numSymbols);
  }
  auto kernel = specialize(launch, inputs, *scalars);
  if (failed(kernel))
    return failure();
  launch.setKernel(kernel->getName());
  launch.setScalarsAttr(AffineMapAttr::get(AffineMap::get(0, numSymbols, *scalars, context)));
  for (auto [i, result] : llvm::enumerate(launch.getResults())) {
    Sizes sizes(kernel->getArgAttrOfType<AffineMapAttr>(inputs.size() + i, pto::kSizesAttr).getValue().getResults());
    for (AffineExpr &size : sizes)
      size = size.replaceSymbols(*scalars);
    analysis.set(result, sizes);
  }
  if (SymbolTable::symbolKnownUseEmpty(before, main))
    table.erase(before);
  return success();
}

/// What the model says of its outputs must be what their computation gives.
LogicalResult SizeAssigner::checkResults() {
  for (auto [i, value] : llvm::enumerate(main.getBody().front().getTerminator()->getOperands())) {
    Sizes sizes = analysis.of(value);
    auto expected = main.getResultAttrOfType<AffineMapAttr>(i, top::kSizesAttr);
    auto actual = AffineMapAttr::get(AffineMap::get(0, numSymbols, sizes, context));
    if (expected ? expected != actual : !kernels::areConstant(sizes))
      return main.emitError("output ") << i << " has another size at run time than the model gives it: " << actual;
  }
  return success();
}

struct AssignSizes : impl::AssignSizesBase<AssignSizes> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    auto symbols = main ? main->getAttrOfType<ArrayAttr>(top::kSymbolsAttr) : ArrayAttr();
    if (!symbols)
      return;
    PTO_DEBUG("@main: " << symbols.size() << " symbols");
    if (failed(SizeAssigner(main, symbols).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace pto_mlir
