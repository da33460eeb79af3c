//===- SplitRecurrences.cpp - the split-recurrences pass ------------------===//

#include "../CheckLaunch.h"
#include "RecurrentPart.h"

#include "pto_mlir/Kernels/CubeTiling.h"
#include "pto_mlir/Kernels/Passes.h"
#include "pto_mlir/Support/MathExtras.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"

#define DEBUG_TYPE "split-recurrences"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {

#define GEN_PASS_DEF_SPLITRECURRENCES
#include "pto_mlir/Kernels/Passes.h.inc"

namespace recurrent {

/// More rows share what is loaded of the weights, and the accumulator holds so many.
constexpr int64_t kMostRows = 64;

/// Rows of the units of `op`, the last one of a direction may have fewer: `blocks` share them.
static int64_t rowsOfUnit(top::RecurrentOp op, int64_t blocks) {
  auto extents = op.getExtents();
  int64_t share = ceilDiv(extents.batch * extents.directions, blocks);
  int64_t bytes = roundUp(extents.hidden, int64_t(16)) * op.getType().getElementTypeBitWidth() / 8;
  int64_t inL1 = cube::cubeLimits(pto::targetOf(op).name)->l1 / 2 / bytes / 16 * 16;
  int64_t most = std::max<int64_t>(std::min(kMostRows, inL1), 16);
  int64_t rows = std::clamp<int64_t>(roundUp(share, int64_t(16)), 16, most);
  // As even as they can be.
  return ceilDiv(extents.batch, ceilDiv(extents.batch, rows));
}

namespace {

/// Makes the vector kernels of one recurrence.
class Splitter {
public:
  Splitter(func::FuncOp kernel, top::RecurrentOp op, SymbolTable &symbols)
      : kernel(kernel), op(op), extents(op.getExtents()), symbols(symbols), b(kernel.getContext()) {}

  void run(int64_t blocks) {
    int64_t rows = rowsOfUnit(op, blocks), rest = extents.batch % rows;
    SmallVector<int64_t> all{rows};
    if (rest)
      all.push_back(rest);
    SmallVector<Attribute> names;
    SmallVector<Stage> stages = stagesOf(op);
    for (int64_t height : all) {
      for (int64_t state = 0; state < extents.states; ++state)
        names.push_back(beginning(height));
      for (const Stage &stage : stages)
        names.push_back(panel(stage, height));
    }
    PTO_DEBUG("@" << kernel.getName() << ": units of " << rows << " rows, " << names.size() << " panels");
    kernel->setAttr(kRecurrenceAttr, b.getDictionaryAttr({b.getNamedAttr("panels", b.getArrayAttr(names)),
                                                          b.getNamedAttr("rows", b.getDenseI64ArrayAttr(all))}));
  }

private:
  func::FuncOp function(ArrayRef<Type> inputs, ArrayRef<Type> results) {
    SmallVector<Type> types(inputs);
    llvm::append_range(types, results);
    auto func = func::FuncOp::create(op.getLoc(), (kernel.getName() + ".panel").str(),
                                     FunctionType::get(b.getContext(), types, results));
    func.setPrivate();
    func->setAttr(pto::kKernelKindAttr, pto::KernelKindAttr::get(b.getContext(), pto::KernelKind::vector));
    func->setAttr(pto::kPanelAttr, b.getUnitAttr());
    b.setInsertionPointToStart(func.addEntryBlock());
    return func;
  }
  Attribute added(func::FuncOp func, ArrayRef<Value> results) {
    b.create<func::ReturnOp>(op.getLoc(), results);
    return FlatSymbolRefAttr::get(symbols.insert(func));
  }

  /// The initial state to where the state is.
  Attribute beginning(int64_t rows) {
    Type type = RankedTensorType::get({rows, extents.hidden}, elementOf(op, Tensor::Hidden));
    func::FuncOp func = function(type, type);
    Value copied = b.create<linalg::CopyOp>(op.getLoc(), func.getArgument(0), func.getArgument(1)).getResult(0);
    return added(func, copied);
  }

  /// Elements from row to row of `tensor` in memory; 0: it has one dimension.
  int64_t pitchOf(Tensor tensor) {
    if (isVector(tensor))
      return 0;
    if (tensor == Tensor::Product)
      return productColumns(op);
    return tensor == Tensor::Given ? extents.directions * extents.gates * extents.hidden : extents.hidden;
  }

  Attribute panel(const Stage &stage, int64_t rows) {
    SmallVector<Type> inputs, results;
    SmallVector<int64_t> pitches;
    auto add = [&](const Part &part, SmallVector<Type> &types) {
      SmallVector<int64_t> shape{rows, extents.hidden};
      if (isVector(part.tensor))
        shape.erase(part.tensor == Tensor::Live ? shape.begin() + 1 : shape.begin());
      types.push_back(RankedTensorType::get(shape, elementOf(op, part.tensor)));
      pitches.push_back(pitchOf(part.tensor));
    };
    for (const Part &part : stage.reads)
      add(part, inputs);
    for (const Part &part : stage.writes)
      add(part, results);
    func::FuncOp func = function(inputs, results);
    func->setAttr(pto::kPitchesAttr, b.getDenseI64ArrayAttr(pitches));
    SmallVector<Value> arguments(func.getArguments());
    return added(func, buildStage(op, stage, b, op.getLoc(), ArrayRef(arguments).take_front(inputs.size()),
                                  ArrayRef(arguments).drop_front(inputs.size())));
  }

  func::FuncOp kernel;
  top::RecurrentOp op;
  top::RecurrentOp::Extents extents;
  SymbolTable &symbols;
  OpBuilder b;
};

} // namespace
} // namespace recurrent

namespace {

class SplitRecurrencesPass : public impl::SplitRecurrencesBase<SplitRecurrencesPass> {
public:
  using SplitRecurrencesBase::SplitRecurrencesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkLaunch(module, numCores)))
      return signalPassFailure();
    SymbolTable symbols(module);
    int64_t blocks = numCores ? numCores.getValue() : pto::targetOf(module).blocks;
    for (auto func : llvm::to_vector(module.getOps<func::FuncOp>()))
      if (top::RecurrentOp op = recurrent::recurrenceIn(func)) {
        if (failed(recurrent::checkActivations(op)))
          return signalPassFailure();
        if (op.getExtents().hidden > recurrent::kMostHidden) {
          op.emitOpError("has no kernel: its hidden size is ")
              << op.getExtents().hidden << ", at most " << recurrent::kMostHidden << " can be";
          return signalPassFailure();
        }
        recurrent::Splitter(func, op, symbols).run(blocks);
      }
  }
};

} // namespace

} // namespace pto_mlir
