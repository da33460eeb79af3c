// Codes of queues for halves and for parts that differ by one, and what no code says.
#include "LaneDivision.h"

#include "Orchestrator.h"
#include "TileNodes.h"

namespace pto_mlir::pypto_frontend {

namespace {

/// The rows or columns of a value that hold data; nothing where that is known at run time only.
std::optional<int64_t> validExtent(const ir::TypePtr &type, size_t axis) {
  std::vector<ir::ExprPtr> valid = validOf(type);
  return ir::ConstantInt(valid.empty() ? (*ir::ShapeOf(type))[axis] : valid[axis]);
}

std::string ofAll(int64_t part, int64_t all) { return "(" + std::to_string(part) + " of " + std::to_string(all) + ")"; }

} // namespace

std::optional<int64_t> onLane(const ir::ExprPtr &expr, const ir::Var *lane, int64_t number) {
  if (auto known = ir::ConstantInt(expr))
    return known;
  if (auto var = ir::As<ir::Var>(expr))
    return var.get() == lane ? std::optional(number) : std::nullopt;
  auto binary = ir::As<ir::BinaryExpr>(expr);
  if (!binary)
    return std::nullopt;
  auto left = onLane(binary->left_, lane, number), right = onLane(binary->right_, lane, number);
  return left && right ? foldedInteger(binary->kind(), *left, *right) : std::nullopt;
}

std::optional<size_t> dividedAxis(ir::SplitMode mode, size_t rank) {
  if (mode == ir::SplitMode::NONE)
    return std::nullopt;
  return rank - (mode == ir::SplitMode::UP_DOWN ? 2 : 1);
}

int64_t shardCode(const ir::TypePtr &whole, ir::SplitMode mode, const ir::Span &span) {
  const std::vector<ir::ExprPtr> &shape = *ir::ShapeOf(whole);
  auto axis = dividedAxis(mode, shape.size());
  if (!axis)
    return 0;
  bool isRows = mode == ir::SplitMode::UP_DOWN;
  auto box = ir::ConstantInt(shape[*axis]), valid = validExtent(whole, *axis);
  if (!box || !valid)
    fail(span, "an extent that is divided between vector cores must be known when the program is compiled");
  int64_t half = (*box + 1) / 2, first = std::min(*valid, half), second = *valid - first;
  if (first == half && second == half)
    return isRows ? 1 : 2;
  if (!isRows)
    fail(span, "LEFT_RIGHT splits the column axis, of which the two lanes would have other parts of the valid column "
               "extent " +
                   ofAll(*valid, *box) +
                   ", and a queue has one pitch; split rows with `mode=pl.SplitMode.UP_DOWN`, or make all columns "
                   "valid with `pl.set_validshape` before pl.aiv_shard");
  auto columns = ir::ConstantInt(shape.back()), validColumns = validExtent(whole, shape.size() - 1);
  if (!columns || columns != validColumns)
    fail(span, "a per-lane row extent " + ofAll(*valid, *box) +
                   " leaves the two lanes no way to say that fewer columns are valid as well; make all columns valid "
                   "with `pl.set_validshape` before pl.aiv_shard, and narrow the part behind it");
  if (second > 0 && first - second != 1)
    fail(span, "this leaves the two AIV lanes " + std::to_string(first) + " and " + std::to_string(second) +
                   " cells, and a queue divides in halves that differ by one at most; make " + std::to_string(*box) +
                   " / " + std::to_string(*box - 1) + " rows valid with `pl.tile.set_validshape`");
  return second > 0 && first > second ? 3 : 1;
}

void checkJoined(const ir::TypePtr &part, ir::SplitMode mode, const ir::Span &span) {
  const std::vector<ir::ExprPtr> &shape = *ir::ShapeOf(part);
  auto axis = dividedAxis(mode, shape.size());
  if (!axis)
    return;
  auto half = ir::ConstantInt(shape[*axis]), valid = validExtent(part, *axis);
  if (half && half != valid)
    fail(span, "tile.aic_gather re-joins the two lanes positionally, but each holds a part only " +
                   (valid ? ofAll(*valid, *half) : "of " + std::to_string(*half)) +
                   "; fill it with `pl.fillpad` first");
}

int64_t joinCode(const ir::TypePtr &part, ir::SplitMode mode, const ir::Span &span) {
  checkJoined(part, mode, span);
  return mode == ir::SplitMode::NONE ? 0 : mode == ir::SplitMode::UP_DOWN ? 1 : 2;
}

bool isEmptyOn(const ir::TypePtr &type, const ir::Var *lane, int64_t number) {
  for (const ir::ExprPtr &extent : validOf(type))
    if (onLane(extent, lane, number) == 0)
      return true;
  return false;
}

std::vector<ir::ExprPtr> emptyExtents(const ir::TypePtr &type, const ir::Var *lane) {
  std::vector<ir::ExprPtr> found;
  for (const ir::ExprPtr &extent : validOf(type))
    if (!ir::ConstantInt(extent) && (onLane(extent, lane, 0) == 0 || onLane(extent, lane, 1) == 0))
      found.push_back(extent);
  return found;
}

} // namespace pto_mlir::pypto_frontend
