#include "VerifyHostProgram.h"

#include "pto_mlir/ByteCode/Program.h"
#include "pto_mlir/ByteCode/Serialize.h"

#include "pto_mlir/PModel/KernelUse.h"

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

/// A kernel that the program submits: its arguments, and that it writes none that the program says it reads.
Status verifySubmitted(const ModelDesc &model, const bytecode::KernelKey &key,
                       const std::vector<bytecode::Direction> &directions) {
  std::string who = "submits @" + key.callee;
  auto kernel = std::find_if(model.kernels.begin(), model.kernels.end(),
                             [&](const KernelDesc &other) { return other.name == key.op(); });
  if (kernel == model.kernels.end())
    return Failure{who + ", which is not a kernel of the file"};
  size_t scalars = key.operands.size() - directions.size() - bytecode::isRanked(key);
  if (kernel->numArgs != directions.size() || kernel->numScalars != scalars)
    return Failure{who + " with " + std::to_string(directions.size()) + " tensors and " + std::to_string(scalars) +
                   " numbers; it takes " + std::to_string(kernel->numArgs) + " and " +
                   std::to_string(kernel->numScalars)};
  KernelUse use = kernelUse(*kernel);
  for (size_t i = 0; i < directions.size(); ++i)
    if (directions[i] == bytecode::Direction::In && use.arguments[i].written)
      return Failure{who + ", which writes tensor " + std::to_string(i) + ", an input by its direction"};
  return {};
}

} // namespace

Status verifyHostProgram(const ModelDesc &model, const HostProgramDesc &desc) {
  if (std::any_of(model.nets.begin(), model.nets.end(), [&](const NetDesc &net) { return net.name == desc.name; }))
    return Failure{"has the name of a net"};
  // Programs of one name must agree on the names, types and ranks of inputs and outputs.
  const HostProgramDesc &first =
      *std::find_if(model.programs.begin(), model.programs.end(), [&](auto &other) { return other.name == desc.name; });
  if (desc.inputs != first.inputs || desc.outputs != first.outputs || desc.presets != first.presets)
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
  std::vector<std::string> parameters = desc.inputs;
  parameters.insert(parameters.end(), desc.presets.begin(), desc.presets.end());
  if (Status status = verifyNames(parameters, entry.parameters, loaded, "input"); !status)
    return status;
  for (const std::string &name : desc.presets)
    if (std::find(desc.outputs.begin(), desc.outputs.end(), name) == desc.outputs.end())
      return Failure{"presets '" + name + "', which is no output"};
  if (Status status = verifyNames(desc.outputs, entry.results, loaded, "output"); !status)
    return status;
  const StateUseDesc *state = nullptr;
  for (const bytecode::Constant &constant : loaded.constants) {
    auto *key = std::get_if<bytecode::KernelKey>(&constant);
    if (!key || key->place() != "device")
      continue;
    if ((loaded.capabilities & bytecode::kRanks) && !bytecode::isRanked(*key))
      return Failure{"launches @" + key->callee + " on no device, and others on one of several"};
    if (auto directions = bytecode::directionsOf(*key)) {
      if (Status status = verifySubmitted(model, *key, *directions); !status)
        return status;
      continue;
    }
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
