// Load-time verification of modules.
#include "pto_mlir/ByteCode/Program.h"

#include "VerifyFunction.h"
#include "pto_mlir/ByteCode/Text.h"

#include <algorithm>
#include <unordered_set>

namespace pto_mlir::bytecode {

namespace {

constexpr size_t kMaxSlots = 1 << 16;

Status verifyTypes(const Module &module) {
  for (size_t i = 0; i < module.types.size(); ++i) {
    if (!isValidType(module.types[i]))
      return Failure{"type " + std::to_string(i) + " is none that the VM has"};
    if (std::find(module.types.begin(), module.types.begin() + i, module.types[i]) != module.types.begin() + i)
      return Failure{"type " + std::to_string(i) + " is there twice"};
  }
  return {};
}

Status verifyConstant(const Module &module, const Constant &constant) {
  if (auto *scalar = std::get_if<ScalarConstant>(&constant)) {
    if (scalar->type >= module.types.size() || module.types[scalar->type].isTensor || module.types[scalar->type].isTask)
      return Failure{"has no number's type"};
    const Type &type = module.types[scalar->type];
    if (type.kind() == Kind::Integer && !fitsWidth(int64_t(scalar->bits), type.width()))
      return Failure{"does not fit into " + typeText(type)};
  } else if (auto *tensor = std::get_if<TensorConstant>(&constant)) {
    if (tensor->type >= module.types.size() || !module.types[tensor->type].isTensor ||
        !module.types[tensor->type].isStatic())
      return Failure{"has no tensor type of known shape"};
    const Type &type = module.types[tensor->type];
    if (type.element == ElementType::String)
      return Failure{"holds the numbers of strings, which a run gives out; @host.strings makes literals"};
    auto bytes = tensorBytes(type.element, std::vector<uint64_t>(type.shape.begin(), type.shape.end()));
    if (!tensor->isExternal && tensor->data.size() != bytes)
      return Failure{"has " + std::to_string(tensor->data.size()) + " bytes, " + typeText(type) + " takes " +
                     std::to_string(*bytes)};
    if (tensor->isExternal && tensor->name.empty())
      return Failure{"is external without a name"};
  } else if (auto *key = std::get_if<KernelKey>(&constant)) {
    if (!isValidKey(*key))
      return Failure{"names no kernel: expects @device, @host or @python, a dot and an operation, attributes in order"};
  }
  return {};
}

Status verifyModule(const Module &module) {
  if (module.version != kVersion)
    return Failure{"is of VM version " + std::to_string(module.version) + ", this one runs version " +
                   std::to_string(kVersion)};
  if (module.target.empty())
    return Failure{"names no target"};
  if (module.capabilities & ~uint32_t(kAllCapabilities))
    return Failure{"needs capabilities that this VM lacks (bits " +
                   std::to_string(module.capabilities & ~uint32_t(kAllCapabilities)) + ")"};
  if (module.functions.empty())
    return Failure{"has no function"};
  if (Status status = verifyTypes(module); !status)
    return status;
  for (size_t i = 0; i < module.constants.size(); ++i)
    if (Status status = verifyConstant(module, module.constants[i]); !status)
      return Failure{"constant " + std::to_string(i) + " " + status.error()};
  std::unordered_set<std::string> names;
  for (const Function &function : module.functions) {
    if (function.name.empty() || !names.insert(function.name).second)
      return Failure{"two functions are named '" + function.name + "', or one has no name"};
    for (const auto *list : {&function.parameters, &function.results, &function.slots})
      for (uint32_t type : *list)
        if (type >= module.types.size())
          return Failure{"@" + function.name + ": type " + std::to_string(type) + " does not exist"};
    if (function.slots.size() > kMaxSlots)
      return Failure{"@" + function.name + ": has more than " + std::to_string(kMaxSlots) + " slots"};
    if (function.slots.size() < function.parameters.size() ||
        !std::equal(function.parameters.begin(), function.parameters.end(), function.slots.begin()))
      return Failure{"@" + function.name + ": its slots do not begin with its parameters"};
  }
  for (const auto *list : {&module.functions[0].parameters, &module.functions[0].results})
    if (std::any_of(list->begin(), list->end(), [&](uint32_t type) { return module.types[type].isTask; }))
      return Failure{"takes or gives a task, which has no meaning outside of a run"};
  if (uint32_t missing = module.usedCapabilities() & ~module.capabilities)
    return Failure{"uses capabilities that it does not declare (bits " + std::to_string(missing) + ")"};
  return {};
}

} // namespace

Result<Program> Program::load(Module module) {
  if (Status status = verifyModule(module); !status)
    return Failure{"the program " + status.error()};
  Program program;
  auto shared = std::make_shared<Module>(std::move(module));
  program.source = shared;
  for (uint32_t i = 0; i < shared->functions.size(); ++i) {
    uint32_t at = 0;
    auto function = verifyFunction(*shared, shared->functions[i], at);
    if (!function)
      return program.failureAt(i, at, function.error());
    program.loaded.push_back(function.take());
  }
  return program;
}

Failure Program::failureAt(uint32_t function, uint32_t instruction, const std::string &reason) const {
  const Function &entry = source->functions[function];
  std::string text = "@" + entry.name + ", instruction " + std::to_string(instruction);
  auto code = decodeAll(entry.code);
  if (code && instruction < code->size())
    text += " (" + std::string(opcodeRow((*code)[instruction].opcode).mnemonic) + ")";
  const DebugEntry *line = nullptr;
  for (const DebugEntry &candidate : entry.debug)
    if (candidate.instruction <= instruction)
      line = &candidate;
  if (line)
    text += " at " + line->location;
  return Failure{text + ": " + reason};
}

} // namespace pto_mlir::bytecode
