#include "VirtualDriver.h"

#include "InsideKernel.h"

namespace pto_mlir::tasks {

VirtualDriver::VirtualDriver(const Config &config, std::shared_ptr<std::vector<Kernel>> kernels)
    : config(config), kernels(std::move(kernels)), taskCore(this->config, *this->kernels) {
  taskCore.setDriver(this);
  uint32_t number = 0;
  for (unsigned kind = 0; kind < kNumWorkerKinds; ++kind)
    for (uint32_t i = 0; i < config.cores[kind]; ++i)
      idle[kind].insert(number++);
  tasksOfCore.resize(number);
}

void VirtualDriver::beginRun() {
  time = numEvents = 0;
  random.seed(config.seed);
}

void VirtualDriver::kick() {
  uint64_t until = time + config.submitCostNs;
  settle();
  while (!running.empty() && running.begin()->first.first <= until) {
    finishFirst();
    settle();
  }
  time = until;
}

Stall VirtualDriver::waitUntil(const std::function<bool()> &done) {
  while (!done()) {
    if (settle())
      continue;
    if (running.empty())
      return {ErrorCode::NoProgress, "nothing runs and nothing is ready"};
    finishFirst();
  }
  return {};
}

bool VirtualDriver::settle() {
  bool did = runInline();
  vectorCoresWanted = false;
  for (unsigned kind = 0; kind < kNumWorkerKinds; ++kind) {
    if (config.cores[kind] == 0)
      continue;
    for (ReadyQueue *queue : {&taskCore.ready(WorkerKind(kind)), &taskCore.readyGangs(WorkerKind(kind))})
      for (uint64_t value; queue->pop(value); did = true)
        ready[kind].insert({taskCore.slotOf(TaskId{value}).sequence, value});
    size_t before = running.size();
    startAll(WorkerKind(kind));
    did |= running.size() != before;
  }
  return did | runInline();
}

bool VirtualDriver::runInline() {
  bool did = false;
  for (uint64_t value; taskCore.readyInline().pop(value); did = true) {
    TaskId id{value};
    record(taskCore.slotOf(id), id, nullptr, false);
    taskCore.complete(taskCore.slotOf(id), id);
  }
  return did;
}

std::set<VirtualDriver::Ready>::iterator VirtualDriver::pick(std::set<Ready> &ready) {
  if (config.pick == Pick::Oldest)
    return ready.begin();
  if (config.pick == Pick::Newest)
    return std::prev(ready.end());
  return std::next(ready.begin(), long(random() % ready.size()));
}

bool VirtualDriver::startable(TaskSlot &slot, TaskId id) {
  if (taskCore.isCancelled())
    slot.failed.store(true);
  bool failed = slot.failed.load();
  if (!failed && (slot.nextBlock > 0 || taskCore.predicateHolds(slot)))
    return true;
  uint32_t left = slot.numBlocks - slot.nextBlock;
  if (slot.blocksLeft.fetch_sub(left) == left) {
    record(slot, id, nullptr, !failed);
    taskCore.complete(slot, id, !failed);
  }
  return false;
}

void VirtualDriver::startAll(WorkerKind kind) {
  std::set<Ready> &queue = ready[unsigned(kind)];
  std::set<uint32_t> &free = idle[unsigned(kind)];
  if (kind == WorkerKind::Vector && vectorCoresWanted)
    return;
  while (!queue.empty() && !free.empty()) {
    auto chosen = pick(queue);
    TaskId id{chosen->task};
    TaskSlot &slot = taskCore.slotOf(id);
    // A gang waits for all its cores; later tasks of the kind wait behind it.
    if (slot.gang && free.size() < slot.numBlocks && !taskCore.isCancelled() && taskCore.predicateHolds(slot))
      return;
    size_t companions = size_t(slot.companions) * (slot.gang ? slot.numBlocks : 1);
    if (idle[unsigned(WorkerKind::Vector)].size() < companions && !taskCore.isCancelled() &&
        taskCore.predicateHolds(slot)) {
      vectorCoresWanted = true;
      return;
    }
    if (!startable(slot, id)) {
      queue.erase(chosen);
      continue;
    }
    taskCore.setRunning(slot, id);
    uint32_t count = slot.gang ? slot.numBlocks : 1;
    if (slot.nextBlock + count == slot.numBlocks)
      queue.erase(chosen);
    for (uint32_t i = 0; i < count; ++i)
      start(slot, id, slot.nextBlock++);
  }
}

void VirtualDriver::start(TaskSlot &slot, TaskId id, uint32_t block) {
  std::set<uint32_t> &free = idle[unsigned(slot.kind)];
  uint32_t number = *free.begin();
  free.erase(free.begin());
  ++tasksOfCore[number];
  const Kernel &kernel = *taskCore.kernelOf(slot);
  KernelCall call;
  call.args = slot.args;
  call.numArgs = slot.numArgs;
  call.block = block;
  call.numBlocks = slot.numBlocks;
  call.task = id;
  call.kind = slot.kind;
  call.core = number;
  call.costNs = kernel.costNs;
  insideKernel() = true;
  try {
    kernel.body(call);
  } catch (const std::exception &exception) {
    taskCore.reportFailure(slot, id, number, exception.what());
  } catch (...) {
    taskCore.reportFailure(slot, id, number, "an exception not derived from std::exception");
  }
  insideKernel() = false;
  Running &started = running[{time + call.costNs, numEvents++}] = {id.value, number, block, time, {}};
  std::set<uint32_t> &vectorCores = idle[unsigned(WorkerKind::Vector)];
  for (uint32_t i = 0; i < slot.companions; ++i)
    started.companions.push_back(vectorCores.extract(vectorCores.begin()).value());
}

void VirtualDriver::finishFirst() {
  auto first = running.begin();
  Running done = first->second;
  time = std::max(time, first->first.first);
  running.erase(first);
  TaskId id{done.task};
  TaskSlot &slot = taskCore.slotOf(id);
  idle[unsigned(slot.kind)].insert(done.core);
  idle[unsigned(WorkerKind::Vector)].insert(done.companions.begin(), done.companions.end());
  record(slot, id, &done, false);
  if (slot.blocksLeft.fetch_sub(1) == 1)
    taskCore.complete(slot, id);
}

void VirtualDriver::record(const TaskSlot &slot, TaskId id, const Running *running, bool skipped) {
  if (!taskCore.tracing)
    return;
  uint64_t begin = running ? running->begin : time;
  records.push_back({id, taskCore.nameOf(slot), taskCore.kernelNameOf(slot), slot.kind,
                     running ? running->core : BlockRecord::kNoCore, running ? running->block : 0, slot.numBlocks, 0,
                     slot.times.submitted, slot.times.published, slot.times.ready, begin, begin, time, time, time,
                     slot.failed.load(), skipped});
  sample();
}

void VirtualDriver::sample() {
  DepthSample sample{time, {}};
  for (unsigned kind = 0; kind < kNumWorkerKinds; ++kind)
    sample.ready[kind] = uint32_t(ready[kind].size());
  if (!depths.empty() && depths.back().time == time)
    depths.back() = sample;
  else
    depths.push_back(sample);
}

std::vector<HandshakeRecord> VirtualDriver::handshake() {
  std::vector<HandshakeRecord> rows;
  uint32_t number = 0;
  for (unsigned kind = 0; kind < kNumWorkerKinds; ++kind)
    for (uint32_t i = 0; i < config.cores[kind]; ++i, ++number)
      rows.push_back(
          {number, WorkerKind(kind), 1, number + 1, 0, idle[kind].count(number) ? 0u : 1u, tasksOfCore[number]});
  return rows;
}

void VirtualDriver::collectTrace(Trace &trace) {
  trace.schedulers = 1;
  trace.blocks = std::move(records);
  trace.depths = std::move(depths);
  records.clear();
  depths.clear();
}

} // namespace pto_mlir::tasks
