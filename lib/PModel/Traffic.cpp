#include "pto_mlir/PModel/Traffic.h"

#include "StreamWalk.h"
#include "pto_mlir/ISA/OperandVisitor.h"
#include "pto_mlir/PModel/Program.h"
#include "pto_mlir/PModel/Sizes.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace pto_mlir::pmodel {

namespace {

/// The argument and bytes moved by an instruction: its view and the valid region of its tile. Registers must have been
/// substituted.
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

/// Adds the bytes moved by a command to the traffic of the kernel and of the executing core.
void count(const isa::DecodedInsn &insn, KernelTraffic &traffic, uint64_t &core) {
  Moved moved;
  moved.info = &isa::infoOf(insn.opcode);
  isa::visit(insn,
             [&](const auto &typed) { visitOperands(const_cast<std::decay_t<decltype(typed)> &>(typed), moved); });
  if (moved.argument < 0 || size_t(moved.argument) >= traffic.arguments.size() || moved.elements <= 0)
    return;
  uint64_t bytes = (uint64_t(moved.elements) * moved.bits + 7) / 8;
  ArgumentTraffic &argument = traffic.arguments[moved.argument];
  (moved.written ? argument.written : argument.read) += bytes;
  core += bytes;
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

Result<KernelTraffic> measureTraffic(const KernelDesc &kernel, const isa::ArchInfo &arch,
                                     const std::vector<int64_t> &scalars) {
  KernelTraffic traffic;
  traffic.arguments.resize(kernel.numArgs);
  uint64_t steps = 0;
  for (CoreKind kind : {CoreKind::AIC, CoreKind::AIV}) {
    // S first, since the other engines consume its queue values.
    std::vector<std::pair<isa::Pipe, std::vector<StreamOp>>> engines;
    for (const StreamDesc &stream : kernel.streams) {
      if (stream.coreKind != kind)
        continue;
      auto ops = decodeStream(stream);
      if (!ops)
        return ops.failure();
      auto pipe = isa::Pipe(stream.pipe);
      bool wanted = std::any_of(ops->begin(), ops->end(), [](const StreamOp &op) {
        return movesGlobal(op.insn.opcode) || op.insn.opcode == isa::Opcode::Push;
      });
      if (wanted)
        engines.insert(pipe == isa::Pipe::S ? engines.begin() : engines.end(), {pipe, ops.take()});
    }
    if (engines.empty())
      continue;
    int64_t subBlocks = isa::coresOf(arch, isa::CoreKind(uint8_t(kind)));
    if (kind == CoreKind::AIC)
      traffic.cubeCores = kernel.blocks;
    for (int64_t block = 0; block < int64_t(kernel.blocks); ++block)
      for (int64_t sub = 0; sub < subBlocks; ++sub) {
        uint64_t &core = traffic.cores.emplace_back(0);
        StreamWalker::Queues queues;
        auto command = [&](const isa::DecodedInsn &insn, uint32_t) {
          if (movesGlobal(insn.opcode))
            count(insn, traffic, core);
        };
        for (const auto &[pipe, ops] : engines) {
          StreamWalker walker(steps, queues);
          walker.pipe = pipe;
          walker.scalars = scalars;
          walker.places[0] = block, walker.places[1] = kernel.blocks;
          walker.places[2] = sub, walker.places[3] = subBlocks;
          if (Status status = walker.run(ops, command); !status)
            return status.failure();
        }
      }
  }
  return traffic;
}

Result<std::vector<KernelTraffic>> measureTraffic(const ModelDesc &model) {
  std::vector<KernelTraffic> kernels;
  const isa::ArchInfo *arch = isa::findArch(model.processor);
  std::vector<std::vector<int64_t>> scalars = greatestScalars(model);
  for (const KernelDesc &kernel : model.kernels) {
    auto traffic = measureTraffic(kernel, arch ? *arch : isa::defaultArch(), scalars[&kernel - model.kernels.data()]);
    if (!traffic)
      return Failure{"kernel '" + kernel.name + "': " + traffic.error()};
    kernels.push_back(traffic.take());
  }
  return kernels;
}

Result<VariantTraffic> measureTraffic(const VariantDesc &variant, const std::vector<KernelTraffic> &kernels) {
  auto program = decodeProgram(variant.program.code);
  if (!program)
    return program.failure();
  VariantTraffic total;
  EntrySlots slots(variant);
  for (const auto *tensors : {&variant.inputs, &variant.outputs})
    for (const TensorDesc &tensor : *tensors)
      total.ideal += tensorBytes(tensor.storageType, tensor.shape).value_or(0);
  std::set<std::pair<uint64_t, uint64_t>> weights;
  for (const VMInstruction &insn : *program) {
    if (!isLaunch(insn) || insn.kernel >= variant.program.kernels.size())
      continue;
    LaunchTraffic launch;
    launch.kernel = variant.program.kernels[insn.kernel];
    const KernelTraffic &kernel = kernels.at(launch.kernel);
    total.read += kernel.read();
    total.written += kernel.written();
    for (size_t i = 0; i < insn.arguments.size() && i < kernel.arguments.size(); ++i) {
      const VMArgument &argument = insn.arguments[i];
      // At most the argument's size: a gather reads a few rows of its table.
      uint64_t touched = std::min(argument.bytes, kernel.arguments[i].read + kernel.arguments[i].written);
      launch.least += touched;
      if (argument.slot == slots.weights() && weights.emplace(argument.offset, argument.bytes).second)
        total.ideal += touched;
      if (slots.hasState && argument.slot == slots.state()) {
        total.stateRead += kernel.arguments[i].read;
        total.stateWritten += kernel.arguments[i].written;
        total.ideal += touched;
      }
    }
    total.launches.push_back(launch);
  }
  return total;
}

} // namespace pto_mlir::pmodel
