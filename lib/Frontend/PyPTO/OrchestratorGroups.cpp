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

/// Whether no tensor that a core of a group writes shares memory with another one that it gets: only what they hand on
/// orders the cores.
bool Orchestrator::areIndependent(const ir::Function &group, const std::vector<Held> &arguments) {
  struct Side {
    std::vector<const View *> used, written;
  };
  Side sides[2];
  for (bool isCube : {false, true}) {
    const ir::Function &function = *program->GetFunction(group.name_ + (isCube ? "_aic" : "_aiv"));
    std::set<const ir::Var *> read = readTensors(function.body_), written = writtenTensors(function.body_);
    for (size_t i = 0; i < arguments.size(); ++i) {
      const ir::Var *param = function.params_[i].get();
      auto *view = std::get_if<View>(&arguments[i]);
      if (view && written.count(param))
        sides[isCube].written.push_back(view);
      if (view && (written.count(param) || read.count(param)))
        sides[isCube].used.push_back(view);
    }
  }
  auto meet = [&](const View *a, const View *b) {
    if (a->buffer != b->buffer)
      return false;
    Number first = spanOf(*a), second = spanOf(*b);
    if (a->moving || b->moving || !first.isKnown() || !second.isKnown())
      return true;
    return a->offset < b->offset + second.known && b->offset < a->offset + first.known;
  };
  auto race = [&](const Side &writer, const Side &other) {
    return llvm::any_of(writer.written, [&](const View *a) {
      return llvm::any_of(other.used, [&](const View *b) { return meet(a, b); });
    });
  };
  // Of one tensor, what both vector cores may do has been decided.
  auto meetsOther = [&](const View *a) {
    return llvm::any_of(sides[0].used, [&](const View *b) { return a != b && meet(a, b); });
  };
  return !race(sides[0], sides[1]) && !race(sides[1], sides[0]) && llvm::none_of(sides[0].written, meetsOther);
}

/// Memory for the queues of a launch. Launches that share it run one after another, so there is some for as many as run
/// at once on a chip, up to 16 MiB.
View Orchestrator::queueMemory(KnownGroup &group, const ir::Span &span) {
  const int64_t words = queueSpaceOf(*group.cube).words * blocksOfLaunch;
  // In the host program memory is made where it is used: a loop's is not there behind it.
  if (host)
    return makeTensor({words}, pypto::DataType::FP32, span);
  constexpr int64_t maxWords = 4 << 20;
  const int64_t atOnce = std::min(maxWords / words, pto::findTarget(arch.name)->blocks / blocksOfLaunch);
  const auto most = size_t(std::max<int64_t>(atOnce, 1));
  std::vector<View> &memories = group.memories[rank];
  size_t number = group.taken[rank]++ % most;
  if (number == memories.size())
    memories.push_back(makeTensor({words}, pypto::DataType::FP32, span));
  return memories[number];
}

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
    arguments.emplace_back(queueMemory(group, span));
  }
  launch(group.cube, std::move(arguments), span, &group);
}

} // namespace pto_mlir::pypto_frontend
