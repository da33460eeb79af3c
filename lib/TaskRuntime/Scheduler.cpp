// The scheduler loop: collect completions from its cores, complete tasks that need no core, dispatch ready tasks to
// free cores.
#include "ThreadedDriver.h"

#include <bit>

namespace pto_mlir::tasks {

void ThreadedState::wakeSchedulers() {
  lightFence();
  for (Scheduler &scheduler : schedulers)
    scheduler.parker.notifyAfterFence();
}

void ThreadedState::finish(Scheduler &self, TaskSlot &slot, TaskId id, unsigned index, bool skipped) {
  TaskCore::Effect effect = core.complete(slot, id, skipped);
  if (effect.madeReady && schedulers.size() > 1)
    wakeSchedulers();
  if (effect.reclaimed || effect.madeReady == 0)
    orchestrator.notify();
  recordHandled(self);
}

void ThreadedState::record(Scheduler &self, const Mailbox *mailbox, const TaskSlot &slot, TaskId id, unsigned index,
                           bool skipped) {
  if (!core.tracing)
    return;
  if (self.handled != 0 && !self.records.empty())
    self.records.back().handled = self.handled;
  self.handled = 0;
  BlockRecord record;
  record.task = id;
  record.name = core.nameOf(slot);
  record.kernel = core.kernelNameOf(slot);
  record.kind = slot.kind;
  record.core = mailbox ? mailbox->core : BlockRecord::kNoCore;
  record.block = mailbox ? mailbox->payload.block : 0;
  record.numBlocks = slot.numBlocks;
  record.scheduler = index;
  record.submitted = slot.times.submitted;
  record.published = slot.times.published;
  record.ready = slot.times.ready;
  record.resolved = record.handled = now();
  record.dispatched = mailbox ? mailbox->dispatched : record.resolved;
  record.start = mailbox ? mailbox->start : record.resolved;
  record.end = mailbox ? mailbox->end : record.resolved;
  record.failed = slot.failed.load(std::memory_order_relaxed);
  record.skipped = skipped;
  self.records.push_back(std::move(record));
  sample(self);
}

void ThreadedState::recordHandled(Scheduler &self) {
  if (core.tracing)
    self.handled = now();
}

void ThreadedState::sample(Scheduler &self) {
  DepthSample sample{now(), {}};
  if (sample.time < self.lastSample + 1000)
    return; // at most one sample per microsecond
  self.lastSample = sample.time;
  for (unsigned kind = 0; kind < kNumWorkerKinds; ++kind)
    if (config.cores[kind])
      sample.ready[kind] = uint32_t(core.ready(WorkerKind(kind)).size() + core.readyGangs(WorkerKind(kind)).size());
  self.depths.push_back(sample);
}

bool ThreadedState::collect(Scheduler &self, unsigned index) {
  bool did = false;
  self.onlySubmitter = true;
  for (uint32_t number : self.cores) {
    Mailbox &mailbox = mailboxes[number];
    uint64_t reply = mailbox.reply.load(std::memory_order_acquire);
    self.onlySubmitter &= mailbox.request.load(std::memory_order_relaxed) == mailbox.collected;
    if (reply == mailbox.collected)
      continue;
    mailbox.collected = reply;
    did = true;
    TaskId id{mailbox.payload.task};
    TaskSlot &slot = core.slotOf(id);
    if (mailbox.failed)
      core.reportFailure(slot, id, number, mailbox.cause);
    record(self, &mailbox, slot, id, index, false);
    Kind &kind = kinds[unsigned(mailbox.kind)];
    // The mailbox must not be accessed after this: another scheduler may claim the core for a gang.
    kind.idle[mailbox.indexInKind / 64].bits.fetch_or(uint64_t(1) << (mailbox.indexInKind % 64),
                                                      std::memory_order_acq_rel);
    if (slot.blocksLeft.fetch_sub(1, std::memory_order_acq_rel) == 1)
      finish(self, slot, id, index, false);
  }
  return did;
}

bool ThreadedState::runInline(Scheduler &self, unsigned index) {
  uint64_t ids[32];
  size_t count = core.readyInline().popSome(ids, 32);
  // The slots were written by other threads: prefetch them together.
  for (size_t i = 0; i < count; ++i)
    __builtin_prefetch(&core.slotOf(TaskId{ids[i]}), 1);
  uint32_t madeReady = 0;
  for (size_t i = 0; i < count; ++i) {
    TaskId id{ids[i]};
    TaskSlot &slot = core.slotOf(id);
    record(self, nullptr, slot, id, index, false);
    madeReady += core.complete(slot, id).madeReady;
    recordHandled(self);
  }
  self.onlySubmitter &= madeReady == 0 && count < 32;
  if (madeReady && (schedulers.size() > 1 || index == kOrchestrator))
    wakeSchedulers();
  if (count && index != kOrchestrator)
    orchestrator.notify();
  return count != 0;
}

int ThreadedState::claim(Kind &kind, const Mask *own) {
  for (unsigned word = 0; word < kWords; ++word) {
    std::atomic<uint64_t> &bits = kind.idle[word].bits;
    uint64_t free = bits.load(std::memory_order_acquire) & (own ? (*own)[word] : ~uint64_t(0));
    while (free != 0) {
      uint64_t bit = free & -free;
      if (bits.fetch_and(~bit, std::memory_order_acq_rel) & bit)
        return int(kind.cores[word * 64 + unsigned(std::countr_zero(bit))]);
      free &= ~bit;
    }
  }
  return -1;
}

void ThreadedState::send(Mailbox &mailbox, const TaskSlot &slot, TaskId id, uint32_t block) {
  Payload &payload = mailbox.payload;
  payload.task = id.value;
  payload.kernel = core.kernelOf(slot);
  payload.kind = slot.kind;
  payload.block = block;
  payload.numBlocks = slot.numBlocks;
  payload.numArgs = slot.numArgs;
  std::copy(slot.args, slot.args + slot.numArgs, payload.args);
  if (core.tracing)
    mailbox.dispatched = now();
  mailbox.request.store(mailbox.request.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  workers[mailbox.thread].parker.notify();
}

bool ThreadedState::startable(Scheduler &self, TaskSlot &slot, TaskId id, unsigned index) {
  if (core.isCancelled())
    slot.failed.store(true, std::memory_order_relaxed);
  bool failed = slot.failed.load(std::memory_order_relaxed);
  bool runs = slot.nextBlock > 0 || core.predicateHolds(slot);
  if (!failed && runs)
    return true;
  // Blocks that were not started count as completed.
  uint32_t left = slot.numBlocks - slot.nextBlock;
  if (slot.blocksLeft.fetch_sub(left, std::memory_order_acq_rel) == left) {
    record(self, nullptr, slot, id, index, !failed);
    finish(self, slot, id, index, !failed);
  }
  return false;
}

bool ThreadedState::dispatch(Scheduler &self, unsigned index, Kind &kind, WorkerKind name) {
  const Mask &own = self.own[unsigned(name)];
  ReadyQueue &queue = core.ready(name);
  bool did = false;
  while (queue.size() != 0) {
    int number = claim(kind, &own);
    if (number < 0)
      break;
    auto giveBack = [&] {
      uint32_t place = mailboxes[number].indexInKind;
      kind.idle[place / 64].bits.fetch_or(uint64_t(1) << (place % 64), std::memory_order_acq_rel);
    };
    uint64_t value;
    if (!queue.pop(value)) {
      giveBack();
      break;
    }
    did = true;
    TaskId id{value};
    TaskSlot &slot = core.slotOf(id);
    if (!startable(self, slot, id, index)) {
      giveBack();
      continue;
    }
    if (slot.nextBlock == 0)
      core.setRunning(slot, id);
    // The holder of the queue entry owns `nextBlock`. Once the last block has been dispatched the slot may be reused.
    uint32_t block = slot.nextBlock++;
    bool more = slot.nextBlock < slot.numBlocks;
    Mailbox &mailbox = mailboxes[number];
    send(mailbox, slot, id, block);
    if (more)
      queue.push(value);
    if (kind.normalOwed.load(std::memory_order_relaxed))
      kind.normalOwed.store(false, std::memory_order_relaxed);
  }
  return did;
}

bool ThreadedState::dispatchGang(Scheduler &self, unsigned index, Kind &kind, WorkerKind name) {
  ReadyQueue &queue = core.readyGangs(name);
  if (!kind.gangWaits.load(std::memory_order_acquire) && queue.size() == 0)
    return false;
  std::unique_lock lock(kind.gangLock, std::try_to_lock);
  if (!lock)
    return false;
  bool did = false;
  if (kind.gang == 0) {
    if (kind.normalOwed.load(std::memory_order_relaxed) && core.ready(name).size() != 0)
      return false;
    kind.normalOwed.store(false, std::memory_order_relaxed);
    uint64_t value;
    if (!queue.pop(value))
      return false;
    did = true;
    if (!startable(self, core.slotOf(TaskId{value}), TaskId{value}, index))
      return true;
    kind.gang = value;
    kind.gangWaits.store(true, std::memory_order_release);
  }
  TaskId id{kind.gang};
  TaskSlot &slot = core.slotOf(id);
  while (kind.gathered.size() < slot.numBlocks) {
    int number = claim(kind, nullptr);
    if (number < 0)
      return did;
    did = true;
    kind.gathered.push_back(uint32_t(number));
  }
  core.setRunning(slot, id);
  uint32_t numBlocks = slot.nextBlock = slot.numBlocks;
  for (uint32_t block = 0; block < numBlocks; ++block)
    send(mailboxes[kind.gathered[block]], slot, id, block);
  kind.gathered.clear();
  kind.gang = 0;
  kind.gangWaits.store(false, std::memory_order_release);
  kind.normalOwed.store(core.ready(name).size() != 0, std::memory_order_relaxed);
  return true;
}

bool ThreadedState::anythingToDo(const Scheduler &self) const {
  if (stop.load(std::memory_order_acquire))
    return true;
  auto &mutableCore = const_cast<TaskCore &>(core);
  if (mutableCore.readyInline().size() != 0)
    return true;
  for (uint32_t number : self.cores)
    if (mailboxes[number].reply.load(std::memory_order_acquire) != mailboxes[number].collected)
      return true;
  for (unsigned name = 0; name < kNumWorkerKinds; ++name) {
    if (config.cores[name] == 0)
      continue;
    bool normal = mutableCore.ready(WorkerKind(name)).size() != 0;
    bool gang =
        mutableCore.readyGangs(WorkerKind(name)).size() != 0 || kinds[name].gangWaits.load(std::memory_order_acquire);
    for (unsigned word = 0; word < kWords && (normal || gang); ++word) {
      uint64_t idle = kinds[name].idle[word].bits.load(std::memory_order_acquire);
      if ((gang && idle) || (normal && (idle & self.own[name][word])))
        return true;
    }
  }
  return false;
}

bool ThreadedState::schedule(Scheduler &self, unsigned index) {
  self.beats.fetch_add(1, std::memory_order_relaxed);
  bool did = collect(self, index);
  did |= runInline(self, index);
  bool dispatched = false;
  for (unsigned kind = 0; kind < kNumWorkerKinds; ++kind)
    if (config.cores[kind]) {
      dispatched |= dispatchGang(self, index, kinds[kind], WorkerKind(kind));
      dispatched |= dispatch(self, index, kinds[kind], WorkerKind(kind));
    }
  self.onlySubmitter &= !dispatched;
  return did || dispatched;
}

void ThreadedState::kick() {
  if (config.submitterWorks)
    schedule(schedulers.front(), 0);
  else
    wakeSchedulers();
}

bool ThreadedState::help() {
  if (!config.submitterWorks)
    return runInline(helper, kOrchestrator);
  // Dispatch to all cores before executing a task on this thread.
  bool did = schedule(schedulers.front(), 0);
  return executeAny() || did;
}

void ThreadedState::shakeHands() {
  for (Mailbox &mailbox : mailboxes)
    mailbox.aicpuReady.store(1, std::memory_order_release);
  for (Mailbox &mailbox : mailboxes) {
    if (config.submitterWorks && mailbox.thread == 0)
      mailbox.aicoreDone.store(mailbox.core + 1, std::memory_order_release);
    while (mailbox.aicoreDone.load(std::memory_order_acquire) != mailbox.core + 1)
      std::this_thread::yield();
  }
  for (Mailbox &mailbox : mailboxes)
    kinds[unsigned(mailbox.kind)].idle[mailbox.indexInKind / 64].bits.fetch_or(uint64_t(1)
                                                                               << (mailbox.indexInKind % 64));
  handshakeDone.store(true, std::memory_order_release);
}

void ThreadedState::runScheduler(unsigned index) {
  Scheduler &self = schedulers[index];
  if (index == 0) {
    shakeHands(); // the other schedulers wait for its completion
  } else {
    while (!handshakeDone.load(std::memory_order_acquire))
      std::this_thread::yield();
  }
  Backoff backoff(config.spins, config.yields);
  while (true) {
    bool did = schedule(self, index);
    // Polling immediately after each submission would contend with the submitter for the cache lines of queue, slots
    // and edges.
    for (int i = 0; self.onlySubmitter && i < kRest; ++i)
      pauseCpu();
    if (did) {
      backoff.reset();
      continue;
    }
    if (stop.load(std::memory_order_acquire))
      return;
    if (!backoff.pause()) {
      self.parker.park([&] { return anythingToDo(self); }, std::chrono::milliseconds(20));
      backoff.reset();
    }
  }
}

} // namespace pto_mlir::tasks
