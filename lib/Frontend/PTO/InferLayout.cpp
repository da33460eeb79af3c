//===- InferLayout.cpp - layouts of views of global memory -----------------------------------===//

#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Frontend/PTO/Passes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinOps.h"

#define DEBUG_TYPE "pto-infer-layout"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOINFERLAYOUT
#include "pto_mlir/Frontend/PTO/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

/// Whether a column-major tile is moved to or from (a part of) the view.
static bool meetsColumnTile(Value view) {
  for (Operation *user : view.getUsers()) {
    if (isa<PartitionViewOp>(user) && meetsColumnTile(user->getResult(0)))
      return true;
    for (Type type : user->getOperandTypes())
      if (auto tile = dyn_cast<TileBufType>(type); tile && getTileLayout(tile) == TileLayout::DN)
        return true;
  }
  return false;
}

/// Whether every use of the (whole) view is a transfer with a blocked UB tile, which a row-major view cannot fill.
static bool meetsBlockedTiles(Value view) {
  return !view.use_empty() && llvm::all_of(view.getUsers(), [](Operation *user) {
    if (isa<PartitionViewOp>(user))
      return meetsBlockedTiles(user->getResult(0));
    return isa<TLoadOp, TStoreOp>(user) && llvm::any_of(user->getOperandTypes(), [](Type type) {
             auto tile = dyn_cast<TileBufType>(type);
             return tile && tile.getLoc() == AddressSpace::vec && getTileLayout(tile) == TileLayout::NZ;
           });
  });
}

/// The layout implied by constant sizes and strides, right-aligned in five dimensions; nullopt when one is not
/// constant.
static std::optional<Layout> shownLayout(MakeTensorViewOp view, bool &ambiguous) {
  SmallVector<int64_t> sizes(5, 1), strides(5, 0);
  size_t rank = view.getShape().size();
  if (rank > 5)
    return std::nullopt;
  for (size_t i = 0; i < rank; ++i) {
    std::optional<int64_t> size = getConstantIntValue(view.getShape()[i]),
                           stride = getConstantIntValue(view.getStrides()[i]);
    if (!size || !stride)
      return std::nullopt;
    sizes[5 - rank + i] = *size;
    strides[5 - rank + i] = *stride;
  }
  int64_t bytes = getElementBits(cast<TensorViewType>(view.getResult().getType()).getElementType()) / 8;
  if (sizes[2] == 16 && 16 * sizes[3] * bytes == 512 && strides[4] == 1 && strides[3] == sizes[4])
    return Layout::nz;
  // Blocks with any number of rows, in column-major order.
  if (sizes[4] * bytes == 32 && strides[4] == 1 && strides[3] == sizes[4] &&
      (sizes[2] == 1 || strides[2] == sizes[3] * sizes[4]) && meetsBlockedTiles(view.getResult()))
    return Layout::nz;
  bool rows = strides[4] == 1, columns = rank > 1 && strides[3] == 1;
  if (!rows && !columns) { // neither is dense: the text decides what outer axes count
    ambiguous = true;
    return Layout::nd;
  }
  ambiguous = columns && (rows || sizes[4] == 1);
  if (ambiguous)
    return meetsColumnTile(view.getResult()) || !rows ? Layout::dn : Layout::nd;
  return columns ? Layout::dn : Layout::nd;
}

namespace {
struct InferLayoutPass : pto_mlir::pto::impl::PTOInferLayoutBase<InferLayoutPass> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](MakeTensorViewOp view) -> WalkResult {
      bool ambiguous = false;
      std::optional<Layout> shown = shownLayout(view, ambiguous);
      std::optional<Layout> written = view.getLayout();
      if (!shown)
        return WalkResult::advance();
      // Inference recognises nz for one block size only, so an explicit nz is accepted.
      if (written && *written != *shown && !ambiguous && *written != Layout::nz) {
        view.emitOpError("says layout ") << stringifyLayout(*written) << ", but its sizes and strides are those of "
                                         << stringifyLayout(*shown);
        return WalkResult::interrupt();
      }
      PTO_DEBUG("layout " << stringifyLayout(written.value_or(*shown)) << " at " << view.getLoc());
      if (!written)
        view.setLayout(*shown);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
