// Accumulators that L0C does not hold: their loop is computed where its result is stored, once for each part.
#include "TileNodes.h"
#include "Tiler.h"

#include "pto_mlir/Kernels/CubeTiling.h"

#include "llvm/Support/MathExtras.h"

namespace pto_mlir::pypto_frontend {

/// Whether L0C does not hold an accumulator.
bool Tiler::isTooLarge(const ir::Var *accumulator) const {
  auto type = ir::As<ir::TensorType>(accumulator->type_);
  if (!type || type->shape_.size() != 2 || !accumulators.has(accumulator))
    return false;
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
    window.offsets[axis] = sum(window.offsets[axis], begin);
    window.extents[axis] = window.shape[axis] = number(size);
  };
  narrow(product.a, product.aTransposed ? 1 : 0, partOf->row, partOf->rows);
  narrow(product.b, product.bTransposed ? 0 : 1, partOf->column, partOf->columns);
  product.m = partOf->rows, product.n = partOf->columns;
  return product;
}

/// `var = assemble(target, accumulator, offset)` where the accumulator's loop is computed here.
bool Tiler::storedLoop(const ir::AssignStmt &stmt, const ir::OpView &view) {
  auto source = ir::As<ir::Var>(view.Operand("source"));
  auto found = source ? loops.find(source.get()) : loops.end();
  if (found == loops.end())
    return false;
  auto window = windowOf(view.Operand("target"));
  std::vector<ir::ExprPtr> offset = view.Elements("offset");
  if (!window || offset.size() != 2 || window->offsets.size() != 2)
    fail(place, "a product that is greater than L0C is stored to a tensor of two axes");
  auto [m, n] = extentsOf(*ir::ShapeOf(source->type_), place);
  cube::CubeProblem problem;
  problem.m = m, problem.n = n, problem.k = 1024; // unknown here; a tiling of L0C for long sums
  problem.inBytes = 4;
  auto limits = cube::cubeLimits(arch.name);
  auto tiling = limits ? cube::chooseCubeTiling(problem, *limits) : std::nullopt;
  if (!tiling)
    fail(place, "a product of " + std::to_string(m) + " x " + std::to_string(n) + " has no tiling");
  auto [start, loop] = found->second;
  steps(m, tiling->baseM, [&](const ir::ExprPtr &row, int64_t rows) {
    steps(n, tiling->baseN, [&](const ir::ExprPtr &column, int64_t columns) {
      partOf = Part{row, column, rows, columns};
      auto both = std::make_shared<const ir::SeqStmts>(std::vector<ir::StmtPtr>{start, loop}, loop->span_);
      ir::VarPtr result;
      auto copy = withFreshVariables(both, [&](const ir::VarPtr &made, const ir::VarPtr &of) {
        accumulators.add(made.get(), of.get());
        result = of == source ? made : result;
      });
      copies.push_back(copy);
      statement(copy);
      ir::VarPtr acc = tileOf(result.get());
      partOf.reset();
      std::vector<ir::ExprPtr> at{sum(sum(window->offsets[0], offset[0]), row),
                                  sum(sum(window->offsets[1], offset[1]), column)};
      const auto &keywords = static_cast<const ir::Call &>(*stmt.value_).kwargs_;
      out->push_back(
          std::make_shared<const ir::EvalStmt>(make("tile.store", {acc, tuple(at), window->tensor}, keywords), place));
    });
  });
  noteWrite(stmt.var_, window->tensor.get());
  out->push_back(std::make_shared<const ir::AssignStmt>(stmt.var_, window->tensor, stmt.span_));
  return true;
}

} // namespace pto_mlir::pypto_frontend
