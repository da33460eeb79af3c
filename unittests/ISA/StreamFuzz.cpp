// A libFuzzer target: the input as a command stream. Every word is decoded as the start of an instruction; what decodes
// must encode to the same words; what the load-time verifier accepts must decode from end to end and disassemble.
#include "pto_mlir/ISA/Verify.h"

#include <cstdlib>
#include <cstring>
#include <vector>

using namespace pto_mlir::isa;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 5) // mode byte and one word
    return 0;
  uint8_t mode = data[0];
  std::vector<uint32_t> words((size - 1) / 4);
  std::memcpy(words.data(), data + 1, words.size() * 4);
  for (size_t at = 0; at < words.size(); ++at) {
    DecodedInsn insn;
    if (decode(&words[at], words.size() - at, insn))
      continue;
    (void)disassemble(insn);
    std::vector<uint32_t> again;
    visit(insn, [&](const auto &typed) { encode(typed, again); });
    if (again.size() != insn.numWords || std::memcmp(again.data(), &words[at], again.size() * 4) != 0)
      std::abort();
  }
  (void)disassemble(words);
  auto error =
      verifyStream(CoreKind(mode & 1), Pipe(mode >> 1 & 15), words.data(), words.size(), Arch(mode >> 5 & 1), 3);
  for (size_t at = 0; !error && at < words.size();) {
    DecodedInsn insn;
    if (decode(&words[at], words.size() - at, insn))
      std::abort();
    at += insn.numWords;
  }
  return 0;
}
