//===- UserKernel.cpp - kernels that the user wrote -----------------------===//
//
// The text of the processor is parsed and copied into the kernel. Functions that ask for the number of their block
// share the work among all blocks of the launch; others run on one block.
//
//===----------------------------------------------------------------------===//

#include "../KernelParts.h"
#include "Template.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace pto_mlir::templates {

namespace {

DictionaryAttr bodyOf(top::KernelOp op, const pto::Target &target) {
  return op.getBodies().getAs<DictionaryAttr>(target.name);
}

std::string processorsOf(top::KernelOp op) {
  std::string names;
  for (NamedAttribute entry : op.getBodies())
    names += (names.empty() ? "" : ", ") + entry.getName().str();
  return names;
}

/// The kernel of `op` as a module that the caller owns; null after an error.
OwningOpRef<ModuleOp> parsed(top::KernelOp op, const pto::Target &target) {
  MLIRContext *context = op.getContext();
  context->getOrLoadDialect<pto::PTODialect>()->setParseFor(target);
  return parseSourceString<ModuleOp>(bodyOf(op, target).getAs<StringAttr>("text").getValue(), ParserConfig(context),
                                     op.getName());
}

class UserKernel final : public Template {
public:
  std::string refusal(Operation *op, const pto::Target &target) const override {
    auto kernel = cast<top::KernelOp>(op);
    return bodyOf(kernel, target)
               ? ""
               : (kernel.getName() + " is written for " + processorsOf(kernel) + ", not for " + target.name).str();
  }

  SmallVector<RankedTensorType> unread(ArrayRef<Operation *> ops) const override {
    SmallVector<RankedTensorType> types;
    for (int64_t number : unreadNumbers(ops))
      types.push_back(typeOf(cast<top::KernelOp>(ops.front()), number));
    return types;
  }

  LogicalResult fill(func::FuncOp kernel, int64_t blocks, ArrayRef<kernels::Sizes>, ArrayRef<Operation *> ops,
                     ArrayRef<unsigned> arguments, ArrayRef<unsigned> results) const override {
    auto op = cast<top::KernelOp>(ops.front());
    const pto::Target &target = pto::targetOf(kernel);
    OwningOpRef<ModuleOp> module = parsed(op, target);
    if (!module)
      return op.emitOpError("has a text that is no pto function");
    // Arguments by operand and result; what nothing reads lies between the operands and the results.
    SmallVector<unsigned> ports(arguments);
    SmallVector<int64_t> unreadOnes = unreadNumbers(ops);
    unsigned firstUnread = kernel.getNumArguments() - results.size() - unreadOnes.size();
    ports.resize(arguments.size() + op.getTypes().size());
    for (auto [i, number] : llvm::enumerate(unreadOnes))
      ports[arguments.size() + number] = firstUnread + i;
    for (auto [each, argument] : llvm::zip(ops, results))
      ports[arguments.size() + cast<top::KernelOp>(each).getNumber()] = argument;

    func::FuncOp cube, vector;
    bool sharesBlocks = false;
    for (auto func : module->getOps<func::FuncOp>()) {
      auto kind = func->getAttrOfType<pto::KernelKindAttr>(pto::kKernelKindAttr);
      func::FuncOp &part = kind && kind.getValue() == pto::KernelKind::cube ? cube : vector;
      if (!kind || part)
        return op.emitOpError("has a text of several kernels");
      part = func;
      func.walk([&](pto::GetBlockIdxOp) { sharesBlocks = true; });
    }
    if (!cube && !vector)
      return op.emitOpError("has a text without a kernel");
    auto kind = cube ? pto::KernelKind::cube : pto::KernelKind::vector;
    kernel->setAttr(pto::kKernelKindAttr, pto::KernelKindAttr::get(kernel.getContext(), kind));
    func::FuncOp other = cube && vector ? kernels::addVectorPart(kernel) : func::FuncOp();
    DictionaryAttr body = bodyOf(op, target);
    bool onOne = !sharesBlocks && blocks != 1;
    if (failed(copy(op, cube ? cube : vector, kernel, body, ports, onOne)))
      return failure();
    return other ? copy(op, vector, other, body, ports, onOne) : success();
  }

private:
  /// The body of `from` into `to`, whose argument `ports[p]` is operand or result p.
  static LogicalResult copy(top::KernelOp op, func::FuncOp from, func::FuncOp to, DictionaryAttr body,
                            ArrayRef<unsigned> ports, bool onOneBlock) {
    auto pointers = body.getAs<DenseI64ArrayAttr>("pointers").asArrayRef(),
         offsets = body.getAs<DenseI64ArrayAttr>("offsets").asArrayRef(),
         scalars = body.getAs<DenseI64ArrayAttr>("scalars").asArrayRef();
    if (from.getNumArguments() != pointers.size() + scalars.size())
      return op.emitOpError("has ") << pointers.size() + scalars.size() << " arguments, its text takes "
                                    << from.getNumArguments();
    OpBuilder b = OpBuilder::atBlockBegin(&to.getBody().front());
    Location loc = op.getLoc();
    IRMapping map;
    for (auto [i, argument] : llvm::enumerate(from.getArguments())) {
      if (i >= pointers.size()) {
        if (!isa<IntegerType>(argument.getType()))
          return op.emitOpError("has a scalar for argument ") << i << " of type " << argument.getType();
        map.map(argument,
                b.create<arith::ConstantOp>(loc, b.getIntegerAttr(argument.getType(), scalars[i - pointers.size()])));
        continue;
      }
      Value pointer = to.getArgument(ports[pointers[i]]);
      if (pointer.getType() != argument.getType())
        return op.emitOpError("has ") << pointer.getType() << " for argument " << i << ", its text takes "
                                      << argument.getType();
      int64_t size = cast<pto::PtrType>(argument.getType()).getElementType().getIntOrFloatBitWidth() / 8;
      if (offsets[i] != 0)
        pointer = b.create<pto::AddPtrOp>(loc, pointer, b.create<arith::ConstantIndexOp>(loc, offsets[i] / size));
      map.map(argument, pointer);
    }
    Block *inside = b.getInsertionBlock();
    b.create<func::ReturnOp>(loc);
    b.setInsertionPoint(inside->getTerminator());
    if (onOneBlock) {
      Value block = b.create<pto::GetBlockIdxOp>(loc);
      Value zero = b.create<arith::ConstantOp>(loc, b.getIntegerAttr(block.getType(), 0));
      auto first = b.create<scf::IfOp>(loc, b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, block, zero),
                                       /*withElseRegion=*/false);
      b.setInsertionPoint(first.thenBlock()->getTerminator());
    }
    for (Operation &each : from.getBody().front().without_terminator())
      b.clone(each, map);
    return success();
  }

  static RankedTensorType typeOf(top::KernelOp op, int64_t number) {
    return cast<RankedTensorType>(cast<TypeAttr>(op.getTypes()[number]).getValue());
  }
  static SmallVector<int64_t> unreadNumbers(ArrayRef<Operation *> ops) {
    SmallVector<int64_t> numbers;
    for (int64_t number = 0, count = cast<top::KernelOp>(ops.front()).getTypes().size(); number < count; ++number)
      if (llvm::none_of(ops, [&](Operation *op) { return cast<top::KernelOp>(op).getNumber() == number; }))
        numbers.push_back(number);
    return numbers;
  }
};

} // namespace

const Template &userKernelTemplate() {
  static const UserKernel instance;
  return instance;
}

} // namespace pto_mlir::templates
