// Functions of cube and vector cores that an orchestrator runs as one task: groups and clusters.
#include "Orchestrator.h"

#include "Groups.h"

#include "pto_mlir/Dialect/PTO/IR/Target.h"
#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

static bool isOfOneCore(const ir::Function &function) {
  return function.func_type_ == ir::FunctionType::AIC || function.func_type_ == ir::FunctionType::AIV;
}

bool Orchestrator::waitsForPeer(const ir::Function &function) const { return together && isOfOneCore(function); }

/// Runs `body`, and then its calls of functions of one kind of core as one task.
void Orchestrator::launchTogether(const ir::Span &span, llvm::function_ref<void()> body) {
  std::vector<Waiting> calls;
  std::vector<Waiting> *outer = std::exchange(together, &calls);
  body();
  together = outer;
  auto ofKind = [&](ir::FunctionType kind) {
    return llvm::find_if(calls, [&](const Waiting &each) { return each.function->func_type_ == kind; });
  };
  auto cube = ofKind(ir::FunctionType::AIC), vector = ofKind(ir::FunctionType::AIV);
  bool areOne = llvm::any_of(
      calls, [](const Waiting &each) { return queueSpaceOf(*each.function).words > 0 || hasEvents(*each.function); });
  if (!areOne) {
    for (Waiting &each : calls)
      launch(withWholeTiles(each.function), std::move(each.arguments), each.span);
    return;
  }
  if (calls.size() != 2 || cube == calls.end() || vector == calls.end())
    fail(span, "functions that share queues or events are one of type AIC and one of type AIV, called once each");
  if (cube->arguments != vector->arguments)
    fail(vector->span, cube->function->name_ + " and " + vector->function->name_ +
                           " are one task, but get other arguments; pass both the same list");
  KnownGroup &group = groups[{cube->function.get(), vector->function.get()}];
  if (!group.cube)
    static_cast<Group &>(group) =
        joinFunctions(cube->function, vector->function, pto::findTarget(arch.name)->directTiles ? 0 : blocksOfLaunch);
  std::vector<Held> arguments = std::move(cube->arguments);
  if (group.hasQueues) {
    std::vector<Number> words{queueSpaceOf(*group.cube).words * blocksOfLaunch};
    // In the host program memory is made where it is used: a loop's is not there behind it.
    std::optional<View> made = host ? std::nullopt : group.memory;
    if (!made)
      group.memory = made = makeTensor(words, pypto::DataType::FP32, span);
    arguments.emplace_back(*made);
  }
  launch(group.cube, std::move(arguments), span, &group);
}

} // namespace pto_mlir::pypto_frontend
