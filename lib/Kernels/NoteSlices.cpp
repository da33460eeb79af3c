//===- NoteSlices.cpp - the note-slices pass ------------------------------===//

#include "Reshapes.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Dialect/PTO/Transforms/Estimate.h"
#include "pto_mlir/Dialect/Top/IR/Slices.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Kernels/Passes.h"

#define DEBUG_TYPE "note-slices"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {

#define GEN_PASS_DEF_NOTESLICES
#include "pto_mlir/Kernels/Passes.h.inc"

namespace {

/// Where a value begins in the memory that it is a part of, in bytes; @main has slices of one piece and columns.
int64_t beginOf(Value value) {
  int64_t bytes = 0;
  for (Value memory = throughViews(value); value != memory; value = value.getDefiningOp()->getOperand(0))
    if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>()) {
      int64_t bits = pto::getElementBits(slice.getType().getElementType());
      bytes += top::beginOf(slice) * bits / 8;
    }
  return bytes;
}

/// Of an input of a launch: the number of the first input in the same memory, and where the input begins there, in
/// bytes. Empty for an input that shares memory with no other.
using Places = SmallVector<std::optional<std::pair<int64_t, int64_t>>>;

Places placesOf(top::LaunchOp launch) {
  SmallVector<Value> memories = llvm::map_to_vector(launch.getInputs(), throughViews);
  Places places;
  for (auto [input, memory] : llvm::zip_equal(launch.getInputs(), memories)) {
    auto &place = places.emplace_back();
    if (llvm::count(memories, memory) > 1)
      place = {llvm::find(memories, memory) - memories.begin(), beginOf(input)};
  }
  return places;
}

class NoteSlicesPass : public impl::NoteSlicesBase<NoteSlicesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::MapVector<StringAttr, Places> found; // none where launches differ
    module.walk([&](top::LaunchOp launch) {
      Places places = placesOf(launch);
      auto [entry, isNew] = found.insert({launch.getKernelAttr().getAttr(), places});
      if (!isNew && entry->second != places)
        entry->second.clear();
    });
    auto kernels = pto::kernelParts(module);
    Builder b(&getContext());
    for (auto &[kernel, places] : found)
      for (func::FuncOp part : kernels.lookup(kernel))
        for (auto [number, place] : llvm::enumerate(places))
          if (place && number < part.getNumArguments()) {
            PTO_DEBUG("@" << kernel.getValue() << ": argument " << number << " is in that of " << place->first);
            part.setArgAttr(static_cast<unsigned>(number), pto::kSliceOfAttr,
                            b.getDenseI64ArrayAttr({place->first, place->second}));
          }
  }
};

} // namespace
} // namespace pto_mlir
