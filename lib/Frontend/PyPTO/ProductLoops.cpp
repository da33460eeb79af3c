// Accumulators that L0C does not hold: their loop is computed where its result is stored, once for each part.
#include "TileNodes.h"
#include "Tiler.h"

#include "pto_mlir/Kernels/CubeTiling.h"
#include "pypto/ir/transforms/base/visitor.h"

#include "llvm/Support/MathExtras.h"

namespace pto_mlir::pypto_frontend {

/// Whether L0C does not hold an accumulator, or it is one of batches.
bool Tiler::isTooLarge(const ir::Var *accumulator) const {
  auto type = ir::As<ir::TensorType>(accumulator->type_);
  if (!type || type->shape_.size() < 2 || !accumulators.has(accumulator))
    return false;
  if (type->shape_.size() > 2)
    return true;
  auto [rows, columns] = extentsOf(type->shape_, place);
  int64_t operandBytes = std::min(arch.memory(isa::Memory::L0A).bytes, arch.memory(isa::Memory::L0B).bytes) / 2;
  if (std::max(rows, columns) * 16 * 4 > operandBytes) // steps along K would be too short
    return true;
  return int64_t(llvm::alignTo(uint64_t(rows), 16)) * int64_t(llvm::alignTo(uint64_t(columns), 16)) >
         int64_t(arch.memory(isa::Memory::L0C).bytes) / 4;
}

/// A loop over such an accumulator waits for the store of its result, and what the accumulator begins with.
bool Tiler::postponed(const ir::StmtPtr &stmt) {
  if (partOf)
    return false;
  if (auto op = ir::As<ir::AssignStmt>(stmt)) {
    auto call = ir::As<ir::Call>(op->value_);
    if (!call || call->op_->name_ != "tensor.create_tensor" || !isTooLarge(op->var_.get()))
      return false;
    starts[op->var_.get()] = stmt;
    return true;
  }
  auto loop = ir::As<ir::ForStmt>(stmt);
  for (size_t i = 0; loop && i < loop->iter_args_.size(); ++i) {
    auto start = ir::As<ir::Var>(loop->iter_args_[i]->initValue_);
    auto found = start ? starts.find(start.get()) : starts.end();
    if (found == starts.end())
      continue;
    if (loop->iter_args_.size() != 1 || loop->return_vars_.size() != 1)
      fail(place, "a loop over a product that is greater than L0C carries nothing else");
    loops[loop->return_vars_[0].get()] = {found->second, stmt};
    return true;
  }
  return false;
}

/// The part of a product that is computed now.
Contraction Tiler::cut(Contraction product) const {
  if (!partOf)
    return product;
  auto narrow = [](Window &window, size_t axis, const ir::ExprPtr &begin, int64_t size) {
    size_t of = window.extents.size() - 2 + axis; // one place of leading axes
    window.offsets[of] = sum(window.offsets[of], begin);
    window.extents[of] = window.shape[axis] = number(size);
  };
  narrow(product.a, product.aTransposed ? 1 : 0, partOf->row, partOf->rows);
  narrow(product.b, product.bTransposed ? 0 : 1, partOf->column, partOf->columns);
  product.m = partOf->rows, product.n = partOf->columns;
  return product;
}

namespace {

class Mentions : public ir::IRVisitor {
public:
  explicit Mentions(llvm::function_ref<bool(const ir::Var *)> isWanted) : isWanted(isWanted) {}
  bool found = false;

protected:
  void VisitExpr_(const ir::VarPtr &op) override { found |= isWanted(op.get()); }

private:
  llvm::function_ref<bool(const ir::Var *)> isWanted;
};

} // namespace

/// Whether a statement reads the tensor, or a view of it that was made before.
bool Tiler::readsTensor(const ir::StmtPtr &stmt, const ir::Var *tensor) const {
  auto isIt = [&](const ir::Var *var) {
    auto window = windows.find(var);
    return storedTo(window == windows.end() ? var : window->second.tensor.get()) == storedTo(tensor);
  };
  Mentions mentions(isIt);
  mentions.VisitStmt(stmt);
  return mentions.found;
}

/// Runs `body` for each place of leading axes.
void Tiler::forBatches(const std::vector<ir::ExprPtr> &extents, std::vector<ir::ExprPtr> &batch,
                       llvm::function_ref<void()> body) {
  if (batch.size() == extents.size())
    return body();
  auto extent = ir::ConstantInt(extents[batch.size()]);
  if (!extent)
    fail(place, "batches of a product whose count is known at run time are not lowered yet");
  steps(*extent, 1, [&](const ir::ExprPtr &index, int64_t) {
    batch.push_back(index);
    forBatches(extents, batch, body);
    batch.pop_back();
  });
}

/// One part of an accumulator: its loop, with variables of its own. Gives the tile.
ir::VarPtr Tiler::loopOfPart(const ir::Var *accumulator, Part part) {
  auto [start, loop] = loops.at(accumulator);
  partOf = std::move(part);
  auto both = std::make_shared<const ir::SeqStmts>(std::vector<ir::StmtPtr>{start, loop}, loop->span_);
  ir::VarPtr result;
  auto copy = withFreshVariables(both, [&](const ir::VarPtr &made, const ir::VarPtr &of) {
    accumulators.add(made.get(), of.get());
    result = of.get() == accumulator ? made : result;
  });
  copies.push_back(copy);
  statement(copy);
  partOf.reset();
  return tileOf(result.get());
}

/// Computes an accumulator part by part and stores it from `offset` on.
void Tiler::storeLoop(const ir::Var *accumulator, const ir::VarPtr &tensor, const std::vector<ir::ExprPtr> &offset,
                      const ir::Attrs &keywords) {
  std::vector<ir::ExprPtr> shape = *ir::ShapeOf(accumulator->type_);
  auto [m, n] = extentsOf({shape[shape.size() - 2], shape.back()}, place);
  shape.resize(shape.size() - 2);
  if (offset.size() < shape.size() + 2)
    fail(place, "a product of batches is stored to a tensor of as many axes");
  cube::CubeProblem problem;
  problem.m = m, problem.n = n, problem.k = 1024; // unknown here; a tiling of L0C for long sums
  problem.inBytes = 4;
  auto limits = cube::cubeLimits(arch.name);
  auto tiling = limits ? cube::chooseCubeTiling(problem, *limits) : std::nullopt;
  if (!tiling)
    fail(place, "a product of " + std::to_string(m) + " x " + std::to_string(n) + " has no tiling");
  std::vector<ir::ExprPtr> batch;
  forBatches(shape, batch, [&] {
    steps(m, tiling->baseM, [&](const ir::ExprPtr &row, int64_t rows) {
      steps(n, tiling->baseN, [&](const ir::ExprPtr &column, int64_t columns) {
        ir::VarPtr acc = loopOfPart(accumulator, Part{batch, row, column, rows, columns});
        std::vector<ir::ExprPtr> at = offset;
        size_t last = at.size() - 1;
        at[last - 1] = sum(at[last - 1], row), at[last] = sum(at[last], column);
        for (size_t axis = 0; axis < batch.size(); ++axis) {
          ir::ExprPtr &leading = at[last - 1 - batch.size() + axis];
          leading = sum(leading, batch[axis]);
        }
        out->push_back(
            std::make_shared<const ir::EvalStmt>(make("tile.store", {acc, tuple(at), tensor}, keywords), place));
      });
    });
  });
}

/// `var = assemble(target, accumulator, offset)` where the accumulator's loop is computed here.
bool Tiler::storedLoop(const ir::AssignStmt &stmt, const ir::OpView &view) {
  auto source = ir::As<ir::Var>(view.Operand("source"));
  if (!source || !loops.count(source.get()))
    return false;
  auto window = windowOf(view.Operand("target"));
  std::vector<ir::ExprPtr> offset = view.Elements("offset");
  if (!window || offset.size() != window->offsets.size())
    fail(place, "a product that is greater than L0C is stored to a tensor of as many axes");
  for (size_t axis = 0; axis < offset.size(); ++axis)
    offset[axis] = sum(window->offsets[axis], offset[axis]);
  checkUnwritten(source.get());
  if (readsTensor(loops.at(source.get()).second, window->tensor.get()))
    refuseOperand();
  storeLoop(source.get(), window->tensor, offset, static_cast<const ir::Call &>(*stmt.value_).kwargs_);
  noteWrite(stmt.var_, window->tensor.get());
  out->push_back(std::make_shared<const ir::AssignStmt>(stmt.var_, window->tensor, stmt.span_));
  return true;
}

} // namespace pto_mlir::pypto_frontend
