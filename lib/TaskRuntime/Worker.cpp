// The worker thread, which runs simulated cores.
#include "InsideKernel.h"
#include "ThreadedDriver.h"

namespace pto_mlir::tasks {

bool ThreadedState::execute(Mailbox &mailbox) {
  uint64_t request = mailbox.claim(); // with `submitterWorks` two threads may poll this mailbox
  if (request == 0)
    return false;
  const Payload &payload = mailbox.payload;
  KernelCall call;
  call.args = payload.args;
  call.numArgs = payload.numArgs;
  call.block = payload.block;
  call.numBlocks = payload.numBlocks;
  call.task = TaskId{payload.task};
  call.kind = payload.kind;
  call.core = mailbox.core;
  call.costNs = payload.kernel->costNs;
  mailbox.failed = false;
  if (core.tracing)
    mailbox.start = now();
  insideKernel() = true;
  // Exceptions of the kernel must not unwind through this loop.
  try {
    payload.kernel->body(call);
  } catch (const std::exception &exception) {
    mailbox.failed = true;
    mailbox.cause = exception.what();
  } catch (...) {
    mailbox.failed = true;
    mailbox.cause = "an exception not derived from std::exception";
  }
  insideKernel() = false;
  if (core.tracing)
    mailbox.end = now();
  mailbox.reply.store(request, std::memory_order_release);
  return true;
}

bool ThreadedState::executeAny() {
  for (Mailbox &mailbox : mailboxes)
    if (mailbox.waits() && execute(mailbox))
      return true;
  return false;
}

void ThreadedState::runWorker(unsigned index) {
  Worker &self = workers[index];
  for (uint32_t number : self.cores) {
    Mailbox &mailbox = mailboxes[number];
    while (!mailbox.aicpuReady.load(std::memory_order_acquire))
      std::this_thread::yield();
    mailbox.aicoreDone.store(number + 1, std::memory_order_release);
  }
  Backoff backoff(config.spins, config.yields);
  auto work = [&] {
    for (uint32_t number : self.cores)
      if (mailboxes[number].waits() || mailboxes[number].control.load(std::memory_order_acquire))
        return true;
    return false;
  };
  while (true) {
    bool did = false, leave = true;
    for (uint32_t number : self.cores) {
      Mailbox &mailbox = mailboxes[number];
      if (execute(mailbox)) {
        did = true;
        schedulers[mailbox.owner].parker.notify();
      }
      leave &= mailbox.control.load(std::memory_order_acquire) != 0;
    }
    if (did)
      backoff.reset();
    else if (leave)
      return;
    else if (!backoff.pause()) {
      self.parker.park(work, std::chrono::milliseconds(100));
      backoff.reset();
    }
  }
}

} // namespace pto_mlir::tasks
