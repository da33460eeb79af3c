// A libFuzzer target: the input as a program, in text and in FlatBuffers form. Programs that verify are executed, and
// must print and read back.
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
  provider->strings().clear();
  auto machine = Machine::create(*program, provider, {100, 64, 1 << 16});
  if (!machine)
    return;
  std::vector<Value> arguments;
  for (uint32_t index : loaded.functions[0].parameters) {
    const Type &type = loaded.types[index];
    if (!type.isTensor) {
      arguments.push_back(Value::integer(type.kind() == Kind::Integer));
      continue;
    }
    std::vector<int64_t> shape = type.shape;
    uint64_t elements = 1;
    for (int64_t &size : shape) {
      size = size == kDynamic ? 2 : size;
      elements = size > 1024 ? 1 << 20 : elements * uint64_t(size);
    }
    if (elements >= 1 << 16 || shape.size() > 16)
      return;
    arguments.push_back(Value::of(makeTensor(type.element, shape)));
  }
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
