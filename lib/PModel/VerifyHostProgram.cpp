#include "VerifyHostProgram.h"

#include "pto_mlir/ByteCode/Program.h"
#include "pto_mlir/ByteCode/Serialize.h"

#include <algorithm>
#include <unordered_set>

namespace pto_mlir::pmodel {

namespace {

using bytecode::Type;

/// Whether the tensors of a variant have these types, in order.
bool fit(const std::vector<TensorDesc> &tensors, const std::vector<Type> &types) {
  return tensors.size() == types.size() &&
         std::equal(tensors.begin(), tensors.end(), types.begin(), [](const TensorDesc &tensor, const Type &type) {
           Type has{tensor.type, true, std::vector<int64_t>(tensor.shape.begin(), tensor.shape.end())};
           return isRefinedBy(type, has);
         });
}

Status verifyNames(const std::vector<std::string> &names, const std::vector<uint32_t> &types,
                   const bytecode::Module &module, const char *what) {
  if (names.size() != types.size())
    return Failure{"has " + std::to_string(types.size()) + " " + what + "s and " + std::to_string(names.size()) +
                   " names for them"};
  std::unordered_set<std::string> seen;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty() || !seen.insert(names[i]).second)
      return Failure{std::string("two ") + what + "s are named '" + names[i] + "', or one has no name"};
    if (!module.types[types[i]].isTensor)
      return Failure{std::string(what) + " '" + names[i] + "' is not a tensor"};
  }
  return {};
}

/// Whether nets of one program use state alike; `known` is null before the first.
bool agree(const StateUseDesc *&known, const StateUseDesc &use) {
  if (!known)
    known = &use;
  return known->group == use.group && known->rows == use.rows && known->limit == use.limit;
}

} // namespace

Status verifyHostProgram(const ModelDesc &model, const HostProgramDesc &desc) {
  if (std::any_of(model.nets.begin(), model.nets.end(), [&](const NetDesc &net) { return net.name == desc.name; }))
    return Failure{"has the name of a net"};
  // Programs of one name must agree on the names, types and ranks of inputs and outputs.
  const HostProgramDesc &first =
      *std::find_if(model.programs.begin(), model.programs.end(), [&](auto &other) { return other.name == desc.name; });
  if (desc.inputs != first.inputs || desc.outputs != first.outputs)
    return Failure{"differs from the program of that name in inputs or outputs"};
  auto module = bytecode::deserialize(desc.code.data(), desc.code.size());
  if (!module)
    return module.failure();
  if (module->target != model.processor)
    return Failure{"is for '" + module->target + "', the model is for '" + model.processor + "'"};
  auto program = bytecode::Program::load(module.take());
  if (!program)
    return program.failure();
  const bytecode::Module &loaded = program->module();
  const bytecode::Function &entry = loaded.functions[0];
  if (Status status = verifyNames(desc.inputs, entry.parameters, loaded, "input"); !status)
    return status;
  if (Status status = verifyNames(desc.outputs, entry.results, loaded, "output"); !status)
    return status;
  const StateUseDesc *state = nullptr;
  for (const bytecode::Constant &constant : loaded.constants) {
    auto *key = std::get_if<bytecode::KernelKey>(&constant);
    if (!key || key->place() != "device")
      continue;
    auto net = std::find_if(model.nets.begin(), model.nets.end(),
                            [&](const NetDesc &other) { return other.name == key->op(); });
    if (net == model.nets.end())
      return Failure{"calls @" + key->callee + ", which is not a net of the file"};
    for (const VariantDesc &variant : net->variants)
      if (variant.state && !agree(state, *variant.state))
        return Failure{"calls @" + key->callee + ", a net whose state is not that of other nets that it calls"};
    for (const VariantDesc &variant : net->variants)
      if (std::any_of(variant.outputs.begin(), variant.outputs.end(), [](auto &tensor) { return tensor.preset; }))
        return Failure{"calls @" + key->callee + ", a net with preset outputs; a program presets none"};
    bool fits = std::any_of(net->variants.begin(), net->variants.end(), [&](const VariantDesc &variant) {
      return fit(variant.inputs, key->operands) && fit(variant.outputs, key->results);
    });
    if (!fits)
      return Failure{"calls @" + key->callee + " with types that none of the net's variants has"};
  }
  return {};
}

} // namespace pto_mlir::pmodel
