//===- PitchedKernels.cpp - kernels on rows that lie apart ------------------===//

#include "PitchedKernels.h"

#include "../LaunchSlots.h"
#include "../Reshapes.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/Transforms/Estimate.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Kernels/Passes.h"
#include "pto_mlir/Support/FreeName.h"

using namespace mlir;

namespace pto_mlir::kernels {

std::optional<SmallVector<Use>> usesOf(Value value) {
  SmallVector<Use> uses;
  SmallVector<Value> shapes{value};
  while (!shapes.empty())
    for (OpOperand &use : shapes.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (isReshape(user)) {
        shapes.push_back(user->getResult(0));
        continue;
      }
      auto launch = dyn_cast<top::LaunchOp>(user);
      auto index = launch ? launch->getAttrOfType<DenseI64ArrayAttr>(top::kComputedIndexAttr) : DenseI64ArrayAttr();
      if (!launch || use.getOperandNumber() >= launch.getInputs().size() ||
          (index && index[0] == use.getOperandNumber()))
        return std::nullopt;
      uses.push_back({launch, use.getOperandNumber()});
    }
  if (auto launch = value.getDefiningOp<top::LaunchOp>())
    uses.push_back(
        {launch, static_cast<unsigned>(launch.getInputs().size()) + cast<OpResult>(value).getResultNumber()});
  return uses;
}

bool hasOwnMemory(Value value) {
  auto result = dyn_cast<OpResult>(value);
  auto launch = result ? dyn_cast<top::LaunchOp>(result.getOwner()) : top::LaunchOp();
  return launch && throughReshapes(launch.getInits()[result.getResultNumber()]).getDefiningOp<tensor::EmptyOp>();
}

PitchedKernels::PitchedKernels(ModuleOp module, func::FuncOp main)
    : main(main), symbols(module), parts(pto::kernelParts(module)) {
  for (auto kernel : module.getOps<func::FuncOp>())
    if (auto of = kernel->getAttrOfType<StringAttr>(kWindowsOfAttr)) {
      parts.erase(kernel.getSymNameAttr());
      parts[of].push_back(kernel);
    }
}

bool PitchedKernels::allows(Use use, int64_t row) {
  auto found = parts.find(use.launch.getKernelAttr().getAttr());
  if (found == parts.end())
    return false;
  return llvm::all_of(found->second, [&](func::FuncOp part) {
    auto [entry, isNew] = known.try_emplace({part, use.operand, row}, false);
    if (isNew) {
      std::unique_ptr<PitchedViews> &own = views[part];
      if (!own)
        own = std::make_unique<PitchedViews>(part);
      entry->second = own->allow(use.operand, row);
    }
    return entry->second;
  });
}

/// The kernel with these arguments pitched.
StringAttr PitchedKernels::pitched(StringAttr kernel, const Pitches &pitches) {
  StringAttr &variant = variants[kernel][pitches];
  if (variant)
    return variant;
  std::string base = freeName(kernel.str() + "_placed", [&](const std::string &name) { return symbols.lookup(name); });
  variant = StringAttr::get(main.getContext(), base);
  SmallVector<func::FuncOp> copies;
  for (func::FuncOp part : parts[kernel]) {
    OpBuilder b(part);
    b.setInsertionPointAfter(part);
    auto copy = cast<func::FuncOp>(b.clone(*part));
    copy.setName(base + part.getName().drop_front(kernel.size()).str());
    symbols.insert(copy);
    for (StringRef of : {StringRef(pto::kPartOfAttr), StringRef(kWindowsOfAttr)})
      if (copy->hasAttr(of))
        copy->setAttr(of, variant);
    PitchedViews own(copy);
    for (auto &[argument, pitch] : pitches)
      own.set(argument, pitch);
    copies.push_back(copy);
  }
  parts[variant] = copies;
  return variant;
}

void PitchedKernels::apply(const Changes &changes) {
  for (auto &[launch, pitches] : changes) {
    auto own = cast<top::LaunchOp>(launch);
    own.setKernelAttr(FlatSymbolRefAttr::get(pitched(own.getKernelAttr().getAttr(), pitches)));
  }
  llvm::DenseSet<StringAttr> used = launchedKernels(main);
  for (auto &[kernel, functions] : parts)
    if (!used.contains(kernel)) {
      for (func::FuncOp part : functions) {
        views.erase(part);
        symbols.erase(part);
      }
      functions.clear();
    }
  parts.remove_if([](auto &entry) { return entry.second.empty(); });
  variants.clear();
  known.clear(); // by the addresses of functions
}

} // namespace pto_mlir::kernels
