//===- EngineStorer.cpp - Where one engine's commands are kept ------------===//

#include "pto_mlir/Backend/EngineStorer.h"

#include "pto_mlir/ISA/Codec.h"

namespace pto_mlir::backend {

StoreError EngineStorer::store(const uint32_t *cmd, size_t numWords, CMD_ID_NODE *node) {
  if (StoreError error = accept(cmd, numWords))
    return name + ": " + *error;
  if (endDependency)
    return name + ": a command comes after the end of the stream";
  words.insert(words.end(), cmd, cmd + numWords);
  if (node)
    ++node->cmd_id[engineId];
  return std::nullopt;
}

PipeEngineStorer::PipeEngineStorer(const isa::ArchInfo &arch, isa::CoreKind core, isa::Pipe pipe)
    : EngineStorer(int(unsigned(core) << 4 | unsigned(pipe)),
                   std::string(isa::kCoreKindNames[unsigned(core)]) + " " + isa::pipeName(pipe)),
      arch(arch), pipe(pipe) {}

StoreError PipeEngineStorer::accept(const uint32_t *cmd, size_t numWords) const {
  isa::DecodedInsn insn;
  if (StoreError error = isa::decode(cmd, numWords, insn))
    return error;
  if (insn.numWords != numWords)
    return "a command of " + std::to_string(numWords) + " words holds an instruction of " +
           std::to_string(insn.numWords);
  const isa::InsnInfo &info = isa::infoOf(insn.opcode);
  if (isa::Pipe own = arch.engineOf(info.pipe); own != isa::Pipe::ALL && own != pipe)
    return std::string(info.mnemonic) + " belongs to " + isa::pipeName(own);
  return std::nullopt;
}

StoreError VectorDumpEngineStorerDecorator::store(const uint32_t *cmd, size_t numWords, CMD_ID_NODE *node) {
  StoreError error = EngineStorerDecorator::store(cmd, numWords, node);
  if (enabled && !error)
    take();
  return error;
}

void VectorDumpEngineStorerDecorator::store_cmd_end(unsigned dep) {
  EngineStorerDecorator::store_cmd_end(dep);
  if (enabled)
    take();
}

void VectorDumpEngineStorerDecorator::take() {
  std::vector<uint32_t> words = EngineStorerDecorator::get_cmds();
  output.insert(output.end(), words.begin(), words.end());
}

StoreError StatisticsEngineStorerDecorator::store(const uint32_t *cmd, size_t numWords, CMD_ID_NODE *node) {
  StoreError error = EngineStorerDecorator::store(cmd, numWords, node);
  if (!enabled || error)
    return error;
  ++statistics.commands;
  statistics.words += numWords;
  if (numWords)
    ++byOpcode[cmd[0] & 1023];
  return error;
}

void StatisticsEngineStorerDecorator::store_cmd_end(unsigned dep) {
  EngineStorerDecorator::store_cmd_end(dep);
  for (auto [opcode, count] : byOpcode) {
    const isa::InsnInfo *info = isa::findInsn(opcode);
    statistics.byMnemonic[info ? info->mnemonic : "?"] += count;
  }
  byOpcode.clear();
}

StoreError TraceEngineStorerDecorator::store(const uint32_t *cmd, size_t numWords, CMD_ID_NODE *node) {
  StoreError error = EngineStorerDecorator::store(cmd, numWords, node);
  if (enabled && !error)
    pending.insert(pending.end(), cmd, cmd + numWords);
  return error;
}

void TraceEngineStorerDecorator::store_cmd_end(unsigned dep) {
  EngineStorerDecorator::store_cmd_end(dep);
  output += isa::disassemble(pending);
  pending.clear();
}

} // namespace pto_mlir::backend
