// A libFuzzer target: bytes as a program, as text and as the FlatBuffers form. What verifies is run, and must print and read back.
#include "pto_mlir/ByteCode/Machine.h"
#include "pto_mlir/ByteCode/Serialize.h"
#include "pto_mlir/ByteCode/Text.h"

#include <cstdlib>

using namespace pto_mlir;
using namespace pto_mlir::bytecode;

namespace {

void tryModule(Module module) {
  auto program = Program::load(std::move(module));
  if (!program)
    return;
  const Module &loaded = program->module();
  auto again = assemble(disassemble(loaded));
  if (!again || !(*again == loaded))
    std::abort();
  auto bytes = serialize(loaded);
  auto back = deserialize(bytes.data(), bytes.size());
  if (!back || !(*back == loaded))
    std::abort();
  static auto provider = std::make_shared<HostProvider>([](const std::string &) {});
  auto machine = Machine::create(*program, provider, {100, 64, 1 << 16});
  if (!machine)
    return;
  std::vector<Value> arguments;
  for (uint32_t type : loaded.functions[0].parameters)
    arguments.push_back(loaded.types[type].isTensor ? Value::of(makeTensor(pmodel::ElementType::F32, {2})) : Value());
  (void)machine->run(std::move(arguments));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (auto module = assemble(std::string_view(reinterpret_cast<const char *>(data), size)))
    tryModule(module.take());
  if (auto module = deserialize(data, size))
    tryModule(module.take());
  return 0;
}
