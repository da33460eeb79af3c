//===- MakeModule.cpp - a kernel as a module for its reader ------------------------===//

#include "pto_mlir/Target/PTOText/PTOText.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;

namespace pto_mlir::ptotext {
namespace {

/// Why the public assembler cannot lower the op; empty when it can.
std::string whyNotAssembled(Operation *op) {
  if (isa<pto::TImg2ColOp>(op))
    return "pto.timg2col: its dialect has no move from an image to columns";
  if (isa<pto::TMulAddDstOp, pto::FifoPushOp, pto::FifoPopOp>(op))
    return (op->getName().getStringRef() + ": not an op of its dialect").str();
  if (auto store = dyn_cast<pto::TStoreFPOp>(op); store && store.getReluPreMode() != pto::ReluPreMode::no_relu)
    return "pto.tstore_fp: it has no relu there";
  auto integer = [](Value scalar) { return !isa<FloatType>(scalar.getType()); };
  if (auto most = dyn_cast<pto::TMaxSOp>(op); most && integer(most.getScalar()))
    return "pto.tmaxs: it lowers float scalars only";
  if (auto least = dyn_cast<pto::TMinSOp>(op); least && integer(least.getScalar()))
    return "pto.tmins: it lowers float scalars only";
  if (auto fill = dyn_cast<pto::TExpandSOp>(op);
      fill && fill.getScalar().getType().isBF16() && !fill.getScalar().getDefiningOp<arith::ConstantOp>())
    return "pto.texpands: of bf16 it lowers constants only";
  if (isa<arith::AddFOp>(op))
    return "arith.addf: it does not lower it";
  if (isa<scf::ForOp, scf::IfOp>(op))
    return llvm::any_of(op->getResultTypes(), [](Type type) { return isa<pto::TileBufType>(type); })
               ? (op->getName().getStringRef() + ": it hands no tiles on").str()
               : "";
  if (isa<pto::PTODialect, arith::ArithDialect, func::FuncDialect>(op->getDialect()) || isa<scf::YieldOp>(op))
    return "";
  return (op->getName().getStringRef() + ": it lowers pto, arith, scf.for and scf.if").str();
}

std::string whyNotAssembled(func::FuncOp func) {
  std::string reason;
  func.walk([&](Operation *op) {
    if (op != func && reason.empty())
      reason = whyNotAssembled(op);
  });
  return reason;
}

/// The type of the memory of inter-core semaphores, as in the public assembler's kernels.
MemRefType semaphores(Builder &b) {
  auto global = pto::AddressSpaceAttr::get(b.getContext(), pto::AddressSpace::gm);
  return MemRefType::get({256}, b.getI64Type(), AffineMap(), global);
}

} // namespace

func::FuncOp joinParts(OpBuilder &b, const Kernel &kernel, bool takesSemaphores) {
  Location loc = kernel.main->getLoc();
  SmallVector<Type> arguments(func::FuncOp(kernel.main).getArgumentTypes());
  if (takesSemaphores)
    arguments.push_back(semaphores(b));
  auto entry = b.create<func::FuncOp>(loc, func::FuncOp(kernel.main).getName(), b.getFunctionType(arguments, {}));
  OpBuilder inside = OpBuilder::atBlockBegin(entry.addEntryBlock());
  auto end = inside.create<func::ReturnOp>(loc);
  inside.setInsertionPoint(end);
  if (takesSemaphores)
    inside.create<pto::SetFFTsOp>(loc, entry.getArguments().back());
  for (func::FuncOp part : {kernel.main, kernel.vectorPart}) {
    inside.setInsertionPoint(end);
    Operation *section = part == kernel.main ? inside.create<pto::SectionCubeOp>(loc).getOperation()
                                             : inside.create<pto::SectionVectorOp>(loc).getOperation();
    Region &region = section->getRegion(0);
    inside.setInsertionPointToStart(region.empty() ? &region.emplaceBlock() : &region.front());
    IRMapping mapping;
    mapping.map(part.getArguments(), entry.getArguments().take_front(part.getNumArguments()));
    for (Operation &op : part.getBody().front().without_terminator())
      inside.clone(op, mapping);
  }
  return entry;
}

namespace {

/// Replaces constructs that the assembler does not support by equivalent ones; returns their description.
std::string rewriteForAssembler(func::FuncOp entry) {
  std::string rewritten;
  // The C++ that it emits has no literal for infinity; as initial value or padding of a maximum, the largest finite
  // number is equivalent.
  entry.walk([&](arith::ConstantOp constant) {
    auto number = dyn_cast<FloatAttr>(constant.getValue());
    if (!number || !number.getValue().isInfinity())
      return;
    rewritten = "arith.constant: an infinity, as the largest number";
    constant.setValueAttr(FloatAttr::get(
        number.getType(), APFloat::getLargest(number.getValue().getSemantics(), number.getValue().isNegative())));
  });
  // It cannot fill bf16 tiles: fill with the same bits as integers.
  entry.walk([&](pto::TExpandSOp fill) {
    auto constant = fill.getScalar().getDefiningOp<arith::ConstantOp>();
    auto tile = dyn_cast<pto::TileBufType>(fill.getDst().getType());
    if (!tile || !tile.getElementType().isBF16() || !constant)
      return;
    OpBuilder b(fill);
    Type word = b.getI16Type();
    rewritten = "pto.texpands: a tile of bf16, filled as i16";
    int64_t bits = cast<FloatAttr>(constant.getValue()).getValue().bitcastToAPInt().getSExtValue();
    Value words = b.create<pto::BitcastOp>(fill.getLoc(), tile.withElementType(word), fill.getDst());
    fill.getDstMutable().assign(words);
    fill.getScalarMutable().assign(b.create<arith::ConstantOp>(fill.getLoc(), b.getIntegerAttr(word, bits)));
  });
  return rewritten;
}

} // namespace

std::string whyNot(const Kernel &kernel, Reader reader) {
  if (reader == Reader::Compiler)
    return "";
  std::string reason = whyNotAssembled(kernel.main);
  return reason.empty() && kernel.vectorPart ? whyNotAssembled(kernel.vectorPart) : reason;
}

OwningOpRef<ModuleOp> makeModule(const Kernel &kernel, StringRef name, StringRef processor, Reader reader,
                                 std::string &rewritten) {
  func::FuncOp main = kernel.main;
  OpBuilder builder(main.getContext());
  OwningOpRef<ModuleOp> file = ModuleOp::create(main.getLoc());
  (*file)->setAttr("pto.target_arch", builder.getStringAttr(processor));
  builder.setInsertionPointToStart(file->getBody());
  auto entry = kernel.vectorPart ? joinParts(builder, kernel, !pto::targetNamed(processor).laneFlags)
                                 : cast<func::FuncOp>(builder.clone(*main.getOperation()));
  entry.setName(name);
  entry.setPublic();
  entry->setAttr("pto.entry", builder.getUnitAttr());
  if (reader == Reader::Assembler)
    rewritten = rewriteForAssembler(entry);
  return file;
}

} // namespace pto_mlir::ptotext
