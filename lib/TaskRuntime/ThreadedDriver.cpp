// Starts and joins the threads; detects stalls.
#include "ThreadedDriver.h"

#include <algorithm>

namespace pto_mlir::tasks {

using Clock = std::chrono::steady_clock;

namespace {

uint64_t clockNs() {
  return uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count());
}

} // namespace

uint64_t ThreadedState::now() const { return clockNs() - runBegin.load(std::memory_order_relaxed); }

std::vector<uint32_t> ThreadedState::busyCores() const {
  std::vector<uint32_t> busy;
  for (const Mailbox &mailbox : mailboxes)
    if (mailbox.taskStatus())
      busy.push_back(mailbox.core);
  return busy;
}

ThreadedDriver::ThreadedDriver(const Config &config, std::shared_ptr<std::vector<Kernel>> kernels)
    : state(std::make_shared<ThreadedState>(config, std::move(kernels))) {
  unsigned processors = std::max(1u, std::thread::hardware_concurrency());
  unsigned numSchedulers = config.submitterWorks ? 1 : config.schedulers ? config.schedulers : processors <= 2 ? 1 : 3;
  uint32_t numCores = 0;
  for (uint32_t cores : config.cores)
    numCores += cores;
  unsigned numWorkers = std::min(config.workerThreads ? config.workerThreads : processors, numCores);
  numSchedulers = std::min(numSchedulers, std::max(1u, numCores));
  for (unsigned i = 0; i < numSchedulers; ++i)
    state->schedulers.emplace_back();
  for (unsigned i = 0; i < numWorkers; ++i)
    state->workers.emplace_back();
  for (unsigned kind = 0; kind < kNumWorkerKinds; ++kind) {
    ThreadedState::Kind &cores = state->kinds[kind];
    cores.gathered.reserve(config.cores[kind]);
    for (uint32_t i = 0; i < config.cores[kind]; ++i) {
      Mailbox &mailbox = state->mailboxes.emplace_back();
      uint32_t number = uint32_t(state->mailboxes.size() - 1);
      mailbox.kind = WorkerKind(kind);
      mailbox.core = number;
      mailbox.indexInKind = i;
      mailbox.owner = i % numSchedulers; // distributes cores of every kind over the schedulers
      // The submitter's cores come first, so that a task of one block stays on its thread.
      mailbox.thread = (config.submitterWorks ? i : number) % numWorkers;
      cores.cores.push_back(number);
      ThreadedState::Scheduler &owner = state->schedulers[mailbox.owner];
      owner.cores.push_back(number);
      owner.own[kind][i / 64] |= uint64_t(1) << (i % 64);
      state->workers[mailbox.thread].cores.push_back(number);
    }
  }
  state->core.setDriver(this);
  state->core.trace.schedulers = numSchedulers;
  firstWorker = config.submitterWorks ? 1 : 0;
  for (unsigned i = firstWorker; i < numWorkers; ++i)
    threads.emplace_back([state = state, i] { state->runWorker(i); });
  if (config.submitterWorks)
    state->shakeHands();
  else
    for (unsigned i = 0; i < numSchedulers; ++i)
      threads.emplace_back([state = state, i] { state->runScheduler(i); });
  while (!state->handshakeDone.load(std::memory_order_acquire))
    std::this_thread::yield();
}

ThreadedDriver::~ThreadedDriver() {
  state->core.cancel();
  // Allow a kernel that is about to return to finish.
  for (int i = 0; i < 100 && !state->busyCores().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  for (Mailbox &mailbox : state->mailboxes)
    mailbox.control.store(1, std::memory_order_release);
  state->stop.store(true, std::memory_order_release);
  for (ThreadedState::Worker &worker : state->workers)
    worker.parker.notify();
  state->wakeSchedulers();
  for (size_t i = 0; i < threads.size(); ++i) {
    size_t worker = i + firstWorker;
    bool hung =
        worker < state->workers.size() && std::any_of(
                                              state->workers[worker].cores.begin(), state->workers[worker].cores.end(),
                                              [&](uint32_t core) { return state->mailboxes[core].taskStatus() != 0; });
    if (hung)
      threads[i].detach(); // the thread shares ownership of the state
    else
      threads[i].join();
  }
}

void ThreadedDriver::beginRun() { state->runBegin.store(clockNs(), std::memory_order_relaxed); }

uint64_t ThreadedDriver::progress() const {
  uint64_t sum = state->core.completed();
  for (const Mailbox &mailbox : state->mailboxes)
    sum += mailbox.reply.load(std::memory_order_relaxed);
  return sum;
}

std::string ThreadedDriver::describeBusy() const {
  std::string text;
  for (uint32_t number : state->busyCores()) {
    const Mailbox &mailbox = state->mailboxes[number];
    TaskId id{mailbox.payload.task};
    text += (text.empty() ? "task " : ", task ") + state->core.describe(state->core.slotOf(id), id) + " on " +
            std::string(workerKindName(mailbox.kind)) + " core " + std::to_string(number);
  }
  return text;
}

Stall ThreadedDriver::waitUntil(const std::function<bool()> &done) {
  const Config &config = state->config;
  Backoff backoff(config.spins, config.yields);
  uint64_t last = ~uint64_t(0);
  Clock::time_point since;
  std::vector<uint64_t> beats(state->schedulers.size());
  while (!done()) {
    if (state->help()) {
      backoff.reset();
      continue;
    }
    if (backoff.pause())
      continue;
    state->sleepsOn().park([&] { return done() || !state->idle(); }, std::chrono::milliseconds(5));
    backoff.reset();
    uint64_t sum = progress();
    if (sum != last) {
      last = sum;
      since = Clock::now();
      for (size_t i = 0; i < beats.size(); ++i)
        beats[i] = state->schedulers[i].beats.load(std::memory_order_relaxed);
      continue;
    }
    auto quiet = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - since).count();
    if (std::vector<uint32_t> busy = state->busyCores(); !busy.empty()) {
      if (config.hangMs && quiet >= config.hangMs && !done())
        return {ErrorCode::HungKernel, "no task has ended for " + std::to_string(quiet) + " ms while " +
                                           describeBusy() + (busy.size() > 1 ? " run" : " runs")};
      continue;
    }
    // A stall requires that all schedulers have polled several times since: on a busy machine they may have been
    // descheduled.
    bool looked = true;
    for (size_t i = 0; i < beats.size(); ++i)
      looked &= state->schedulers[i].beats.load(std::memory_order_relaxed) >= beats[i] + 4;
    size_t ready = state->core.numReady();
    if (!looked || quiet < config.stallMs * (ready ? 3 : 1) || done())
      continue;
    if (ready)
      return {ErrorCode::NoProgress, std::to_string(ready) + " tasks are ready and no core takes them"};
    return {ErrorCode::NoProgress, "nothing runs and nothing is ready"};
  }
  return {};
}

std::vector<HandshakeRecord> ThreadedDriver::handshake() {
  std::vector<HandshakeRecord> records;
  for (const Mailbox &mailbox : state->mailboxes)
    records.push_back({mailbox.core, mailbox.kind, mailbox.aicpuReady.load(), mailbox.aicoreDone.load(),
                       mailbox.control.load(), mailbox.taskStatus(), mailbox.reply.load()});
  return records;
}

void ThreadedDriver::collectTrace(Trace &trace) {
  trace.schedulers = uint32_t(state->schedulers.size());
  auto collect = [&](ThreadedState::Scheduler &scheduler) {
    trace.blocks.insert(trace.blocks.end(), std::make_move_iterator(scheduler.records.begin()),
                        std::make_move_iterator(scheduler.records.end()));
    trace.depths.insert(trace.depths.end(), scheduler.depths.begin(), scheduler.depths.end());
    scheduler.records.clear();
    scheduler.depths.clear();
    scheduler.lastSample = 0;
  };
  for (ThreadedState::Scheduler &scheduler : state->schedulers)
    collect(scheduler);
  collect(state->helper);
  std::sort(trace.depths.begin(), trace.depths.end(), [](auto &a, auto &b) { return a.time < b.time; });
}

} // namespace pto_mlir::tasks
