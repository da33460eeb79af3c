//===- PlainSource.cpp - left tiles from a row-major matrix ---------------===//

#include "LeftSource.h"

using namespace mlir;

namespace pto_mlir::cube {

namespace {

class PlainSource : public LeftSource {
public:
  PlainSource(Emitter &e, const Contraction &c, const CubeTiling &t, Ix rows, Ix blockRows, std::function<Ix()> leftRow,
              bool loads)
      : e(e), c(c), t(t), leftRow(std::move(leftRow)), loads(loads), m(rows), blockM(blockRows) {}

  Ix numBlocks() const override { return e.ceilDiv(m, blockM); }
  int64_t blockRows() const override { return std::min(t.blockM, c.problem.m); }
  Ix rows() const override { return blockExtent; }
  Ix firstRow() const override { return first; }

  void enterBlock(Ix outerIndex, Ix block) override {
    outer = outerIndex;
    first = e.mul(block, blockM);
    blockExtent = e.extent(first, blockM, m);
    if (loads)
      firstLeft = leftRow ? leftRow() : e.add(e.rowOf(c.left, outer), first);
    if (t.heldK > 0 && loads) {
      held = tile(e.constant(t.heldK), t.heldK);
      load(e.constant(0), e.constant(t.heldK), held);
    }
  }

  void enterTile(Ix, Ix) override {}

  void enterPanel(Ix k, Ix extent) override {
    position = k;
    if (t.heldK == c.problem.k)
      return;
    int64_t most = std::min(t.panelK, c.problem.k);
    panel = tile(extent, most);
    ifHeld([] {}, [&] { load(k, extent, panel); });
  }

  void extract(Value left, Ix k) override {
    auto from = [&](Value tile, Ix column) {
      e.b.create<pto::TExtractOp>(e.loc, tile, e.value(e.constant(0)), e.value(column), left);
    };
    ifHeld([&] { from(held, e.add(position, k)); }, [&] { from(panel, k); });
  }

private:
  /// Whether the panel is part of what stays in L1: panels up to heldK are.
  void ifHeld(llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise) {
    if (t.heldK == 0)
      otherwise();
    else if (t.heldK == c.problem.k)
      then();
    else
      e.ifZero(e.div(position, t.heldK), then, otherwise);
  }

  /// `extent` columns of this block, at most `most`, in L1.
  Value tile(Ix extent, int64_t most) {
    int64_t cols = roundUp(most, blockChannels(c.problem.inBytes));
    return e.tile(pto::makeMatTile(e.context(), t.baseM, cols, c.left.element), blockExtent, extent);
  }

  /// Columns [k, k + extent) of this block into `tile`.
  void load(Ix k, Ix extent, Value tile) {
    Ix col = e.add(e.colOf(c.left, outer), k);
    e.load(e.part(c.left, firstLeft, col, blockExtent, extent), tile);
  }

  Emitter &e;
  const Contraction &c;
  const CubeTiling &t;
  std::function<Ix()> leftRow;
  bool loads;
  Ix m, blockM;                                      ///< rows of one outer index, and of a block
  Ix outer, first, firstLeft, blockExtent, position; ///< firstLeft: of the operand's argument
  Value held, panel;
};

} // namespace

std::unique_ptr<LeftSource> makePlainSource(Emitter &emitter, const Contraction &contraction, const CubeTiling &tiling,
                                            Ix rows, Ix blockRows, std::function<Ix()> leftRow, bool loads) {
  return std::make_unique<PlainSource>(emitter, contraction, tiling, rows, blockRows, std::move(leftRow), loads);
}

} // namespace pto_mlir::cube
