// A kernel whose tensors a launch passes as an orchestrator has planned.
#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {

void Lowering::lowerPlanned(const PlannedKernel &kernel) {
  plan = &kernel;
  VisitFunction(kernel.function);
  plan = nullptr;
}

/// The pointers, then the scalars; views of the pointers for the tensors.
void Lowering::addPlanned(const ir::FunctionPtr &function, func::FuncOp func) {
  MLIRContext &context = *b.getContext();
  func.setSymName(plan->name);
  for (unsigned pointer = 0; pointer < plan->pointers; ++pointer) {
    auto first = llvm::find_if(plan->tensors, [&](const PlannedTensor &each) { return each.pointer == pointer; });
    auto type = ir::As<ir::TensorType>(first->var->type_);
    func.insertArgument(pointer, pointerType(context, *type), {}, loc);
  }
  for (const ir::VarPtr &param : function->params_)
    if (auto scalar = ir::As<ir::ScalarType>(param->type_)) {
      loc = locationOf(context, param->span_);
      func.insertArgument(func.getNumArguments(), scalarType(context, scalar->dtype_), {}, loc);
      bind(param, func.getArguments().back());
    }
  if (plan->isBlock)
    for (Value *number : {&blockNumber, &blockCount}) {
      func.insertArgument(func.getNumArguments(), b.getI64Type(), {}, loc);
      *number = func.getArguments().back();
    }
  for (int64_t ranks : plan->groups) {
    func.insertArgument(func.getNumArguments(), b.getI64Type(), {}, loc);
    Value rank = views.create<arith::IndexCastOp>(loc, b.getIndexType(), func.getArguments().back());
    groups.push_back({rank, ranks});
  }
  for (auto [symbol, extent] : plan->symbols)
    values[symbol] = indexConstant(extent);
  auto addIndex = [&] {
    func.insertArgument(func.getNumArguments(), b.getIndexType(), {}, loc);
    return func.getArguments().back();
  };
  for (const ir::Var *symbol : plan->open)
    values[symbol] = addIndex();
  // Extents that are computed stand before the views of them.
  OpBuilder::InsertionGuard guard(b);
  b.restoreInsertionPoint(views.saveInsertionPoint());
  for (const PlannedTensor &tensor : plan->tensors) {
    loc = locationOf(context, tensor.var->span_);
    auto type = ir::As<ir::TensorType>(tensor.var->type_);
    Value pointer = func.getArgument(tensor.pointer);
    if (tensor.offset)
      pointer = views.create<pto::AddPtrOp>(loc, pointer, indexConstant(tensor.offset));
    if (plan->hasQueues && &tensor == &plan->tensors.back()) {
      queueMemory = pointer;
      continue;
    }
    Value first = pointer;
    if (tensor.pitch) {
      Value distance = views.create<arith::MulIOp>(loc, groups[tensor.group].rank, indexConstant(tensor.pitch));
      pointer = views.create<pto::AddPtrOp>(loc, pointer, distance);
    }
    if (!tensor.strides.empty()) {
      ir::TensorView view = type->tensor_view_.value_or(ir::TensorView());
      view.stride.clear();
      for (std::optional<int64_t> stride : tensor.strides) {
        if (stride) {
          view.stride.push_back(
              std::make_shared<const ir::ConstInt>(*stride, pypto::DataType::INDEX, tensor.var->span_));
          continue;
        }
        auto given = std::make_shared<const ir::Var>(
            "stride", std::make_shared<const ir::ScalarType>(pypto::DataType::INDEX), tensor.var->span_);
        values[given.get()] = addIndex();
        view.stride.push_back(given);
      }
      type = std::make_shared<const ir::TensorType>(type->shape_, type->dtype_, type->memref_, view);
    }
    Value view = makeView(type, pointer);
    if (tensor.pitch)
      copies[view] = {first, tensor.pitch, tensor.group};
    bind(tensor.var, view);
  }
}

} // namespace pto_mlir::pypto_frontend
