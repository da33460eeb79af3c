// Loops and branches of an orchestrator that depend on what is known at run time only: blocks of the host program.
#include "Orchestrator.h"

#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;
using mlir::Block;
using mlir::Value;

/// `like` as a value that `block` is given: a number, or a tensor of the same shape that may be another one
/// (`moves`).
Held Orchestrator::carriedBy(Block *block, const Held &like, bool moves) {
  if (auto *view = std::get_if<View>(&like)) {
    if (!moves)
      return like;
    if (buffers[view->buffer].pitch)
      fail(entry->span_, "a loop or branch that the run decides hands on no windows, as " + buffers[view->buffer].name);
    View carried = *view;
    carried.buffer = unsigned(buffers.size());
    carried.offset = 0;
    Value memory = host->addArgument(block, buffers[view->buffer].memory.getType());
    carried.moving = host->addArgument(block, host->integerType());
    buffers.push_back({"a tensor of a loop or branch", view->shape, view->dtype, {}});
    buffers.back().memory = memory;
    return carried;
  }
  if (std::holds_alternative<Task>(like))
    return like;
  bool isFloat = std::holds_alternative<double>(like);
  if (auto *value = std::get_if<Value>(&like))
    isFloat = mlir::isa<mlir::FloatType>(value->getType());
  return Held(host->addArgument(block, isFloat ? host->floatType() : host->integerType()));
}

/// Whether the numbers of a tensor are those of `like`; those known at run time only are compared then with known ones.
bool Orchestrator::agree(const std::vector<Number> &numbers, const std::vector<Number> &like) {
  if (numbers.size() != like.size())
    return false;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == like[i])
      continue;
    if (numbers[i].isKnown() || !like[i].isKnown())
      return false;
    host->check(ir::NodeKind::Eq, numbers[i].value, emitted(like[i]),
                "a loop or branch hands on a tensor whose extent or stride is not " + std::to_string(like[i].known));
  }
  return true;
}

/// What a branch hands to the block's arguments for `value`.
std::vector<Value> Orchestrator::operandsFor(const Held &value, const Held &like, bool moves, const ir::Span &span) {
  if (auto *view = std::get_if<View>(&like)) {
    if (!moves)
      return {};
    auto *given = std::get_if<View>(&value);
    if (!given || given->dtype != view->dtype || !agree(given->shape, view->shape) ||
        !agree(given->strides, view->strides))
      fail(span, "a loop or branch hands on tensors of one shape, type and strides");
    return {buffers[given->buffer].memory,
            emitted(computed(ir::NodeKind::Add, given->moving ? Number(given->moving) : Number(), given->offset))};
  }
  if (std::holds_alternative<Task>(like) && value == like)
    return {};
  Value number = emitted(value);
  bool wantsFloat = std::holds_alternative<double>(like);
  if (auto *same = std::get_if<Value>(&like))
    wantsFloat = mlir::isa<mlir::FloatType>(same->getType());
  if (!number || (!wantsFloat && mlir::isa<mlir::FloatType>(number.getType())))
    fail(span, "a loop or branch hands on numbers of one type, tensors, and tasks");
  return {wantsFloat ? host->toFloat(number) : number};
}

void Orchestrator::emitLoop(const LoopParts &loop) {
  std::vector<Held> initial;
  initial.reserve(loop.args.size());
  for (const ir::IterArgPtr &arg : loop.args)
    initial.push_back(valueOf(arg->initValue_));
  // A tensor is carried only if an iteration hands on another one, which is seen when the body has been emitted.
  std::vector<bool> moves(initial.size(), false);
  while (!tryLoop(loop, initial, moves)) {
  }
}

/// Emits the loop; false where a tensor moves that was not in `moves`, with everything as before.
bool Orchestrator::tryLoop(const LoopParts &loop, const std::vector<Held> &initial, std::vector<bool> &moves) {
  auto heldBefore = held;
  auto kernelsBefore = kernelOf;
  size_t plannedBefore = planned.size(), buffersBefore = buffers.size(), resultsBefore = results.size();
  Block *start = host->block(), *last = host->last();
  std::vector<Value> operands;
  if (loop.counter)
    operands.push_back(emitted(loop.counter->start));
  for (size_t i = 0; i < initial.size(); ++i)
    llvm::append_range(operands, operandsFor(initial[i], initial[i], moves[i], loop.span));
  Value stop = loop.counter ? emitted(loop.counter->stop) : Value();
  Block *header = host->addBlock();
  host->goOn(start);
  host->branch(header, operands);
  host->goOn(header);
  Value counter = loop.counter ? host->addArgument(header, host->integerType()) : Value();
  std::vector<Held> carried;
  for (size_t i = 0; i < initial.size(); ++i) {
    carried.push_back(carriedBy(header, initial[i], moves[i]));
    held[loop.args[i].get()] = carried.back();
  }
  Value goesOn;
  if (counter) {
    held[loop.counter->variable.get()] = counter;
    auto kind = loop.counter->step > 0 ? ir::NodeKind::Lt : ir::NodeKind::Gt;
    goesOn = host->condition(host->binary(kind, counter, stop));
  } else {
    Value condition = emitted(valueOf(loop.condition));
    if (!condition)
      fail(loop.span, "the condition of a loop is a number");
    goesOn = host->condition(condition);
  }
  Block *body = host->addBlock();
  std::vector<Held> next = bodyOf(loop.body);
  bool isTrue = true;
  for (size_t i = 0; i < initial.size() && i < next.size(); ++i)
    if (std::holds_alternative<View>(initial[i]) && !moves[i] && next[i] != initial[i]) {
      moves[i] = true;
      isTrue = false;
    }
  if (!isTrue) {
    host->takeBack(start, last);
    numbers.clear();
    held = std::move(heldBefore);
    kernelOf = std::move(kernelsBefore);
    planned.resize(plannedBefore);
    buffers.resize(buffersBefore);
    results.resize(resultsBefore);
    return false;
  }
  operands.clear();
  if (counter)
    operands.push_back(host->binary(ir::NodeKind::Add, counter, host->constant(loop.counter->step)));
  for (size_t i = 0; i < initial.size(); ++i)
    llvm::append_range(operands, operandsFor(i < next.size() ? next[i] : carried[i], initial[i], moves[i], loop.span));
  host->branch(header, operands);
  Block *exit = host->addBlock();
  host->goOn(header);
  host->branch(goesOn, body, exit);
  host->goOn(exit);
  for (size_t i = 0; i < loop.results.size() && i < carried.size(); ++i)
    held[loop.results[i].get()] = carried[i];
  return true;
}

void Orchestrator::emitBranch(const ir::IfStmt &stmt, Value condition) {
  Value taken = host->condition(condition);
  Block *start = host->block();
  struct Arm {
    Block *begin, *end;
    std::vector<Held> values;
  } arms[2];
  for (int i = 0; i < 2; ++i) {
    arms[i].begin = host->addBlock();
    if (i == 0 || stmt.else_body_)
      arms[i].values = bodyOf(i == 0 ? stmt.then_body_ : *stmt.else_body_);
    arms[i].end = host->block();
  }
  host->goOn(start);
  host->branch(taken, arms[0].begin, arms[1].begin);
  Block *merge = host->addBlock();
  std::vector<Value> operands[2];
  for (size_t i = 0; i < stmt.return_vars_.size() && i < arms[0].values.size() && i < arms[1].values.size(); ++i) {
    const Held &first = arms[0].values[i], &second = arms[1].values[i];
    bool isSame = first == second, moves = std::holds_alternative<View>(first);
    auto *other = std::get_if<View>(&second);
    const Held &like = other && other->isKnown() ? second : first;
    held[stmt.return_vars_[i].get()] = isSame ? first : carriedBy(merge, like, moves);
    for (int arm = 0; arm < 2 && !isSame; ++arm) {
      host->goOn(arms[arm].end);
      llvm::append_range(operands[arm], operandsFor(arms[arm].values[i], like, moves, stmt.span_));
    }
  }
  for (int arm = 0; arm < 2; ++arm) {
    host->goOn(arms[arm].end);
    host->branch(merge, operands[arm]);
  }
  host->goOn(merge);
}

} // namespace pto_mlir::pypto_frontend
