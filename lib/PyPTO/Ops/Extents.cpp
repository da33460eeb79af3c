// Arithmetic on extents and element types.
#include "Deduce.h"
#include "pypto/core/error.h"
#include "pypto/ir/structural.h"

#include <algorithm>

namespace pypto::ir {

ExprPtr Constant(int64_t value) { return std::make_shared<const ConstInt>(value, DataType::INDEX, Span::unknown()); }

namespace {

ExprPtr binary(NodeKind kind, const ExprPtr &a, const ExprPtr &b) {
  return MakeBinary(kind, a, b, DataType::INDEX, Span::unknown());
}

} // namespace

ExprPtr AddExtents(const ExprPtr &a, const ExprPtr &b) {
  auto left = ConstantInt(a), right = ConstantInt(b);
  return left && right ? Constant(*left + *right) : binary(NodeKind::Add, a, b);
}

ExprPtr ScaleExtent(const ExprPtr &extent, int64_t factor, int64_t divisor) {
  if (auto value = ConstantInt(extent)) {
    CHECK(*value * factor % divisor == 0) << *value << " columns are no multiple of " << divisor / factor;
    return Constant(*value * factor / divisor);
  }
  ExprPtr scaled = factor == 1 ? extent : binary(NodeKind::Mul, extent, Constant(factor));
  return divisor == 1 ? scaled : binary(NodeKind::FloorDiv, scaled, Constant(divisor));
}

bool SameExtent(const ExprPtr &a, const ExprPtr &b) {
  auto left = ConstantInt(a), right = ConstantInt(b);
  return left && right ? *left == *right : structural_equal(a, b);
}

ExprPtr WindowExtent(const ExprPtr &extent, const ExprPtr &offset, const ExprPtr &size) {
  auto whole = ConstantInt(extent), start = ConstantInt(offset), wanted = ConstantInt(size);
  if (whole && start && wanted)
    return Constant(std::clamp<int64_t>(*whole - *start, 0, *wanted));
  ExprPtr left = start == 0 ? extent : binary(NodeKind::Sub, extent, offset);
  return binary(NodeKind::Min, start == 0 ? left : binary(NodeKind::Max, left, Constant(0)), size);
}

ExprPtr LaneExtent(const ExprPtr &extent, const ExprPtr &lane, int64_t half) {
  auto whole = ConstantInt(extent), known = ConstantInt(lane);
  if (!whole || known) {
    ExprPtr offset = known ? Constant(*known * half) : binary(NodeKind::Mul, lane, Constant(half));
    return WindowExtent(extent, offset, Constant(half));
  }
  // With two lanes one of the bounds is enough.
  ExprPtr left = binary(NodeKind::Sub, extent, binary(NodeKind::Mul, lane, Constant(half)));
  return *whole <= half ? binary(NodeKind::Max, left, Constant(0)) : binary(NodeKind::Min, left, Constant(half));
}

DataType PromoteTypes(DataType a, DataType b) {
  if (a == b)
    return a;
  if (a.IsFloat() != b.IsFloat())
    return a.IsFloat() ? a : b;
  if (a.GetBit() != b.GetBit())
    return a.GetBit() > b.GetBit() ? a : b;
  CHECK_AS(TypeError, !a.IsFloat()) << a.Name() << " and " << b.Name()
                                    << " have no common type; cast one of them, as in `pl.cast(.., pl.FP32)`";
  return a.IsSigned() ? a : b;
}

} // namespace pypto::ir
