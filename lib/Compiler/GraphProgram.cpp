// A host program that decides what it launches as code of one kernel: numbers on engine S, memory as pointers.
#include "GraphKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/Matchers.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/VM/IR/VMProgram.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pto_mlir {
namespace {

/// Op by op; `at` has the pointer of a tensor, the number of a number.
class ProgramWriter {
public:
  ProgramWriter(GraphKernel &graph, func::FuncOp main, Value pointerOfFaults,
                llvm::function_ref<func::FuncOp(StringRef)> kernelOf)
      : graph(graph), b(graph.b), loc(graph.loc), main(main), pointerOfFaults(pointerOfFaults), kernelOf(kernelOf) {}

  LogicalResult write(ArrayRef<unsigned> pointers) {
    unsigned next = main.getNumArguments();
    for (BlockArgument argument : main.getArguments())
      at[argument] = graph.pointer(pointers[argument.getArgNumber()]);
    main.walk([&](vm::ReserveOp reserve) { at[reserve.getResult()] = graph.pointer(pointers[next++]); });
    Block *entry = b.getInsertionBlock();
    for (Block &block : main.getBody()) {
      blocks[&block] =
          &block == &main.getBody().front() ? entry : b.createBlock(&graph.func.getBody(), graph.func.end());
      if (!block.isEntryBlock())
        for (BlockArgument argument : block.getArguments()) {
          if (mlir::isa<ShapedType>(argument.getType()))
            return emitError(argument.getLoc())
                   << "a loop or branch hands on another tensor than it was given, and a kernel of an operator is "
                      "compiled for tensors that it knows; write to one tensor, or read by an offset";
          at[argument] = blocks[&block]->addArgument(typeOf(argument.getType()), loc);
        }
    }
    b.setInsertionPointToEnd(entry);
    for (Block &block : main.getBody()) {
      b.setInsertionPointToEnd(blocks[&block]);
      for (Operation &op : block)
        if (failed(write(op)))
          return failure();
    }
    return success();
  }

private:
  /// Engines have numbers of single precision.
  Type typeOf(Type type) { return type.isF64() ? b.getF32Type() : type; }

  LogicalResult write(Operation &op) {
    loc = op.getLoc();
    return TypeSwitch<Operation *, LogicalResult>(&op)
        .Case<vm::ConstI64Op, vm::ConstI1Op>([&](auto constant) {
          at[op.getResult(0)] = b.create<arith::ConstantOp>(loc, cast<TypedAttr>(Attribute(constant.getValueAttr())));
          return success();
        })
        .Case<vm::ConstF64Op>([&](vm::ConstF64Op constant) {
          auto value = b.getF32FloatAttr(float(constant.getValueAttr().getValueAsDouble()));
          at[constant] = b.create<arith::ConstantOp>(loc, value);
          return success();
        })
        .Case<vm::BinaryOp, vm::CompareOp, vm::NegateOp, vm::ConvertOp, vm::SelectOp>(
            [&](auto number) { return result(op, numberOf(number)); })
        .Case<vm::LoadOp>([&](vm::LoadOp load) {
          if (load.getIndices().size() != 1)
            return unknown(op);
          Value index = b.create<arith::IndexCastOp>(loc, b.getIndexType(), at.at(load.getIndices()[0]));
          Value pointer = at.at(load.getSource());
          at[load] =
              b.create<pto::LoadScalarOp>(loc, cast<pto::PtrType>(pointer.getType()).getElementType(), pointer, index);
          return success();
        })
        .Case<vm::ViewOp>(
            [&](vm::ViewOp view) { return result(op, graph.behind(at.at(view.getSource()), at.at(view.getOffset()))); })
        .Case<vm::ReshapeOp>([&](vm::ReshapeOp reshape) { return result(op, at.at(reshape.getSource())); })
        .Case<vm::NewOp>([&](vm::NewOp made) { return result(op, outputOf(made)); })
        .Case<vm::CopyOp>([&](vm::CopyOp copy) {
          return at.at(copy.getTarget()) == at.at(copy.getSource()) ? success() : unknown(op);
        })
        .Case<vm::ReserveOp>([&](auto) { return success(); })
        .Case<vm::SubmitOp>([&](vm::SubmitOp submit) { return write(submit); })
        .Case<vm::AssertOp>([&](vm::AssertOp check) -> LogicalResult {
          if (!matchPattern(check.getCondition(), m_One()))
            graph.faultUnless(at.at(check.getCondition()), pointerOfFaults);
          return success();
        })
        .Case<vm::BranchOp>([&](vm::BranchOp branch) {
          b.create<cf::BranchOp>(loc, blocks.at(branch.getTarget()), valuesOf(branch.getOperands()));
          return success();
        })
        .Case<vm::CondBranchOp>([&](vm::CondBranchOp branch) {
          b.create<cf::CondBranchOp>(loc, at.at(branch.getCondition()), blocks.at(branch.getTrueTarget()),
                                     valuesOf(branch.getTrueOperands()), blocks.at(branch.getFalseTarget()),
                                     valuesOf(branch.getFalseOperands()));
          return success();
        })
        .Case<func::ReturnOp>([&](auto) {
          b.create<func::ReturnOp>(loc);
          return success();
        })
        .Default([&](Operation *) { return unknown(op); });
  }

  LogicalResult unknown(Operation &op) {
    return op.emitError("a kernel of an operator cannot do this at run time (") << op.getName() << ")";
  }
  LogicalResult result(Operation &op, Value value) {
    if (!value)
      return unknown(op);
    at[op.getResult(0)] = value;
    return success();
  }
  SmallVector<Value> valuesOf(ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return at.at(value); });
  }

  /// An output begins with what a run gives, and is that memory here.
  Value outputOf(vm::NewOp made) {
    for (Operation *user : made->getUsers())
      if (auto copy = dyn_cast<vm::CopyOp>(user); copy && copy.getTarget() == made.getResult())
        if (auto given = copy.getSource().getDefiningOp<vm::ReshapeOp>())
          return at.lookup(given.getSource());
    return {};
  }

  Value numberOf(vm::BinaryOp op) {
    Value lhs = at.at(op.getLhs()), rhs = at.at(op.getRhs());
    auto make = [&](auto kind) -> Value { return b.create<decltype(kind)>(loc, lhs, rhs); };
    StringRef kind = op.getKind();
#define PTO_BINARY(name, type)                                                                                         \
  if (kind == name)                                                                                                    \
    return make(arith::type());
    PTO_BINARY("iadd", AddIOp)
    PTO_BINARY("isub", SubIOp)
    PTO_BINARY("imul", MulIOp)
    PTO_BINARY("ifloordiv", FloorDivSIOp)
    PTO_BINARY("imin", MinSIOp)
    PTO_BINARY("imax", MaxSIOp)
    PTO_BINARY("iand", AndIOp)
    PTO_BINARY("ior", OrIOp)
    PTO_BINARY("ixor", XOrIOp)
    PTO_BINARY("ishl", ShLIOp)
    PTO_BINARY("ishr", ShRSIOp)
    PTO_BINARY("fadd", AddFOp)
    PTO_BINARY("fsub", SubFOp)
    PTO_BINARY("fmul", MulFOp)
    PTO_BINARY("fdiv", DivFOp)
    PTO_BINARY("fmin", MinimumFOp)
    PTO_BINARY("fmax", MaximumFOp)
#undef PTO_BINARY
    return {};
  }
  Value numberOf(vm::CompareOp op) {
    Value lhs = at.at(op.getLhs()), rhs = at.at(op.getRhs());
    if (mlir::isa<FloatType>(lhs.getType()))
      return b.create<arith::CmpFOp>(loc, arith::CmpFPredicate(op.getPredicate()), lhs, rhs);
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate(op.getPredicate()), lhs, rhs);
  }
  Value numberOf(vm::NegateOp op) { return b.create<arith::NegFOp>(loc, at.at(op.getOperand())); }
  Value numberOf(vm::SelectOp op) {
    if (mlir::isa<ShapedType>(op.getResult().getType()))
      return {};
    return b.create<arith::SelectOp>(loc, at.at(op.getCondition()), at.at(op.getLhs()), at.at(op.getRhs()));
  }
  Value numberOf(vm::ConvertOp op) {
    Value value = at.at(op.getOperand());
    Type from = value.getType(), to = typeOf(op.getResult().getType());
    if (from == to)
      return value;
    if (mlir::isa<FloatType>(from) && mlir::isa<IntegerType>(to))
      return b.create<arith::FPToSIOp>(loc, to, value);
    if (mlir::isa<IntegerType>(from) && mlir::isa<FloatType>(to))
      return b.create<arith::SIToFPOp>(loc, to, value);
    if (!mlir::isa<IntegerType>(from) || !mlir::isa<IntegerType>(to))
      return {};
    if (from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
      return b.create<arith::TruncIOp>(loc, to, value);
    if (op.getIsUnsigned())
      return b.create<arith::ExtUIOp>(loc, to, value);
    return b.create<arith::ExtSIOp>(loc, to, value);
  }

  LogicalResult write(vm::SubmitOp submit) {
    StringRef name = submit.getCallee();
    name.consume_front("device.");
    std::string problem = graph.run(kernelOf(name), valuesOf(submit.getArguments()));
    return problem.empty() ? success() : submit.emitError(problem);
  }

  GraphKernel &graph;
  OpBuilder &b;
  Location &loc;
  func::FuncOp main;
  Value pointerOfFaults;
  llvm::function_ref<func::FuncOp(StringRef)> kernelOf;
  DenseMap<Value, Value> at;
  DenseMap<Block *, Block *> blocks;
};

} // namespace

FailureOr<std::vector<std::pair<int64_t, Type>>> reservedBy(func::FuncOp main) {
  std::vector<std::pair<int64_t, Type>> reserved;
  WalkResult all = main.walk([&](vm::ReserveOp reserve) -> WalkResult {
    APInt elements;
    if (reserve.getExtents().size() != 1 || !matchPattern(reserve.getExtents()[0], m_ConstantInt(&elements)))
      return reserve.emitError("makes a tensor of a size that a run decides; a kernel of an operator has its memory "
                               "when it is compiled");
    reserved.emplace_back(elements.getSExtValue(),
                          cast<RankedTensorType>(reserve.getResult().getType()).getElementType());
    return WalkResult::advance();
  });
  if (all.wasInterrupted())
    return failure();
  return reserved;
}

LogicalResult addProgram(GraphKernel &graph, func::FuncOp main, ArrayRef<unsigned> pointers, unsigned output,
                         llvm::function_ref<func::FuncOp(StringRef)> kernelOf) {
  return ProgramWriter(graph, main, graph.pointer(output), kernelOf).write(pointers);
}

} // namespace pto_mlir
