#include "Machine/Program.h"

#include "pto_mlir/ISA/Verify.h"

#include <algorithm>

namespace pto_mlir::cmodel {
namespace {

// Precondition: the stream is verified (it decodes, loops nest, jump targets are instructions).
std::string decodeStream(const pto_stream &in, Stream &out) {
  std::vector<uint32_t> loops;
  std::vector<std::vector<uint32_t>> breaks; // of each open loop
  for (size_t at = 0; at < in.num_words;) {
    Op op;
    if (auto error = isa::decode(in.words + at, in.num_words - at, op.insn))
      return *error;
    op.word = uint32_t(at);
    op.run = handlerOf(op.insn.opcode);
    if (op.insn.opcode == isa::Opcode::Loop)
      loops.push_back(uint32_t(out.ops.size())), breaks.emplace_back();
    if (op.insn.opcode == isa::Opcode::BreakIfZero) {
      if (loops.empty())
        return "break without loop";
      breaks.back().push_back(uint32_t(out.ops.size()));
    }
    if (op.insn.opcode == isa::Opcode::End) {
      if (loops.empty())
        return "end without loop";
      out.ops[loops.back()].target = uint32_t(out.ops.size() + 1);
      for (uint32_t inside : breaks.back())
        out.ops[inside].target = uint32_t(out.ops.size() + 1);
      loops.pop_back(), breaks.pop_back();
    }
    at += op.insn.numWords;
    out.ops.push_back(op);
  }
  if (!loops.empty())
    return "loop without end";
  for (Op &op : out.ops)
    if (op.insn.opcode == isa::Opcode::SkipIfZero) {
      int64_t target = int64_t(op.word) + op.insn.numWords + op.insn.as<isa::SkipIfZero>().words.value;
      auto found = std::lower_bound(out.ops.begin(), out.ops.end(), target,
                                    [](const Op &o, int64_t word) { return o.word < word; });
      op.target = uint32_t(found - out.ops.begin());
    }
  return "";
}

/// Checks that a kernel which sets flags of the other kind of core has commands for such cores.
std::string checkPartners(const Kernel &kernel) {
  for (const Stream &stream : kernel.streams)
    for (const Op &op : stream.ops)
      if (op.insn.opcode == isa::Opcode::CrossSet) {
        isa::CrossMode mode = op.insn.as<isa::CrossSet>().mode;
        bool isCube = stream.kind == isa::CoreKind::AIC;
        if ((mode == isa::CrossMode::block || mode == isa::CrossMode::lane) &&
            !kernel.uses(isCube ? isa::CoreKind::AIV : isa::CoreKind::AIC))
          return "kernel '" + kernel.name + "', " + isa::kCoreKindNames[unsigned(stream.kind)] + " " +
                 isa::pipeName(stream.pipe) + ", word " + std::to_string(op.word) + ": cross_set raises a flag on " +
                 (isCube ? "the vector cores" : "the cube core") + ", for which the kernel has no commands";
      }
  return "";
}

} // namespace

bool Kernel::uses(isa::CoreKind kind) const {
  return std::any_of(streams.begin(), streams.end(), [&](const Stream &s) { return s.kind == kind; });
}

std::string buildKernel(const pto_kernel_desc &desc, isa::Arch arch, Kernel &kernel) {
  kernel.name = desc.name ? desc.name : "";
  kernel.numArgs = desc.num_args;
  for (size_t i = 0; i < desc.num_streams; ++i) {
    const pto_stream &in = desc.streams[i];
    std::string where = "kernel '" + kernel.name + "', stream " + std::to_string(i);
    if (in.core_kind > PTO_CORE_AIV || in.pipe > 15 || !isa::hasPipe(isa::CoreKind(in.core_kind), isa::Pipe(in.pipe)))
      return where + ": core kind " + std::to_string(in.core_kind) + " has no pipe " + std::to_string(in.pipe);
    Stream stream{isa::CoreKind(in.core_kind), isa::Pipe(in.pipe), {}};
    where += std::string(" (") + isa::kCoreKindNames[in.core_kind] + " " + isa::pipeName(stream.pipe) + ")";
    if (in.num_words > 0 && !in.words)
      return where + ": has no words";
    if (in.num_words > UINT32_MAX)
      return where + ": is longer than 2^32 words";
    for (const Stream &other : kernel.streams)
      if (other.kind == stream.kind && other.pipe == stream.pipe)
        return where + ": the kernel has two streams for this engine";
    if (auto error = isa::verifyStream(stream.kind, stream.pipe, in.words, in.num_words, arch, desc.num_args))
      return where + ", word " + std::to_string(error->word) + ": " + error->message;
    if (std::string error = decodeStream(in, stream); !error.empty())
      return where + ": " + error;
    for (const Op &op : stream.ops) {
      kernel.ordered |= isa::addsToGlobal(op.insn);
      bool all = op.insn.opcode == isa::Opcode::CrossSet && op.insn.as<isa::CrossSet>().mode == isa::CrossMode::all;
      if (all || op.insn.opcode == isa::Opcode::CrossSet || op.insn.opcode == isa::Opcode::CrossWait)
        kernel.together = std::max(kernel.together, all ? Together::Launch : Together::Block);
      if (isa::writesPeer(op.insn.opcode)) {
        kernel.writesPeers = true;
        kernel.together = std::max(kernel.together, Together::Block);
      }
    }
    kernel.streams.push_back(std::move(stream));
  }
  return checkPartners(kernel);
}

} // namespace pto_mlir::cmodel
