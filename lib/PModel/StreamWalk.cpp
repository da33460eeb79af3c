#include "StreamWalk.h"

#include "pto_mlir/ISA/FloatScalar.h"
#include "pto_mlir/ISA/OperandList.h"
#include "pto_mlir/ISA/Scalar.h"

#include <algorithm>

namespace pto_mlir::pmodel {

namespace {

/// Limit on executed commands per kernel, over all cores; takes a few seconds. Fuzzers, whose code is slower by two
/// orders of magnitude, have a time limit per input.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
constexpr uint64_t kMostSteps = uint64_t(1) << 18;
#else
constexpr uint64_t kMostSteps = uint64_t(1) << 28;
#endif

} // namespace

Result<std::vector<StreamOp>> decodeStream(const StreamDesc &stream) {
  std::vector<StreamOp> ops;
  std::vector<size_t> loops;
  std::vector<std::vector<size_t>> breaks; // of each open loop
  for (size_t at = 0; at < stream.words.size();) {
    StreamOp op;
    op.word = at;
    if (auto error = isa::decode(stream.words.data() + at, stream.words.size() - at, op.insn))
      return Failure{*error};
    at += op.insn.numWords;
    if (op.insn.opcode == isa::Opcode::Loop)
      loops.push_back(ops.size()), breaks.emplace_back();
    if (op.insn.opcode == isa::Opcode::BreakIfZero) {
      if (loops.empty())
        return Failure{"a break stands in no loop"};
      breaks.back().push_back(ops.size());
    }
    if (op.insn.opcode == isa::Opcode::End) {
      if (loops.empty())
        return Failure{"a loop ends that did not begin"};
      ops[loops.back()].target = ops.size() + 1;
      for (size_t inside : breaks.back())
        ops[inside].target = ops.size() + 1;
      loops.pop_back(), breaks.pop_back();
    }
    ops.push_back(op);
  }
  if (!loops.empty())
    return Failure{"a loop does not end"};
  for (StreamOp &op : ops)
    if (op.insn.opcode == isa::Opcode::SkipIfZero) {
      int64_t target = int64_t(op.word) + op.insn.numWords + op.insn.as<isa::SkipIfZero>().words.value;
      op.target = std::lower_bound(ops.begin(), ops.end(), target,
                                   [](const StreamOp &o, int64_t word) { return o.word < word; }) -
                  ops.begin();
    }
  return ops;
}

/// Executes register arithmetic; false for anything else.
bool StreamWalker::scalar(const isa::DecodedInsn &insn) {
  using isa::Opcode;
  switch (insn.opcode) {
  case Opcode::Li:
    registers[insn.as<isa::Li>().dst] = insn.as<isa::Li>().value;
    return true;
  case Opcode::Mov:
    registers[insn.as<isa::Mov>().dst] = read(insn.as<isa::Mov>().src);
    return true;
  case Opcode::Cmp: {
    const auto &cmp = insn.as<isa::Cmp>();
    registers[cmp.dst] = isa::compareScalars(cmp.mode, read(cmp.lhs), read(cmp.rhs));
    return true;
  }
  case Opcode::Select: {
    const auto &select = insn.as<isa::Select>();
    registers[select.dst] = read(select.cond) ? read(select.a) : read(select.b);
    return true;
  }
  case Opcode::Farith: {
    const auto &arith = insn.as<isa::Farith>();
    registers[arith.dst] = isa::evaluateFloat(arith.op, read(arith.lhs), read(arith.rhs));
    return true;
  }
  case Opcode::Fcmp: {
    const auto &cmp = insn.as<isa::Fcmp>();
    registers[cmp.dst] = isa::compareFloats(cmp.mode, read(cmp.lhs), read(cmp.rhs));
    return true;
  }
  case Opcode::Fcvt: {
    const auto &convert = insn.as<isa::Fcvt>();
    registers[convert.dst] = isa::castScalar(convert.cast, read(convert.src));
    return true;
  }
  case Opcode::Get: {
    const auto &get = insn.as<isa::Get>();
    auto what = unsigned(get.what), scalar = what - isa::kNumQueries;
    registers[get.dst] = what < isa::kNumQueries ? places[what] : scalar < scalars.size() ? scalars[scalar] : 0;
    return true;
  }
  default:
    return isa::visit(insn, [&](const auto &typed) {
      constexpr Opcode opcode = isa::OpcodeOf<std::decay_t<decltype(typed)>>::value;
      if constexpr (isa::evaluateScalar(opcode, 1, 1).has_value())
        registers[typed.dst] = isa::evaluateScalar(opcode, read(typed.lhs), read(typed.rhs))
                                   .value_or(0); // division by 0: a fault at run time
      return isa::evaluateScalar(opcode, 1, 1).has_value();
    });
  }
}

/// Queue commands between S and the other engines.
void StreamWalker::queue(const isa::DecodedInsn &insn) {
  if (insn.opcode == isa::Opcode::Push) {
    const auto &push = insn.as<isa::Push>();
    queues[push.engine].push_back(push.value.value);
  } else if (insn.opcode == isa::Opcode::Pop) {
    auto &fifo = queues[pipe];
    registers[insn.as<isa::Pop>().dst] = fifo.empty() ? 0 : fifo.front();
    if (!fifo.empty())
      fifo.pop_front();
  }
}

/// The successor of a loop, loop end, break or jump: an index into `ops`. Nullopt for other commands; the end of the
/// stream for a loop with a step below 1.
std::optional<size_t> StreamWalker::control(const std::vector<StreamOp> &ops, size_t at) {
  const StreamOp &op = ops[at];
  switch (op.insn.opcode) {
  case isa::Opcode::Loop: {
    const auto &loop = op.insn.as<isa::Loop>();
    int64_t lower = read(loop.lb), upper = read(loop.ub), step = read(loop.step);
    if (step > 0 && lower >= upper)
      return op.target;
    registers[loop.iv] = lower;
    open.push_back({at, upper, step});
    return step > 0 ? at + 1 : ops.size();
  }
  case isa::Opcode::End: {
    Open &inner = open.back();
    int64_t &iv = registers[ops[inner.loop].insn.as<isa::Loop>().iv];
    iv += inner.step;
    if (iv < inner.upper)
      return inner.loop + 1;
    open.pop_back();
    return at + 1;
  }
  case isa::Opcode::BreakIfZero:
    if (read(op.insn.as<isa::BreakIfZero>().cond) != 0)
      return at + 1;
    open.pop_back();
    return op.target;
  case isa::Opcode::SkipIfZero:
    return read(op.insn.as<isa::SkipIfZero>().cond) == 0 ? op.target : at + 1;
  default:
    return std::nullopt;
  }
}

Status StreamWalker::run(const std::vector<StreamOp> &ops, const Command &command, const Command &plain) {
  open.clear();
  for (size_t at = 0; at < ops.size();) {
    if (++steps > kMostSteps)
      return Failure{"the kernel executes more than 2^28 commands"};
    const StreamOp &op = ops[at];
    std::optional<size_t> next = control(ops, at);
    if (next || scalar(op.insn)) {
      if (plain)
        plain(op.insn, uint32_t(at));
      at = next.value_or(at + 1);
      continue;
    }
    isa::DecodedInsn resolved = op.insn;
    isa::resolveRegisters(resolved, registers);
    queue(resolved);
    command(resolved, uint32_t(at));
    // Values in memory are unknown; addresses may depend on them, sizes do not.
    if (op.insn.opcode == isa::Opcode::LoadScalar)
      registers[op.insn.as<isa::LoadScalar>().dst] = 0;
    else if (op.insn.opcode == isa::Opcode::TGetval)
      registers[op.insn.as<isa::TGetval>().dst] = 0;
    ++at;
  }
  if (!open.empty())
    return Failure{"a loop has a step below 1"};
  return {};
}

} // namespace pto_mlir::pmodel
