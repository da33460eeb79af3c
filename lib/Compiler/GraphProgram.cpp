// A host program that decides what it launches as code of one kernel: numbers on engine S, memory as pointers.
#include "GraphKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/VM/IR/VMProgram.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pto_mlir {
namespace {

/// A tensor at hand: which member of its group it is (a number, or null for what is `known`), and from which element on
/// (null: from the first one).
struct Held {
  const GraphTensors::Group *group = nullptr;
  Value which;
  int64_t known = 0;
  Value offset;
  bool isReserved = false; ///< whichever, it is one of the slot

  /// In how many memories it may lie.
  size_t memories() const { return which && !isReserved ? group->arguments.size() + (group->slot ? 1 : 0) : 1; }
};

/// Op by op; `at` has the numbers.
class ProgramWriter {
public:
  ProgramWriter(GraphKernel &graph, func::FuncOp main, const GraphTensors &tensors, ArrayRef<unsigned> pointers,
                Value pointerOfFaults, llvm::function_ref<func::FuncOp(StringRef)> kernelOf)
      : graph(graph), b(graph.b), loc(graph.loc), main(main), tensors(tensors), pointers(pointers),
        pointerOfFaults(pointerOfFaults), kernelOf(kernelOf) {}

  LogicalResult write() {
    for (BlockArgument argument : main.getArguments())
      held[argument] = {&tensors.groupOf(argument), {}, tensors.memberOf(argument), {}};
    Block *entry = b.getInsertionBlock();
    for (Block &block : main.getBody()) {
      blocks[&block] =
          &block == &main.getBody().front() ? entry : b.createBlock(&graph.func.getBody(), graph.func.end());
      if (!block.isEntryBlock())
        for (BlockArgument argument : block.getArguments()) {
          Value number = blocks[&block]->addArgument(typeOf(argument.getType()), loc);
          if (mlir::isa<ShapedType>(argument.getType()))
            held[argument] = {&tensors.groupOf(argument), number, 0, {}};
          else
            at[argument] = number;
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
  /// A tensor is handed on as its number.
  Type typeOf(Type type) {
    if (mlir::isa<ShapedType>(type))
      return b.getI64Type();
    return numberType(type);
  }

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
        .Case<vm::BinaryOp, vm::CompareOp, vm::NegateOp, vm::ConvertOp, vm::SelectOp>([&](auto number) {
          bool isTensor = mlir::isa<ShapedType>(number->getResultTypes()[0]);
          return result(op, isTensor ? Value() : addNumber(b, loc, number, valuesOf(number->getOperands())));
        })
        .Case<vm::LoadOp>([&](vm::LoadOp load) {
          if (load.getIndices().size() != 1)
            return unknown(op);
          at[load] = elementOf(load);
          return success();
        })
        .Case<vm::ViewOp>([&](vm::ViewOp view) {
          Held part = held.at(view.getSource());
          if (part.offset)
            return unknown(op);
          part.offset = at.at(view.getOffset());
          held[view] = part;
          return success();
        })
        .Case<vm::ReshapeOp>([&](vm::ReshapeOp reshape) {
          held[reshape] = held.at(reshape.getSource());
          return success();
        })
        .Case<vm::NewOp>([&](vm::NewOp made) { return write(made); })
        .Case<vm::CopyOp>([&](vm::CopyOp copy) {
          const Held &target = held.at(copy.getTarget()), &source = held.at(copy.getSource());
          bool isSame = !target.which && !source.which && target.known == source.known;
          return isSame && !target.offset && !source.offset ? success() : unknown(op);
        })
        .Case<vm::ReserveOp>([&](vm::ReserveOp reserve) {
          write(reserve);
          return success();
        })
        .Case<vm::SubmitOp>([&](vm::SubmitOp submit) { return submit.getRanked() ? unknown(op) : write(submit); })
        .Case<vm::AssertOp>([&](vm::AssertOp check) -> LogicalResult {
          if (!matchPattern(check.getCondition(), m_One()))
            graph.faultUnless(at.at(check.getCondition()), pointerOfFaults);
          return success();
        })
        .Case<vm::BranchOp>([&](vm::BranchOp branch) {
          if (handsOnPart(branch))
            return unknown(op);
          b.create<cf::BranchOp>(loc, blocks.at(branch.getTarget()), valuesOf(branch.getOperands()));
          return success();
        })
        .Case<vm::CondBranchOp>([&](vm::CondBranchOp branch) {
          if (handsOnPart(branch))
            return unknown(op);
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
    return llvm::map_to_vector(values, [&](Value value) {
      return mlir::isa<ShapedType>(value.getType()) ? numberOf(held.at(value)) : at.at(value);
    });
  }
  bool handsOnPart(Operation *branch) {
    return llvm::any_of(branch->getOperands(),
                        [&](Value value) { return mlir::isa<ShapedType>(value.getType()) && held.at(value).offset; });
  }

  // --- tensors ---

  /// Which member of its group it is.
  Value numberOf(const Held &tensor) { return tensor.which ? tensor.which : graph.constant(tensor.known); }

  /// An output begins with what a run gives, and is that memory here.
  LogicalResult write(vm::NewOp made) {
    for (Operation *user : made->getUsers())
      if (auto copy = dyn_cast<vm::CopyOp>(user); copy && copy.getTarget() == made.getResult())
        if (auto given = copy.getSource().getDefiningOp<vm::ReshapeOp>()) {
          held[made] = held.at(given.getSource());
          return success();
        }
    return unknown(*made);
  }

  /// The last of its parts that loops have not handed on.
  void write(vm::ReserveOp reserve) {
    Value tensor = reserve.getResult();
    int64_t first = tensors.memberOf(tensor), more = int64_t(tensors.liveAt(tensor).size());
    Held &made = held[tensor] = {&tensors.groupOf(tensor), {}, first + more, {}, true};
    if (!matchPattern(reserve.getExtents()[0], m_Constant())) {
      Value elements = at.at(reserve.getExtents()[0]);
      graph.faultUnless(b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, elements, graph.constant(0)),
                        pointerOfFaults);
    }
    for (int64_t part = first; part < first + more; ++part) {
      Value isFree = b.create<arith::ConstantIntOp>(loc, 1, 1);
      for (BlockArgument live : tensors.liveAt(tensor)) {
        Value other =
            b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, numberOf(held.at(live)), graph.constant(part));
        isFree = b.create<arith::AndIOp>(loc, isFree, other);
      }
      made.which = b.create<arith::SelectOp>(loc, isFree, graph.constant(part), numberOf(made));
    }
  }

  Value inArgument(const Held &tensor, size_t number) {
    return behind(graph.pointer(pointers[tensor.group->arguments[number].getArgNumber()]), tensor.offset);
  }
  Value inSlot(const Held &tensor) {
    Value part = graph.constant(tensor.known * tensor.group->part);
    if (tensor.which)
      part = b.create<arith::MulIOp>(loc, tensor.which, graph.constant(tensor.group->part));
    Value slot = graph.pointer(pointers[main.getNumArguments() + *tensor.group->slot]);
    return behind(graph.behind(slot, part), tensor.offset);
  }
  Value behind(Value pointer, Value offset) { return offset ? graph.behind(pointer, offset) : pointer; }

  /// Calls `made` with the tensor's pointer, once for each memory that it may lie in. What it gives, if anything, is
  /// the result.
  Value choose(const Held &tensor, Type result, llvm::function_ref<Value(Value)> made, size_t from = 0) {
    const GraphTensors::Group &group = *tensor.group;
    size_t inSlots = group.slot ? 1 : 0;
    if (!tensor.which)
      return made(tensor.known < group.parts ? inSlot(tensor) : inArgument(tensor, size_t(tensor.known - group.parts)));
    auto here = [&] { return made(from < inSlots ? inSlot(tensor) : inArgument(tensor, from - inSlots)); };
    if (from + 1 == tensor.memories())
      return here();
    Value limit = graph.constant(group.parts + int64_t(from - inSlots));
    Value isHere = from < inSlots ? b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, tensor.which,
                                                            graph.constant(group.parts))
                                  : b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, tensor.which, limit);
    auto branch = b.create<scf::IfOp>(loc, result ? TypeRange(result) : TypeRange(), isHere, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
      b.setInsertionPointToStart(block);
      Value value = block == branch.thenBlock() ? here() : choose(tensor, result, made, from + 1);
      if (result)
        b.create<scf::YieldOp>(loc, value);
    }
    return result ? branch.getResult(0) : Value();
  }

  Value elementOf(vm::LoadOp load) {
    Value index = b.create<arith::IndexCastOp>(loc, b.getIndexType(), at.at(load.getIndices()[0]));
    Type element = load.getResult().getType();
    return choose(held.at(load.getSource()), element,
                  [&](Value pointer) { return b.create<pto::LoadScalarOp>(loc, element, pointer, index); });
  }

  /// A launch, for each way to choose the memory of its tensors.
  std::string launch(func::FuncOp kernel, ValueRange rest, SmallVector<Value> &given) {
    if (rest.empty())
      return graph.run(kernel, given);
    std::string problem;
    auto add = [&](Value value) {
      given.push_back(value);
      if (std::string found = launch(kernel, rest.drop_front(), given); !found.empty())
        problem = std::move(found);
      given.pop_back();
      return Value();
    };
    if (mlir::isa<ShapedType>(rest.front().getType()))
      choose(held.at(rest.front()), {}, add);
    else
      add(at.at(rest.front()));
    return problem;
  }

  LogicalResult write(vm::SubmitOp submit) {
    StringRef name = submit.getCallee();
    name.consume_front("device.");
    size_t forms = 1;
    for (Value argument : submit.getArguments())
      if (mlir::isa<ShapedType>(argument.getType()))
        forms *= held.at(argument).memories();
    if (forms > kMostForms)
      return submit.emitError() << "loops and branches hand on tensors that may lie in " << forms
                                << " ways in memory, and the kernel would be written as often; copy those of the "
                                   "caller into tensors of your own first";
    SmallVector<Value> given;
    std::string problem = launch(kernelOf(name), submit.getArguments(), given);
    return problem.empty() ? success() : submit.emitError(problem);
  }

  GraphKernel &graph;
  OpBuilder &b;
  Location &loc;
  static constexpr size_t kMostForms = 16;

  func::FuncOp main;
  const GraphTensors &tensors;
  ArrayRef<unsigned> pointers;
  Value pointerOfFaults;
  llvm::function_ref<func::FuncOp(StringRef)> kernelOf;
  DenseMap<Value, Value> at;
  DenseMap<Value, Held> held;
  DenseMap<Block *, Block *> blocks;
};

} // namespace

LogicalResult addProgram(GraphKernel &graph, func::FuncOp main, const GraphTensors &tensors,
                         ArrayRef<unsigned> pointers, unsigned output,
                         llvm::function_ref<func::FuncOp(StringRef)> kernelOf) {
  return ProgramWriter(graph, main, tensors, pointers, graph.pointer(output), kernelOf).write();
}

} // namespace pto_mlir
