#include "JoinLaunches.h"

#include "Reshapes.h"

using namespace mlir;

namespace pto_mlir::kernels {

top::LaunchOp soleProducer(Value value) {
  if (!value.hasOneUse())
    return nullptr;
  while (isReshape(value.getDefiningOp()) && value.getDefiningOp()->getOperand(0).hasOneUse())
    value = value.getDefiningOp()->getOperand(0);
  return value.getDefiningOp<top::LaunchOp>();
}

static SmallVector<StringRef> stringsOf(ArrayAttr attr) {
  return attr ? llvm::to_vector(attr.getAsValueRange<StringAttr>()) : SmallVector<StringRef>();
}

/// The launch of `kernel` for both, whose outputs are `slots` and those of `launch` from `oldSlots` on.
static void replaceBoth(top::LaunchOp source, top::LaunchOp launch, unsigned input, StringAttr kernel,
                        ArrayRef<Value> inputs, ArrayRef<RankedTensorType> slots, unsigned oldSlots) {
  OpBuilder b(launch);
  SmallVector<Value> inits;
  for (RankedTensorType slot : slots)
    inits.push_back(b.create<tensor::EmptyOp>(launch.getLoc(), slot.getShape(), slot.getElementType()));
  llvm::append_range(inits, launch.getInits().drop_front(oldSlots));
  auto behindSlots = [&](ArrayAttr attr) {
    SmallVector<StringRef> strings = stringsOf(attr);
    strings.resize(launch.getNumResults());
    strings.erase(strings.begin(), strings.begin() + oldSlots);
    strings.insert(strings.begin(), slots.size(), "");
    return b.getStrArrayAttr(strings);
  };
  SmallVector<StringRef> absorbed = stringsOf(source.getAbsorbedAttr());
  absorbed.append(stringsOf(source.getNamesAttr()));
  absorbed.append(stringsOf(launch.getAbsorbedAttr()));
  llvm::erase(absorbed, "");
  auto both = b.create<top::LaunchOp>(launch.getLoc(), ValueRange(inits).getTypes(), FlatSymbolRefAttr::get(kernel),
                                      inputs, inits, behindSlots(launch.getNamesAttr()),
                                      behindSlots(launch.getLayoutsAttr()), b.getStrArrayAttr(absorbed),
                                      /*places=*/nullptr, launch.getScalarsAttr());
  Value between = launch.getInputs()[input];
  for (auto [old, made] :
       llvm::zip_equal(launch.getResults().drop_front(oldSlots), both.getResults().drop_front(slots.size())))
    old.replaceAllUsesWith(made);
  launch.erase();
  while (isReshape(between.getDefiningOp())) {
    Operation *op = between.getDefiningOp();
    between = op->getOperand(0);
    op->erase();
  }
  source.erase();
}

static void appendOthers(SmallVectorImpl<Value> &inputs, top::LaunchOp launch, unsigned input) {
  for (auto [i, value] : llvm::enumerate(launch.getInputs()))
    if (i != input)
      inputs.push_back(value);
}

void joinLaunches(top::LaunchOp source, top::LaunchOp launch, unsigned input, StringAttr kernel,
                  ArrayRef<RankedTensorType> slots) {
  SmallVector<Value> inputs(source.getInputs());
  appendOthers(inputs, launch, input);
  replaceBoth(source, launch, input, kernel, inputs, slots, /*oldSlots=*/0);
}

void feedLaunch(top::LaunchOp source, top::LaunchOp launch, unsigned input, StringAttr kernel,
                ArrayRef<RankedTensorType> slots, unsigned oldSlots) {
  SmallVector<Value> inputs;
  appendOthers(inputs, launch, input);
  llvm::append_range(inputs, source.getInputs());
  replaceBoth(source, launch, input, kernel, inputs, slots, oldSlots);
}

} // namespace pto_mlir::kernels
