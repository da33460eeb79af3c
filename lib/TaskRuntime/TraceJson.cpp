// Exports the trace as Chrome trace-event JSON (also read by Perfetto).
#include "pto_mlir/Support/TemporaryFile.h"
#include "pto_mlir/TaskRuntime/Trace.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <unistd.h>

namespace pto_mlir::tasks {

namespace {

constexpr int kControl = 1, kCores = 2;

/// An event or a part of one. Fields stay in the order they are written in.
using Fields = nlohmann::ordered_json;

/// The format's unit is the microsecond.
double micros(uint64_t ns) { return double(ns) / 1000; }

/// Writes a trace event by event, so that its text need not fit into memory.
class TraceWriter {
public:
  TraceWriter(const Trace &trace, std::ostream &out) : trace(trace), out(out) {}

  void write() {
    out << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
    writeTracks();
    for (const BlockRecord &block : trace.blocks)
      writeBlock(block);
    for (auto &[task, block] : firstBlock)
      span(kControl, 0, block->submitted, block->published, "submit " + block->name, {{"task", toString(block->task)}});
    for (const BlockedRecord &wait : trace.blocked)
      span(kControl, 0, wait.begin, wait.end, "blocked: no room", {});
    writeFlows();
    writeDepths();
    out << "\n]}\n";
  }

private:
  void writeTracks() {
    label(kControl, 0, "process_name", "control");
    thread(kControl, 0, "orchestrator");
    for (uint32_t i = 0; i < trace.schedulers; ++i)
      thread(kControl, i + 1, "scheduler " + std::to_string(i));
    label(kCores, 0, "process_name", trace.isOfRanks ? "ranks" : "cores");
    uint32_t core = 0;
    for (unsigned kind = 0; kind < kNumWorkerKinds; ++kind)
      for (uint32_t i = 0; i < trace.cores[kind]; ++i, ++core)
        thread(kCores, core,
               std::string(workerKindName(WorkerKind(kind))) + (trace.isOfRanks ? " of rank " : " ") +
                   std::to_string(i));
  }

  void writeBlock(const BlockRecord &block) {
    Fields args = {{"task", toString(block.task)},
                   {"block", block.block},
                   {"ready_us", micros(block.ready)},
                   {"submitted_us", micros(block.submitted)}};
    if (block.kernel != block.name)
      args["kernel"] = block.kernel;
    if (block.failed)
      args["failed"] = true;
    if (block.skipped)
      args["skipped"] = true;
    uint32_t scheduler = block.scheduler + 1; // 0: the orchestrator
    if (block.core == BlockRecord::kNoCore) {
      span(kControl, scheduler, block.resolved, block.handled, block.name, std::move(args));
    } else {
      span(kCores, block.core, block.start, block.end, block.name, std::move(args));
      event("i", kControl, scheduler, block.dispatched, "dispatch " + block.name, {{"s", "t"}});
      span(kControl, scheduler, block.resolved, block.handled, "resolve " + block.name, {});
    }
    const BlockRecord *&first = firstBlock[block.task.value], *&last = lastBlock[block.task.value];
    if (!first || block.start < first->start)
      first = &block;
    if (!last || block.end > last->end)
      last = &block;
  }

  /// Flows go from where the last block of a producer ended to where the first of its consumer begins.
  void writeFlows() {
    uint64_t flow = 0;
    for (const EdgeRecord &edge : trace.edges) {
      auto from = lastBlock.find(edge.producer.value);
      auto to = firstBlock.find(edge.consumer.value);
      if (from == lastBlock.end() || to == firstBlock.end())
        continue;
      auto place = [&](const BlockRecord &block, const char *phase, uint64_t time, Fields more) {
        bool onCore = block.core != BlockRecord::kNoCore;
        more.update({{"cat", "dependency"}, {"id", flow}});
        event(phase, onCore ? kCores : kControl, onCore ? block.core : block.scheduler + 1, time, "dependency", more);
      };
      // A point inside the span: viewers attach a flow to the span around it.
      const BlockRecord &producer = *from->second;
      place(producer, "s", producer.end - (producer.end > producer.start), Fields::object());
      Fields ends = {{"from", toString(edge.producer)}, {"to", toString(edge.consumer)}};
      place(*to->second, "f", to->second->start, {{"bp", "e"}, {"args", ends}});
      ++flow;
    }
  }

  void writeDepths() {
    for (const DepthSample &sample : trace.depths)
      for (unsigned kind = 0; kind < kNumWorkerKinds; ++kind)
        if (trace.cores[kind])
          event("C", kControl, 0, sample.time, "ready " + std::string(workerKindName(WorkerKind(kind))),
                {{"args", {{"tasks", sample.ready[kind]}}}});
  }

  void event(const char *phase, int pid, uint32_t tid, uint64_t time, const std::string &name, const Fields &more) {
    Fields fields = {{"ph", phase}, {"pid", pid}, {"tid", tid}, {"ts", micros(time)}, {"name", name}};
    fields.update(more);
    // Names are any bytes: what is not UTF-8 becomes U+FFFD.
    out << (first ? "" : ",\n") << fields.dump(-1, ' ', false, Fields::error_handler_t::replace);
    first = false;
  }
  void span(int pid, uint32_t tid, uint64_t begin, uint64_t end, const std::string &name, Fields args) {
    Fields more = {{"dur", micros(end - std::min(begin, end))}};
    if (!args.empty())
      more["args"] = std::move(args);
    event("X", pid, tid, begin, name, more);
  }
  void label(int pid, uint32_t tid, const char *kind, const std::string &name) {
    event("M", pid, tid, 0, kind, {{"args", {{"name", name}}}});
  }
  void thread(int pid, uint32_t tid, const std::string &name) {
    label(pid, tid, "thread_name", name);
    event("M", pid, tid, 0, "thread_sort_index", {{"args", {{"sort_index", tid}}}});
  }

  const Trace &trace;
  std::ostream &out;
  bool first = true;
  std::map<uint64_t, const BlockRecord *> firstBlock, lastBlock; // by task
};

} // namespace

std::string Trace::toJson() const {
  std::ostringstream out;
  TraceWriter(*this, out).write();
  return std::move(out).str();
}

Status Trace::writeJson(const std::string &path) const {
  bool replaces = isReplaceable(path);
  std::string temporary = replaces ? path + ".part" + std::to_string(getpid()) : path;
  std::ofstream file(temporary, std::ios::binary);
  if (!file)
    return Failure{path + ": cannot be written"};
  TraceWriter(*this, file).write();
  file.close();
  if (!file || (replaces && std::rename(temporary.c_str(), path.c_str()) != 0)) {
    if (replaces)
      std::remove(temporary.c_str());
    return Failure{path + ": cannot be written"};
  }
  return {};
}

} // namespace pto_mlir::tasks
