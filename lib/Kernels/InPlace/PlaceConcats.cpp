//===- PlaceConcats.cpp - the place-concats pass ----------------------------===//

#include "../Reshapes.h"
#include "PitchedKernels.h"
#include "PlaceColumns.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/Slices.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Kernels/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <deque>

#define DEBUG_TYPE "place-concats"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {

#define GEN_PASS_DEF_PLACECONCATS
#include "pto_mlir/Kernels/Passes.h.inc"

namespace {

using namespace kernels;

/// A launch of a kernel that does nothing but concatenate.
struct Concat {
  top::LaunchOp launch;
  int64_t axis;
  SmallVector<Value> pieces; ///< results of launches, without reshapes
  SmallVector<int64_t> rows; ///< elements of one row of each piece: those behind `axis`, and along it
  int64_t row = 0, outer = 1;

  OpResult result() const { return top::LaunchOp(launch)->getResult(0); }
  int64_t bytes() const { return *top::tensorBytes(cast<RankedTensorType>(result().getType())); }
};

/// Where the rows of a value are inside of those of a larger one.
struct Inside {
  Concat *root = nullptr;
  int64_t begin = 0, row = 0; ///< in elements
};

class Placer {
public:
  Placer(func::FuncOp main, PitchedKernels &kernels) : main(main), kernels(kernels) {}

  void run();
  /// Elements between the beginnings of rows of `row` elements of a tensor.
  int64_t pitchOf(Value value, int64_t row) const {
    auto found = placed.find(value);
    return found == placed.end() ? row : found->second.root->row;
  }
  void rewrite();

private:
  std::optional<Concat> match(top::LaunchOp launch);
  bool isPiece(Value value) const;
  bool place(Concat &root);
  bool fits(const Inside &inside, Value value, const llvm::SmallPtrSetImpl<Operation *> &gone);
  bool isPartOf(Concat &part, const llvm::MapVector<Value, Inside> &pieces, Inside &inside);

  func::FuncOp main;
  PitchedKernels &kernels;
  std::deque<Concat> concats;
  llvm::MapVector<Value, Inside> placed; ///< pieces, and concatenations that are part of others
  SmallVector<Concat *> done;
};

/// What a run writes to elsewhere, or reads by another name, keeps a place of its own.
bool Placer::isPiece(Value value) const {
  return hasOwnMemory(value) && llvm::none_of(concats, [&](const Concat &c) { return c.result() == value; });
}

std::optional<Concat> Placer::match(top::LaunchOp launch) {
  auto axis = launch->getAttrOfType<IntegerAttr>(top::kConcatAxisAttr);
  if (!axis || launch.getNumResults() != 1)
    return std::nullopt;
  auto type = cast<RankedTensorType>(launch->getResult(0).getType());
  Concat concat{launch, axis.getInt(), {}, {}};
  int64_t inner = 1;
  for (int64_t d = 0; d < type.getRank(); ++d)
    (d < concat.axis ? concat.outer : inner) *= d == concat.axis ? 1 : type.getDimSize(d);
  concat.row = inner * type.getDimSize(concat.axis);
  int64_t sum = 0;
  for (Value input : launch.getInputs()) {
    concat.pieces.push_back(throughReshapes(input));
    concat.rows.push_back(inner * cast<RankedTensorType>(input.getType()).getDimSize(concat.axis));
    sum += concat.rows.back();
    if (concat.rows.back() * top::elementBytes(type.getElementType()) % top::kSliceAlignment != 0)
      return std::nullopt;
  }
  llvm::SmallDenseSet<Value> distinct(concat.pieces.begin(), concat.pieces.end());
  bool isWhole = sum == concat.row && distinct.size() == concat.pieces.size();
  return isWhole ? std::optional(std::move(concat)) : std::nullopt;
}

/// Whether all kernels that touch `value` can do so inside of the root's rows. `gone`: launches that will not be there.
bool Placer::fits(const Inside &inside, Value value, const llvm::SmallPtrSetImpl<Operation *> &gone) {
  auto uses = usesOf(value);
  return uses && llvm::all_of(*uses, [&](Use use) {
           bool fine = gone.contains(use.launch) || inside.root->outer == 1 || kernels.allows(use, inside.row);
           if (!fine)
             PTO_DEBUG("@" << use.launch.getKernel() << " takes its operand " << use.operand << " to be dense");
           return fine;
         });
}

/// Whether the pieces of `part` lie one behind the other inside of the root's rows.
bool Placer::isPartOf(Concat &part, const llvm::MapVector<Value, Inside> &pieces, Inside &inside) {
  int64_t end = -1;
  for (auto [piece, row] : llvm::zip_equal(part.pieces, part.rows)) {
    auto found = pieces.find(piece);
    if (found == pieces.end() || found->second.row != row || (end >= 0 && found->second.begin != end))
      return false;
    inside = {found->second.root, end < 0 ? found->second.begin : inside.begin, part.row};
    end = found->second.begin + row;
  }
  return part.outer == inside.root->outer;
}

/// Places the pieces of `root`, and the concatenations that are part of it.
bool Placer::place(Concat &root) {
  llvm::MapVector<Value, Inside> pieces;
  int64_t begin = 0;
  for (auto [piece, row] : llvm::zip_equal(root.pieces, root.rows)) {
    if (placed.contains(piece) || !isPiece(piece))
      return false;
    pieces[piece] = {&root, begin, row};
    begin += row;
  }
  if (!usesOf(root.result())) // an output, or memory that something else looks into
    return false;
  auto own = [](Concat &concat) { return llvm::SmallPtrSet<Operation *, 16>{concat.launch}; };
  llvm::SmallPtrSet<Operation *, 16> gone = own(root);
  SmallVector<std::pair<Concat *, Inside>> partsOfRoot;
  for (Concat &other : concats)
    if (Inside inside; &other != &root && !placed.contains(other.result()) && !llvm::is_contained(done, &other) &&
                       isPartOf(other, pieces, inside) && fits(inside, other.result(), own(other))) {
      partsOfRoot.push_back({&other, inside});
      gone.insert(other.launch);
    }
  if (!llvm::all_of(pieces, [&](auto &entry) { return fits(entry.second, entry.first, gone); }))
    return false;
  PTO_DEBUG("@" << root.launch.getKernel() << ": in place, with " << partsOfRoot.size() << " parts of it");
  for (auto &[piece, inside] : pieces)
    placed[piece] = inside;
  done.push_back(&root);
  for (auto &[part, inside] : partsOfRoot) {
    placed[part->result()] = inside;
    done.push_back(part);
  }
  return true;
}

void Placer::rewrite() {
  if (done.empty())
    return;
  PitchedKernels::Changes pitches;
  for (auto &[value, inside] : placed) {
    auto uses = usesOf(value);
    for (Use use : *uses)
      if (inside.root->outer > 1)
        pitches[use.launch][use.operand] = {inside.row, inside.root->row};
  }
  for (Concat *concat : done) {
    pitches.erase(concat->launch);
    OpBuilder b(concat->launch);
    Value whole = b.create<tensor::ConcatOp>(concat->launch.getLoc(), concat->result().getType(), concat->axis,
                                             concat->launch.getInputs());
    concat->result().replaceAllUsesWith(whole);
  }
  for (Concat *concat : done)
    concat->launch.erase();
  kernels.apply(pitches);
}

void Placer::run() {
  for (auto launch : main.getOps<top::LaunchOp>())
    if (auto concat = match(launch))
      concats.push_back(std::move(*concat));
  if (concats.empty())
    return;
  SmallVector<Concat *> bySize;
  for (Concat &concat : concats)
    bySize.push_back(&concat);
  llvm::stable_sort(bySize, [](Concat *a, Concat *b) { return a->bytes() > b->bytes(); });
  for (Concat *concat : bySize)
    if (!llvm::is_contained(done, concat))
      place(*concat);
}

struct PlaceConcatsPass : impl::PlaceConcatsBase<PlaceConcatsPass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal() || !main.getBody().hasOneBlock())
      return;
    PitchedKernels kernels(getOperation(), main);
    Placer placer(main, kernels);
    placer.run();
    SmallVector<ColumnsCopy> copies =
        findColumns(main, [&](Value value, int64_t row) { return placer.pitchOf(value, row); });
    placer.rewrite();
    placeColumns(copies, kernels);
  }
};

} // namespace

} // namespace pto_mlir
