//===- KernelBuilder.cpp - the pto body of a cube kernel ------------------===//
//
// for (core of the grid)
//   for (outer)
//     for (block of columns)        bias and scales into their tables, maybe all of B
//       for (block of rows)         the left source may load its slab
//         for (tile of baseM rows)
//           for (panel of K)        panels of A and B into L1
//             for (tile of K)       L0A, L0B, tmatmul
//           store from L0C          the epilogue on the way
//
// The vector cores of a joined kernel go through the same blocks of rows, to make the left operand of each, and then
// through the same tiles.
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "LeftSource.h"
#include "pto_mlir/Kernels/Requantise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pto_mlir::cube {

namespace {

class KernelBuilder {
public:
  KernelBuilder(func::FuncOp func, const Contraction &c, const CubeTiling &t, int64_t cores,
                const Handover *handover = nullptr, const Feed *feed = nullptr, bool follows = false)
      : e(func), c(c), t(t), p(this->c.problem), handover(handover), feed(feed), follows(follows) {
    e.cores = cores;
    if (feed)
      this->c.left = feed->ring.matrix;
    chooseBlocks();
    std::function<Ix()> leftRow = feed ? std::function<Ix()>([&] { return fedRow(); }) : nullptr;
    left = p.image     ? makeImageSource(e, this->c, t, !follows)
           : p.patches ? makePatchSource(e, this->c, t)
                       : makePlainSource(e, this->c, t, m, blockM, leftRow, !follows);
    products = c.outerPerSize ? e.mul(e.kernelSize(0), c.outerPerSize) : e.constant(p.outer);
  }

  void run() {
    // All slots are free at first, and in the end.
    if (handover && follows)
      for (int64_t i = 0; i < handover->slots; ++i)
        raise(e, pto::Pipe::PIPE_MTE2, Semaphore::Free);
    // Cores along m fastest, then n, then outer.
    Ix gridM = mostM, gridN = e.constant(t.grid.n);
    bool turns = c.rowsPerSize && p.outer == 1;
    if (turns) {
      // Cores that have no rows take columns.
      gridM = e.min(mostM, left->numBlocks());
      gridN = e.min(e.div(e.constant(p.cores), gridM), columnBlocks);
    }
    e.spread(turns ? p.cores : t.grid.size(), [&](Ix core) {
      block = core;
      Ix rest = e.div(core, gridM);
      // Without products to share, a core beyond the grid is beyond the columns.
      Ix coreM = e.rem(core, gridM), coreN = turns ? rest : e.rem(rest, gridN);
      Ix coreOuter = turns ? e.constant(0) : e.div(rest, gridN);
      if (feed && follows)
        makeRows(coreOuter, coreM);
      if (follows && !handover)
        return;
      share(outerTurn, coreOuter, e.constant(t.grid.outer), products, [&](Ix index) {
        outer = index;
        bool awaitsAll = feed && !follows && !t.rowsOuter && columnsPerCore() > 1;
        if (awaitsAll)
          share(rowTurn, coreM, gridM, left->numBlocks(), [&](Ix) { await(e, pto::Pipe::PIPE_MTE2, feed->ring); });
        auto columns = [&](Emitter::Body body) {
          share(columnTurn, coreN, gridN, columnBlocks, [&](Ix block) {
            enterColumns(block);
            body(block);
          });
        };
        auto rows = [&](Emitter::Body body) {
          share(rowTurn, coreM, gridM, left->numBlocks(), [&](Ix block) {
            if (feed && !follows && !awaitsAll)
              await(e, pto::Pipe::PIPE_MTE2, feed->ring);
            left->enterBlock(outer, block);
            body(block);
          });
        };
        if (t.rowsOuter)
          rows([&](Ix) { columns([&](Ix) { emitBlock(); }); });
        else
          columns([&](Ix) { rows([&](Ix) { emitBlock(); }); });
      });
    });
    if (handover && !follows)
      for (int64_t i = 0; i < handover->slots; ++i)
        await(e, pto::Pipe::PIPE_FIX, Semaphore::Free);
    e.b.create<func::ReturnOp>(e.loc);
  }

private:
  /// The sizes of blocks: those of the tiling, or by the number of rows.
  void chooseBlocks() {
    m = c.rowsPerSize ? e.mul(e.kernelSize(0), c.rowsPerSize) : e.constant(p.m);
    blockM = e.constant(std::min(t.blockM, p.m)), blockN = e.constant(std::min(t.blockN, p.n)),
    mostM = e.constant(t.grid.m);
    columnBlocks = e.constant(ceilDiv(p.n, t.blockN));
    if (c.rowsPerSize)
      for (const FewRows &few : llvm::reverse(t.few)) {
        auto choose = [&](Ix &size, int64_t ofFew) { size = e.ifAtMost(m, few.rows, e.constant(ofFew), size); };
        choose(blockM, few.blockM);
        choose(blockN, few.blockN);
        choose(mostM, few.gridM);
        choose(columnBlocks, ceilDiv(p.n, few.blockN));
      }
  }

  /// The trip of a core's own loop: `index` counts from `first`, `trips` times.
  struct Turn {
    Ix index, first, trips;
  };

  /// The blocks that `core` of `cores` takes of `count`: as many neighbours as
  /// every other core, the last core maybe fewer.
  void share(Turn &turn, Ix core, Ix cores, Ix blocks, Emitter::Body body) {
    auto run = [&](Ix index) {
      turn.index = index;
      body(index);
    };
    std::optional<int64_t> knownBlocks = getConstantIntValue(blocks), knownCores = getConstantIntValue(cores);
    if (!knownBlocks && knownCores == 1) {
      turn = {Ix(), e.constant(0), blocks};
      return e.loop(e.constant(0), blocks, run);
    }
    if (!knownBlocks || !knownCores) {
      Ix each = e.div(e.sub(e.add(blocks, cores), e.constant(1)), cores), first = e.mul(core, each);
      Ix end = e.min(e.add(first, each), blocks);
      turn = {Ix(), first, handover ? e.sub(end, first) : each};
      return e.loop(first, end, run);
    }
    int64_t count = *knownBlocks, each = ceilDiv(count, *knownCores);
    bool alone = *knownCores == 1;
    turn = {Ix(), alone ? e.constant(0) : core, e.constant(each)};
    if (each == 1)
      return alone ? run(e.constant(0)) : run(core);
    if (alone)
      return e.loop(e.constant(count), 1, run);
    turn.first = e.mul(core, each);
    turn.trips = e.extent(turn.first, each, count);
    e.loop(turn.first, e.add(turn.first, turn.trips), run);
  }

  /// Trips before this one.
  Ix number(const Turn &turn) {
    bool once = isConstantIntValue(turn.trips, 1);
    return once ? e.constant(0) : e.sub(turn.index, turn.first);
  }

  /// Blocks of columns that a core has of each block of rows, at most.
  int64_t columnsPerCore() const { return ceilDiv(ceilDiv(p.n, t.blockN), t.grid.n); }

  /// The row of the feed's ring where the left operand of this block of rows begins.
  Ix fedRow() {
    Ix count = e.add(e.mul(number(outerTurn), rowTurn.trips), number(rowTurn));
    return cube::slotRow(e, feed->ring, block, count);
  }

  /// The vector cores' share of the left operands of a core.
  void makeRows(Ix coreOuter, Ix coreM) {
    share(outerTurn, coreOuter, e.constant(t.grid.outer), products, [&](Ix index) {
      outer = index;
      share(rowTurn, coreM, mostM, left->numBlocks(), [&](Ix block) {
        left->enterBlock(outer, block);
        emitFeed(e, *feed, fedRow(), e.add(e.mul(outer, p.m), left->firstRow()), left->rows());
        raise(e, pto::Pipe::PIPE_MTE3, feed->ring);
      });
    });
  }

  /// The row of the ring where the slot of this tile begins: its tiles take the
  /// slots of a block in turn.
  Ix slotRow(Ix row) {
    Ix count = number(outerTurn);
    for (const Turn *turn : {t.rowsOuter ? &rowTurn : &columnTurn, t.rowsOuter ? &columnTurn : &rowTurn})
      count = e.add(e.mul(count, turn->trips), number(*turn));
    count = e.add(e.mul(count, handover->perRows), e.div(row, t.baseM));
    Ix slot = e.add(e.mul(block, handover->slots), e.rem(count, handover->slots));
    return e.mul(slot, handover->rows[0]);
  }

  /// The vector cores' share of a tile.
  void follow(Ix row, Ix rows) {
    await(e, pto::Pipe::PIPE_MTE2, Semaphore::Full);
    Ix first = e.add(e.mul(outer, p.m), e.add(left->firstRow(), row));
    emitPanel(e, *handover, slotRow(row), first, n, rows, extentN);
    raise(e, pto::Pipe::PIPE_MTE2, Semaphore::Free);
  }

  void emitBlock() {
    if (left->blockRows() <= t.baseM)
      emitTile(e.constant(0));
    else
      e.loop(left->rows(), t.baseM, [&](Ix row) { emitTile(row); });
  }

  void enterColumns(Ix block) {
    n = e.mul(block, blockN);
    extentN = e.extent(n, blockN, e.constant(p.n));
    if (follows)
      return;
    if (c.bias)
      bias = loadBias(e, c, outer, n, t.baseN, extentN);
    if (c.scales)
      scales = loadScales(e, c, outer, n, t.baseN, extentN);
    if (t.holdB)
      loadRight(e.constant(0), e.constant(p.k), p.k);
    if (holdsRightTile(p, t))
      rightTile = extractRight(e.constant(0), e.constant(p.k));
  }

  /// Rows [k, k + extent) of B for this n block into L1.
  void loadRight(Ix k, Ix extent, int64_t most) {
    int64_t rows = roundUp(most, depthUnit(p.inBytes));
    auto type = c.right.transposed ? pto::makeMatZNTile(e.context(), rows, t.baseN, c.right.element)
                                   : pto::makeMatTile(e.context(), rows, t.baseN, c.right.element);
    right = e.tile(type, extent, extentN);
    // A transposed operand's rows in memory are the product's columns.
    Ix firstRow = e.rowOf(c.right, outer), firstCol = e.colOf(c.right, outer);
    Ix row = e.add(c.right.transposed ? firstCol : firstRow, k);
    Ix col = e.add(c.right.transposed ? firstRow : firstCol, n);
    e.load(e.part(c.right, row, col, extent, extentN), right);
  }

  void emitTile(Ix row) {
    Ix rows = left->blockRows() <= t.baseM ? left->rows() : partExtent(row, left->rows(), t.baseM);
    if (follows)
      return follow(row, rows);
    left->enterTile(row, rows);
    Value acc = e.tile(pto::makeAccTile(e.context(), t.baseM, t.baseN, c.accumulator), rows, extentN);
    e.loop(e.constant(p.k), std::min(t.panelK, p.k), [&](Ix panel) {
      Ix extent = e.extent(panel, std::min(t.panelK, p.k), p.k);
      left->enterPanel(panel, extent);
      if (!t.holdB)
        loadRight(panel, extent, std::min(t.panelK, p.k));
      int64_t step = std::min(t.baseK, std::min(t.panelK, p.k));
      e.loop(extent, step, [&](Ix k) { emitStep(acc, panel, k, partExtent(k, extent, step), rows); });
    });
    store(acc, row, rows);
  }

  /// Extent of the part that begins at `start` of `whole` cut into parts of
  /// `size`.
  Ix partExtent(Ix start, Ix whole, int64_t size) {
    if (auto number = getConstantIntValue(whole))
      return e.extent(start, size, *number);
    return e.min(e.constant(size), e.sub(whole, start));
  }

  int64_t depth() const { return roundUp(t.baseK, blockChannels(p.inBytes)); }

  /// Rows [k, k + extent) of what is in L1 of B into L0B.
  Value extractRight(Ix k, Ix extent) {
    Value tile = e.tile(pto::makeRightTile(e.context(), depth(), t.baseN, c.right.element), extent, extentN);
    e.b.create<pto::TExtractOp>(e.loc, right, e.value(k), e.value(e.constant(0)), tile);
    return tile;
  }

  void emitStep(Value acc, Ix panel, Ix k, Ix extent, Ix rows) {
    Value a = e.tile(pto::makeLeftTile(e.context(), e.arch, t.baseM, depth(), c.left.element), rows, extent);
    left->extract(a, k);
    Ix position = e.add(panel, k);
    Value w = holdsRightTile(p, t) ? rightTile : extractRight(t.holdB ? position : k, extent);
    e.ifZero(
        position,
        [&] {
          if (bias)
            e.b.create<pto::TMatmulBiasOp>(e.loc, a, w, bias, acc);
          else
            e.b.create<pto::TMatmulOp>(e.loc, a, w, acc);
        },
        [&] { e.b.create<pto::TMatmulAccOp>(e.loc, acc, a, w, acc); });
  }

  void store(Value acc, Ix row, Ix rows) {
    Ix first = e.add(e.rowOf(c.out, outer), e.add(left->firstRow(), row));
    Ix col = e.add(e.colOf(c.out, outer), n);
    if (handover)
      await(e, pto::Pipe::PIPE_FIX, Semaphore::Free);
    Value target = handover ? e.part(handover->ring, slotRow(row), e.constant(0), rows, extentN)
                            : e.part(c.out, first, col, rows, extentN);
    storeSums(e, c, acc, scales, target);
    if (handover)
      raise(e, pto::Pipe::PIPE_FIX, Semaphore::Full);
  }

  Emitter e;
  Contraction c;
  const CubeTiling &t;
  const CubeProblem &p;
  const Handover *handover;
  const Feed *feed;
  bool follows; ///< for the vector cores
  std::unique_ptr<LeftSource> left;
  Turn outerTurn, columnTurn, rowTurn;
  Ix products, block, outer, n, extentN;
  Ix m, blockM, blockN, mostM, columnBlocks; ///< rows; blocks and most cores along them; blocks of columns
  Value bias, scales, right, rightTile;
};

} // namespace

/// Columns [n, n + extent) of a row of one outer index, by way of L1 to a tile of `type`.
static Value loadRow(Emitter &e, const Matrix &row, pto::TileBufType type, Ix outer, Ix n, Ix extent) {
  Ix one = e.constant(1);
  Value staged = e.tile(pto::makeMatNDTile(e.context(), 1, type.getCols(), row.element), one, extent);
  Ix col = e.add(e.mul(outer, row.outerCols), n);
  e.load(e.part(row, e.constant(0), col, one, extent), staged);
  Value tile = e.tile(type, one, extent);
  e.b.create<pto::TMovOp>(e.loc, staged, tile);
  return tile;
}

Value loadBias(Emitter &e, const Contraction &c, Ix outer, Ix n, int64_t baseN, Ix extent) {
  return loadRow(e, *c.bias, pto::makeBiasTile(e.context(), baseN, c.bias->element), outer, n, extent);
}

Value loadScales(Emitter &e, const Contraction &c, Ix outer, Ix n, int64_t baseN, Ix extent) {
  return loadRow(e, *c.scales, pto::makeScalingTile(e.context(), baseN, c.scales->element), outer, n, extent);
}

void storeSums(Emitter &e, const Contraction &c, Value acc, Value scales, Value view) {
  const Epilogue &epilogue = c.epilogue;
  auto relu = epilogue.relu() ? pto::ReluPreMode::normal_relu : pto::ReluPreMode::no_relu;
  if (scales) {
    e.b.create<pto::TStoreFPOp>(e.loc, acc, scales, view, relu);
    return;
  }
  auto store = e.b.create<pto::TStoreOp>(e.loc, acc, view, relu);
  if (!epilogue.scale)
    return;
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPoint(store);
  auto descriptor = static_cast<int64_t>(quantDescriptor(*epilogue.scale, epilogue.offset));
  store.getPreQuantScalarMutable().assign(e.b.create<arith::ConstantIntOp>(e.loc, descriptor, 64));
}

void buildKernel(func::FuncOp func, const Contraction &contraction, const CubeTiling &tiling, int64_t cores) {
  KernelBuilder(func, contraction, tiling, cores).run();
}

void buildCubePart(func::FuncOp func, const Contraction &contraction, const CubeTiling &tiling, int64_t cores,
                   const Handover *handover, const Feed *feed) {
  KernelBuilder(func, contraction, tiling, cores, handover, feed).run();
}

void buildVectorPart(func::FuncOp func, const Contraction &contraction, const CubeTiling &tiling, int64_t cores,
                     const Handover *handover, const Feed *feed) {
  KernelBuilder(func, contraction, tiling, cores, handover, feed, /*follows=*/true).run();
}

} // namespace pto_mlir::cube
