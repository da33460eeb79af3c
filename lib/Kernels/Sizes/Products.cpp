//===- Products.cpp - extents as products of symbols ----------------------===//

#include "SizeAnalysis.h"

using namespace mlir;

namespace pto_mlir::kernels {

Factored factor(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return {constant.getValue(), getAffineConstantExpr(1, expr.getContext())};
  if (auto product = dyn_cast<AffineBinaryOpExpr>(expr); product && expr.getKind() == AffineExprKind::Mul)
    if (auto constant = dyn_cast<AffineConstantExpr>(product.getRHS()))
      return {constant.getValue(), product.getLHS()};
  return {1, expr};
}

AffineExpr product(ArrayRef<AffineExpr> sizes, MLIRContext *context) {
  int64_t coefficient = 1;
  AffineExpr symbols = getAffineConstantExpr(1, context);
  for (AffineExpr size : sizes) {
    Factored parts = factor(size);
    coefficient *= parts.coefficient;
    symbols = symbols * parts.rest;
  }
  return symbols * coefficient;
}

int64_t valueOf(AffineExpr size, ArrayRef<int64_t> symbols) {
  SmallVector<AffineExpr> values;
  for (int64_t value : symbols)
    values.push_back(getAffineConstantExpr(value, size.getContext()));
  return cast<AffineConstantExpr>(size.replaceSymbols(values)).getValue();
}

bool isLeading(ArrayRef<AffineExpr> sizes) {
  bool constants = false;
  for (AffineExpr size : sizes) {
    auto constant = dyn_cast<AffineConstantExpr>(size);
    if (!constant && constants)
      return false;
    constants |= constant && constant.getValue() != 1;
  }
  return true;
}

std::optional<WindowDim> windowDim(AffineExpr expr) {
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || expr.getKind() != AffineExprKind::Add)
    return std::nullopt;
  Factored output = factor(sum.getLHS()), tap = factor(sum.getRHS());
  auto outputLoop = dyn_cast<AffineDimExpr>(output.rest), tapLoop = dyn_cast<AffineDimExpr>(tap.rest);
  if (!outputLoop || !tapLoop)
    return std::nullopt;
  return WindowDim{outputLoop.getPosition(), tapLoop.getPosition(), output.coefficient, tap.coefficient};
}

Sizes constantSizes(RankedTensorType type) {
  Sizes sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(getAffineConstantExpr(size, type.getContext()));
  return sizes;
}

bool areConstant(ArrayRef<AffineExpr> sizes) { return llvm::all_of(sizes, llvm::IsaPred<AffineConstantExpr>); }

std::optional<int64_t> symbolicRow(ArrayRef<AffineExpr> sizes) {
  int64_t row = -1;
  bool isFirst = true;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    auto constant = dyn_cast<AffineConstantExpr>(size);
    if (!constant && (row >= 0 || !isFirst))
      return std::nullopt;
    if (!constant)
      row = i;
    isFirst &= constant && constant.getValue() == 1;
  }
  return row;
}

std::optional<Sizes> splitProduct(AffineExpr size, ArrayRef<int64_t> shape, ArrayRef<int64_t> greatest) {
  Factored parts = factor(size);
  auto both = dyn_cast<AffineBinaryOpExpr>(parts.rest);
  if (!both || !isa<AffineSymbolExpr>(both.getLHS()) || !isa<AffineSymbolExpr>(both.getRHS()) || greatest.empty())
    return std::nullopt;
  AffineExpr first = both.getLHS(), second = both.getRHS();
  SmallVector<int64_t> dims;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent != 1)
      dims.push_back(dim);
  std::optional<Sizes> found;
  unsigned splits = 0;
  auto attempt = [&](ArrayRef<AffineExpr> outermost) {
    Sizes sizes;
    for (int64_t extent : shape)
      sizes.push_back(getAffineConstantExpr(extent, size.getContext()));
    for (auto [i, symbols] : llvm::enumerate(outermost)) {
      if (i >= dims.size())
        return;
      int64_t unit = valueOf(symbols, greatest);
      if (shape[dims[i]] % unit != 0)
        return;
      sizes[dims[i]] = symbols * (shape[dims[i]] / unit);
    }
    if (factor(product(sizes, size.getContext())).coefficient != parts.coefficient)
      return;
    ++splits;
    found = sizes;
  };
  attempt({parts.rest});
  attempt({first, second});
  attempt({second, first});
  return splits == 1 ? found : std::nullopt;
}

} // namespace pto_mlir::kernels
