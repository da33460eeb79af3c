//===- Outline.cpp - one function per cluster, one launch per use ---------===//

#include "Outline.h"

#include "../Reshapes.h"
#include "KernelBody.h"
#include "SameKernel.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/Slices.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace mlir;

namespace pto_mlir::kernels {

bool sameKernel(func::FuncOp a, func::FuncOp b) {
  return a.getFunctionType() == b.getFunctionType() &&
         a->getAttr(pto::kKernelKindAttr) == b->getAttr(pto::kKernelKindAttr) &&
         OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

llvm::hash_code hashKernel(func::FuncOp kernel) {
  llvm::hash_code hash = mlir::hash_value(kernel.getFunctionType());
  for (Operation &op : kernel.getBody().front())
    hash = llvm::hash_combine(hash, op.getName().getAsOpaquePointer());
  return hash;
}

namespace {

// Function names are read by people and by assemblers: letters, digits and _.
std::string sanitised(StringRef name) {
  constexpr size_t kLongest = 60;
  std::string text;
  for (char c : name.take_front(kLongest))
    text.push_back(llvm::isAlnum(c) ? c : '_');
  return text;
}

class Outliner {
public:
  Outliner(func::FuncOp main, Clusters &clusters, bool keepAll)
      : main(main), clusters(clusters), keepAll(keepAll), symbols(main->getParentOp()) {}
  void run();

private:
  void emit(Operation *op);
  void launch(Cluster &cluster);
  func::FuncOp intern(func::FuncOp candidate);

  func::FuncOp main;
  Clusters &clusters;
  bool keepAll;
  SymbolTable symbols;
  unsigned index = 0;
  std::multimap<size_t, func::FuncOp> known;
  llvm::SmallPtrSet<Operation *, 32> emitted;
  SmallVector<Operation *> dead;
};

func::FuncOp Outliner::intern(func::FuncOp candidate) {
  size_t hash = hashKernel(candidate);
  auto [begin, end] = known.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (sameKernel(it->second, candidate)) {
      candidate.erase();
      return it->second;
    }
  symbols.insert(candidate);
  known.emplace(hash, candidate);
  ++index;
  return candidate;
}

/// Notes on the launch of a gather whose index another launch computes which operand that is, and how far it may go.
static void noteComputedIndex(top::LaunchOp launch, Operation *op) {
  auto bound = op->getAttrOfType<IntegerAttr>(top::kIndexBoundAttr);
  if (!bound)
    return;
  Value index = cast<linalg::GenericOp>(op).getDpsInputs()[0];
  auto operand = llvm::find(launch->getOperands(), index);
  if (throughReshapes(index).getDefiningOp<top::LaunchOp>() && operand != launch->operand_end())
    launch->setAttr(top::kComputedIndexAttr,
                    DenseI64ArrayAttr::get(launch.getContext(), {operand - launch->operand_begin(), bound.getInt()}));
}

void Outliner::launch(Cluster &cluster) {
  Operation *last = cluster.ops.back();
  std::string name = sanitised(top::getTensorName(last->getResult(0)));
  if (name.empty())
    name = sanitised(last->getName().stripDialect());
  Kernel kernel = buildKernel(cluster, "k" + std::to_string(index) + "_" + name, keepAll);
  kernel.func = intern(kernel.func);

  OpBuilder builder(main.getBody().front().getTerminator());
  SmallVector<Value> inits;
  for (auto [output, type] : llvm::zip_equal(kernel.outputs, kernel.resultTypes)) {
    auto tensor = cast<RankedTensorType>(type);
    if (auto write = output.getDefiningOp<top::StateWriteOp>()) {
      inits.push_back(write.getState());
      continue;
    }
    inits.push_back(builder.create<tensor::EmptyOp>(last->getLoc(), tensor.getShape(), tensor.getElementType()));
  }
  SmallVector<StringRef> names, layouts, absorbed;
  Operation *module = main->getParentOp();
  llvm::StringSet<> stored;
  for (auto [output, type] : llvm::zip(kernel.outputs, kernel.resultTypes)) {
    names.push_back(top::getTensorName(output));
    layouts.push_back(top::getTensorLayout(output));
    ArrayRef<int64_t> shape = cast<ShapedType>(output.getType()).getShape();
    if (shape != cast<ShapedType>(type).getShape() && !names.back().empty() && !top::getShape(module, names.back()))
      top::addShapes(module, {{names.back(), shape}});
    stored.insert(names.back());
  }
  for (StringRef inner : kernel.absorbed)
    if (!stored.contains(inner) && !llvm::is_contained(absorbed, inner))
      absorbed.push_back(inner);
  auto launch = builder.create<top::LaunchOp>(
      last->getLoc(), kernel.resultTypes, FlatSymbolRefAttr::get(kernel.func.getSymNameAttr()), kernel.inputs, inits,
      builder.getStrArrayAttr(names), builder.getStrArrayAttr(layouts), builder.getStrArrayAttr(absorbed),
      /*places=*/nullptr, /*scalars=*/nullptr);
  noteComputedIndex(launch, last);
  // Slices and concatenations below `last` may have been copied into the kernel: it does more with its inputs then.
  if (auto concat = dyn_cast<tensor::ConcatOp>(last); concat && llvm::equal(kernel.inputs, concat.getInputs()))
    launch->setAttr(top::kConcatAxisAttr, builder.getI64IntegerAttr(static_cast<int64_t>(concat.getDim())));
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(last);
      slice && llvm::equal(kernel.inputs, ArrayRef<Value>{slice.getSource()}))
    if (auto columns = top::columnsOf(slice))
      launch->setAttr(top::kColumnsAttr, builder.getDenseI64ArrayAttr({columns->begin, columns->size, columns->row}));
  for (auto [output, result] : llvm::zip(kernel.outputs, launch.getResults())) {
    Value replacement = result;
    if (output.getType() != result.getType()) {
      // A grouped convolution stores [.., G, F]; @main sees [.., G * F].
      auto collapse = llvm::find_if(cluster.ops, [](Operation *op) { return isa<tensor::CollapseShapeOp>(op); });
      replacement = builder.create<tensor::CollapseShapeOp>(
          last->getLoc(), output.getType(), result, cast<tensor::CollapseShapeOp>(*collapse).getReassociationIndices());
    }
    output.replaceUsesWithIf(replacement,
                             [&](OpOperand &use) { return clusters.of.lookup(use.getOwner()) != &cluster; });
  }
  dead.append(cluster.ops.begin(), cluster.ops.end());
}

// Depth first by operands, so that a kernel stands after all that it reads even
// when clusters interleave in the program order. Iterative: nets are deep.
void Outliner::emit(Operation *target) {
  SmallVector<Operation *> stack{target};
  while (!stack.empty()) {
    Operation *op = stack.back();
    if (emitted.contains(op)) {
      stack.pop_back();
      continue;
    }
    Cluster *cluster = clusters.of.lookup(op);
    ArrayRef<Operation *> members = cluster ? ArrayRef(cluster->ops) : ArrayRef(op);
    size_t before = stack.size();
    for (Operation *member : members)
      for (Value operand : valuesRead(member)) {
        Operation *producer = operand.getDefiningOp();
        // A window's border is made in its kernel; what it surrounds may be as well.
        if (auto pad = dyn_cast_or_null<tensor::PadOp>(producer); pad && cluster && classify(pad) == OpRole::Pad)
          producer = pad.getSource().getDefiningOp();
        if (producer && !emitted.contains(producer) && (!cluster || clusters.of.lookup(producer) != cluster))
          stack.push_back(producer);
      }
    if (stack.size() != before)
      continue;
    emitted.insert(members.begin(), members.end());
    if (cluster)
      launch(*cluster);
    else if (!op->hasTrait<OpTrait::IsTerminator>())
      op->moveBefore(main.getBody().front().getTerminator());
  }
}

void Outliner::run() {
  Block &block = main.getBody().front();
  SmallVector<Operation *> order;
  for (Operation &op : block.without_terminator())
    order.push_back(&op);
  for (Operation *op : order)
    emit(op);
  for (Operation *op : llvm::reverse(dead))
    op->dropAllUses();
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  // Inits, pads and scalars live in the kernels now.
  SmallVector<Operation *> left;
  for (Operation &op : block.without_terminator())
    left.push_back(&op);
  for (Operation *op : llvm::reverse(left))
    if (isOpTriviallyDead(op))
      op->erase();
}

} // namespace

void outlineClusters(func::FuncOp main, Clusters &clusters, bool keepAll) { Outliner(main, clusters, keepAll).run(); }

} // namespace pto_mlir::kernels
