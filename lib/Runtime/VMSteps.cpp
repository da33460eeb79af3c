// Runs the steps of a program.
#include "VM.h"

namespace pto_mlir::runtime {

Status VM::launch(const Step &step) {
  if (device->looksForRaces() && graph->hasManualScopes()) {
    Status status;
    if (graph->beginsScope(step.launch))
      status = device->mayOverlap(0, {});
    if (uint32_t task = graph->taskOf(step.launch); task && status)
      status = device->mayOverlap(task, graph->overlapped(step.launch));
    if (!status)
      return status;
  }
  Status status = device->launch(step.kernel, step.blocks, arguments(step), step.scalars);
  if (status && device->looksForRaces())
    status = device->synchronize();
  return status ? status : Status(Failure{graph->explained(step.launch, status.error())});
}

Status VM::submit() {
  if (tasks)
    return tasks->submit();
  for (const Step &step : steps) {
    Status status;
    switch (step.kind) {
    case Step::Launch:
      status = this->launch(step);
      break;
    case Step::Host:
      status = device->synchronize();
      if (status)
        status = runHostOp(step, arguments(step));
      break;
    case Step::Wait:
      break;
    }
    if (!status) {
      // Drain the queue, so that launches of a failed run do not overlap the next one.
      (void)device->synchronize();
      return status;
    }
  }
  return {};
}

Status VM::run() {
  if (ranked)
    return runRanks();
  if (tasks)
    return tasks->run();
  Status status = submit();
  return status ? device->synchronize() : status;
}

} // namespace pto_mlir::runtime
