#include "pto_mlir/ByteCode/Serialize.h"

#include "ByteCode_generated.h"

namespace pto_mlir::bytecode {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

namespace {

Offset<fb::Constant> write(FlatBufferBuilder &builder, const Constant &constant) {
  if (auto *scalar = std::get_if<ScalarConstant>(&constant))
    return fb::CreateConstant(builder, fb::ConstantKind::scalar, scalar->type, scalar->bits);
  if (auto *text = std::get_if<TextConstant>(&constant))
    return fb::CreateConstant(builder, fb::ConstantKind::text, 0, 0, builder.CreateString(text->text));
  if (auto *key = std::get_if<KernelKey>(&constant))
    return fb::CreateConstant(builder, fb::ConstantKind::kernel, 0, 0, builder.CreateString(mangle(*key)));
  const auto &tensor = std::get<TensorConstant>(constant);
  if (tensor.isExternal)
    return fb::CreateConstant(builder, fb::ConstantKind::external, tensor.type, 0, builder.CreateString(tensor.name));
  auto data = builder.CreateVector(tensor.data);
  return fb::CreateConstant(builder, fb::ConstantKind::tensor, tensor.type, 0, 0, data);
}

template <class T> std::vector<T> numbers(const flatbuffers::Vector<T> *values) {
  return values ? std::vector<T>(values->begin(), values->end()) : std::vector<T>();
}

Result<Constant> read(const fb::Constant &table, size_t index) {
  std::string text = table.text() ? table.text()->str() : "";
  switch (table.kind()) {
  case fb::ConstantKind::scalar:
    return Constant(ScalarConstant{table.type(), table.bits()});
  case fb::ConstantKind::tensor:
    return Constant(TensorConstant{table.type(), false, "", numbers(table.data())});
  case fb::ConstantKind::external:
    return Constant(TensorConstant{table.type(), true, text, {}});
  case fb::ConstantKind::text:
    return Constant(TextConstant{text});
  case fb::ConstantKind::kernel:
    if (auto key = demangle(text))
      return Constant(std::move(*key));
    return Failure{"constant " + std::to_string(index) + " is not the name of a kernel"};
  }
  return Failure{"constant " + std::to_string(index) + " has an unknown kind"};
}

} // namespace

std::vector<uint8_t> serialize(const Module &module) {
  FlatBufferBuilder builder;
  std::vector<Offset<fb::Type>> types;
  types.reserve(module.types.size());
  for (const Type &type : module.types)
    types.push_back(fb::CreateType(builder, static_cast<uint8_t>(type.element), type.isTensor,
                                   builder.CreateVector(type.shape), type.isTask));
  std::vector<Offset<fb::Constant>> constants;
  constants.reserve(module.constants.size());
  for (const Constant &constant : module.constants)
    constants.push_back(write(builder, constant));
  std::vector<Offset<fb::Function>> functions;
  for (const Function &function : module.functions) {
    std::vector<Offset<fb::DebugEntry>> debug;
    debug.reserve(function.debug.size());
    for (const DebugEntry &entry : function.debug)
      debug.push_back(fb::CreateDebugEntry(builder, entry.instruction, builder.CreateSharedString(entry.location)));
    auto name = builder.CreateString(function.name);
    auto parameters = builder.CreateVector(function.parameters);
    auto results = builder.CreateVector(function.results);
    auto slots = builder.CreateVector(function.slots);
    auto code = builder.CreateVector(function.code);
    auto debugVector = builder.CreateVector(debug);
    functions.push_back(fb::CreateFunction(builder, name, parameters, results, slots, code, debugVector));
  }
  auto target = builder.CreateString(module.target);
  auto typeVector = builder.CreateVector(types);
  auto constantVector = builder.CreateVector(constants);
  auto functionVector = builder.CreateVector(functions);
  fb::FinishModuleBuffer(builder, fb::CreateModule(builder, module.version, target, module.targetVersion,
                                                   module.capabilities, typeVector, constantVector, functionVector));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

Result<Module> deserialize(const uint8_t *data, size_t size) {
  flatbuffers::Verifier verifier(data, size);
  // Check size and identifier first: the FlatBuffers verifier would read past the end of a very short buffer.
  if (size < 8 || !fb::ModuleBufferHasIdentifier(data) || !fb::VerifyModuleBuffer(verifier))
    return Failure{"is not a VM program"};
  const fb::Module &table = *fb::GetModule(data);
  Module module;
  module.version = table.version();
  module.target = table.target()->str();
  module.targetVersion = table.target_version();
  module.capabilities = table.capabilities();
  if (table.types())
    for (const fb::Type *type : *table.types())
      module.types.push_back(
          {static_cast<ElementType>(type->element()), type->is_tensor(), numbers(type->shape()), type->is_task()});
  if (table.constants())
    for (const fb::Constant *constant : *table.constants()) {
      auto value = read(*constant, module.constants.size());
      if (!value)
        return value.failure();
      module.constants.push_back(value.take());
    }
  if (table.functions())
    for (const fb::Function *entry : *table.functions()) {
      Function function{entry->name()->str(),    numbers(entry->parameters()), numbers(entry->results()),
                        numbers(entry->slots()), numbers(entry->code()),       {}};
      if (entry->debug())
        for (const fb::DebugEntry *line : *entry->debug())
          function.debug.push_back({line->instruction(), line->location()->str()});
      module.functions.push_back(std::move(function));
    }
  return module;
}

} // namespace pto_mlir::bytecode
