// The kernels of a model as .pto that the public assembler lowers.
#include "EmitPTO.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Kernels/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

namespace pto_mlir {
namespace {

/// The memory that semaphores between cores lie in, as the assembler's own kernels describe it.
MemRefType semaphores(Builder b) {
  auto global = pto::AddressSpaceAttr::get(b.getContext(), pto::AddressSpace::gm);
  return MemRefType::get({256}, b.getI64Type(), AffineMap(), global);
}

/// The text of a kernel's file. The op that names the semaphores' memory, the last argument, is written as text: it is
/// one of the ops of hand-written kernels, which the compiler of models does without.
std::string textOf(ModuleOp file, func::FuncOp entry, bool withSemaphores) {
  std::string text;
  llvm::raw_string_ostream(text) << file << "\n";
  size_t section = withSemaphores ? text.find("    pto.section.cube {") : std::string::npos;
  if (section == std::string::npos)
    return text;
  std::string op;
  llvm::raw_string_ostream(op) << "    pto.set_ffts %arg" << entry.getNumArguments() - 1 << " : "
                               << entry.getArgumentTypes().back() << "\n";
  return text.insert(section, op);
}

/// Why the assembler cannot lower the op; empty when it can.
std::string whyNot(Operation *op) {
  if (llvm::isa<pto::TImg2ColOp>(op))
    return "pto.timg2col: its dialect has no move from an image to columns";
  if (llvm::isa<pto::TMulAddDstOp, pto::FifoPushOp, pto::FifoPopOp>(op))
    return (op->getName().getStringRef() + ": not an op of its dialect").str();
  auto integer = [](Value scalar) { return !llvm::isa<FloatType>(scalar.getType()); };
  if (auto most = dyn_cast<pto::TMaxSOp>(op); most && integer(most.getScalar()))
    return "pto.tmaxs: it lowers float scalars only";
  if (auto least = dyn_cast<pto::TMinSOp>(op); least && integer(least.getScalar()))
    return "pto.tmins: it lowers float scalars only";
  if (auto fill = dyn_cast<pto::TExpandSOp>(op);
      fill && fill.getScalar().getType().isBF16() && !fill.getScalar().getDefiningOp<arith::ConstantOp>())
    return "pto.texpands: of bf16 it lowers constants only";
  if (llvm::isa<arith::AddFOp>(op))
    return "arith.addf: it does not lower it";
  if (llvm::isa<scf::ForOp, scf::IfOp>(op))
    return llvm::any_of(op->getResultTypes(), [](Type type) { return llvm::isa<pto::TileBufType>(type); })
               ? (op->getName().getStringRef() + ": it hands no tiles on").str()
               : "";
  if (llvm::isa<pto::PTODialect, arith::ArithDialect, func::FuncDialect>(op->getDialect()) ||
      llvm::isa<scf::YieldOp>(op))
    return "";
  return (op->getName().getStringRef() + ": it lowers pto, arith, scf.for and scf.if").str();
}

struct EmitPTO : PassWrapper<EmitPTO, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EmitPTO)
  EmitPTO(std::string folder, std::string processor, int64_t &written, std::vector<std::string> &left)
      : folder(std::move(folder)), processor(std::move(processor)), written(&written), left(&left) {}

  StringRef getName() const override { return "emit-pto"; }

  void runOnOperation() override {
    DenseMap<StringAttr, func::FuncOp> twins, partners;
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (auto of = kernel->getAttrOfType<StringAttr>(kWindowsOfAttr))
        twins[of] = kernel;
      if (auto of = kernel->getAttrOfType<StringAttr>(pto::kPartOfAttr); of && of != kernel.getSymNameAttr())
        partners[of] = kernel;
    }
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      StringAttr name = kernel.getSymNameAttr(), of = kernel->getAttrOfType<StringAttr>(pto::kPartOfAttr);
      if (kernel->hasAttr(pto::kKernelKindAttr) && !kernel.isExternal() && !kernel->hasAttr(kWindowsOfAttr) &&
          (!of || of == name) && failed(emit(kernel, twins.lookup(name), partners.lookup(name))))
        return signalPassFailure();
    }
    // Nobody launches them.
    for (auto [of, twin] : twins)
      twin.erase();
  }

  /// Both parts of a kernel in sections of one function. On a3 the semaphores' memory is one more argument, the last.
  static func::FuncOp joinParts(OpBuilder &b, func::FuncOp cube, func::FuncOp vector, bool a3) {
    SmallVector<Type> arguments(cube.getArgumentTypes());
    if (a3)
      arguments.push_back(semaphores(b));
    auto entry = b.create<func::FuncOp>(cube.getLoc(), cube.getName(), b.getFunctionType(arguments, {}));
    OpBuilder inside = OpBuilder::atBlockBegin(entry.addEntryBlock());
    auto end = inside.create<func::ReturnOp>(cube.getLoc());
    for (func::FuncOp part : {cube, vector}) {
      inside.setInsertionPoint(end);
      Operation *section = part == cube ? inside.create<pto::SectionCubeOp>(cube.getLoc()).getOperation()
                                        : inside.create<pto::SectionVectorOp>(cube.getLoc()).getOperation();
      Region &region = section->getRegion(0);
      inside.setInsertionPointToStart(region.empty() ? &region.emplaceBlock() : &region.front());
      IRMapping mapping;
      mapping.map(part.getArguments(), entry.getArguments().take_front(part.getNumArguments()));
      for (Operation &op : part.getBody().front().without_terminator())
        inside.clone(op, mapping);
    }
    return entry;
  }

  /// Writes the kernel, or the twin that does without what the assembler lacks, or the kernel and its vector cores'
  /// part.
  LogicalResult emit(func::FuncOp kernel, func::FuncOp twin, func::FuncOp partner) {
    auto reasonAgainst = [](func::FuncOp func) {
      std::string reason;
      func.walk([&](Operation *op) {
        if (op != func && reason.empty())
          reason = whyNot(op);
      });
      return reason;
    };
    std::string reason = reasonAgainst(kernel);
    if (reason.empty() && partner)
      reason = reasonAgainst(partner);
    func::FuncOp chosen = kernel;
    if (!reason.empty() && twin && reasonAgainst(twin).empty())
      chosen = twin;
    else if (!reason.empty()) {
      left->push_back((kernel.getName() + ": " + reason).str());
      return success();
    }
    // The file is a module of its own, and the kernel its entry.
    auto builder = OpBuilder(&getContext());
    OwningOpRef<ModuleOp> file = ModuleOp::create(kernel.getLoc());
    (*file)->setAttr("pto.target_arch", builder.getStringAttr(processor));
    builder.setInsertionPointToStart(file->getBody());
    bool withSemaphores = partner && processor == "a3";
    auto entry =
        partner ? joinParts(builder, chosen, partner, withSemaphores) : cast<func::FuncOp>(builder.clone(*chosen));
    entry.setName(kernel.getName());
    entry->removeAttr(kWindowsOfAttr);
    entry.setPublic();
    entry->setAttr("pto.entry", builder.getUnitAttr());
    // The assembler's C++ has no name for an infinity; to begin a maximum or to pad for one, the largest number serves
    // as well.
    entry.walk([](arith::ConstantOp constant) {
      auto number = dyn_cast<FloatAttr>(constant.getValue());
      if (number && number.getValue().isInfinity())
        constant.setValueAttr(FloatAttr::get(
            number.getType(), APFloat::getLargest(number.getValue().getSemantics(), number.getValue().isNegative())));
    });
    // It fills no tiles of bf16: the same bits as integers.
    entry.walk([&](pto::TExpandSOp fill) {
      auto constant = fill.getScalar().getDefiningOp<arith::ConstantOp>();
      auto tile = dyn_cast<pto::TileBufType>(fill.getDst().getType());
      if (!tile || !tile.getElementType().isBF16() || !constant)
        return;
      OpBuilder b(fill);
      Type word = b.getI16Type();
      int64_t bits = cast<FloatAttr>(constant.getValue()).getValue().bitcastToAPInt().getSExtValue();
      Value words = b.create<pto::BitcastOp>(fill.getLoc(), tile.withElementType(word), fill.getDst());
      fill.getDstMutable().assign(words);
      fill.getScalarMutable().assign(b.create<arith::ConstantOp>(fill.getLoc(), b.getIntegerAttr(word, bits)));
    });
    std::string path = (folder + "/" + kernel.getName() + ".pto").str();
    std::error_code problem;
    llvm::ToolOutputFile output(path, problem, llvm::sys::fs::OF_None);
    if (problem)
      return kernel.emitError() << path << ": " << problem.message();
    output.os() << textOf(*file, entry, withSemaphores);
    output.keep();
    ++*written;
    return success();
  }

  std::string folder, processor;
  int64_t *written;
  std::vector<std::string> *left;
};

} // namespace

std::unique_ptr<Pass> createEmitPTO(std::string folder, std::string processor, int64_t &written,
                                    std::vector<std::string> &left) {
  return std::make_unique<EmitPTO>(std::move(folder), std::move(processor), written, left);
}

} // namespace pto_mlir
