// A PyPTO program as the kernel of an operator: the launches of its host program.
#include "Diagnostics.h"
#include "GraphKernel.h"
#include "KernelTexts.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Support/DebugStringHelper.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/VM/IR/VM.h"
#include "pto_mlir/Frontend/PyPTO/LowerPyPTO.h"
#include "pto_mlir/Support/FreeName.h"
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

/// The launches of a host program as steps: each its own, or those that repeat as one that counts. Where a tensor is
/// written by several steps, or a run decides what is launched, all of it is one kernel, which the first block runs.
class StepReader {
public:
  StepReader(PyPTOModules &modules, ArrayRef<std::string> inputs, ArrayRef<std::string> outputs, StringRef processor)
      : modules(modules), inputs(inputs), outputs(outputs), processor(processor) {}

  /// An empty string, or why not; an error of the context may say more.
  std::string read(UserKernel &into) {
    if (auto program = modules.host ? modules.host->lookupSymbol<func::FuncOp>("main") : func::FuncOp())
      return readProgram(program, into);
    main = modules.host ? modules.host->lookupSymbol<vm::FuncOp>("main") : vm::FuncOp();
    if (!main)
      return "it has no kernel that a run could launch";
    main.walk([&](vm::LaunchOp launch) { ops.push_back(launch); });
    findSlots();
    for (const Slot &slot : slots) {
      int64_t size = slot.element.getIntOrFloatBitWidth() / 8;
      into.slots.push_back(
          {debugString(slot.element), {std::max<int64_t>(1, (slot.end - slot.begin + size - 1) / size)}});
    }
    for (vm::LaunchOp op : ops)
      if (std::string problem = readLaunch(op, launches.emplace_back()); !problem.empty())
        return problem;
    std::string problem = readSteps(into);
    if (problem.empty() || launches.size() < 2)
      return problem;
    into.steps.clear();
    std::string other = readList(into);
    return other.empty() || other == problem ? other : problem + " (" + other + ")";
  }

private:
  func::FuncOp kernelOf(StringRef name) { return modules.kernels->lookupSymbol<func::FuncOp>(name); }

  bool isWorkspace(Value buffer) {
    auto argument = dyn_cast<BlockArgument>(buffer);
    return !argument || argument.getArgNumber() >= main.getInputs() + main.getOutputs();
  }

  /// Views that overlap are one slot.
  void findSlots() {
    for (vm::LaunchOp launch : ops)
      for (auto [i, buffer] : llvm::enumerate(launch.getBuffers()))
        if (auto pointer = dyn_cast<pto::PtrType>(kernelOf(launch.getKernelName()).getArgumentTypes()[i]);
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

  std::string readLaunch(vm::LaunchOp launch, PortLaunch &into) {
    into.kernel = kernelOf(launch.getKernelName());
    for (auto [i, buffer] : llvm::enumerate(launch.getBuffers())) {
      int64_t offset = launch.getOffsets()[i], port = 0;
      auto pointer = dyn_cast<pto::PtrType>(into.kernel.getArgumentTypes()[i]);
      if (isWorkspace(buffer)) {
        auto slot = llvm::find_if(slots, [&](const Slot &each) { return offset >= each.begin && offset < each.end; });
        if (slot == slots.end() || !pointer || pointer.getElementType() != slot->element)
          return "it reads one tensor as elements of several types";
        port = int64_t(inputs.size() + outputs.size()) + (slot - slots.begin());
        offset -= slot->begin;
      } else if ((port = portOf(cast<BlockArgument>(buffer).getArgNumber())) < 0) {
        return "it reads and writes one tensor; make the result another one";
      }
      into.pointers.push_back(port);
      into.offsets.push_back(offset / (pointer.getElementType().getIntOrFloatBitWidth() / 8));
    }
    if (auto scalars = launch.getScalars())
      for (AffineExpr word : scalars->getResults()) {
        auto constant = dyn_cast<AffineConstantExpr>(word);
        if (!constant)
          return "a number of its launch is known at run time only";
        into.scalars.push_back(constant.getValue());
      }
    return "";
  }

  /// Of an argument of the host program; -1 for what is input and output.
  int64_t portOf(unsigned number) {
    bool isInput = number < main.getInputs();
    auto list = main->getAttrOfType<ArrayAttr>(isInput ? "vm.inputs" : "vm.outputs");
    StringRef name =
        cast<DictionaryAttr>(list[isInput ? number : number - main.getInputs()]).getAs<StringAttr>("name").getValue();
    return portNamed(name, isInput ? inputs : outputs, isInput ? 0 : int64_t(inputs.size()));
  }
  static int64_t portNamed(StringRef name, ArrayRef<std::string> names, int64_t first) {
    auto found = llvm::find(names, name);
    return found == names.end() ? -1 : first + (found - names.begin());
  }

  static std::string freeSymbol(ModuleOp module, const std::string &wanted) {
    return freeName(wanted, [&](const std::string &name) { return module.lookupSymbol(name) != nullptr; });
  }
  /// Of the kernel that does all of it.
  std::string graphName(ModuleOp module) {
    return freeSymbol(module, modules.host->getSymName().value_or("graph").str());
  }
  /// Ports as arguments of a kernel of its own.
  struct Taken {
    SmallVector<int64_t> ports;
    SmallVector<Type> elements;
    unsigned number(int64_t port, Type element) {
      if (const auto *known = llvm::find(ports, port); known != ports.end())
        return unsigned(known - ports.begin());
      ports.push_back(port);
      elements.push_back(element);
      return unsigned(ports.size() - 1);
    }
    /// The launches with these arguments for ports.
    std::vector<PortLaunch> renumbered(ArrayRef<PortLaunch> launches) {
      std::vector<PortLaunch> made(launches);
      for (PortLaunch &launch : made)
        for (auto [i, port] : llvm::enumerate(launch.pointers))
          port = number(port, cast<pto::PtrType>(launch.kernel.getArgumentTypes()[i]).getElementType());
      return made;
    }
  };

  std::string readSteps(UserKernel &into) {
    OwningOpRef<ModuleOp> module = modules.kernels->clone();
    std::vector<std::string> names;
    for (const Repeated &repeated : repeatedIn(launches)) {
      KernelBody &body = into.steps.emplace_back().bodies[processor];
      const PortLaunch &first = repeated.first.front();
      func::FuncOp kernel = first.kernel;
      if (repeated.turns == 1) {
        names.push_back(kernel.getSymName().str());
        body.pointers = first.pointers;
        for (auto [offset, type] : llvm::zip(first.offsets, kernel.getArgumentTypes()))
          body.offsets.push_back(offset * (cast<pto::PtrType>(type).getElementType().getIntOrFloatBitWidth() / 8));
        body.scalars = first.scalars;
        continue;
      }
      Taken taken;
      std::vector<PortLaunch> turn = taken.renumbered(repeated.first);
      names.push_back(freeSymbol(*module, kernel.getSymName().str() + "_turns"));
      GraphKernel graph(*module, names.back(), kernel.getLoc(), taken.elements);
      bool acrossBlocks = turn.size() == 1 && modules.ofBlocks.count(kernel.getSymName().str());
      if (std::string problem = addRepeated(graph, {turn, repeated.steps, repeated.turns}, acrossBlocks);
          !problem.empty())
        return problem;
      graph.b.create<func::ReturnOp>(graph.loc);
      setPorts(body, taken);
    }
    if (!lowerToFunctions(*module))
      return "its kernels cannot be lowered";
    for (auto [name, step] : llvm::zip(names, into.steps)) {
      KernelBody &body = step.bodies[processor];
      body.text = printKernel(*module, name);
      noteUses(*module, name, body, step);
    }
    return checkOrder(into);
  }
  static void setPorts(KernelBody &body, const Taken &taken) {
    body.pointers.assign(taken.ports.begin(), taken.ports.end());
    body.offsets.assign(taken.ports.size(), 0);
  }

  /// All launches as one kernel.
  std::string readList(UserKernel &into) {
    OwningOpRef<ModuleOp> module = modules.kernels->clone();
    Taken taken;
    std::vector<PortLaunch> list = taken.renumbered(launches);
    SmallVector<int64_t> elements;
    for (Attribute port : main->getAttrOfType<ArrayAttr>("vm.outputs"))
      elements.push_back(
          cast<RankedTensorType>(cast<DictionaryAttr>(port).getAs<TypeAttr>("type").getValue()).getNumElements());
    GraphKernel graph(*module, graphName(*module), main.getLoc(), taken.elements);
    for (size_t i = 0; i < elements.size(); ++i)
      if (const auto *port = llvm::find(taken.ports, portOf(unsigned(main.getInputs() + i))); port != taken.ports.end())
        graph.clear(graph.pointer(unsigned(port - taken.ports.begin())), elements[i]);
    for (const Repeated &repeated : repeatedIn(list))
      if (std::string problem = addRepeated(graph, repeated, /*acrossBlocks=*/false); !problem.empty())
        return problem;
    graph.b.create<func::ReturnOp>(graph.loc);
    return finishGraph(*module, graph, taken, into);
  }

  /// A program that decides what it launches as one kernel.
  std::string readProgram(func::FuncOp program, UserKernel &into) {
    OwningOpRef<ModuleOp> module = modules.kernels->clone();
    Taken taken;
    SmallVector<unsigned> pointers;
    SmallVector<std::pair<unsigned, int64_t>> cleared;
    for (unsigned i = 0; i < program.getNumArguments(); ++i) {
      StringRef name = program.getArgAttrOfType<StringAttr>(i, top::kNameAttr).getValue();
      auto type = cast<RankedTensorType>(program.getArgumentTypes()[i]);
      int64_t port = portNamed(name, inputs, 0);
      bool isOutput = port < 0;
      if (isOutput)
        port = portNamed(name, outputs, int64_t(inputs.size()));
      pointers.push_back(taken.number(port, type.getElementType()));
      if (isOutput)
        cleared.push_back({pointers.back(), type.getNumElements()});
    }
    FailureOr<GraphTensors> tensors = GraphTensors::of(program);
    if (failed(tensors))
      return "its memory is not known";
    for (auto [elements, element] : tensors->slots) {
      pointers.push_back(taken.number(int64_t(inputs.size() + outputs.size() + into.slots.size()), element));
      into.slots.push_back({debugString(element), {elements}});
    }
    GraphKernel graph(*module, graphName(*module), program.getLoc(), taken.elements);
    for (auto [pointer, elements] : cleared)
      graph.clear(graph.pointer(pointer), elements);
    if (cleared.empty())
      return "it writes no output";
    if (failed(addProgram(graph, program, *tensors, pointers, cleared.front().first,
                          [&](StringRef name) { return kernelOf(name); })))
      return "a run decides what it does";
    return finishGraph(*module, graph, taken, into);
  }

  std::string finishGraph(ModuleOp module, GraphKernel &graph, const Taken &taken, UserKernel &into) {
    std::string name = graph.func.getSymName().str();
    if (failed(verify(module)) || !lowerToFunctions(module))
      return "its kernels cannot be lowered as one";
    KernelStep &step = into.steps.emplace_back();
    KernelBody &body = step.bodies[processor];
    setPorts(body, taken);
    body.text = printKernel(module, name);
    noteUses(module, name, body, step);
    for (int64_t port : step.writes)
      if (port < int64_t(inputs.size()))
        return "it writes its input " + nameOf(port);
    // It begins with zeros in its outputs, and reads what it has written.
    llvm::erase_if(step.reads, [&](int64_t port) { return port >= int64_t(inputs.size()); });
    return "";
  }

  /// What the functions of a launch do with the ports.
  static void noteUses(ModuleOp module, StringRef kernel, const KernelBody &body, KernelStep &step) {
    std::set<int64_t> reads, writes;
    for (auto func : module.getOps<func::FuncOp>()) {
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
  ArrayRef<std::string> inputs, outputs;
  std::string processor;
  vm::FuncOp main; ///< a list of launches; null: a program that decides what it launches
  SmallVector<vm::LaunchOp> ops;
  std::vector<PortLaunch> launches;
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
    std::string problem = StepReader(modules, inputs, outputs, processor).read(kernel);
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
