// A PyPTO program as the kernel of an operator: the launches of its host program.
#include "Diagnostics.h"
#include "KernelTexts.h"
#include "mlir/Support/DebugStringHelper.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/VM/IR/VM.h"
#include "pto_mlir/Frontend/PyPTO/LowerPyPTO.h"
#include "pypto/ir/serialize.h"

#include <set>

using namespace mlir;

namespace pto_mlir {
namespace {

/// Bytes of the workspace between launches.
struct Slot {
  int64_t begin, end;
  Type element;
};

/// The launches of a host program as steps.
class StepReader {
public:
  StepReader(PyPTOModules &modules, vm::FuncOp main, ArrayRef<std::string> inputs, ArrayRef<std::string> outputs)
      : modules(modules), main(main), inputs(inputs), outputs(outputs) {
    main.walk([&](vm::LaunchOp launch) { launches.push_back(launch); });
  }

  /// An empty string, or why not.
  std::string read(StringRef processor, UserKernel &into) {
    findSlots();
    for (const Slot &slot : slots) {
      int64_t size = slot.element.getIntOrFloatBitWidth() / 8;
      into.slots.push_back(
          {debugString(slot.element), {std::max<int64_t>(1, (slot.end - slot.begin + size - 1) / size)}});
    }
    // Names of functions and what they take are read before the pipeline changes them.
    for (vm::LaunchOp launch : launches)
      if (std::string problem = readLaunch(launch, processor, into.steps.emplace_back()); !problem.empty())
        return problem;
    if (!lowerToFunctions(*modules.kernels))
      return "its kernels cannot be lowered";
    for (auto [launch, step] : llvm::zip(launches, into.steps)) {
      KernelBody &body = step.bodies[processor.str()];
      body.text = printKernel(*modules.kernels, launch.getKernelName());
      noteUses(launch.getKernelName(), body, step);
    }
    return checkOrder(into);
  }

private:
  func::FuncOp kernelOf(vm::LaunchOp launch) {
    return modules.kernels->lookupSymbol<func::FuncOp>(launch.getKernelName());
  }

  bool isWorkspace(Value buffer) {
    auto argument = dyn_cast<BlockArgument>(buffer);
    return !argument || argument.getArgNumber() >= main.getInputs() + main.getOutputs();
  }

  /// Views that overlap are one slot.
  void findSlots() {
    for (vm::LaunchOp launch : launches)
      for (auto [i, buffer] : llvm::enumerate(launch.getBuffers()))
        if (auto pointer = dyn_cast<pto::PtrType>(kernelOf(launch).getArgumentTypes()[i]);
            pointer && isWorkspace(buffer))
          slots.push_back(
              {launch.getOffsets()[i], launch.getOffsets()[i] + launch.getBytes()[i], pointer.getElementType()});
    llvm::sort(slots,
               [](const Slot &a, const Slot &b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
    std::vector<Slot> merged;
    for (const Slot &slot : slots)
      if (!merged.empty() && slot.begin < merged.back().end)
        merged.back().end = std::max(merged.back().end, slot.end);
      else
        merged.push_back(slot);
    slots = std::move(merged);
  }

  std::string readLaunch(vm::LaunchOp launch, StringRef processor, KernelStep &step) {
    KernelBody &body = step.bodies[processor.str()];
    for (auto [i, buffer] : llvm::enumerate(launch.getBuffers())) {
      int64_t offset = launch.getOffsets()[i], port = 0;
      if (isWorkspace(buffer)) {
        auto slot = llvm::find_if(slots, [&](const Slot &each) { return offset >= each.begin && offset < each.end; });
        auto pointer = dyn_cast<pto::PtrType>(kernelOf(launch).getArgumentTypes()[i]);
        if (slot == slots.end() || !pointer || pointer.getElementType() != slot->element)
          return "it reads one tensor as elements of several types";
        port = int64_t(inputs.size() + outputs.size()) + (slot - slots.begin());
        offset -= slot->begin;
      } else if ((port = portOf(cast<BlockArgument>(buffer).getArgNumber())) < 0) {
        return "it reads and writes one tensor; make the result another one";
      }
      body.pointers.push_back(port);
      body.offsets.push_back(offset);
    }
    if (auto scalars = launch.getScalars())
      for (AffineExpr word : scalars->getResults()) {
        auto constant = dyn_cast<AffineConstantExpr>(word);
        if (!constant)
          return "a number of its launch is known at run time only";
        body.scalars.push_back(constant.getValue());
      }
    return "";
  }

  /// Of an argument of the host program; -1 for what is input and output.
  int64_t portOf(unsigned number) {
    bool isInput = number < main.getInputs();
    auto list = main->getAttrOfType<ArrayAttr>(isInput ? "vm.inputs" : "vm.outputs");
    StringRef name =
        cast<DictionaryAttr>(list[isInput ? number : number - main.getInputs()]).getAs<StringAttr>("name").getValue();
    ArrayRef<std::string> names = isInput ? inputs : outputs;
    auto found = llvm::find(names, name);
    return found == names.end() ? -1 : (isInput ? 0 : int64_t(inputs.size())) + (found - names.begin());
  }

  /// What the functions of a launch do with the ports.
  void noteUses(StringRef kernel, const KernelBody &body, KernelStep &step) {
    std::set<int64_t> reads, writes;
    for (auto func : modules.kernels->getOps<func::FuncOp>()) {
      if (pto_mlir::kernelOf(func) != kernel)
        continue;
      for (auto [argument, port] : llvm::zip(func.getArguments(), body.pointers))
        noteUses(argument, port, reads, writes);
    }
    step.reads.assign(reads.begin(), reads.end());
    step.writes.assign(writes.begin(), writes.end());
  }

  static void noteUses(Value value, int64_t port, std::set<int64_t> &reads, std::set<int64_t> &writes) {
    for (Operation *user : value.getUsers()) {
      auto effects = dyn_cast<MemoryEffectOpInterface>(user);
      if (effects && effects.hasNoEffect()) {
        for (Value view : user->getResults())
          noteUses(view, port, reads, writes);
        continue;
      }
      bool reading = !effects || effects.getEffectOnValue<MemoryEffects::Read>(value);
      bool writing = !effects || effects.getEffectOnValue<MemoryEffects::Write>(value);
      if (reading || !writing)
        reads.insert(port);
      if (writing || !reading)
        writes.insert(port);
    }
  }

  std::string checkOrder(const UserKernel &kernel) const {
    std::set<int64_t> written;
    for (const KernelStep &step : kernel.steps) {
      for (int64_t port : step.reads)
        if (port >= int64_t(inputs.size()) && !written.count(port))
          return "it reads " + nameOf(port) + " before it has written it, or in the kernel that writes it";
      for (int64_t port : step.writes)
        if (port < int64_t(inputs.size()))
          return "it writes its input " + nameOf(port);
        else if (!written.insert(port).second)
          return "several of its kernels write " + nameOf(port) + "; put what they do into one scope";
    }
    for (size_t i = 0; i < outputs.size(); ++i)
      if (!written.count(int64_t(inputs.size() + i)))
        return "it does not write " + outputs[i];
    return "";
  }
  std::string nameOf(int64_t port) const {
    if (port < int64_t(inputs.size()))
      return inputs[size_t(port)];
    size_t output = size_t(port) - inputs.size();
    return output < outputs.size() ? outputs[output] : "a tensor between its kernels";
  }

  PyPTOModules &modules;
  vm::FuncOp main;
  ArrayRef<std::string> inputs, outputs;
  SmallVector<vm::LaunchOp> launches;
  std::vector<Slot> slots;
};

} // namespace

std::optional<UserKernel> kernelOfProgram(const std::string &program, const std::string &processor,
                                          const std::vector<std::string> &inputs,
                                          const std::vector<std::string> &outputs, Errors &errors) {
  const pto::Target *target = pto::findTarget(processor);
  if (!target) {
    errors.push_back("unknown processor " + processor + ": one of " + pto::targetNames());
    return std::nullopt;
  }
  DialectRegistry registry = registryFor(*target);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  UserKernel kernel;
  try {
    auto read = pypto::ir::As<pypto::ir::Program>(pypto::ir::deserialize(program));
    if (!read) {
      errors.emplace_back("the bytes hold no program");
      return std::nullopt;
    }
    PyPTOModules modules = lowerPyPTOProgram(context, read, {true, target});
    DiagnosticCollector collector(&context, errors);
    auto main = modules.host ? modules.host->lookupSymbol<vm::FuncOp>("main") : vm::FuncOp();
    std::string problem = main ? StepReader(modules, main, inputs, outputs).read(processor, kernel)
                               : "it submits tasks (pl.spmd, or loops and branches around its scopes); a kernel of an "
                                 "operator is a sequence of scopes";
    if (problem.empty())
      return kernel;
    if (errors.empty())
      errors.push_back(problem);
  } catch (const std::exception &error) {
    errors.emplace_back(error.what());
  }
  return std::nullopt;
}

} // namespace pto_mlir
