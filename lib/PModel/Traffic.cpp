#include "pto_mlir/PModel/Traffic.h"

#include "pto_mlir/ISA/FloatScalar.h"
#include "pto_mlir/ISA/OperandVisitor.h"
#include "pto_mlir/ISA/Scalar.h"
#include "pto_mlir/PModel/Program.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <set>

namespace pto_mlir::pmodel {

namespace {

/// Commands that one kernel may execute here, over all cores: a few seconds.
constexpr uint64_t kMostSteps = uint64_t(1) << 28;

struct Op {
  isa::DecodedInsn insn;
  uint32_t word = 0;
  uint32_t target = 0; // of a loop and of its breaks: behind its end; of a jump: where it lands
};

/// What an instruction moves: its view and the valid region of its tile. Registers must have been resolved.
struct Moved : isa::OperandVisitor {
  int64_t argument = -1, bytes = 0;
  int64_t elements = 1;
  unsigned bits = 8;
  bool hasTile = false, written = false;
  const isa::InsnInfo *info = nullptr;

  void tile(unsigned, isa::Tile &t) {
    elements = t.validRows.value * t.validCols.value;
    hasTile = true;
  }
  void view(unsigned operand, isa::View &v) {
    argument = v.arg;
    bits = isa::elementBits(v.type);
    written = info->operands[operand].direction == isa::Direction::Out;
  }
};

bool movesGlobal(isa::Opcode opcode) {
  for (const isa::OperandInfo &operand : isa::infoOf(opcode).operands)
    if (operand.kind == isa::OperandKind::View)
      return true;
  return false;
}

Result<std::vector<Op>> decodeStream(const StreamDesc &stream) {
  std::vector<Op> ops;
  std::vector<size_t> loops;
  std::vector<std::vector<size_t>> breaks; // of each open loop
  for (size_t at = 0; at < stream.words.size();) {
    Op op;
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
  for (Op &op : ops)
    if (op.insn.opcode == isa::Opcode::SkipIfZero) {
      int64_t target = int64_t(op.word) + op.insn.numWords + op.insn.as<isa::SkipIfZero>().words.value;
      op.target =
          std::lower_bound(ops.begin(), ops.end(), target, [](const Op &o, int64_t word) { return o.word < word; }) -
          ops.begin();
    }
  return ops;
}

/// One engine of one core.
class Engine {
public:
  Engine(KernelTraffic &traffic, uint64_t &core, uint64_t &steps, std::map<isa::Pipe, std::deque<int64_t>> &fifos)
      : traffic(traffic), core(core), steps(steps), fifos(fifos) {}

  int64_t places[4] = {}; // block index and number, sub-block index and number
  isa::Pipe pipe = isa::Pipe::S;

  Status run(const std::vector<Op> &ops);

private:
  struct Open {
    size_t loop;
    int64_t upper, step;
  };
  bool scalar(const isa::DecodedInsn &insn);
  void move(isa::DecodedInsn insn);
  int64_t read(const isa::Value &v) const { return v.isRegister ? registers[v.value] : v.value; }

  int64_t registers[isa::kNumRegisters] = {};
  KernelTraffic &traffic;
  uint64_t &core, &steps;
  std::map<isa::Pipe, std::deque<int64_t>> &fifos;
};

/// Executes register arithmetic; false for anything else.
bool Engine::scalar(const isa::DecodedInsn &insn) {
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
    registers[get.dst] = unsigned(get.what) < 4 ? places[unsigned(get.what)] : 0;
    return true;
  }
  case Opcode::Push: {
    const auto &push = insn.as<isa::Push>();
    fifos[push.engine].push_back(read(push.value));
    return true;
  }
  case Opcode::Pop: {
    const auto &pop = insn.as<isa::Pop>();
    auto &fifo = fifos[pipe];
    registers[pop.dst] = fifo.empty() ? 0 : fifo.front();
    if (!fifo.empty())
      fifo.pop_front();
    return true;
  }
  default:
    return isa::visit(insn, [&](const auto &typed) {
      constexpr Opcode opcode = isa::OpcodeOf<std::decay_t<decltype(typed)>>::value;
      if constexpr (isa::evaluateScalar(opcode, 1, 1).has_value())
        registers[typed.dst] =
            isa::evaluateScalar(opcode, read(typed.lhs), read(typed.rhs)).value_or(0); // by 0: a fault when it runs
      return isa::evaluateScalar(opcode, 1, 1).has_value();
    });
  }
}

void Engine::move(isa::DecodedInsn insn) {
  Moved moved;
  moved.info = &isa::infoOf(insn.opcode);
  isa::visit(insn, [&](auto &typed) {
    isa::resolve(typed, [&](unsigned i) { return registers[i]; });
    visitOperands(typed, moved);
  });
  if (moved.argument < 0 || size_t(moved.argument) >= traffic.arguments.size() || moved.elements <= 0)
    return;
  uint64_t bytes = (uint64_t(moved.elements) * moved.bits + 7) / 8;
  ArgumentTraffic &argument = traffic.arguments[moved.argument];
  (moved.written ? argument.written : argument.read) += bytes;
  core += bytes;
}

Status Engine::run(const std::vector<Op> &ops) {
  std::vector<Open> open;
  for (size_t at = 0; at < ops.size();) {
    if (++steps > kMostSteps)
      return Failure{"the kernel executes more than 2^28 commands"};
    const Op &op = ops[at];
    switch (op.insn.opcode) {
    case isa::Opcode::Loop: {
      const auto &loop = op.insn.as<isa::Loop>();
      int64_t lower = read(loop.lb), upper = read(loop.ub), step = read(loop.step);
      if (step <= 0)
        return Failure{"a loop has a step below 1"};
      if (lower >= upper) {
        at = op.target;
        break;
      }
      registers[loop.iv] = lower;
      open.push_back({at, upper, step});
      ++at;
      break;
    }
    case isa::Opcode::End: {
      Open &inner = open.back();
      int64_t &iv = registers[ops[inner.loop].insn.as<isa::Loop>().iv];
      iv += inner.step;
      if (iv < inner.upper) {
        at = inner.loop + 1;
      } else {
        open.pop_back();
        ++at;
      }
      break;
    }
    case isa::Opcode::BreakIfZero:
      if (read(op.insn.as<isa::BreakIfZero>().cond) == 0) {
        open.pop_back();
        at = op.target;
      } else {
        ++at;
      }
      break;
    case isa::Opcode::SkipIfZero:
      at = read(op.insn.as<isa::SkipIfZero>().cond) == 0 ? op.target : at + 1;
      break;
    default:
      if (!scalar(op.insn) && movesGlobal(op.insn.opcode)) {
        move(op.insn);
        // A value from memory is not known here; addresses may depend on it, sizes do not.
        if (op.insn.opcode == isa::Opcode::LoadScalar)
          registers[op.insn.as<isa::LoadScalar>().dst] = 0;
      }
      ++at;
    }
  }
  return {};
}

} // namespace

uint64_t KernelTraffic::read() const {
  uint64_t sum = 0;
  for (const ArgumentTraffic &argument : arguments)
    sum += argument.read;
  return sum;
}

uint64_t KernelTraffic::written() const {
  uint64_t sum = 0;
  for (const ArgumentTraffic &argument : arguments)
    sum += argument.written;
  return sum;
}

double KernelTraffic::imbalance() const {
  auto mostOfKind = [](auto begin, auto end) {
    return begin == end ? 0.0 : double(*std::max_element(begin, end)) * (end - begin);
  };
  uint64_t sum = std::accumulate(cores.begin(), cores.end(), uint64_t(0));
  auto firstVector = cores.begin() + cubeCores;
  return sum == 0 ? 1.0 : (mostOfKind(cores.begin(), firstVector) + mostOfKind(firstVector, cores.end())) / sum;
}

Result<KernelTraffic> measureTraffic(const KernelDesc &kernel) {
  KernelTraffic traffic;
  traffic.arguments.resize(kernel.numArgs);
  uint64_t steps = 0;
  for (CoreKind kind : {CoreKind::AIC, CoreKind::AIV}) {
    // S comes first: its values travel to the other engines.
    std::vector<std::pair<isa::Pipe, std::vector<Op>>> engines;
    for (const StreamDesc &stream : kernel.streams) {
      if (stream.coreKind != kind)
        continue;
      auto ops = decodeStream(stream);
      if (!ops)
        return Failure{ops.error()};
      auto pipe = isa::Pipe(stream.pipe);
      bool wanted = std::any_of(ops->begin(), ops->end(), [](const Op &op) {
        return movesGlobal(op.insn.opcode) || op.insn.opcode == isa::Opcode::Push;
      });
      if (wanted)
        engines.insert(pipe == isa::Pipe::S ? engines.begin() : engines.end(), {pipe, ops.take()});
    }
    if (engines.empty())
      continue;
    int64_t subBlocks = kind == CoreKind::AIC ? 1 : 2;
    if (kind == CoreKind::AIC)
      traffic.cubeCores = kernel.blocks;
    for (int64_t block = 0; block < int64_t(kernel.blocks); ++block)
      for (int64_t sub = 0; sub < subBlocks; ++sub) {
        uint64_t &core = traffic.cores.emplace_back(0);
        std::map<isa::Pipe, std::deque<int64_t>> fifos;
        for (const auto &[pipe, ops] : engines) {
          Engine engine(traffic, core, steps, fifos);
          engine.pipe = pipe;
          engine.places[0] = block, engine.places[1] = kernel.blocks;
          engine.places[2] = sub, engine.places[3] = subBlocks;
          if (Status status = engine.run(ops); !status)
            return Failure{status.error()};
        }
      }
  }
  return traffic;
}

Result<std::vector<KernelTraffic>> measureTraffic(const ModelDesc &model) {
  std::vector<KernelTraffic> kernels;
  for (const KernelDesc &kernel : model.kernels) {
    auto traffic = measureTraffic(kernel);
    if (!traffic)
      return Failure{"kernel '" + kernel.name + "': " + traffic.error()};
    kernels.push_back(traffic.take());
  }
  return kernels;
}

Result<VariantTraffic> measureTraffic(const VariantDesc &variant, const std::vector<KernelTraffic> &kernels) {
  auto program = decodeProgram(variant.program.code);
  if (!program)
    return Failure{program.error()};
  VariantTraffic total;
  EntrySlots slots(variant);
  for (const auto *tensors : {&variant.inputs, &variant.outputs})
    for (const TensorDesc &tensor : *tensors)
      total.ideal += tensorBytes(tensor.storageType, tensor.shape).value_or(0);
  std::set<std::pair<uint64_t, uint64_t>> weights;
  for (const VMInstruction &insn : *program) {
    if (insn.opcode != VMOpcode::CallDevice || insn.kernel >= variant.program.kernels.size())
      continue;
    LaunchTraffic launch;
    launch.kernel = variant.program.kernels[insn.kernel];
    const KernelTraffic &kernel = kernels.at(launch.kernel);
    total.read += kernel.read();
    total.written += kernel.written();
    for (size_t i = 0; i < insn.arguments.size() && i < kernel.arguments.size(); ++i) {
      const VMArgument &argument = insn.arguments[i];
      // A gather touches a few rows of its table.
      uint64_t touched = std::min(argument.bytes, kernel.arguments[i].read + kernel.arguments[i].written);
      launch.least += touched;
      if (argument.slot == slots.weights() && weights.emplace(argument.offset, argument.bytes).second)
        total.ideal += touched;
    }
    total.launches.push_back(launch);
  }
  return total;
}

} // namespace pto_mlir::pmodel
