// top-merge-convs: convolutions of one tensor as one, with their filters side by side.
#include "MergeProjections.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/Slices.h"
#include "pto_mlir/Dialect/Top/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#define DEBUG_TYPE "top-merge-convs"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir::top {
#define GEN_PASS_DEF_TOPMERGECONVS
#include "pto_mlir/Dialect/Top/Transforms/Passes.h.inc"

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
int64_t channelsOf(Value value) { return typeOf(value).getShape().back(); }

/// A convolution that may become a part of a larger one.
struct Part {
  ConvOp conv;
  Operation *activation = nullptr; ///< behind it, null without one
  ConcatOp concat;                 ///< that reads the result, if there is one

  Value result() const { return activation ? activation->getResult(0) : conv->getResult(0); }
};

/// Whether the kernel of `user` reads `value` where its rows lie apart.
bool readsApart(Operation *user, Value value) {
  auto conv = dyn_cast<ConvOp>(user);
  return conv && conv.getGroup() == 1 && conv.getInput() == value;
}

/// As above, also for windows.
bool readsWholeApart(Operation *user, Value value) {
  if (isa<PadOp>(user))
    return llvm::all_of(user->getUsers(), llvm::IsaPred<MaxPoolOp, AvgPoolOp>);
  return isa<MaxPoolOp, AvgPoolOp>(user) || readsApart(user, value);
}

bool isPart(ConvOp conv) {
  return conv.getLayout() == "NHWC" && conv.getGroup() == 1 && !conv.getTo() && getConstant(conv.getFilter()) &&
         (!conv.getBias() || getConstant(conv.getBias())) &&
         isa<FloatType>(typeOf(conv.getOutput()).getElementType()) &&
         isa<FloatType>(typeOf(conv.getFilter()).getElementType());
}

std::optional<Part> partOf(ConvOp conv) {
  if (!isPart(conv))
    return std::nullopt;
  Part part{conv};
  if (conv->hasOneUse() && isa<ReluOp, LeakyReluOp, ClipOp>(*conv->user_begin()) &&
      conv->user_begin()->getResult(0).getType() == conv.getType())
    part.activation = *conv->user_begin();
  Value result = part.result();
  RankedTensorType type = typeOf(result);
  if (type.getShape().back() * type.getElementTypeBitWidth() / 8 % kSliceAlignment != 0)
    return std::nullopt;
  for (Operation *user : result.getUsers()) {
    if (readsApart(user, result))
      continue;
    auto concat = dyn_cast<ConcatOp>(user);
    if (!concat || part.concat || concat.getAxis() != type.getRank() - 1)
      return std::nullopt;
    part.concat = concat;
  }
  return part;
}

bool canMerge(const Part &a, const Part &b) {
  ConvOp x = a.conv, y = b.conv;
  bool alikeBehind =
      bool(a.activation) == bool(b.activation) &&
      (!a.activation || (a.activation->getName() == b.activation->getName() &&
                         a.activation->getDiscardableAttrDictionary() == b.activation->getDiscardableAttrDictionary() &&
                         a.activation->getPropertiesAsAttribute() == b.activation->getPropertiesAsAttribute()));
  return x->getBlock() == y->getBlock() && alikeBehind && x.getStrides() == y.getStrides() &&
         x.getPads() == y.getPads() && x.getDilations() == y.getDilations() && x.getKernel() == y.getKernel() &&
         haveLikeElements(x.getFilter(), y.getFilter()) && haveLikeElements(x.getBias(), y.getBias()) &&
         haveLikeElements(x.getOutput(), y.getOutput());
}

/// Parts side by side: those that are concatenated stand together at one end.
struct Merge {
  SmallVector<Part> parts;
  ConcatOp concat; ///< null: none is concatenated
  unsigned concatenated = 0;
  bool atEnd = false; ///< where the parts stand that are concatenated: they are then the first of `concat`

  int64_t channels() const {
    int64_t sum = 0;
    for (const Part &part : parts)
      sum += channelsOf(part.result());
    return sum;
  }
};

/// The operands of `concat` that are parts: the run at its beginning, or else at its end.
SmallVector<Part> runOf(ConcatOp concat, ArrayRef<Part> parts, bool atFront) {
  SmallVector<Part> run;
  SmallVector<Value> inputs(concat.getInputs());
  if (!atFront)
    std::reverse(inputs.begin(), inputs.end());
  for (Value input : inputs) {
    auto part = llvm::find_if(parts, [&](const Part &p) { return p.result() == input; });
    if (part == parts.end())
      break;
    run.push_back(*part);
  }
  if (!atFront)
    std::reverse(run.begin(), run.end());
  return run;
}

bool canWiden(ConcatOp concat) {
  return llvm::all_of(concat->getUsers(), [&](Operation *user) { return readsWholeApart(user, concat.getOutput()); });
}

Merge arrange(ArrayRef<Part> parts) {
  Merge merge;
  SmallVector<Part> run;
  for (const Part &part : parts) {
    if (!part.concat) {
      merge.parts.push_back(part);
    } else if (run.empty() && canWiden(part.concat)) {
      run = runOf(part.concat, parts, merge.atEnd = true);
      if (run.empty())
        run = runOf(part.concat, parts, merge.atEnd = false);
      merge.concat = run.empty() ? ConcatOp() : part.concat;
    }
  }
  merge.concatenated = run.size();
  merge.parts.insert(merge.atEnd ? merge.parts.end() : merge.parts.begin(), run.begin(), run.end());
  return merge;
}

RankedTensorType withChannels(RankedTensorType type, int64_t channels) {
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = channels;
  return RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
}

/// The convolution of all parts, with what follows each of them.
Value makeWhole(OpBuilder &b, const Merge &merge) {
  ConvOp first = merge.parts.front().conv;
  SmallVector<Value> filters, biases;
  for (Part part : merge.parts) {
    filters.push_back(part.conv.getFilter());
    if (part.conv.getBias())
      biases.push_back(part.conv.getBias());
  }
  RankedTensorType type = withChannels(typeOf(first.getOutput()), merge.channels());
  SmallVector<Value> operands{first.getInput(), concatenateConstants(b, filters, type.getRank() - 1)};
  if (!biases.empty())
    operands.push_back(concatenateConstants(b, biases, 0));
  auto create = [&](Operation *like, ValueRange of) {
    OperationState state(b.getUnknownLoc(), like->getName());
    state.addOperands(of);
    state.addAttributes(like->getAttrs());
    state.addTypes(type);
    return b.create(state)->getResult(0);
  };
  Value whole = create(first, operands);
  return merge.parts.front().activation ? create(merge.parts.front().activation, whole) : whole;
}

/// Has the concatenation take all of `whole`, of which its own operands stand at one end.
void widen(const Merge &merge, Value whole) {
  ConcatOp concat = merge.concat;
  OpBuilder b(concat);
  SmallVector<Value> inputs(concat.getInputs());
  auto *run = merge.atEnd ? inputs.begin() : inputs.end() - merge.concatenated;
  *run = whole;
  inputs.erase(run + 1, run + merge.concatenated);
  int64_t all = 0;
  for (Value input : inputs)
    all += channelsOf(input);
  int64_t extra = all - channelsOf(concat.getOutput());
  auto wide = b.create<ConcatOp>(extra ? b.getUnknownLoc() : concat.getLoc(), withChannels(concat.getType(), all),
                                 inputs, concat.getAxis());
  Value result = wide.getOutput();
  if (extra)
    result = sliceColumns(b, concat.getLoc(), result, merge.atEnd ? extra : 0, concat.getType());
  concat.getOutput().replaceAllUsesWith(result);
  concat.erase();
}

void apply(const Merge &merge) {
  ConvOp first = merge.parts.front().conv;
  for (const Part &part : merge.parts)
    if (part.conv->isBeforeInBlock(first))
      first = part.conv;
  OpBuilder b(first);
  // Constants of later convolutions may stand behind the first.
  for (const Part &part : merge.parts)
    for (Value constant : part.conv->getOperands().drop_front())
      if (Operation *op = constant.getDefiningOp(); !op->isBeforeInBlock(first))
        op->moveBefore(first);
  Value whole = makeWhole(b, merge);
  if (merge.concat)
    widen(merge, whole);
  int64_t begin = 0;
  for (const Part &part : merge.parts) {
    Value result = part.result();
    if (!result.use_empty())
      result.replaceAllUsesWith(sliceColumns(b, result.getLoc(), whole, begin, typeOf(result)));
    begin += channelsOf(result);
  }
  for (const Part &part : merge.parts) {
    if (part.activation)
      part.activation->erase();
    ConvOp(part.conv).erase();
  }
}

/// Merges convolutions of `input`; false where there are none left to merge.
bool mergeOne(Value input) {
  SmallVector<Part> all;
  for (Operation *user : input.getUsers())
    if (auto conv = dyn_cast<ConvOp>(user); conv && conv.getInput() == input)
      if (std::optional<Part> part = partOf(conv))
        all.push_back(*part);
  llvm::sort(all, [](const Part &a, const Part &b) { return ConvOp(a.conv)->isBeforeInBlock(b.conv); });
  for (const Part &first : all) {
    SmallVector<Part> alike;
    llvm::copy_if(all, std::back_inserter(alike), [&](const Part &part) { return canMerge(first, part); });
    Merge merge = arrange(alike);
    if (merge.parts.size() < 2)
      continue;
    PTO_DEBUG(merge.parts.size() << " convolutions of one tensor as one, " << merge.concatenated << " concatenated");
    apply(merge);
    return true;
  }
  return false;
}

void mergeAll(Value input) {
  while (llvm::count_if(input.getUsers(), llvm::IsaPred<ConvOp>) > 1 && mergeOne(input)) {
  }
}

struct MergeConvs : public impl::TopMergeConvsBase<MergeConvs> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isExternal() || func->hasAttr(kSymbolsAttr))
        continue;
      func.walk([&](Block *block) {
        for (BlockArgument argument : block->getArguments())
          mergeAll(argument);
        // What is erased and made stands behind `op`.
        for (Operation *op = &block->front(); op; op = op->getNextNode())
          for (Value result : op->getResults())
            mergeAll(result);
      });
    }
  }
};

} // namespace
} // namespace pto_mlir::top
