//===- Feed.cpp - rows from vector cores to their cube core ---------------===//

#include "Feed.h"

#include "mlir/IR/SymbolTable.h"

#include <functional>

using namespace mlir;

namespace pto_mlir::cube {

/// Of a block's vector cores; 0 and 1 are those of a handover.
constexpr int32_t kFed = 2;

std::optional<FeedShapes> feedShapes(const Contraction &c, const CubeTiling &t) {
  const CubeProblem &p = c.problem;
  const Matrix &left = c.left;
  bool sized = c.rowsPerSize || c.outerPerSize || left.outerRowsSize || left.innerRowsSize || left.outerColsSize;
  if (p.image || p.patches || sized || left.firstRow || left.firstCol || left.cols != p.k || left.rows != p.outer * p.m)
    return std::nullopt;
  for (int64_t o = 0; o < p.outer; ++o)
    if (o / left.inner * left.outerRows + o % left.inner * left.innerRows != o * p.m ||
        o / left.inner * left.outerCols + o % left.inner * left.innerCols != 0)
      return std::nullopt;
  FeedShapes shapes;
  int64_t block = std::min(t.blockM, p.m);
  shapes.rows = {block};
  if (p.m % block != 0)
    shapes.rows.push_back(p.m % block);
  shapes.perBlock = ceilDiv(p.outer, t.grid.outer) * ceilDiv(ceilDiv(p.m, block), t.grid.m);
  return shapes.perBlock <= kMostSlots ? std::optional(shapes) : std::nullopt;
}

/// The parts of the attribute; empty where they are not as join-kernels writes them.
struct FeedAttr {
  ArrayAttr panels, steps;
  DenseI64ArrayAttr rows;
  IntegerAttr tiling;
  explicit operator bool() const { return panels && !panels.empty() && steps && rows && tiling; }
};

static FeedAttr attributeOf(func::FuncOp kernel) {
  auto attribute = kernel->getAttrOfType<DictionaryAttr>(kFeedAttr);
  if (!attribute)
    return {};
  return {attribute.getAs<ArrayAttr>("panels"), attribute.getAs<ArrayAttr>("steps"),
          attribute.getAs<DenseI64ArrayAttr>("rows"), attribute.getAs<IntegerAttr>("tiling")};
}

CubeTiling fedTiling(func::FuncOp kernel, const std::vector<CubeTiling> &tilings) {
  FeedAttr attribute = attributeOf(kernel);
  auto number = attribute ? static_cast<size_t>(attribute.tiling.getInt()) : 0;
  return tilings[number < tilings.size() ? number : 0];
}

/// The number of an argument once `feeds` inputs behind the others stand for argument `left`, and slots are the first
/// output.
static unsigned renumbered(unsigned argument, unsigned left, unsigned inputs, size_t feeds) {
  return argument >= inputs ? argument + feeds : argument > left ? argument - 1 : argument;
}

Contraction withFeed(func::FuncOp kernel, const Contraction &contraction, unsigned inputs) {
  FeedAttr attribute = attributeOf(kernel);
  Contraction c = contraction;
  if (!attribute)
    return c;
  auto change = [&](Matrix &matrix) {
    matrix.arg = renumbered(matrix.arg, contraction.left.arg, inputs, attribute.steps.size());
  };
  change(c.right);
  change(c.out);
  if (c.bias)
    change(*c.bias);
  if (c.scales)
    change(*c.scales);
  return c;
}

FailureOr<Feed> readFeed(func::FuncOp kernel, const Contraction &c, const CubeTiling &t, unsigned inputs,
                         SmallVectorImpl<Type> &types, Handover *handover) {
  FeedAttr attribute = attributeOf(kernel);
  if (!attribute || attribute.rows.size() != static_cast<int64_t>(attribute.panels.size()))
    return kernel.emitOpError("expects '") << kFeedAttr << "' as join-kernels writes it";
  auto shapes = feedShapes(c, t);
  if (!shapes || attribute.rows.asArrayRef() != ArrayRef(shapes->rows))
    return kernel.emitOpError(
        "was joined for blocks of other rows; join-kernels and build-cube-kernels need the same num-cores");
  Feed feed;
  size_t feeds = attribute.steps.size();
  for (auto name : attribute.panels.getAsRange<FlatSymbolRefAttr>()) {
    auto panel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(kernel, name);
    if (!panel || panel.isExternal() || panel.getNumArguments() != feeds + 1 ||
        !llvm::all_of(panel.getArgumentTypes(), llvm::IsaPred<pto::PtrType>))
      return kernel.emitOpError("needs ") << name << " in tile instructions; run convert-linalg-to-pto first";
    feed.panels.push_back(panel);
  }
  feed.rows.assign(shapes->rows.begin(), shapes->rows.end());
  for (auto list : attribute.steps.getAsRange<DenseI64ArrayAttr>())
    feed.steps.push_back(llvm::to_vector(list.asArrayRef()));

  SmallVector<Type> old(types.begin(), types.end());
  types.assign(old.begin(), old.begin() + inputs);
  types.erase(types.begin() + c.left.arg);
  feed.firstArgument = types.size();
  llvm::append_range(types, feed.panels[0].getArgumentTypes().drop_back());
  unsigned ring = types.size();
  types.push_back(pto::PtrType::get(c.left.element));
  types.append(old.begin() + inputs, old.end());
  if (handover) {
    handover->ring.arg = renumbered(handover->ring.arg, c.left.arg, inputs, feeds);
    for (unsigned &argument : handover->arguments)
      argument = renumbered(argument, c.left.arg, inputs, feeds);
  }
  feed.ring.rows = shapes->rows[0];
  feed.ring.slots = shapes->perBlock;
  feed.ring.semaphore = kFed;
  feed.ring.fromVectors = true;
  feed.ring.matrix.arg = ring;
  feed.ring.matrix.element = c.left.element;
  feed.ring.matrix.rows = c.problem.cores * feed.ring.slots * feed.ring.rows;
  feed.ring.matrix.cols = c.problem.k;
  return feed;
}

void emitFeed(Emitter &e, const Feed &feed, Ix slotRow, Ix row, Ix rows) {
  SmallVector<Value> pointers;
  for (auto [i, steps] : llvm::enumerate(feed.steps))
    pointers.push_back(pointerAt(e, feed.firstArgument + i, placeOf(e, steps, row, e.constant(0))));
  pointers.push_back(pointerAt(e, feed.ring.matrix.arg, e.mul(slotRow, feed.ring.matrix.cols)));
  std::function<void(size_t)> choose = [&](size_t i) {
    if (i + 1 == feed.panels.size())
      return inlinePanel(e, feed.panels[i], pointers);
    e.ifZero(
        e.sub(rows, e.constant(feed.rows[i])), [&] { inlinePanel(e, feed.panels[i], pointers); },
        [&] { choose(i + 1); });
  };
  choose(0);
}

} // namespace pto_mlir::cube
