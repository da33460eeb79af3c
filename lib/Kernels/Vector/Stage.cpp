//===- Stage.cpp - tiles in the unified buffer ----------------------------===//
//
// A tensor value is global when it is (part of) an argument, and local when a
// linalg op made it. Every operand that is global gets a copy in the unified
// buffer; every result is made there. Bufferization then turns the places where
// a local value is inserted into a global one into copies back.
//
//===----------------------------------------------------------------------===//

#include "Phases.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;

namespace pto_mlir::vector_kernels {
namespace {

/// The value that decides where `value` lives: a function argument, or the
/// result of the op that makes it.
Value findOrigin(Value value) {
  while (true) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (!loop)
        return value;
      value = loop.getTiedLoopInit(argument)->get();
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(op))
      value = op->getOperand(0);
    else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      value = insert.getDest();
    else if (auto materialize = dyn_cast<bufferization::MaterializeInDestinationOp>(op))
      value = materialize.getDest();
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      value = loop.getTiedLoopInit(cast<OpResult>(value))->get();
    else
      return value;
  }
}

bool isGlobal(Value value) { return isa<BlockArgument>(findOrigin(value)); }

class Stager {
public:
  explicit Stager(func::FuncOp func)
      : func(func), rewriter(func.getContext()),
        space(pto::AddressSpaceAttr::get(func.getContext(), pto::AddressSpace::vec)) {}

  void run();

private:
  Value loadTile(Value source);
  Value allocate(Value like);
  void stage(linalg::LinalgOp op);
  Value store(Value value, Value destination);
  void storeLocals(Operation *terminator, ValueRange destinations);
  void markDistributed();

  func::FuncOp func;
  IRRewriter rewriter;
  Attribute space;
  llvm::DenseMap<Value, Value> tiles;
};

/// The local copy of a global value, made where the value is: loop-invariant
/// slices, which stand outside of the loops, are loaded there.
Value Stager::loadTile(Value source) {
  Value &tile = tiles[source];
  if (!tile) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointAfterValue(source);
    auto alloc = rewriter.create<bufferization::AllocTensorOp>(source.getLoc(), cast<TensorType>(source.getType()),
                                                               ValueRange(), source, Value(), space);
    tile = alloc;
  }
  return tile;
}

Value Stager::allocate(Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  SmallVector<Value> sizes;
  if (auto slice = like.getDefiningOp<tensor::ExtractSliceOp>())
    sizes = llvm::to_vector(slice.getSizes());
  if (auto empty = like.getDefiningOp<tensor::EmptyOp>())
    sizes = llvm::to_vector(empty.getDynamicSizes());
  if ((int64_t)sizes.size() != type.getNumDynamicDims()) {
    sizes.clear();
    for (int64_t i = 0; i < type.getRank(); ++i)
      if (type.isDynamicDim(i))
        sizes.push_back(rewriter.create<tensor::DimOp>(like.getLoc(), like, i));
  }
  return rewriter.create<bufferization::AllocTensorOp>(like.getLoc(), type, sizes, Value(), Value(), space);
}

void Stager::stage(linalg::LinalgOp op) {
  for (OpOperand *input : op.getDpsInputOperands())
    if (isa<RankedTensorType>(input->get().getType()) && isGlobal(input->get()))
      input->set(loadTile(input->get()));
  rewriter.setInsertionPoint(op);
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Value value = init.get();
    if (op.payloadUsesValueFromOperand(&init)) {
      if (isGlobal(value))
        init.set(loadTile(value));
      continue;
    }
    if (isGlobal(value) || findOrigin(value).getDefiningOp<tensor::EmptyOp>())
      init.set(allocate(value));
  }
}

/// `value` (local) copied into `destination` (global). Reshapes happen on the global
/// side: a tile's rows and columns are fixed.
Value Stager::store(Value value, Value destination) {
  Location loc = value.getLoc();
  if (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>()) {
    Value collapsed = rewriter.create<tensor::CollapseShapeOp>(loc, expand.getSrcType(), destination,
                                                               expand.getReassociationIndices());
    Value stored = store(expand.getSrc(), collapsed);
    return rewriter.create<tensor::ExpandShapeOp>(loc, expand.getResultType(), stored,
                                                  expand.getReassociationIndices());
  }
  return rewriter.create<bufferization::MaterializeInDestinationOp>(loc, value, destination).getResult();
}

/// Values that leave a region in place of a global one are copied there.
void Stager::storeLocals(Operation *terminator, ValueRange destinations) {
  rewriter.setInsertionPoint(terminator);
  for (auto [operand, destination] : llvm::zip(terminator->getOpOperands(), destinations)) {
    Value value = operand.get();
    if (!isa<RankedTensorType>(value.getType()) || !isGlobal(destination) ||
        findOrigin(value) == findOrigin(destination))
      continue;
    if (isGlobal(value))
      value = loadTile(value);
    operand.set(store(value, destination));
  }
}

/// The loop inside of `loop` that fills the same outputs, if that is all that `loop` does with them.
scf::ForOp fillingLoop(scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  auto inner = yield.getOperand(0).getDefiningOp<scf::ForOp>();
  bool same =
      inner && llvm::equal(yield.getOperands(), inner.getResults()) &&
      llvm::all_of(inner.getInitArgs(), [&](Value init) { return llvm::is_contained(loop.getRegionIterArgs(), init); });
  return same ? inner : scf::ForOp();
}

/// An outermost loop that fills an output is spread over the cores, with the loops inside that fill
/// parts of it, unless another loop reads or overwrites what it stored: cores do not wait for each
/// other.
void Stager::markDistributed() {
  SmallVector<scf::ForOp> loops;
  bool independent = true;
  for (Operation &op : func.getBody().front()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || loop.getNumResults() == 0 || !llvm::all_of(loop.getInitArgs(), isGlobal))
      continue;
    loops.push_back(loop);
    SmallVector<Operation *> worklist(loop->getUsers());
    while (!worklist.empty()) {
      Operation *user = worklist.pop_back_val();
      if (isa<tensor::InsertSliceOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(user))
        worklist.append(user->getUsers().begin(), user->getUsers().end());
      else
        independent &= isa<func::ReturnOp>(user);
    }
  }
  if (independent || func->hasAttr(kDisjointNestsAttr))
    for (scf::ForOp loop : loops)
      for (; loop; loop = fillingLoop(loop))
        loop->setAttr(kDistributeAttr, rewriter.getUnitAttr());
  func->removeAttr(kDisjointNestsAttr);
}

void Stager::run() {
  func.walk([&](linalg::LinalgOp op) { stage(op); });
  // A pure copy has no linalg op any more: it passes through a tile as well.
  func.walk([&](tensor::InsertSliceOp op) {
    if (isGlobal(op.getDest()) && isGlobal(op.getSource()) && findOrigin(op.getSource()) != findOrigin(op.getDest()))
      op.getSourceMutable().assign(loadTile(op.getSource()));
  });
  func.walk([&](scf::ForOp loop) { storeLocals(loop.getBody()->getTerminator(), loop.getRegionIterArgs()); });
  auto ret = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  storeLocals(ret, func.getArguments().take_back(ret.getNumOperands()));
  markDistributed();
  // Reshapes of local values, replaced by ones of what they are stored to.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(func.getBody().front())))
    if (isa<tensor::ExpandShapeOp>(op) && op.use_empty())
      op.erase();
}

} // namespace

LogicalResult stageTiles(func::FuncOp func) {
  Stager(func).run();
  return success();
}

} // namespace pto_mlir::vector_kernels
