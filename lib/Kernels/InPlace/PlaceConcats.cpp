//===- PlaceConcats.cpp - the place-concats pass ----------------------------===//

#include "../LaunchSlots.h"
#include "../Reshapes.h"
#include "PitchedViews.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/Transforms/Estimate.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Kernels/Passes.h"
#include "pto_mlir/Support/FreeName.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <deque>
#include <map>

#define DEBUG_TYPE "place-concats"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {

#define GEN_PASS_DEF_PLACECONCATS
#include "pto_mlir/Kernels/Passes.h.inc"

namespace {

using kernels::Pitch;
using kernels::PitchedViews;

/// Rows of tensors inside of others begin at multiples of so many bytes, which every transfer takes.
constexpr int64_t kAlignment = 32;

/// A launch of a kernel that does nothing but concatenate.
struct Concat {
  top::LaunchOp launch;
  int64_t axis;
  SmallVector<Value> pieces; ///< results of launches, without reshapes
  SmallVector<int64_t> rows; ///< elements of one row of each piece: those behind `axis`, and along it
  int64_t row = 0, outer = 1;

  OpResult result() const { return launch->getResult(0); }
  int64_t bytes() const { return *top::tensorBytes(cast<RankedTensorType>(result().getType())); }
};

/// A use of a tensor, or of another shape of it, by a launch.
struct Use {
  top::LaunchOp launch;
  unsigned operand; ///< argument of the kernel
};

/// Where the rows of a value are inside of those of a larger one.
struct Inside {
  Concat *root = nullptr;
  int64_t begin = 0, row = 0; ///< in elements
};

class Placer {
public:
  Placer(ModuleOp module, func::FuncOp main) : main(main), symbols(module), parts(pto::kernelParts(module)) {}

  void run();

private:
  std::optional<Concat> match(top::LaunchOp launch);
  bool isPiece(Value value);
  bool place(Concat &root);
  bool fits(const Inside &inside, Value value, const llvm::SmallPtrSetImpl<Operation *> &gone);
  std::optional<SmallVector<Use>> usesOf(Value value);
  bool allows(StringAttr kernel, unsigned argument, int64_t row);
  bool isPartOf(Concat &part, const llvm::MapVector<Value, Inside> &pieces, Inside &inside);
  void rewrite();
  using Pitches = std::map<unsigned, Pitch>; ///< by argument
  StringAttr pitched(StringAttr kernel, const Pitches &pitches);

  func::FuncOp main;
  SymbolTable symbols;
  llvm::MapVector<StringAttr, SmallVector<func::FuncOp>> parts; ///< of kernels
  llvm::DenseMap<Operation *, std::unique_ptr<PitchedViews>> views;
  std::map<std::tuple<Operation *, unsigned, int64_t>, bool> known;
  std::deque<Concat> concats;
  llvm::MapVector<Value, Inside> placed; ///< pieces, and concatenations that are part of others
  SmallVector<Concat *> done;
  llvm::DenseMap<StringAttr, std::map<Pitches, StringAttr>> variants; ///< of a kernel
};

/// What a run writes to elsewhere, or reads by another name, keeps a place of its own.
bool Placer::isPiece(Value value) {
  auto result = dyn_cast<OpResult>(value);
  auto launch = result ? dyn_cast<top::LaunchOp>(result.getOwner()) : top::LaunchOp();
  if (!launch || llvm::any_of(concats, [&](Concat &c) { return c.launch == launch; }))
    return false;
  return throughReshapes(launch.getInits()[result.getResultNumber()]).getDefiningOp<tensor::EmptyOp>() != nullptr;
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
    if (concat.rows.back() * top::elementBytes(type.getElementType()) % kAlignment != 0)
      return std::nullopt;
  }
  llvm::SmallDenseSet<Value> distinct(concat.pieces.begin(), concat.pieces.end());
  bool isWhole = sum == concat.row && distinct.size() == concat.pieces.size();
  return isWhole ? std::optional(std::move(concat)) : std::nullopt;
}

/// All uses of a value by launches; nothing where others look at its memory.
std::optional<SmallVector<Use>> Placer::usesOf(Value value) {
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

bool Placer::allows(StringAttr kernel, unsigned argument, int64_t row) {
  auto found = parts.find(kernel);
  if (found == parts.end())
    return false;
  return llvm::all_of(found->second, [&](func::FuncOp part) {
    auto [entry, isNew] = known.try_emplace({part, argument, row}, false);
    if (isNew) {
      std::unique_ptr<PitchedViews> &own = views[part];
      if (!own)
        own = std::make_unique<PitchedViews>(part);
      entry->second = own->allow(argument, row);
    }
    return entry->second;
  });
}

/// Whether all kernels that touch `value` can do so inside of the root's rows. `gone`: launches that will not be there.
bool Placer::fits(const Inside &inside, Value value, const llvm::SmallPtrSetImpl<Operation *> &gone) {
  auto uses = usesOf(value);
  return uses && llvm::all_of(*uses, [&](Use use) {
           bool fine = gone.contains(use.launch) || inside.root->outer == 1 ||
                       allows(use.launch.getKernelAttr().getAttr(), use.operand, inside.row);
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

/// The kernel with these arguments pitched.
StringAttr Placer::pitched(StringAttr kernel, const Pitches &pitches) {
  StringAttr &variant = variants[kernel][pitches];
  if (variant)
    return variant;
  std::string base = freeName(kernel.str() + "_placed", [&](const std::string &name) { return symbols.lookup(name); });
  variant = StringAttr::get(main.getContext(), base);
  for (func::FuncOp part : parts[kernel]) {
    OpBuilder b(part);
    b.setInsertionPointAfter(part);
    auto copy = cast<func::FuncOp>(b.clone(*part));
    copy.setName(base + part.getName().drop_front(kernel.size()).str());
    symbols.insert(copy);
    if (copy->hasAttr(pto::kPartOfAttr))
      copy->setAttr(pto::kPartOfAttr, variant);
    PitchedViews own(copy);
    for (auto &[argument, pitch] : pitches)
      own.set(argument, pitch);
  }
  return variant;
}

void Placer::rewrite() {
  llvm::MapVector<Operation *, Pitches> pitches;
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
  for (auto &[launch, pitch] : pitches) {
    auto own = cast<top::LaunchOp>(launch);
    own.setKernelAttr(FlatSymbolRefAttr::get(pitched(own.getKernelAttr().getAttr(), pitch)));
  }
  llvm::DenseSet<StringAttr> used = kernels::launchedKernels(main);
  for (auto &[kernel, functions] : parts)
    if (!used.contains(kernel))
      for (func::FuncOp part : functions)
        part.erase();
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
  if (!done.empty())
    rewrite();
}

struct PlaceConcatsPass : impl::PlaceConcatsBase<PlaceConcatsPass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (main && !main.isExternal() && main.getBody().hasOneBlock())
      Placer(getOperation(), main).run();
  }
};

} // namespace

} // namespace pto_mlir
