//===- BuildRecurrentKernels.cpp - the build-recurrent-kernels pass -------===//

#include "../CheckLaunch.h"
#include "../KernelParts.h"
#include "../LaunchSlots.h"
#include "RecurrentPart.h"

#include "pto_mlir/Dialect/PTO/Transforms/KernelSize.h"
#include "pto_mlir/Kernels/Passes.h"
#include "pto_mlir/Support/MathExtras.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"

#define DEBUG_TYPE "build-recurrent-kernels"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {

#define GEN_PASS_DEF_BUILDRECURRENTKERNELS
#include "pto_mlir/Kernels/Passes.h.inc"

namespace recurrent {

top::RecurrentOp recurrenceIn(func::FuncOp kernel) {
  if (kernel.isExternal() || !kernel->hasAttr(pto::kKernelKindAttr) ||
      !llvm::all_of(kernel.getArgumentTypes(), llvm::IsaPred<RankedTensorType>))
    return nullptr;
  auto ops = kernel.getBody().front().getOps<top::RecurrentOp>();
  return ops.empty() ? top::RecurrentOp() : *ops.begin();
}

int64_t productColumns(top::RecurrentOp op) {
  int64_t most = 0;
  for (const Stage &stage : stagesOf(op))
    most = std::max(most, stage.gates);
  return most * op.getExtents().hidden;
}

void RecurrentPart::forUnits(llvm::function_ref<void()> body) {
  int64_t inDirection = r.unitsOfDirection();
  e.spread(r.units(), [&](Ix number) {
    u.number = number;
    u.direction = e.div(number, inDirection);
    Ix place = e.rem(number, inDirection);
    u.rowOfBatch = e.mul(place, r.rows.front());
    u.row = e.add(e.mul(u.direction, r.extents.batch), u.rowOfBatch);
    auto withSize = [&](unsigned size) {
      u.size = size, u.rows = r.rows[size];
      body();
    };
    if (r.rows.size() == 1)
      return withSize(0);
    e.ifZero(e.sub(place, e.constant(inDirection - 1)), [&] { withSize(1); }, [&] { withSize(0); });
  });
}

void RecurrentPart::forSteps(llvm::function_ref<void(Step)> body) {
  Ix initial = e.constant(r.extents.steps), one = e.constant(1);
  e.loop(initial, 1, [&](Ix count) {
    auto inOrder = [&](Ix forward) {
      Ix back = e.sub(e.constant(r.extents.steps - 1), forward);
      if (r.extents.directions == 1)
        return op.isReverse(0) ? back : forward;
      return e.add(forward, e.mul(u.direction, e.sub(back, forward)));
    };
    Ix before = op.getLive() ? initial : e.ifAtMost(count, 0, initial, inOrder(e.sub(count, one)));
    body({inOrder(count), before});
  });
}

namespace {

/// Reads what split-recurrences wrote on `kernel`; the panels must be lowered.
FailureOr<Recurrence> readRecurrence(func::FuncOp kernel, top::RecurrentOp op) {
  auto attribute = kernel->getAttrOfType<DictionaryAttr>(kRecurrenceAttr);
  auto names = attribute ? attribute.getAs<ArrayAttr>("panels") : ArrayAttr();
  auto rows = attribute ? attribute.getAs<DenseI64ArrayAttr>("rows") : DenseI64ArrayAttr();
  Recurrence r{op, op.getExtents(), stagesOf(op), {}, {}, {}, {}};
  size_t perSize = r.extents.states + r.stages.size();
  if (!names || !rows || rows.empty() || rows.size() > 2 || names.size() != perSize * rows.size() ||
      !llvm::all_of(names, llvm::IsaPred<FlatSymbolRefAttr>) || rows[0] < 1 || rows[0] > r.extents.batch ||
      (rows.size() == 2 ? r.extents.batch % rows[0] != rows[1] : r.extents.batch % rows[0] != 0))
    return kernel.emitOpError("expects '") << kRecurrenceAttr << "' as split-recurrences writes it";
  r.rows.assign(rows.asArrayRef().begin(), rows.asArrayRef().end());
  r.panels.resize(r.rows.size());
  for (auto [i, name] : llvm::enumerate(names.getAsRange<FlatSymbolRefAttr>())) {
    auto panel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(kernel, name);
    if (!panel || panel.isExternal() || !llvm::all_of(panel.getArgumentTypes(), llvm::IsaPred<pto::PtrType>))
      return kernel.emitOpError("needs ") << name << " in tile instructions; run convert-linalg-to-pto first";
    r.panels[i / perSize].push_back(panel);
  }
  return r;
}

void setArguments(Recurrence &r, func::FuncOp kernel) {
  auto [steps, batch, directions, gates, hidden, states] = r.extents;
  Builder b(kernel.getContext());
  int64_t rows = directions * batch, cores = pto::targetOf(kernel).vectorCores;
  r.slots = {RankedTensorType::get({rows, productColumns(r.op)}, b.getF32Type()),
             RankedTensorType::get({r.units() * cores, 16}, b.getF32Type())};
  if (r.stages.size() > 1) {
    r.slots.push_back(RankedTensorType::get({rows, hidden}, elementOf(r.op, Tensor::Update)));
    r.slots.push_back(RankedTensorType::get({rows, hidden}, elementOf(r.op, Tensor::Reset)));
  }
  r.firstSlot = kernel.getNumArguments() - kernel.getNumResults();
  r.result = r.firstSlot + r.slots.size();
  auto pointer = [&](Type type) { r.types.push_back(pto::PtrType::get(getElementTypeOrSelf(type))); };
  for (Type type : kernel.getArgumentTypes().take_front(r.firstSlot))
    pointer(type);
  for (Type type : r.slots)
    pointer(type);
  pointer(kernel.getArgumentTypes().back());
}

/// @k and @k.vector, for the two kinds of cores.
LogicalResult build(func::FuncOp kernel, top::RecurrentOp op, int64_t cores) {
  if (llvm::any_of(op->getOperands(), [](Value value) { return !isa<BlockArgument>(value); }) ||
      kernel.getNumResults() != 1)
    return op.emitOpError("is not alone in its kernel; form-kernels gives it one of its own");
  FailureOr<Recurrence> recurrence = readRecurrence(kernel, op);
  if (failed(recurrence))
    return failure();
  setArguments(*recurrence, kernel);
  PTO_DEBUG("@" << kernel.getName() << ": " << recurrence->units() << " units, " << recurrence->stages.size()
                << " stages");
  for (top::LaunchOp launch : kernels::launchesOf(kernel))
    kernels::addSlots(launch, recurrence->slots);
  kernel->removeAttr(kRecurrenceAttr);
  func::FuncOp vector = kernels::addVectorPart(kernel);
  // The op is read while the bodies are emitted.
  Region old;
  old.takeBody(kernel.getBody());
  kernel.getBody().push_back(new Block());
  for (func::FuncOp part : {kernel, vector})
    kernels::clearBody(part, recurrence->types);
  buildCubePart(kernel, *recurrence, cores);
  buildVectorPart(vector, *recurrence, cores);
  pto::takeKernelSizes(kernel);
  pto::takeKernelSizes(vector);
  for (const auto &panels : recurrence->panels)
    for (func::FuncOp panel : panels)
      panel.erase();
  return success();
}

} // namespace
} // namespace recurrent

namespace {

class BuildRecurrentKernelsPass : public impl::BuildRecurrentKernelsBase<BuildRecurrentKernelsPass> {
public:
  using BuildRecurrentKernelsBase::BuildRecurrentKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkLaunch(module, numCores)))
      return signalPassFailure();
    SmallVector<std::pair<func::FuncOp, top::RecurrentOp>> kernels; // panels are erased
    for (auto func : module.getOps<func::FuncOp>())
      if (top::RecurrentOp op = recurrent::recurrenceIn(func))
        kernels.push_back({func, op});
    bool good = true;
    for (auto [func, op] : kernels)
      good &= succeeded(recurrent::build(func, op, numCores));
    if (!good)
      signalPassFailure();
  }
};

} // namespace

} // namespace pto_mlir
