//===- KernelBody.cpp - the function that a cluster becomes ---------------===//

#include "KernelBody.h"

#include "../Cube/StridedView.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace pto_mlir::kernels {
namespace {

// Is `op` copied into every kernel that uses it?
bool isCloned(Operation *op) {
  if (isa<arith::ConstantOp>(op))
    return !isa<ShapedType>(op->getResultTypes()[0]);
  if (isa<tensor::EmptyOp>(op))
    return true;
  OpRole role = classify(op);
  return role == OpRole::Init || role == OpRole::Pad;
}

// Is the value of a view in the kernel alone? Its elements lie elsewhere than in what it is made from when it, or a
// view that it reshapes, moves them. A reshape of a tensor in memory is that tensor.
bool isReadInPlace(Operation *view, const Cluster &cluster) {
  for (; view && cluster.views.contains(view); view = view->getOperand(0).getDefiningOp())
    if (cube::isMovingView(view))
      return true;
  return false;
}

class BodyBuilder {
public:
  BodyBuilder(const Cluster &cluster, bool keepAll)
      : cluster(cluster), inside(cluster.ops.begin(), cluster.ops.end()), keepAll(keepAll),
        builder(cluster.ops.front()->getContext()) {}

  Kernel build(StringRef name);

private:
  void collectInputs(Operation *op);
  void collectOutputs();
  Value materialize(Value value);
  Value materializeInit(Value init, Value destination);
  void cloneMember(Operation *op);
  ArrayRef<Operation *> movedTail() const;
  Value buildMovedTail(Value value, Value destination);

  const Cluster &cluster;
  llvm::SmallPtrSet<Operation *, 16> inside;
  bool keepAll;
  OpBuilder builder;
  IRMapping map;
  Kernel kernel;
  llvm::SmallSetVector<Value, 8> inputs;
  llvm::DenseMap<Value, Value> destinationOf; // output of @main -> argument
};

void BodyBuilder::collectInputs(Operation *op) {
  for (Value operand : valuesRead(op)) {
    // A state is updated in place: it is the kernel's output.
    if (auto write = dyn_cast<top::StateWriteOp>(op); write && operand == write.getState())
      continue;
    Operation *producer = operand.getDefiningOp();
    if (producer && inside.contains(producer))
      continue;
    if (producer && (isCloned(producer) || cluster.views.contains(producer))) {
      if (StringRef name = top::getTensorName(operand); isa<tensor::PadOp>(producer) && !name.empty())
        kernel.absorbed.push_back(name);
      collectInputs(producer);
    } else
      inputs.insert(operand);
  }
}

void BodyBuilder::collectOutputs() {
  bool cube = cluster.kind == OpRole::Cube;
  for (Operation *op : cluster.ops) {
    bool escapes = llvm::any_of(op->getUsers(), [&](Operation *user) {
      // The border of a window's input is made in the window's kernel.
      bool bordered = isa<tensor::PadOp>(user) &&
                      llvm::all_of(user->getUsers(), [&](Operation *window) { return inside.contains(window); });
      return !inside.contains(user) && !bordered;
    });
    StringRef name = top::getTensorName(op->getResult(0));
    // The fixpipe has one destination: absorbed values cannot be stored as well.
    if (escapes || (keepAll && !cube && !name.empty())) {
      for (Value value : op->getResults())
        if (op->getNumResults() == 1 || !value.use_empty())
          kernel.outputs.push_back(value);
    } else if (!name.empty()) {
      kernel.absorbed.push_back(name);
    }
  }
  for (Operation *view : cluster.views)
    if (StringRef name = top::getTensorName(view->getResult(0));
        !name.empty() && (cluster.kind == OpRole::Movement || isReadInPlace(view, cluster)))
      kernel.absorbed.push_back(name);
  for (Value value : kernel.outputs) {
    auto type = cast<RankedTensorType>(value.getType());
    if (cube && movedTail().empty()) {
      auto root = cast<RankedTensorType>(cluster.ops.front()->getResultTypes()[0]);
      type = RankedTensorType::get(root.getShape(), type.getElementType());
    }
    kernel.resultTypes.push_back(type);
  }
}

Value BodyBuilder::materialize(Value value) {
  if (Value known = map.lookupOrNull(value))
    return known;
  Operation *producer = value.getDefiningOp();
  // Captured scalars of a cloned op (a pad's constant) come first.
  producer->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      if (operand.getParentBlock() == producer->getBlock())
        materialize(operand);
  });
  return builder.clone(*producer, map)->getResult(cast<OpResult>(value).getResultNumber());
}

// The same initial value, written to `destination`.
Value BodyBuilder::materializeInit(Value init, Value destination) {
  Operation *producer = init.getDefiningOp();
  if (isa_and_nonnull<tensor::EmptyOp>(producer))
    return destination;
  if (producer && isa<linalg::FillOp, linalg::BroadcastOp>(producer) && isCloned(producer)) {
    IRMapping local(map);
    auto linalgOp = cast<linalg::LinalgOp>(producer);
    local.map(linalgOp.getDpsInits()[0], destination);
    for (Value input : linalgOp.getDpsInputs())
      local.map(input, materialize(input));
    return builder.clone(*producer, local)->getResult(0);
  }
  return materialize(init);
}

void BodyBuilder::cloneMember(Operation *op) {
  if (auto write = dyn_cast<top::StateWriteOp>(op))
    map.map(write.getState(), destinationOf.lookup(write.getOutput()));
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands()) {
      if (operand.getParentBlock() != op->getBlock() || map.contains(operand))
        continue;
      auto dps = dyn_cast<DestinationStyleOpInterface>(op);
      bool init = nested == op && dps && llvm::is_contained(dps.getDpsInits(), operand);
      if (!init)
        materialize(operand);
    }
  });
  IRMapping local(map);
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op)) {
    for (OpOperand &init : dps.getDpsInitsMutable()) {
      OpResult result = dps.getTiedOpResult(&init);
      Value destination = destinationOf.lookup(result);
      // An init that is also read is kept.
      local.map(init.get(), destination ? materializeInit(init.get(), destination) : materialize(init.get()));
    }
  }
  Operation *copy = builder.clone(*op, local);
  for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
    map.map(from, to);
}

// The reshapes and transpositions after a product's last computation, if any transposes.
ArrayRef<Operation *> BodyBuilder::movedTail() const {
  ArrayRef<Operation *> ops = cluster.ops;
  if (cluster.kind != OpRole::Cube || ops.size() == 1 || !cube::isMovingView(ops.back()))
    return {};
  size_t count = 0;
  while (cube::isView(ops[ops.size() - 1 - count]))
    ++count;
  return ops.take_back(count);
}

Value BodyBuilder::buildMovedTail(Value value, Value destination) {
  for (Operation *op : movedTail()) {
    IRMapping local(map);
    local.map(op->getOperand(0), value);
    if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
      local.map(transpose.getInit(), op == cluster.ops.back() ? destination : materialize(transpose.getInit()));
    value = builder.clone(*op, local)->getResult(0);
  }
  return value;
}

Kernel BodyBuilder::build(StringRef name) {
  for (Operation *op : cluster.ops)
    if (cluster.kind != OpRole::Cube || op == cluster.ops.front())
      collectInputs(op);
  if (cluster.epilogue.scales)
    inputs.insert(cluster.epilogue.scales);
  collectOutputs();
  kernel.inputs.assign(inputs.begin(), inputs.end());

  SmallVector<Type> argumentTypes;
  for (Value input : kernel.inputs)
    argumentTypes.push_back(input.getType());
  llvm::append_range(argumentTypes, kernel.resultTypes);
  Location loc = cluster.ops.back()->getLoc();
  kernel.func =
      func::FuncOp::create(loc, name, FunctionType::get(builder.getContext(), argumentTypes, kernel.resultTypes));
  kernel.func.setPrivate();
  bool cube = cluster.kind == OpRole::Cube;
  // These run on both kinds of core; build-attention-kernels and build-recurrent-kernels make a function for each.
  bool forCube = cube || cluster.kind == OpRole::Attention || cluster.kind == OpRole::Recurrence;
  kernel.func->setAttr(
      pto::kKernelKindAttr,
      pto::KernelKindAttr::get(builder.getContext(), forCube ? pto::KernelKind::cube : pto::KernelKind::vector));
  Block *entry = kernel.func.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  for (auto [input, argument] : llvm::zip(kernel.inputs, entry->getArguments()))
    map.map(input, argument);
  auto destinations = entry->getArguments().drop_front(kernel.inputs.size());

  SmallVector<Value> results;
  if (cube) {
    Operation *root = cluster.ops.front();
    bool moved = !movedTail().empty();
    if (cluster.ops.size() == 1 ||
        !llvm::any_of(cluster.ops, [&](Operation *op) { return op != root && isa<linalg::GenericOp>(op); }))
      destinationOf[root->getResult(0)] = moved ? Value() : Value(destinations[0]);
    cloneMember(root);
    auto type = cast<RankedTensorType>(kernel.resultTypes[0]);
    Value product = map.lookup(root->getResult(0)), destination = destinations[0];
    if (moved)
      destination = builder.create<tensor::EmptyOp>(loc, cast<RankedTensorType>(product.getType()).getShape(),
                                                    type.getElementType());
    Epilogue epilogue = cluster.epilogue;
    if (epilogue.scales)
      epilogue.scales = map.lookup(epilogue.scales);
    Value result = epilogue.build(builder, loc, product, destination);
    results.push_back(moved ? buildMovedTail(result, destinations[0]) : result);
  } else {
    for (auto [output, argument] : llvm::zip(kernel.outputs, destinations))
      destinationOf[output] = argument;
    for (Operation *op : cluster.ops)
      cloneMember(op);
    for (Value output : kernel.outputs)
      results.push_back(map.lookup(output));
  }
  builder.create<func::ReturnOp>(loc, results);
  return std::move(kernel);
}

} // namespace

Kernel buildKernel(const Cluster &cluster, StringRef name, bool keepAll) {
  return BodyBuilder(cluster, keepAll).build(name);
}

} // namespace pto_mlir::kernels
