// Submission of a task: find producers, reserve room, fill the slot, wire edges, publish.
#include "pto_mlir/TaskRuntime/TaskCore.h"

#include <algorithm>

namespace pto_mlir::tasks {

Result<TaskId> TaskCore::submit(TaskSpec &spec) {
  if (Status status = currentError(); !status)
    return status.failure();
  if (Status status = checkSpec(spec); !status) {
    fatal(ErrorCode::BadArguments, status.error());
    return status.failure();
  }
  uint64_t begin = tracing ? now() : 0;
  unsigned ringIndex = ringOfScope();
  TaskRing &ring = prepareRing(ringIndex);
  uint64_t bytes = 0;
  uint32_t mapEntries = 0;
  for (uint32_t i = 0; i < spec.numArgs; ++i) {
    const TaskSpec::Argument &argument = spec.arguments[i];
    if (argument.flags & TaskSpec::Allocates)
      bytes = HeapRing::roundUp(bytes) + argument.region.span();
    mapEntries += !!(argument.flags & TaskSpec::Reads) + !!(argument.flags & TaskSpec::Writes);
  }
  mapEntries += spec.predicate.address != 0;
  try {
    Status status = gatherProducers(spec);
    if (status)
      status = reserve(ring, ringIndex, bytes, mapEntries);
    if (!status) {
      releaseClaims();
      return status.failure();
    }
    // The last allocations; nothing fails after them.
    if (scopeTasks.size() == scopeTasks.capacity())
      scopeTasks.reserve(2 * scopeTasks.size() + 64);
    if (size_t edges = trace.edges.size() + candidates.size() + endedProducers.size();
        tracing && edges > trace.edges.capacity())
      trace.edges.reserve(2 * edges);
  } catch (...) {
    releaseClaims();
    throw;
  }

  ring.prefetch();
  TaskId id = TaskId::make(ringIndex, ring.next());
  TaskSlot &slot = ring.slot(id.local());
  fillSlot(ring, slot, id, spec);
  if (tracing)
    slot.times.submitted = begin;
  wire(ring, ringIndex, slot, id);
  ++counts.submitted;
  counts.peakTasks[ringIndex] = std::max(counts.peakTasks[ringIndex], ring.liveAsSeen());
  counts.peakEntries[ringIndex] = ring.pool().highWater();
  if (counts.submitted % 64 == 0)
    (void)ring.live(); // retires entries of consumed tasks from the tensor map
  return id;
}

Status TaskCore::checkSpec(const TaskSpec &spec) {
  auto fail = [&](const std::string &text) {
    std::string name = spec.taskName                  ? spec.taskName
                       : spec.kernel < kernels.size() ? kernels[spec.kernel].name
                                                      : "barrier";
    return Failure{"task '" + name + "': " + text};
  };
  if (spec.kernel != kNoKernel && spec.kernel >= kernels.size())
    return fail("there is no kernel " + std::to_string(spec.kernel));
  if (unsigned(spec.kind) >= kNumWorkerKinds)
    return fail("there is no worker kind " + std::to_string(unsigned(spec.kind)));
  if (spec.tooManyArguments)
    return fail("has more than " + std::to_string(kMaxArguments) + " arguments, or a tensor of more than " +
                std::to_string(kMaxRank) + " dimensions");
  if (spec.allocated.size() > kMaxOutputs)
    return fail("allocates " + std::to_string(spec.allocated.size()) + " outputs, at most " +
                std::to_string(kMaxOutputs) + " work");
  for (const Tensor &tensor : spec.allocated) {
    unsigned __int128 bytes = tensor.elementBytes;
    for (unsigned i = 0; i < tensor.rank; ++i) {
      if (tensor.shape[i] < 0)
        return fail("allocates an output with a negative extent");
      bytes *= uint64_t(tensor.shape[i]);
      if (bytes > uint64_t(1) << 46)
        return fail("allocates an output of more than 2^46 bytes");
    }
  }
  uint32_t cores = config.cores[unsigned(spec.kind)];
  if (spec.kernel != kNoKernel && cores == 0)
    return fail("there is no " + std::string(workerKindName(spec.kind)) + " core; give Config::cores[" +
                std::to_string(unsigned(spec.kind)) + "] at least one");
  if (spec.numBlocks == 0)
    return fail("has no block to run");
  if (spec.isGang && spec.numBlocks > cores) {
    std::string text = "starts " + std::to_string(spec.numBlocks) + " blocks together, but there are " +
                       std::to_string(cores) + " " + std::string(workerKindName(spec.kind)) + " cores";
    fatal(ErrorCode::GangTooWide, fail(text).message);
    return fail(text);
  }
  uint32_t vectorCores = config.cores[unsigned(WorkerKind::Vector)];
  if (spec.numCompanions &&
      (spec.kind == WorkerKind::Vector ||
       uint64_t(spec.numCompanions) * (spec.isGang ? spec.numBlocks : 1) > std::min<uint32_t>(vectorCores, UINT8_MAX)))
    return fail("a block requires " + std::to_string(spec.numCompanions) + " vector cores in addition to its " +
                std::string(workerKindName(spec.kind)) + " core; there are " + std::to_string(vectorCores) +
                ", and a task on vector cores takes none");
  uint32_t bytes = spec.predicate.bytes;
  if (spec.predicate.address && bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
    return fail("has a predicate of " + std::to_string(bytes) + " bytes, expected an integer of 1, 2, 4 or 8");
  for (TaskId producer : spec.explicitProducers)
    if (state(producer) == TaskState::Free)
      return fail("waits for task " + toString(producer) + ", which was not submitted");
  return {};
}

void TaskCore::addCandidate(TaskId task, uint32_t flags) {
  TaskSlot &slot = slotOf(task);
  uint64_t word = slot.word.load(std::memory_order_acquire);
  bool gone = TaskSlot::wordLocal(word) != task.local() || TaskSlot::wordState(word) == TaskState::Consumed;
  // A completed producer matters only if its memory must be retained; otherwise an edge would only bounce its cache
  // line.
  bool over =
      gone || (TaskSlot::wordState(word) == TaskState::Completed && (!(flags & Retain) || slot.numOutputs == 0));
  if (over) {
    poisonedAtSubmit |= (flags & Data) && (gone ? hasFailed(task) : (word & TaskSlot::kFailedBit) != 0);
    if (tracing)
      endedProducers.push_back({task, flags, false});
    return;
  }
  // Only the orchestrator reuses slots, so the id just read remains valid during the submission.
  TaskRing::Mark &mark = rings[task.ring()]->mark(task.local());
  if (mark.submission == submission) {
    candidates[mark.index].flags |= flags;
    return;
  }
  mark = {submission, uint32_t(candidates.size())};
  candidates.push_back({task, flags, false});
}

Status TaskCore::addArgument(const TaskSpec::Argument &argument) {
  if (!(argument.flags & TaskSpec::IsTensor) || (argument.flags & TaskSpec::Allocates))
    return {};
  if (argument.owner) {
    TaskId owner{argument.owner};
    auto gone = [&] {
      return "uses an output of task " + toString(owner) + ", whose memory is free: it was used after its scope ended";
    };
    if (state(owner) == TaskState::Free || state(owner) == TaskState::Consumed)
      return Failure{gone()};
    addCandidate(owner, Retain);
    const TaskRing::Mark &mark = rings[owner.ring()]->mark(owner.local());
    // The claim must precede any wait for room, so that the memory is not freed meanwhile.
    if (mark.submission != submission)
      return Failure{gone()};
    Candidate &candidate = candidates[mark.index];
    if (!candidate.claimed && !(candidate.claimed = tryClaim(slotOf(owner))))
      return Failure{gone()};
  }
  bool reads = argument.flags & TaskSpec::Reads, writes = argument.flags & TaskSpec::Writes;
  auto data = [&](TaskId task) { find(task, Wait | Retain | Data); };
  auto order = [&](TaskId task) { find(task, Wait); };
  if (reads && !writes)
    map.lookup(argument.region, TensorMap::Writer, data);
  else if (reads)
    map.lookup(argument.region, TensorMap::Writer, data, covered);
  else if (writes)
    map.lookup(argument.region, TensorMap::Writer, order, covered);
  if (writes)
    map.lookup(argument.region, TensorMap::Reader, order, covered);
  for (size_t i = 0; reads && i < poisonedRegions.size(); ++i)
    poisonedAtSubmit |= overlap(poisonedRegions[i], argument.region);
  return {};
}

Status TaskCore::gatherProducers(TaskSpec &spec) {
  candidates.clear();
  found.clear();
  covered.clear();
  endedProducers.clear();
  ++submission;
  poisonedAtSubmit = false;
  auto add = [&](const TaskSpec::Argument &argument) -> Status {
    Status status = addArgument(argument);
    if (!status)
      fatal(ErrorCode::BadArguments,
            "task '" + std::string(spec.taskName ? spec.taskName : "") + "' " + status.error());
    return status;
  };
  for (uint32_t i = 0; i < spec.numArgs; ++i)
    if (Status status = add(spec.arguments[i]); !status)
      return status;
  if (spec.predicate.address)
    if (Status status = add(spec.arguments[kMaxArguments]); !status)
      return status;
  for (TaskId producer : spec.explicitProducers)
    find(producer, Wait | Retain | Data);
  for (const Candidate &producer : found)
    addCandidate(producer.task, producer.flags);
  return {};
}

void TaskCore::releaseClaims() {
  for (Candidate &candidate : candidates)
    if (candidate.claimed)
      release(slotOf(candidate.task), candidate.task);
  candidates.clear();
}

uint32_t TaskCore::edgesNeeded() const {
  uint32_t count = 0;
  for (const Candidate &candidate : candidates)
    count += !!(candidate.flags & Wait) + !!(candidate.flags & Retain);
  return count;
}

bool TaskCore::tryClaim(TaskSlot &slot) {
  uint32_t references = slot.references.load(std::memory_order_relaxed);
  while (references != 0)
    if (slot.references.compare_exchange_weak(references, references + 1, std::memory_order_acq_rel,
                                              std::memory_order_relaxed))
      return true;
  return false;
}

bool TaskCore::appendConsumer(TaskSlot &producer, uint32_t link, DependencyEntry &entry) {
  uint32_t head = producer.fanoutHead.load(std::memory_order_acquire);
  do {
    if (head == TaskSlot::kClosed)
      return false;
    entry.next = head;
  } while (
      !producer.fanoutHead.compare_exchange_weak(head, link, std::memory_order_acq_rel, std::memory_order_acquire));
  return true;
}

void TaskCore::fillSlot(TaskRing &ring, TaskSlot &slot, TaskId id, TaskSpec &spec) {
  ring.take();
  slot.word.store(TaskSlot::makeWord(id.local(), TaskState::Pending), std::memory_order_release);
  slot.failed.store(poisonedAtSubmit, std::memory_order_relaxed);
  slot.fanoutHead.store(0, std::memory_order_relaxed);
  slot.blocksLeft.store(spec.numBlocks, std::memory_order_relaxed);
  slot.references.store(scopes.empty() ? 1 : 2, std::memory_order_relaxed);
  slot.gang = spec.isGang;
  slot.kind = spec.kind;
  slot.depth = uint8_t(scopes.size());
  slot.nextBlock = 0;
  slot.numBlocks = spec.numBlocks;
  slot.companions = uint8_t(spec.numCompanions);
  slot.kernel = spec.kernel;
  slot.numArgs = uint8_t(spec.numArgs);
  slot.scope = scopes.empty() ? 0 : scopes.back().serial;
  slot.sequence = counts.submitted;
  slot.predicate = spec.predicate;
  slot.name = spec.taskName;
  if (!scopes.empty())
    scopeTasks.push_back(id);

  uint64_t bytes = 0;
  slot.numInputs = slot.numOutputs = 0;
  for (uint32_t i = 0; i < spec.numArgs; ++i) {
    const TaskSpec::Argument &argument = spec.arguments[i];
    slot.numInputs += !!(argument.flags & TaskSpec::Reads);
    if (argument.flags & TaskSpec::Allocates) {
      bytes = HeapRing::roundUp(bytes);
      slot.outputOffsets[slot.numOutputs++] = bytes;
      bytes += argument.region.span();
    }
  }
  HeapRing::Block block = *ring.heap().find(bytes);
  ring.heap().commit(block);
  counts.peakHeapBytes[id.ring()] = std::max(counts.peakHeapBytes[id.ring()], ring.heap().usedAsSeen());
  // A task without outputs has an empty heap range, so that reclaiming it frees nothing of other tasks.
  if (slot.numOutputs)
    slot.heapBegin = block.begin;
  slot.heapEnd = block.end;
  uint64_t base = slot.numOutputs ? ring.heapAddressOf(block.begin) : 0;
  map.supersede(covered);
  auto remember = [&](const TaskSpec::Argument &argument, const Region &region) {
    // A task that reads and writes a region is recorded as its writer only.
    if (argument.flags & TaskSpec::Allocates)
      map.insert(region, TensorMap::Writer, id);
    else if (argument.flags & (TaskSpec::Writes | TaskSpec::Reads))
      map.insertNoted(region, argument.flags & TaskSpec::Writes ? TensorMap::Writer : TensorMap::Reader, id);
  };
  for (uint32_t i = 0, output = 0; i < spec.numArgs; ++i) {
    TaskSpec::Argument &argument = spec.arguments[i];
    if (argument.flags & TaskSpec::Allocates) {
      Tensor &tensor = spec.allocated[output];
      tensor.address = base + slot.outputOffsets[output++];
      tensor.owner = id;
      slot.args[i] = tensor.address;
      remember(argument, tensor.region());
    } else {
      slot.args[i] = argument.word;
      if (argument.flags & TaskSpec::IsTensor)
        remember(argument, argument.region);
    }
  }
  if (spec.predicate.address)
    remember(spec.arguments[kMaxArguments], spec.arguments[kMaxArguments].region);
  if (!poisonedRegions.empty())
    std::erase_if(poisonedRegions, [&](const Region &bad) {
      for (uint32_t i = 0; i < spec.numArgs; ++i)
        if ((spec.arguments[i].flags & TaskSpec::Writes) && !poisonedAtSubmit && covers(spec.arguments[i].region, bad))
          return true;
      return false;
    });
}

void TaskCore::wire(TaskRing &ring, unsigned ringIndex, TaskSlot &slot, TaskId id) {
  uint32_t waits = 0;
  for (const Candidate &candidate : candidates)
    waits += !!(candidate.flags & Wait);
  // The additional count prevents the task from becoming ready while edges are being added.
  slot.faninLeft.store(waits + 1, std::memory_order_relaxed);
  slot.faninHead = 0;
  slot.faninCount = uint32_t(candidates.size());
  auto newEntry = [&](uint64_t task, uint32_t flags) {
    uint32_t offset = ring.pool().allocate();
    ring.pool()[offset] = {task, 0, flags};
    return uint32_t(ringIndex) << 30 | offset;
  };
  uint32_t finished = 0;
  size_t firstEdge = trace.edges.size();
  for (const Candidate &candidate : candidates) {
    TaskSlot &producer = slotOf(candidate.task);
    if (tracing)
      trace.edges.push_back({candidate.task, id, candidate.flags});
    // While this submission waited for room, the producer may have been consumed and its slot reused for this task.
    if (TaskSlot::wordLocal(producer.word.load(std::memory_order_acquire)) != candidate.task.local()) {
      finished += !!(candidate.flags & Wait);
      if ((candidate.flags & Data) && hasFailed(candidate.task))
        slot.failed.store(true, std::memory_order_relaxed);
      continue;
    }
    if ((candidate.flags & Retain) && (candidate.claimed || tryClaim(producer))) {
      uint32_t link = newEntry(candidate.task.value, candidate.flags);
      entryAt(link).next = slot.faninHead;
      slot.faninHead = link;
    }
    if (candidate.flags & Wait) {
      uint32_t link = newEntry(id.value, candidate.flags);
      if (!appendConsumer(producer, link, entryAt(link))) {
        ++finished;
        if ((candidate.flags & Data) && (producer.word.load(std::memory_order_acquire) & TaskSlot::kFailedBit))
          slot.failed.store(true, std::memory_order_relaxed);
      }
    }
  }
  if (tracing) {
    for (const Candidate &producer : endedProducers)
      trace.edges.push_back({producer.task, id, producer.flags});
    // The tensor map returns producers in an order that depends on addresses; traces in virtual time must be
    // deterministic.
    std::sort(trace.edges.begin() + ptrdiff_t(firstEdge), trace.edges.end(),
              [](const EdgeRecord &a, const EdgeRecord &b) {
                return a.producer == b.producer ? a.flags < b.flags : a.producer < b.producer;
              });
  }
  counts.edges += candidates.size();
  slot.poolEnd = ring.pool().position();
  candidates.clear();
  if (tracing)
    slot.times.published = now();
  // Without a pending producer no other thread can access the task yet.
  if (finished == waits || slot.faninLeft.fetch_sub(finished + 1, std::memory_order_acq_rel) == finished + 1)
    makeReady(slot, id);
  driver->kick();
}

} // namespace pto_mlir::tasks
