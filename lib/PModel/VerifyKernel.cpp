// Verifies kernels: every command is checked against the instruction table.
#include "pto_mlir/ISA/Verify.h"
#include "pto_mlir/PModel/Verifier.h"

#include <set>

namespace pto_mlir::pmodel {

namespace {

std::string engineName(const StreamDesc &stream) {
  const char *pipe = isa::pipeName(static_cast<isa::Pipe>(stream.pipe));
  return std::string(stream.coreKind == CoreKind::AIC ? "AIC " : "AIV ") + (pipe ? pipe : "?");
}

/// Number of instructions of a verified stream.
uint32_t countCommands(const std::vector<uint32_t> &words) {
  uint32_t count = 0;
  for (size_t word = 0; word < words.size(); word += words[word] >> 16 & 0xff)
    ++count;
  return count;
}

Status verifyStream(const KernelDesc &kernel, const StreamDesc &stream, isa::Arch arch) {
  if (stream.coreKind != CoreKind::AIC && stream.coreKind != CoreKind::AIV)
    return Failure{"unknown core kind " + std::to_string(static_cast<unsigned>(stream.coreKind))};
  auto pipe = static_cast<isa::Pipe>(stream.pipe);
  if (!isa::pipeName(pipe) || pipe == isa::Pipe::ALL)
    return Failure{"unknown pipe " + std::to_string(stream.pipe)};
  auto coreKind = stream.coreKind == CoreKind::AIC ? isa::CoreKind::AIC : isa::CoreKind::AIV;
  if (auto error = isa::verifyStream(coreKind, pipe, stream.words, arch, kernel.numArgs))
    return Failure{engineName(stream) + ", word " + std::to_string(error->word) + ": " + error->message};
  for (size_t i = 0; i < stream.sources.size(); ++i) {
    auto [word, source] = stream.sources[i];
    if (word >= stream.words.size() || source >= kernel.sources.size() || (i && word <= stream.sources[i - 1].first))
      return Failure{engineName(stream) + ": entry " + std::to_string(i) + " of its table of sources names word " +
                     std::to_string(word) + " and source " + std::to_string(source) + ", there are " +
                     std::to_string(stream.words.size()) + " and " + std::to_string(kernel.sources.size()) +
                     " in ascending order"};
  }
  if (countCommands(stream.words) != stream.numCommands)
    return Failure{engineName(stream) + ": has " + std::to_string(countCommands(stream.words)) + " commands, not " +
                   std::to_string(stream.numCommands)};
  return {};
}

} // namespace

Status verifyKernel(const KernelDesc &kernel, const std::string &processor) {
  const isa::ArchInfo *arch = isa::findArch(processor);
  if (!arch)
    return Failure{"unknown processor '" + processor + "'"};
  if (kernel.numArgs > kMostArguments)
    return Failure{"has " + std::to_string(kernel.numArgs) + " arguments, a view can name " +
                   std::to_string(kMostArguments)};
  if (kernel.blocks < 1 || kernel.blocks > 1024)
    return Failure{"runs on " + std::to_string(kernel.blocks) + " blocks, expects 1 to 1024"};
  std::set<std::pair<CoreKind, uint8_t>> engines;
  for (const StreamDesc &stream : kernel.streams) {
    if (Status status = verifyStream(kernel, stream, arch->arch); !status)
      return status;
    if (!engines.insert({stream.coreKind, stream.pipe}).second)
      return Failure{"two streams for " + engineName(stream)};
  }
  return {};
}

std::string disassembleKernel(const KernelDesc &kernel) {
  std::string text;
  for (const StreamDesc &stream : kernel.streams) {
    text += "  " + engineName(stream) + ", " + std::to_string(stream.numCommands) + " commands\n";
    std::string body = isa::disassemble(stream.words);
    auto source = stream.sources.begin();
    uint32_t word = 0;
    for (size_t begin = 0; begin < body.size();) { // one line per command
      size_t end = std::min(body.find('\n', begin), body.size());
      text += "    " + body.substr(begin, end - begin);
      begin = end + 1;
      if (source != stream.sources.end() && source->first <= word) {
        if (!kernel.sources[source->second].empty())
          text += "  ; " + kernel.sources[source->second];
        ++source;
      }
      text += "\n";
      isa::DecodedInsn insn;
      if (word < stream.words.size() && !isa::decode(&stream.words[word], stream.words.size() - word, insn))
        word += insn.numWords;
    }
  }
  return text;
}

} // namespace pto_mlir::pmodel
