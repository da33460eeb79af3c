//===- WindowTiling.cpp - the part of a window's output made at a time ----===//

#include "WindowTiling.h"
#include "Phases.h"
#include "TileSizes.h"
#include "pto_mlir/Cost/Choice.h"
#include "pto_mlir/Cost/Prices.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace pto_mlir::vector_kernels {

PhaseTaps WindowAxis::taps(int64_t wanted) const {
  PhaseTaps found;
  for (int64_t k = 0; k < kernel; ++k) {
    if (phase(k) != wanted)
      continue;
    if (found.count == 0)
      found.first = k, found.firstShift = shift(k);
    if (found.count == 1)
      found.step = k - found.first, found.shiftStep = shift(k) - found.firstShift;
    ++found.count;
  }
  return found;
}

int64_t WindowAxis::reach(int64_t wanted) const {
  PhaseTaps read = taps(wanted);
  return read.count ? read.firstShift + (read.count - 1) * read.shiftStep : -1;
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
  double cost = 0, loads = 0; // cycles of the most loaded core, and input that all tiles read
};

class Chooser {
public:
  Chooser(linalg::LinalgOp window, const WindowTail &tail, int64_t cores)
      : tail(tail), prices(pto::targetOf(window).name), cores(cores), budget(unifiedBufferBudget(window)),
        height(windowAxis(window, 0)), width(windowAxis(window, 1)) {
    auto output = cast<RankedTensorType>(window->getResult(0).getType());
    auto input = cast<RankedTensorType>(window.getDpsInputs()[0].getType());
    // Images whose number is known at run time are tiled like one.
    images = output.isDynamicDim(0) ? 1 : output.getDimSize(0);
    rows = output.isDynamicDim(1) ? typicalRows(window) : output.getDimSize(1);
    cols = output.getDimSize(2);
    channels = output.getDimSize(3);
    inputBytes = std::max(1u, input.getElementTypeBitWidth() / 8);
    outputBytes = std::max(1u, output.getElementTypeBitWidth() / 8);
    converts = input.getElementType() != output.getElementType();
    hasFilter = cast<RankedTensorType>(window.getDpsInputs()[1].getType()).getRank() == 3;
  }

  WindowTile run() {
    SmallVector<Candidate> all;
    considerChannels([&](int64_t c) { return c % (32 / inputBytes) == 0 || c == channels; }, all);
    // Parts of blocks are moved and computed like whole ones: only where no whole ones fit.
    if (all.empty())
      considerChannels([](int64_t) { return true; }, all);
    if (all.empty())
      return {};
    return cost::fewestBytes(all, [](auto &c) { return c.cost; }, [](auto &c) { return c.loads; })->tile;
  }

private:
  /// Of an image whose rows are known at run time: the geometric mean of the fewest and the most. Tiles for the
  /// greatest image would leave most cores without one in a small image.
  static int64_t typicalRows(linalg::LinalgOp window) {
    auto func = window->getParentOfType<func::FuncOp>();
    auto number = [&](StringRef name) {
      auto sizes = func->getAttrOfType<DenseI64ArrayAttr>(name);
      return sizes ? double(sizes.asArrayRef().front()) : 1.0;
    };
    double most = double(loopBounds(window)[1]), share = number(pto::kLeastSizesAttr) / number(pto::kGreatestSizesAttr);
    return std::max<int64_t>(int64_t(most * std::sqrt(share)), 1);
  }

  int64_t bytes(int64_t h, int64_t w, int64_t c) const {
    int64_t padded = llvm::alignTo(c, converts ? 16 : 8);
    int64_t input = height.span(h) * width.span(w) * (inputBytes + (converts ? 4 : 0));
    int64_t filter = hasFilter ? height.kernel * width.kernel * (4 + (converts ? inputBytes : 0)) : 0;
    // What follows the window finds room where its input was.
    int64_t ofWindow =
        input + 4 * (tail.inputValues + tail.inputOperands) * width.span(w) + 4 * h * w + (hasFilter ? 12 : 4) * w;
    return padded * (std::max(ofWindow, 4 * tail.fullValues * h * w) + 4 * tail.operands * h * w + filter);
  }

  int64_t largestRows(int64_t w, int64_t c) const {
    int64_t most = tail.oneRow ? 1 : std::min(rows, std::max<int64_t>(kMostRows / w, 1));
    while (most > 0 && (bytes(most, w, c) > budget || height.span(most) * width.span(w) > kMostRows))
      --most;
    return most;
  }

  /// All equal parts of channels whose number is `allowed`, and of columns.
  void considerChannels(llvm::function_ref<bool(int64_t)> allowed, SmallVectorImpl<Candidate> &all) const {
    for (int64_t c = 1; c <= channels; ++c) {
      if (channels % c != 0 || !allowed(c))
        continue;
      for (int64_t w = 1; w <= cols; ++w)
        if (cols % w == 0)
          consider({largestRows(w, c), w, c}, all);
    }
  }

  void consider(WindowTile tile, SmallVectorImpl<Candidate> &all) const {
    for (int64_t most = tile.rows; most > 0; --most) {
      // Equal parts where that costs no further tile.
      int64_t parts = llvm::divideCeil(rows, most);
      tile.rows = llvm::divideCeil(rows, parts);
      all.push_back({tile, cost(tile, parts), double(count(tile, parts)) * spanElements(tile)});
      most = tile.rows;
    }
  }

  /// Tiles of the output.
  int64_t count(const WindowTile &tile, int64_t rowParts) const {
    return images * rowParts * (cols / tile.cols) * (channels / tile.channels);
  }

  /// Cycles of the most loaded core. V clears a tile's border before its input is loaded, behind its work on the tile
  /// before: loads and computation take turns, and only stores overlap.
  double cost(const WindowTile &tile, int64_t rowParts) const {
    auto rounds = double(llvm::divideCeil(count(tile, rowParts), cores));
    double compute = computeCycles(tile), load = loadCycles(tile), store = storeCycles(tile);
    return rounds * std::max(load + compute, store) + std::min(load + compute, store);
  }

  /// A command per row and tap, and what follows the window once per tile.
  double computeCycles(const WindowTile &tile) const {
    double elements = double(tile.rows) * tile.cols * llvm::alignTo(tile.channels, 8);
    double taps = double(height.kernel) * width.kernel * (hasFilter ? 2 : 1),
           behind = 2 + double(tail.fullValues + tail.operands);
    double commands = double(tile.rows) * (taps + (hasFilter ? 2 : 0)) + behind +
                      double(height.span(tile.rows) * width.stride * tail.inputValues);
    double worked = elements * (taps + behind) + spanElements(tile) * double(tail.inputValues + converts);
    return commands * prices.operation() + worked * prices.operationPerElement();
  }

  double loadCycles(const WindowTile &tile) const {
    auto runs = double(height.span(tile.rows) * width.stride);
    return runs * prices.start(cost::Way::ToUB) +
           spanElements(tile) * double(inputBytes) * prices.perByte(cost::Way::ToUB);
  }

  double storeCycles(const WindowTile &tile) const {
    return prices.transfer(cost::Way::FromUB, double(tile.rows * tile.cols * tile.channels * outputBytes));
  }

  /// Input that the tile reads.
  double spanElements(const WindowTile &tile) const {
    return double(height.span(tile.rows)) * double(width.span(tile.cols)) * double(llvm::alignTo(tile.channels, 8));
  }

  const WindowTail &tail;
  cost::Prices prices;
  int64_t cores, budget;
  WindowAxis height, width;
  int64_t images = 1, rows = 1, cols = 1, channels = 1, inputBytes = 4, outputBytes = 4;
  bool converts = false, hasFilter = false;
};

} // namespace

WindowTile chooseWindowTile(linalg::LinalgOp window, const WindowTail &tail, int64_t cores) {
  return Chooser(window, tail, cores).run();
}

} // namespace pto_mlir::vector_kernels
