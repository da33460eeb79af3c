//===- WindowTiling.cpp - the part of a window's output made at a time ----===//

#include "WindowTiling.h"
#include "Phases.h"
#include "TileSizes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir::vector_kernels {

int64_t WindowAxis::reach(int64_t wanted) const {
  int64_t most = -1;
  for (int64_t k = 0; k < kernel; ++k)
    if (phase(k) == wanted)
      most = std::max(most, shift(k));
  return most;
}

int64_t WindowAxis::span(int64_t outputs) const {
  int64_t sum = 0;
  for (int64_t p = 0; p < stride; ++p)
    if (int64_t last = reach(p); last >= 0)
      sum += outputs + last;
  return sum;
}

WindowAxis windowAxis(linalg::LinalgOp window, unsigned spatialDim) {
  auto filter = cast<RankedTensorType>(window.getDpsInputs()[1].getType());
  auto get = [&](StringRef name) {
    return window->getAttrOfType<DenseIntElementsAttr>(name).getValues<int64_t>()[spatialDim];
  };
  return {filter.getDimSize(spatialDim), get("strides"), get("dilations")};
}

namespace {

/// DMA commands count rows in 12 bits.
constexpr int64_t kMostRows = 4095;

struct Candidate {
  WindowTile tile;
  double cost = 0;
};

class Chooser {
public:
  Chooser(linalg::LinalgOp window, const WindowTail &tail, int64_t cores)
      : tail(tail), cores(cores), budget(unifiedBufferBudget(window)), height(windowAxis(window, 0)),
        width(windowAxis(window, 1)) {
    auto output = cast<RankedTensorType>(window->getResult(0).getType());
    auto input = cast<RankedTensorType>(window.getDpsInputs()[0].getType());
    images = output.getDimSize(0);
    rows = output.getDimSize(1);
    cols = output.getDimSize(2);
    channels = output.getDimSize(3);
    inputBytes = std::max(1u, input.getElementTypeBitWidth() / 8);
    converts = input.getElementType() != output.getElementType();
    hasFilter = cast<RankedTensorType>(window.getDpsInputs()[1].getType()).getRank() == 3;
  }

  WindowTile run() {
    Candidate best;
    for (int64_t c = 1; c <= channels; ++c) {
      // Whole 32-byte blocks: a smaller run is moved and computed like a block.
      if (channels % c != 0 || (c % (32 / inputBytes) != 0 && c != channels))
        continue;
      for (int64_t w = 1; w <= cols; ++w)
        if (cols % w == 0)
          consider({largestRows(w, c), w, c}, best);
    }
    return best.tile;
  }

private:
  int64_t bytes(int64_t h, int64_t w, int64_t c) const {
    int64_t padded = llvm::alignTo(c, converts ? 16 : 8);
    int64_t input = height.span(h) * width.span(w) * (inputBytes + (converts ? 4 : 0));
    int64_t filter = hasFilter ? height.kernel * width.kernel * (4 + (converts ? inputBytes : 0)) : 0;
    return padded * (input + 4 * tail.inputValues * width.span(w) + 4 * tail.fullValues * h * w +
                     (hasFilter ? 12 : 4) * w + filter);
  }

  int64_t largestRows(int64_t w, int64_t c) const {
    int64_t most = tail.oneRow ? 1 : std::min(rows, std::max<int64_t>(kMostRows / w, 1));
    while (most > 0 && bytes(most, w, c) > budget)
      --most;
    return most;
  }

  void consider(WindowTile tile, Candidate &best) const {
    for (int64_t most = tile.rows; most > 0; --most) {
      // Equal parts where that costs no further tile.
      int64_t parts = llvm::divideCeil(rows, most);
      tile.rows = llvm::divideCeil(rows, parts);
      double price = cost(tile, parts);
      if (best.tile.rows == 0 || price < best.cost)
        best = {tile, price};
      most = tile.rows;
    }
  }

  /// In element operations per output element of the whole tensor, most loaded core.
  double cost(const WindowTile &tile, int64_t rowParts) const {
    constexpr double kCommand = 400;
    int64_t tiles = images * rowParts * (cols / tile.cols) * (channels / tile.channels);
    int64_t rounds = llvm::divideCeil(tiles, cores);
    double elements = double(tile.rows) * tile.cols * llvm::alignTo(tile.channels, 8);
    double loads = double(height.span(tile.rows)) * width.span(tile.cols) * llvm::alignTo(tile.channels, 8) *
                   (2 + tail.inputValues);
    double taps = double(height.kernel) * width.kernel * (hasFilter ? 2 : 1);
    double commands =
        tile.rows * (taps + (hasFilter ? 2 : 0)) + height.span(tile.rows) * width.stride * (1 + tail.inputValues) + 12;
    // Runs below 64 bytes waste the memory's bursts.
    if (tile.channels < channels && tile.channels * inputBytes < 64)
      loads *= 2;
    // Cores that wait for others are worth a little time: memory is shared, and so is the work of other launches.
    constexpr double kUneven = 1.25;
    double share =
        double(rounds) * tile.rows * tile.cols * tile.channels * cores / (double(images) * rows * cols * channels);
    return (elements * (taps + 2 + tail.fullValues) + loads + kCommand * commands) * rounds *
           (share > kEvenShares ? kUneven : 1);
  }

  const WindowTail &tail;
  int64_t cores, budget;
  WindowAxis height, width;
  int64_t images = 1, rows = 1, cols = 1, channels = 1, inputBytes = 4;
  bool converts = false, hasFilter = false;
};

} // namespace

WindowTile chooseWindowTile(linalg::LinalgOp window, const WindowTail &tail, int64_t cores) {
  return Chooser(window, tail, cores).run();
}

} // namespace pto_mlir::vector_kernels
