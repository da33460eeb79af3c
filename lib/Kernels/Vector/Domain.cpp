//===- Domain.cpp - dimensions shared by the ops of a kernel --------------===//

#include "Domain.h"

using namespace mlir;

namespace pto_mlir::vector_kernels {

Domain::Domain(ArrayRef<linalg::LinalgOp> ops) {
  // Operands that several ops read tie them together as well, unless one is read
  // in two roles (transposed, say): then only values made inside the kernel do.
  for (bool throughArguments : {true, false}) {
    build(ops, throughArguments);
    bool consistent = llvm::all_of(ops, [&](linalg::LinalgOp op) {
      SmallVector<unsigned> loops = loopClasses(op);
      llvm::sort(loops);
      return std::adjacent_find(loops.begin(), loops.end()) == loops.end();
    });
    if (consistent)
      return;
  }
}

void Domain::build(ArrayRef<linalg::LinalgOp> ops, bool throughArguments) {
  firstLoopNode.clear();
  firstValueNode.clear();
  classes.clear();
  unsigned size = 0;
  for (linalg::LinalgOp op : ops) {
    firstLoopNode[op] = size;
    size += op.getNumLoops();
    auto number = [&](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (type && firstValueNode.try_emplace(value, size).second)
        size += type.getRank();
    };
    for (Value operand : op->getOperands())
      number(operand);
    for (Value result : op->getResults())
      number(result);
  }
  classes.grow(size + 1);
  for (linalg::LinalgOp op : ops) {
    unsigned loops = firstLoopNode[op];
    auto unify = [&](Value value, AffineMap map) {
      auto first = firstValueNode.find(value);
      bool ties =
          value.getDefiningOp<linalg::LinalgOp>() || (throughArguments && !value.getDefiningOp<tensor::EmptyOp>());
      if (first == firstValueNode.end() || !ties)
        return;
      for (auto [dim, expr] : llvm::enumerate(map.getResults()))
        if (auto loop = dyn_cast<AffineDimExpr>(expr))
          classes.join(loops + loop.getPosition(), first->second + dim);
    };
    for (OpOperand &operand : op->getOpOperands())
      unify(operand.get(), op.getMatchingIndexingMap(&operand));
    for (OpResult result : op->getResults())
      unify(result, op.getIndexingMapMatchingResult(result));
  }
  classes.compress();
}

SmallVector<unsigned> Domain::loopClasses(linalg::LinalgOp op) const {
  SmallVector<unsigned> result;
  for (unsigned i = 0, e = op.getNumLoops(); i < e; ++i)
    result.push_back(classes[firstLoopNode.lookup(op) + i]);
  return result;
}

} // namespace pto_mlir::vector_kernels
