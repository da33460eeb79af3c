//===- Encoder.cpp - The entry points of an encoder library ---------------===//
//
// One C function per row of the instruction table, see pto_mlir/Backend/EncoderABI.h.
//
//===----------------------------------------------------------------------===//

#include "pto_mlir/Backend/EncoderABI.h"
#include "pto_mlir/ISA/Codec.h"

#include <cstdio>

using namespace pto_mlir;

namespace {

int fail(PtoEncodeContext *context, const std::string &message) {
  std::snprintf(context->error, sizeof(context->error), "%s", message.c_str());
  return 1;
}

const isa::ArchInfo &arch() {
  static const isa::ArchInfo &row = *isa::findArch(PTO_ENCODER_PROCESSOR);
  return row;
}

// An instruction of one engine goes to the stream of the engine that carries it out, one of every engine to the stream
// that is being written.
template <class I> int encodeAndStore(PtoEncodeContext *context, const I *insn, CMD_ID_NODE *node) {
  std::vector<uint32_t> words;
  if (std::optional<std::string> error = isa::tryEncode(*insn, words))
    return fail(context, *error);
  const isa::InsnInfo &info = isa::infoOf(isa::OpcodeOf<I>::value);
  isa::Pipe pipe = info.pipe == isa::Pipe::ALL ? isa::Pipe(context->pipe) : arch().engineOf(info.pipe);
  if (!isa::hasPipe(arch(), isa::CoreKind(context->core_kind), pipe))
    return fail(context, std::string(info.mnemonic) + ": this kind of core has no engine for it");
  return context->store_cmd(context->user, int(context->core_kind << 4 | unsigned(pipe)), words.data(), words.size(),
                            node, 0);
}

} // namespace

#define PTO_EXPORT extern "C" __attribute__((visibility("default")))

#define PTO_ENCODE(Struct, mnemonic, code, pipe)                                                                       \
  PTO_EXPORT int pto_##mnemonic(PtoEncodeContext *context, const isa::Struct *params, CMD_ID_NODE *node) {             \
    return encodeAndStore(context, params, node);                                                                      \
  }
ISA_INSNS(PTO_ENCODE)
#undef PTO_ENCODE

/// Closes the current stream with a barrier that drains its engine.
PTO_EXPORT int pto_sync_all(PtoEncodeContext *context, CMD_ID_NODE *node) {
  isa::Barrier barrier;
  barrier.pipe = isa::Pipe::ALL;
  return encodeAndStore(context, &barrier, node);
}

PTO_EXPORT uint32_t pto_encoder_abi_version() { return backend::kEncoderABIVersion; }

PTO_EXPORT const char *pto_encoder_processor() { return PTO_ENCODER_PROCESSOR; }
