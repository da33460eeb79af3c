// plan-global-memory: assigns global memory to every tensor of @main.
#include "StatePlan.h"
#include "pto_mlir/Conversion/HostToVM/Passes.h"
#include "pto_mlir/Conversion/HostToVM/WeightBlobs.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/State.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/PModel/Builder.h"
#include "pto_mlir/Support/MathExtras.h"

#define DEBUG_TYPE "plan-global-memory"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {
#define GEN_PASS_DEF_PLANGLOBALMEMORY
#include "pto_mlir/Conversion/HostToVM/Passes.h.inc"

namespace {

/// Alignment of a tensor in the workspace: the allocation alignment of the device ABI, sufficient for every DMA.
constexpr int64_t kAlignment = 512;

/// Bytes of a static tensor. Operands of kernels are never empty.
int64_t bytesOf(Type type) { return top::tensorBytes(cast<RankedTensorType>(type)).value_or(0); }

/// The rows of a tensor inside of those of a concatenation.
struct Inside {
  Value root;
  int64_t offset = 0, span = 0; // in bytes
};

/// Where the operands of @main's concatenations lie, and concatenations inside of larger ones.
llvm::DenseMap<Value, Inside> findConcats(func::FuncOp main) {
  SmallVector<tensor::ConcatOp> concats(main.getOps<tensor::ConcatOp>());
  llvm::stable_sort(concats,
                    [](tensor::ConcatOp a, tensor::ConcatOp b) { return bytesOf(a.getType()) > bytesOf(b.getType()); });
  llvm::DenseMap<Value, Inside> found;
  for (tensor::ConcatOp concat : concats) {
    RankedTensorType type = concat.getResultType();
    int64_t outer = 1;
    for (int64_t extent : type.getShape().take_front(concat.getDim()))
      outer *= extent;
    if (auto first = found.find(memoryOf(concat.getInputs()[0])); first != found.end()) {
      Inside part = first->second;
      int64_t row = bytesOf(part.root.getType()) / outer;
      part.span = (outer - 1) * row + bytesOf(type) / outer;
      found[concat] = part;
      continue;
    }
    int64_t row = bytesOf(type) / outer, begin = 0;
    for (Value input : concat.getInputs()) {
      int64_t own = bytesOf(input.getType()) / outer;
      found[memoryOf(input)] = {concat, begin, (outer - 1) * row + own};
      begin += own;
    }
  }
  return found;
}

/// A workspace tensor with its live range [begin, end], in positions of ops in @main.
struct Buffer {
  Value root;
  int64_t bytes, begin, end, offset = 0;
};

struct PlanGlobalMemory : impl::PlanGlobalMemoryBase<PlanGlobalMemory> {
  using PlanGlobalMemoryBase::PlanGlobalMemoryBase;

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal() || !main.getBody().hasOneBlock()) {
      getOperation().emitError("expects a function @main of one block");
      return signalPassFailure();
    }
    if (failed(orderStateWrites(main)) || failed(placeStates(main, places)) || failed(placeInputsAndOutputs(main)) ||
        failed(placeWeights(main)))
      return signalPassFailure();
    int64_t workspace = placeWorkspace(main);
    PTO_DEBUG("@main: workspace of " << workspace << " bytes");
    main->setAttr("top.workspace_bytes", Builder(&getContext()).getI64IntegerAttr(workspace));
    annotate(main);
  }

private:
  LogicalResult placeInputsAndOutputs(func::FuncOp main) {
    for (BlockArgument argument : main.getArguments())
      if (unsigned number = argument.getArgNumber(); !top::isStateArgument(main, number))
        places[argument] = top::PlaceAttr::get(&getContext(), top::Region::Input, top::inputNumber(main, number));
    Operation *end = main.getBody().front().getTerminator();
    for (OpOperand &result : end->getOpOperands()) {
      // Nobody writes an output without elements.
      if (top::stateOfResult(main, result.getOperandNumber()) || bytesOf(result.get().getType()) == 0)
        continue;
      Value root = memoryOf(result.get());
      if (!isa_and_nonnull<top::LaunchOp>(root.getDefiningOp()))
        return end->emitError() << "output " << result.getOperandNumber()
                                << " is an input or a constant; an output must be computed by a kernel";
      auto place =
          top::PlaceAttr::get(&getContext(), top::Region::Output, top::outputNumber(main, result.getOperandNumber()));
      if (!places.try_emplace(root, place).second)
        return end->emitError() << "output " << result.getOperandNumber()
                                << " is the same tensor as another output; copy it in the model";
    }
    return success();
  }

  LogicalResult placeWeights(func::FuncOp main) {
    Builder builder(&getContext());
    SmallVector<Attribute> order;
    llvm::StringMap<int64_t> indexOf;
    SmallVector<std::pair<Value, int64_t>> uses;
    top::WeightStore &store = getContext().getLoadedDialect<top::TopDialect>()->weights();
    for (Operation &op : main.getBody().front()) {
      std::string name;
      if (auto weight = dyn_cast<top::WeightOp>(op)) {
        name = weight.getName().str();
      } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
        auto data = top::getConstant(constant.getResult());
        if (!data || data->bytes.empty())
          continue;
        name = store.add("inline_constant", data->type, std::vector<char>(data->bytes.begin(), data->bytes.end()));
      } else {
        continue;
      }
      auto [entry, isNew] = indexOf.try_emplace(name, order.size());
      if (isNew)
        order.push_back(builder.getStringAttr(name));
      uses.emplace_back(op.getResult(0), entry->second);
    }
    getOperation()->setAttr(kWeightOrderAttr, builder.getArrayAttr(order));
    auto blobs = weightBlobs(getOperation());
    if (!blobs)
      return failure();
    pmodel::WeightLayout layout = pmodel::layoutWeights(*blobs);
    for (auto &[value, index] : uses)
      places[value] = top::PlaceAttr::get(&getContext(), top::Region::Weights, layout.offsets[index]);
    return success();
  }

  /// Places all remaining tensors in the workspace; returns its size in bytes.
  int64_t placeWorkspace(func::FuncOp main) {
    llvm::MapVector<Value, Buffer> buffers;
    llvm::DenseMap<Value, Inside> inside = findConcats(main);
    auto rootOf = [&](Value value) {
      Value memory = memoryOf(value);
      auto found = inside.find(memory);
      return found == inside.end() ? memory : found->second.root;
    };
    int64_t position = 0;
    for (Operation &op : main.getBody().front()) {
      ++position;
      for (Value operand : op.getOperands())
        if (auto found = buffers.find(rootOf(operand)); found != buffers.end())
          found->second.end = position;
      auto launch = dyn_cast<top::LaunchOp>(op);
      if (!launch)
        continue;
      for (Value result : launch.getResults())
        if (Value root = rootOf(result); !places.contains(root))
          buffers.insert({root, Buffer{root, roundUp(bytesOf(root.getType()), kAlignment), position, position}});
    }
    // The runtime checks a computed index after the run, so its live range extends to the end.
    main.walk([&](top::LaunchOp launch) {
      if (auto index = launch->getAttrOfType<DenseI64ArrayAttr>(top::kComputedIndexAttr))
        if (auto found = buffers.find(rootOf(launch->getOperand(index[0]))); found != buffers.end())
          found->second.end = position;
    });
    SmallVector<Buffer *> bySize;
    for (auto &entry : buffers)
      bySize.push_back(&entry.second);
    // Break ties by program order (buffers are in one array in that order).
    llvm::sort(bySize, [](Buffer *a, Buffer *b) { return a->bytes != b->bytes ? a->bytes > b->bytes : a < b; });
    int64_t total = 0;
    SmallVector<Buffer *> placed; // by offset
    for (Buffer *buffer : bySize) {
      for (Buffer *other : placed) {
        bool apart = !keepAll && (other->end < buffer->begin || buffer->end < other->begin);
        if (apart || other->offset + other->bytes <= buffer->offset)
          continue;
        if (buffer->offset + buffer->bytes <= other->offset)
          break;
        buffer->offset = other->offset + other->bytes;
      }
      placed.insert(llvm::upper_bound(placed, buffer, [](Buffer *a, Buffer *b) { return a->offset < b->offset; }),
                    buffer);
      total = std::max(total, buffer->offset + buffer->bytes);
      places[buffer->root] = top::PlaceAttr::get(&getContext(), top::Region::Workspace, buffer->offset);
    }
    for (auto &[value, where] : inside)
      places[value] = top::PlaceAttr::get(&getContext(), top::Region::Workspace,
                                          places.lookup(where.root).getOffset() + where.offset, where.span);
    return total;
  }

  void annotate(func::FuncOp main) {
    main.walk([&](top::LaunchOp launch) {
      SmallVector<Attribute> list;
      for (Value input : launch.getInputs())
        list.push_back(placeIn(places.lookup(memoryOf(input)), input));
      for (Value result : launch.getResults())
        list.push_back(places.lookup(result));
      launch.setPlacesAttr(ArrayAttr::get(&getContext(), list));
    });
  }

  DenseMap<Value, top::PlaceAttr> places;
};

} // namespace
} // namespace pto_mlir
