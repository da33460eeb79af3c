#include "CarriedViews.h"

#include "BlockPhases.h"
#include "Renamer.h"
#include "TensorsToTiles.h"
#include "TileNodes.h"

#include "pypto/ir/structural.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

namespace pto_mlir::pypto_frontend {

namespace {

struct Slice {
  ir::ExprPtr tensor;
  std::vector<ir::ExprPtr> shape, offsets;

  ir::CallPtr call(const ir::Span &span) const {
    return ir::CreateOp("tensor.slice", {tensor, tuple(shape), tuple(offsets)}, span);
  }
  bool isAlike(const Slice &other) const {
    return tensor == other.tensor && ir::structural_equal(tuple(shape), tuple(other.shape));
  }
};
using Slices = std::vector<std::optional<Slice>>; ///< of what a loop carries; nothing for what stays as it is

class ViewCarrier : public Renamer {
protected:
  ir::FunctionPtr VisitFunction(const ir::FunctionPtr &function) override {
    inKernel = isKernel(*function);
    return ir::IRMutator::VisitFunction(function);
  }
  ir::StmtPtr VisitScopeStmt_(const ir::ScopeStmtPtr &op) override {
    bool outer = std::exchange(inKernel, inKernel || ir::IsA<ir::InCoreScopeStmt>(op));
    ir::StmtPtr made = ir::IRMutator::VisitScopeStmt_(op);
    inKernel = outer;
    return made;
  }

  ir::StmtPtr VisitStmt_(const ir::AssignStmtPtr &op) override {
    ir::StmtPtr made = ir::IRMutator::VisitStmt_(op);
    auto call = ir::As<ir::Call>(ir::As<ir::AssignStmt>(made)->value_);
    if (call && call->op_->name_ == "tensor.slice" && call->args_.size() == 3 && call->kwargs_.empty())
      slices[op->var_.get()] = {call->args_[0], ir::OpView(*call).Elements("shape"),
                                ir::OpView(*call).Elements("offset")};
    return made;
  }

  ir::StmtPtr VisitStmt_(const ir::ForStmtPtr &op) override {
    Slices carried;
    for (const ir::IterArgPtr &arg : op->iter_args_) {
      const Slice *start = sliceOf(arg->initValue_);
      carried.push_back(inKernel && start ? std::optional(*start) : std::nullopt);
    }
    if (holdsBarrier(op)) // phases hand on what they need
      return ir::IRMutator::VisitStmt_(op);
    while (llvm::any_of(carried, [](const auto &slice) { return slice.has_value(); }))
      if (ir::StmtPtr made = withOffsets(*op, carried))
        return made;
    return ir::IRMutator::VisitStmt_(op);
  }

private:
  const Slice *sliceOf(const ir::ExprPtr &value) const {
    auto found = slices.find(static_cast<const ir::Var *>(value.get()));
    return found == slices.end() ? nullptr : &found->second;
  }
  static ir::TypePtr offsetType() { return std::make_shared<const ir::ScalarType>(pypto::DataType::INDEX); }
  static ir::ExprPtr asIndex(const ir::ExprPtr &offset) {
    auto type = ir::As<ir::ScalarType>(offset->type_);
    if (type && type->dtype_ == pypto::DataType::INDEX)
      return offset;
    return std::make_shared<const ir::Cast>(offset, pypto::DataType::INDEX, offset->span_);
  }
  /// Binds a slice to a variable that stands for `var`.
  ir::StmtPtr bind(const ir::VarPtr &var, const Slice &slice) {
    ir::CallPtr call = slice.call(var->span_);
    auto part = std::make_shared<const ir::Var>(var->name_hint_, call->type_, var->span_);
    names[var.get()] = part;
    slices[var.get()] = slice;
    return std::make_shared<const ir::AssignStmt>(part, call, var->span_);
  }

  /// The loop with offsets in the place of slices; null where a turn yields something else, which then stays.
  ir::StmtPtr withOffsets(const ir::ForStmt &op, Slices &carried) {
    std::vector<ir::StmtPtr> body, behind;
    std::vector<ir::IterArgPtr> args;
    std::vector<ir::VarPtr> results;
    for (auto [arg, result, slice] : llvm::zip_equal(op.iter_args_, op.return_vars_, carried)) {
      if (!slice) {
        auto same =
            std::make_shared<const ir::IterArg>(arg->name_hint_, arg->type_, VisitExpr(arg->initValue_), arg->span_);
        names[arg.get()] = same;
        args.push_back(same), results.push_back(result);
        continue;
      }
      Slice inside = *slice, last = *slice;
      for (size_t axis = 0; axis < slice->offsets.size(); ++axis) {
        args.push_back(std::make_shared<const ir::IterArg>(arg->name_hint_ + "_begin", offsetType(),
                                                           asIndex(slice->offsets[axis]), arg->span_));
        results.push_back(std::make_shared<const ir::Var>(result->name_hint_ + "_begin", offsetType(), result->span_));
        inside.offsets[axis] = args.back(), last.offsets[axis] = results.back();
      }
      body.push_back(bind(arg, inside));
      behind.push_back(bind(result, last));
    }
    std::vector<ir::StmtPtr> stmts = ir::FlattenStmts(op.body_);
    auto yield = ir::As<ir::YieldStmt>(stmts.back());
    stmts.pop_back();
    for (const ir::StmtPtr &stmt : stmts)
      body.push_back(VisitStmt(stmt));
    std::vector<ir::ExprPtr> values;
    bool fits = true;
    for (auto [value, slice] : llvm::zip_equal(yield->value_, carried)) {
      const Slice *yielded = slice ? sliceOf(value) : nullptr;
      if (!slice) {
        values.push_back(VisitExpr(value));
      } else if (yielded && yielded->isAlike(*slice)) {
        for (const ir::ExprPtr &offset : yielded->offsets)
          values.push_back(asIndex(offset));
      } else {
        slice.reset();
        fits = false;
      }
    }
    if (!fits)
      return nullptr;
    body.push_back(std::make_shared<const ir::YieldStmt>(values, yield->span_));
    std::vector<ir::StmtPtr> made{std::make_shared<const ir::ForStmt>(
        op.loop_var_, VisitExpr(op.start_), VisitExpr(op.stop_), VisitExpr(op.step_), args,
        sequence(std::move(body), op.body_->span_), results, op.span_, op.kind_, op.attrs_)};
    llvm::append_range(made, behind);
    return sequence(std::move(made), op.span_);
  }

  bool inKernel = false;
  std::map<const ir::Var *, Slice> slices;
};

} // namespace

ir::ProgramPtr carryOffsetsOfViews(const ir::ProgramPtr &program) { return ViewCarrier().VisitProgram(program); }

} // namespace pto_mlir::pypto_frontend
