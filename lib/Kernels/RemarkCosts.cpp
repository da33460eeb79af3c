//===- RemarkCosts.cpp - the remark-costs pass -----------------------------===//

#include "CheckLaunch.h"
#include "Reshapes.h"
#include "pto_mlir/Cost/Bound.h"
#include "pto_mlir/Cost/Prices.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Dialect/PTO/Transforms/Estimate.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Kernels/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

#define DEBUG_TYPE "remark-costs"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {

#define GEN_PASS_DEF_REMARKCOSTS
#include "pto_mlir/Kernels/Passes.h.inc"

namespace {

/// A kernel that takes longer than so many times its bound is named: two others stay within three times of both.
constexpr double kSlow = 1.4;
/// Launches for one tensor of the model that are named.
constexpr size_t kManyLaunches = 3;

/// The result of a launch that `value` is, or a part of it, perhaps in another shape; null if it is none.
OpResult madeBy(Value value) {
  value = throughViews(value);
  return value.getDefiningOp<top::LaunchOp>() ? cast<OpResult>(value) : OpResult();
}

/// The results of launches that make up `value`: several where a concatenation's operands are written in place.
void eachMaker(Value value, llvm::function_ref<void(OpResult)> visit) {
  if (OpResult made = madeBy(value))
    return visit(made);
  if (auto concat = throughViews(value).getDefiningOp<tensor::ConcatOp>())
    for (Value operand : concat.getInputs())
      eachMaker(operand, visit);
}

double bytesOf(ValueRange values) {
  double bytes = 0;
  for (Value value : values) {
    auto type = cast<RankedTensorType>(value.getType());
    bytes += static_cast<double>(type.getNumElements()) * pto::getElementBits(type.getElementType()) / 8;
  }
  return bytes;
}

/// Multiplications of a product of the first two operands: m k, k n and m n elements. Of a convolution it is less.
double productOf(top::LaunchOp launch) {
  auto elements = [](Value value) {
    return static_cast<double>(cast<RankedTensorType>(value.getType()).getNumElements());
  };
  if (launch.getInputs().size() < 2 || launch.getInits().empty())
    return 0;
  return std::sqrt(elements(launch.getInputs()[0]) * elements(launch.getInputs()[1]) *
                   elements(launch.getInits().back()));
}

class RemarkCostsPass : public impl::RemarkCostsBase<RemarkCostsPass> {
public:
  using RemarkCostsBase::RemarkCostsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkLaunch(module, numCores)))
      return signalPassFailure();
    auto kernels = pto::kernelParts(module);
    module.walk([&](func::ReturnOp ret) { noteOutputs(ret); });
    llvm::StringSet<> seen;
    SmallVector<top::LaunchOp> launches;
    module.walk([&](top::LaunchOp launch) {
      if (seen.insert(launch.getKernel()).second)
        judgeKernel(launch, kernels[launch.getKernelAttr().getAttr()]);
      launches.push_back(launch);
    });
    llvm::for_each(llvm::reverse(launches), [&](top::LaunchOp launch) { judgeLaunches(launch); });
  }

private:
  /// Beside what the bytes of its arguments take, and the product of the first two, if it multiplies.
  void judgeKernel(top::LaunchOp launch, ArrayRef<func::FuncOp> parts) {
    auto isCube = [](func::FuncOp part) {
      return part->getAttrOfType<pto::KernelKindAttr>(pto::kKernelKindAttr).getValue() == pto::KernelKind::cube;
    };
    if (parts.empty())
      return;
    StringRef target = pto::targetOf(launch).name;
    int64_t blocks = numCores ? numCores.getValue() : pto::targetOf(launch).blocks;
    std::optional<double> cycles = pto::estimateCycles(parts, blocks);
    if (!cycles) {
      launch.emitRemark() << "takes what its values say: a loop, a size or a place in it is known at run time only";
      return;
    }
    cost::Prices prices(target);
    double read = bytesOf(launch.getInputs()), written = bytesOf(launch.getInits());
    double bound = cost::lowerBound(target, static_cast<unsigned>(blocks),
                                    {read, written, llvm::any_of(parts, isCube) ? productOf(launch) : 0, false, 0});
    double took = prices.seconds(*cycles + prices.launch());
    PTO_DEBUG("@" << launch.getKernel() << ": " << took * 1e6 << " us, bound " << bound * 1e6);
    if (took > kSlow * bound)
      launch.emitRemark() << llvm::formatv("takes about {0:F1} us in one kernel, where its {1:F1} KiB of global memory "
                                           "take {2:F1}: it moves short runs, "
                                           "sorts or picks elements, or computes much with each",
                                           took * 1e6, (read + written) / 1024, bound * 1e6);
  }

  /// The names of outputs, which their launches may lack.
  void noteOutputs(func::ReturnOp ret) {
    auto func = ret->getParentOfType<func::FuncOp>();
    for (auto [i, value] : llvm::enumerate(ret.getOperands()))
      if (OpResult result = madeBy(value))
        if (auto name = func.getResultAttrOfType<StringAttr>(static_cast<unsigned>(i), top::kNameAttr))
          outputs[result] = name.getValue();
  }

  /// The tensor of the model that a launch makes; "" if there is none.
  StringRef nameOf(OpResult result) const {
    ArrayAttr names = cast<top::LaunchOp>(result.getOwner()).getNamesAttr();
    StringRef name = names ? cast<StringAttr>(names[result.getResultNumber()]).getValue() : "";
    return name.empty() ? outputs.lookup(result) : name;
  }
  StringRef nameOf(Operation *launch) const {
    for (OpResult result : launch->getResults())
      if (StringRef name = nameOf(result); !name.empty())
        return name;
    return "";
  }

  /// Of what is made for one tensor of the model: each launch waits for the one before.
  void judgeLaunches(top::LaunchOp launch) {
    StringRef name = nameOf(launch);
    if (name.empty())
      return;
    llvm::SetVector<Operation *> steps;
    steps.insert(launch);
    for (size_t i = 0; i < steps.size(); ++i)
      for (Value input : cast<top::LaunchOp>(steps[i]).getInputs())
        eachMaker(input, [&](OpResult made) {
          if (nameOf(made).empty() || nameOf(made) == name)
            steps.insert(made.getOwner());
        });
    for (Operation *step : ArrayRef(steps.getArrayRef()).drop_front())
      if (nameOf(step) == name)
        judged.insert(step);
    if (steps.size() >= kManyLaunches && !judged.contains(launch))
      launch.emitRemark() << "takes " << steps.size()
                          << " launches: no one kernel converts, rearranges and computes what it needs";
  }

  llvm::SmallDenseMap<Value, StringRef> outputs;
  llvm::SmallDenseSet<Operation *> judged; ///< makes a tensor in another layout than its last launch
};

} // namespace

} // namespace pto_mlir
