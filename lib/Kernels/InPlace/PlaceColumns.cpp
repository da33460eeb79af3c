//===- PlaceColumns.cpp - columns of a tensor that are read in place --------===//

#include "PlaceColumns.h"

#include "../Reshapes.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/Slices.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#define DEBUG_TYPE "place-concats"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir::kernels {

SmallVector<ColumnsCopy> findColumns(func::FuncOp main, llvm::function_ref<int64_t(Value, int64_t)> pitchOf) {
  SmallVector<ColumnsCopy> copies;
  for (auto launch : main.getOps<top::LaunchOp>())
    if (auto columns = launch->getAttrOfType<DenseI64ArrayAttr>(top::kColumnsAttr);
        columns && launch.getInputs().size() == 1 && launch.getNumResults() == 1)
      copies.push_back(
          {launch, columns[0], columns[1], columns[2], pitchOf(throughReshapes(launch.getInputs()[0]), columns[2])});
  return copies;
}

/// Whether the tensor is in the workspace alone: inputs, outputs, weights and states have no parts.
static bool hasParts(Value value) {
  auto isReturned = [](Value shape) { return llvm::any_of(shape.getUsers(), llvm::IsaPred<func::ReturnOp>); };
  SmallVector<Value> shapes{value};
  while (!shapes.empty()) {
    Value shape = shapes.pop_back_val();
    if (isReturned(shape))
      return false;
    for (Operation *user : shape.getUsers())
      if (isReshape(user))
        shapes.push_back(user->getResult(0));
  }
  return hasOwnMemory(value) || value.getDefiningOp<tensor::ConcatOp>();
}

/// The readers of a copy; nothing where one of them needs it dense.
static std::optional<SmallVector<Use>> readersOf(const ColumnsCopy &copy, PitchedKernels &kernels) {
  Value result = top::LaunchOp(copy.launch)->getResult(0);
  int64_t element = top::elementBytes(getElementTypeOrSelf(result.getType()));
  auto aligned = [&](int64_t elements) { return elements * element % top::kSliceAlignment == 0; };
  Value source = throughReshapes(top::LaunchOp(copy.launch).getInputs()[0]);
  auto uses = usesOf(result);
  if (!uses || !hasOwnMemory(result) || !hasParts(source) || !aligned(copy.begin) || !aligned(copy.size) ||
      !aligned(copy.pitch))
    return std::nullopt;
  llvm::erase_if(*uses, [&](Use use) { return use.launch == copy.launch; });
  for (Use use : *uses)
    if (!kernels.allows(use, copy.size)) {
      PTO_DEBUG("@" << use.launch.getKernel() << " takes its operand " << use.operand << ", columns, to be dense");
      return std::nullopt;
    }
  return uses;
}

void placeColumns(ArrayRef<ColumnsCopy> copies, PitchedKernels &kernels) {
  if (copies.empty())
    return;
  PitchedKernels::Changes changes;
  for (ColumnsCopy copy : copies) {
    auto readers = readersOf(copy, kernels);
    if (!readers)
      continue;
    for (Use use : *readers)
      changes[use.launch][use.operand] = {copy.size, copy.pitch};
    OpBuilder b(copy.launch);
    Value source = copy.launch.getInputs()[0];
    auto type = cast<RankedTensorType>(copy.launch->getResult(0).getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), steps(type.getRank(), b.getIndexAttr(1));
    for (auto [dim, extent] : llvm::enumerate(cast<RankedTensorType>(source.getType()).getShape()))
      if (extent != type.getDimSize(dim))
        offsets[dim] = b.getIndexAttr(copy.begin * type.getDimSize(dim) / copy.size);
    Value columns = b.create<tensor::ExtractSliceOp>(copy.launch.getLoc(), type, source, offsets,
                                                     getAsIndexOpFoldResult(b.getContext(), type.getShape()), steps);
    copy.launch->getResult(0).replaceAllUsesWith(columns);
    copy.launch.erase();
  }
  kernels.apply(changes);
}

} // namespace pto_mlir::kernels
