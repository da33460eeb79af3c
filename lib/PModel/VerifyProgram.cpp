#include "VerifyProgram.h"

#include "VerifySizes.h"
#include "pto_mlir/HostOps/HostOps.h"
#include "pto_mlir/PModel/KernelUse.h"
#include "pto_mlir/PModel/Program.h"
#include "pto_mlir/Support/Ranks.h"

#include <algorithm>

namespace pto_mlir::pmodel {

namespace {

constexpr uint32_t maxSlots = 1 << 20;
constexpr uint64_t maxAllocBytes = uint64_t(1) << 46;

/// Sorted ranges; answers whether another range is inside one of them.
class Ranges {
public:
  explicit Ranges(std::vector<std::pair<uint64_t, uint64_t>> beginsAndEnds) : ranges(std::move(beginsAndEnds)) {
    std::sort(ranges.begin(), ranges.end());
  }
  bool holdOne(uint64_t offset, uint64_t bytes) const {
    auto it = std::upper_bound(ranges.begin(), ranges.end(), std::make_pair(offset, UINT64_MAX));
    return it != ranges.begin() && bytes <= std::prev(it)->second - std::min(offset, std::prev(it)->second);
  }

private:
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
};

Ranges weightRanges(const ModelDesc &model, const WeightLayout &layout) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  ranges.reserve(model.weights.size());
  for (size_t i = 0; i < model.weights.size(); ++i)
    ranges.emplace_back(layout.offsets[i], layout.offsets[i] + model.weights[i].size);
  return Ranges(std::move(ranges));
}

/// The position, and each place of each tensor.
Ranges stateRanges(const ModelDesc &model, const VariantDesc &variant) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  if (!variant.state)
    return Ranges({});
  ranges.emplace_back(0, kStatePositionBytes);
  for (const StateTensorDesc &tensor : model.states[variant.state->group].tensors) {
    ranges.emplace_back(tensor.offset, tensor.offset + stateBytes(tensor));
    if (tensor.places == 2)
      ranges.emplace_back(secondPlace(tensor), secondPlace(tensor) + stateBytes(tensor));
  }
  return Ranges(std::move(ranges));
}

class ProgramVerifier {
public:
  ProgramVerifier(const ModelDesc &model, const VariantDesc &variant, const WeightLayout &layout)
      : model(model), variant(variant), program(variant.program), entry(variant), weights(weightRanges(model, layout)),
        state(stateRanges(model, variant)), weightBytes(layout.totalBytes) {}

  Status run() {
    if (program.numSlots < entry.firstFree() || program.numSlots > maxSlots)
      return Failure{"has " + std::to_string(program.numSlots) + " slots, expects " +
                     std::to_string(entry.firstFree()) + " to " + std::to_string(maxSlots)};
    if (program.target != model.processor)
      return Failure{"is for '" + program.target + "', the model is for '" + model.processor + "'"};
    for (uint32_t kernel : program.kernels)
      if (kernel >= model.kernels.size())
        return Failure{"kernel index " + std::to_string(kernel) + " does not exist"};
    auto instructions = decodeProgram(program.code);
    if (!instructions)
      return instructions.failure();
    bindEntrySlots();
    for (const VMInstruction &insn : *instructions)
      if (Status status = verify(insn); !status)
        return Failure{"byte " + std::to_string(insn.position) + ": " + status.error()};
    auto launches = std::count_if(instructions->begin(), instructions->end(), isLaunch);
    if (!program.launchOps.empty() && program.launchOps.size() != size_t(launches))
      return Failure{"names the tensors of " + std::to_string(program.launchOps.size()) + " launches, but has " +
                     std::to_string(launches)};
    if (Status status = verifyTasks(size_t(launches)); !status)
      return status;
    if (!program.ranks.empty())
      if (Status status = verifyRanks(*instructions, size_t(launches)); !status)
        return status;
    if (program.windows && program.ranks.empty())
      return Failure{"has windows, but no ranks"};
    if (program.windows > variant.workspaceBytes)
      return Failure{"has windows of " + std::to_string(program.windows) + " bytes in a workspace of " +
                     std::to_string(variant.workspaceBytes)};
    if (!workspaceSeen && variant.workspaceBytes != 0)
      return Failure{"allocates no workspace of " + std::to_string(variant.workspaceBytes) + " bytes"};
    return {};
  }

private:
  Status verifyTasks(size_t launches) const {
    for (const auto *list : {&program.launchPlaces, &program.launchScopes, &program.launchTasks})
      if (!list->empty() && list->size() != launches)
        return Failure{"has places or tasks of " + std::to_string(list->size()) + " launches, but " +
                       std::to_string(launches) + " launches"};
    for (uint32_t place : program.launchPlaces)
      if (place >= program.places.size())
        return Failure{"place " + std::to_string(place) + " does not exist"};
    if (program.launchScopes.size() != program.launchTasks.size())
      return Failure{"has scopes of launches, but not their tasks"};
    for (uint32_t task : program.launchTasks)
      if (task > kMostTasks)
        return Failure{"has task " + std::to_string(task) + "; tasks are numbered up to " + std::to_string(kMostTasks)};
    if (program.taskEdges.size() % 2 != 0)
      return Failure{"has half a dependency"};
    for (size_t i = 0; i < program.taskEdges.size(); i += 2) {
      uint32_t earlier = program.taskEdges[i], later = program.taskEdges[i + 1];
      if (earlier == 0 || earlier >= later || later > kMostTasks)
        return Failure{"task " + std::to_string(later) + " waits for task " + std::to_string(earlier) +
                       "; tasks wait for earlier ones, and are numbered from 1 up to " + std::to_string(kMostTasks)};
    }
    return {};
  }

  Status verifyRanks(const std::vector<VMInstruction> &instructions, size_t launches) const {
    if (program.ranks.size() != launches)
      return Failure{"has ranks for " + std::to_string(program.ranks.size()) + " launches, but " +
                     std::to_string(launches) + " launches"};
    for (uint32_t rank : program.ranks)
      if (rank >= kMostRanks)
        return Failure{"launches on rank " + std::to_string(rank) + ", at most " + std::to_string(kMostRanks) +
                       " exist"};
    auto isHost = [](const VMInstruction &insn) { return insn.opcode == VMOpcode::CallHost; };
    if (std::any_of(instructions.begin(), instructions.end(), isHost))
      return Failure{"has ranks and host ops, which have no device"};
    if (variant.state || !variant.symbols.empty())
      return Failure{"has ranks, and state or sizes"};
    return {};
  }

  void bindEntrySlots() {
    buffers.assign(program.numSlots, std::nullopt);
    for (uint32_t i = 0; i < entry.numInputs; ++i)
      buffers[entry.input(i)] = *tensorBytes(variant.inputs[i].storageType, variant.inputs[i].shape);
    for (uint32_t i = 0; i < entry.numOutputs; ++i)
      buffers[entry.output(i)] = *tensorBytes(variant.outputs[i].storageType, variant.outputs[i].shape);
    buffers[entry.weights()] = weightBytes;
    if (entry.hasState)
      buffers[entry.state()] = model.states[variant.state->group].bytes;
  }

  Status verify(const VMInstruction &insn) {
    switch (insn.opcode) {
    case VMOpcode::Alloc:
      return verifyAlloc(insn);
    case VMOpcode::Free:
      if (insn.slot < entry.firstFree() || insn.slot >= program.numSlots || !buffers[insn.slot])
        return Failure{"free of slot " + std::to_string(insn.slot) + ", which holds no allocation"};
      buffers[insn.slot] = std::nullopt;
      return {};
    case VMOpcode::CallDevice:
    case VMOpcode::CallDeviceScalars:
      return verifyCallDevice(insn);
    case VMOpcode::CallHost:
      return verifyCallHost(insn);
    case VMOpcode::Wait:
    case VMOpcode::Return:
      return {};
    default:
      return Failure{"a net's program has no '" + std::string(bytecode::opcodeRow(insn.opcode).mnemonic) + "'"};
    }
  }

  Status verifyAlloc(const VMInstruction &insn) {
    if (insn.slot < entry.firstFree() || insn.slot >= program.numSlots)
      return Failure{"alloc into slot " + std::to_string(insn.slot) + ", which is not free for it"};
    if (buffers[insn.slot])
      return Failure{"alloc into slot " + std::to_string(insn.slot) + ", which holds a buffer"};
    if (insn.bytes > maxAllocBytes)
      return Failure{"alloc of " + std::to_string(insn.bytes) + " bytes"};
    if (!workspaceSeen && insn.bytes != variant.workspaceBytes)
      return Failure{"the first alloc has " + std::to_string(insn.bytes) + " bytes, the workspace " +
                     std::to_string(variant.workspaceBytes)};
    workspaceSeen = true;
    buffers[insn.slot] = insn.bytes;
    return {};
  }

  Status verifyCallDevice(const VMInstruction &insn) {
    if (insn.kernel >= program.kernels.size())
      return Failure{"call of kernel " + std::to_string(insn.kernel) + ", which does not exist"};
    const KernelDesc &kernel = model.kernels[program.kernels[insn.kernel]];
    if (insn.arguments.size() != kernel.numArgs)
      return Failure{"kernel '" + kernel.name + "' takes " + std::to_string(kernel.numArgs) + " arguments, got " +
                     std::to_string(insn.arguments.size())};
    for (const VMArgument &argument : insn.arguments) {
      if (argument.slot >= program.numSlots || !buffers[argument.slot])
        return Failure{"kernel '" + kernel.name + "' gets slot " + std::to_string(argument.slot) +
                       ", which holds no buffer"};
      uint64_t room = *buffers[argument.slot];
      bool inside = argument.offset <= room && argument.bytes <= room - argument.offset;
      bool isWeight = argument.slot == entry.weights(), isState = entry.hasState && argument.slot == entry.state();
      if (inside && (isWeight || isState))
        inside = (isWeight ? weights : state).holdOne(argument.offset, argument.bytes);
      if (!inside)
        return Failure{"kernel '" + kernel.name + "' gets bytes " + std::to_string(argument.offset) + " +" +
                       std::to_string(argument.bytes) + " of slot " + std::to_string(argument.slot) + ", which " +
                       (isWeight  ? "lie in no weight"
                        : isState ? "lie in no tensor of the state"
                                  : "has " + std::to_string(room) + " bytes")};
    }
    return verifyScalars(insn, kernel);
  }

  Status verifyScalars(const VMInstruction &insn, const KernelDesc &kernel) {
    uint32_t read = kernelUse(kernel).scalars, expected = std::max(kernel.numScalars, read);
    if (insn.scalars.size() != expected)
      return Failure{"kernel '" + kernel.name + "' takes " + std::to_string(expected) + " scalars, got " +
                     std::to_string(insn.scalars.size())};
    for (const bytecode::Size &scalar : insn.scalars)
      if (Status status = verifyScalar(scalar, variant); !status)
        return Failure{"kernel '" + kernel.name + "' gets " + status.error()};
    return {};
  }

  Status verifyCallHost(const VMInstruction &insn) {
    // constants: number of the op, number of parameters, the parameters
    const std::vector<int64_t> &constants = program.constants;
    if (uint64_t(insn.hostOp) + 2 > constants.size() || constants[insn.hostOp + 1] < 0 ||
        uint64_t(constants[insn.hostOp + 1]) > constants.size() - insn.hostOp - 2)
      return Failure{"call_host without its constants"};
    auto begin = constants.begin() + insn.hostOp + 2;
    std::vector<int64_t> parameters(begin, begin + constants[insn.hostOp + 1]);
    std::vector<uint64_t> bytes;
    for (uint32_t slot : insn.slots) {
      if (slot >= program.numSlots || !buffers[slot])
        return Failure{"call_host gets slot " + std::to_string(slot) + ", which holds no buffer"};
      if (entry.hasState && slot == entry.state())
        return Failure{"call_host gets the state; only kernels take parts of it"};
      bytes.push_back(*buffers[slot]);
    }
    return hostops::verifyHostOp(constants[insn.hostOp], parameters, bytes);
  }

  const ModelDesc &model;
  const VariantDesc &variant;
  const ProgramDesc &program;
  EntrySlots entry;
  Ranges weights, state;
  uint64_t weightBytes;
  std::vector<std::optional<uint64_t>> buffers; // size in bytes of the buffer in each slot
  bool workspaceSeen = false;
};

} // namespace

Status verifyProgram(const ModelDesc &model, const VariantDesc &variant, const WeightLayout &layout) {
  return ProgramVerifier(model, variant, layout).run();
}

} // namespace pto_mlir::pmodel
