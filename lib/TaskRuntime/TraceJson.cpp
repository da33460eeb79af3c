// Exports the trace as Chrome trace-event JSON (also read by Perfetto).
#include "pto_mlir/TaskRuntime/Trace.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <unistd.h>

namespace pto_mlir::tasks {

namespace {

constexpr int kControl = 1, kCores = 2;

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    char buffer[8];
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      std::snprintf(buffer, sizeof buffer, "\\u%04x", c), out += buffer;
    else
      out += c;
  }
  return out + "\"";
}

/// Time in microseconds, the unit of the format.
std::string micros(uint64_t ns) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%llu.%03u", static_cast<unsigned long long>(ns / 1000), unsigned(ns % 1000));
  return buffer;
}

class Writer {
public:
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";

  void event(const char *phase, int pid, uint32_t tid, uint64_t time, const std::string &name,
             const std::string &more) {
    out += first ? "" : ",\n";
    first = false;
    out += std::string("{\"ph\":\"") + phase + "\",\"pid\":" + std::to_string(pid) + ",\"tid\":" + std::to_string(tid) +
           ",\"ts\":" + micros(time) + ",\"name\":" + quoted(name) + more + "}";
  }
  void span(int pid, uint32_t tid, uint64_t begin, uint64_t end, const std::string &name, const std::string &args) {
    event("X", pid, tid, begin, name,
          ",\"dur\":" + micros(end - std::min(begin, end)) + (args.empty() ? "" : ",\"args\":{" + args + "}"));
  }
  void label(int pid, uint32_t tid, const char *kind, const std::string &name, uint32_t order) {
    event("M", pid, tid, 0, kind, ",\"args\":{\"name\":" + quoted(name) + "}");
    if (std::string(kind) == "thread_name")
      event("M", pid, tid, 0, "thread_sort_index", ",\"args\":{\"sort_index\":" + std::to_string(order) + "}");
  }

private:
  bool first = true;
};

} // namespace

std::string Trace::toJson() const {
  Writer writer;
  writer.label(kControl, 0, "process_name", "control", 0);
  writer.label(kControl, 0, "thread_name", "orchestrator", 0);
  for (uint32_t i = 0; i < schedulers; ++i)
    writer.label(kControl, i + 1, "thread_name", "scheduler " + std::to_string(i), i + 1);
  writer.label(kCores, 0, "process_name", "cores", 1);
  uint32_t core = 0;
  for (unsigned kind = 0; kind < kNumWorkerKinds; ++kind)
    for (uint32_t i = 0; i < cores[kind]; ++i, ++core)
      writer.label(kCores, core, "thread_name", std::string(workerKindName(WorkerKind(kind))) + " " + std::to_string(i),
                   core);

  // Flows go from the end of a producer's last block to the start of its consumer's first block.
  std::map<uint64_t, const BlockRecord *> firstBlock, lastBlock;
  for (const BlockRecord &block : blocks) {
    std::string args = "\"task\":" + quoted(toString(block.task)) + ",\"block\":" + std::to_string(block.block) +
                       ",\"ready_us\":" + micros(block.ready) + ",\"submitted_us\":" + micros(block.submitted);
    if (block.kernel != block.name)
      args += ",\"kernel\":" + quoted(block.kernel);
    if (block.failed)
      args += ",\"failed\":true";
    if (block.skipped)
      args += ",\"skipped\":true";
    uint32_t scheduler = block.scheduler + 1; // 0: the orchestrator
    if (block.core == BlockRecord::kNoCore) {
      writer.span(kControl, scheduler, block.resolved, block.handled, block.name, args);
    } else {
      writer.span(kCores, block.core, block.start, block.end, block.name, args);
      writer.event("i", kControl, scheduler, block.dispatched, "dispatch " + block.name, ",\"s\":\"t\"");
      writer.span(kControl, scheduler, block.resolved, block.handled, "resolve " + block.name, "");
    }
    const BlockRecord *&first = firstBlock[block.task.value], *&last = lastBlock[block.task.value];
    if (!first || block.start < first->start)
      first = &block;
    if (!last || block.end > last->end)
      last = &block;
  }
  for (auto &[task, block] : firstBlock)
    writer.span(kControl, 0, block->submitted, block->published, "submit " + block->name,
                "\"task\":" + quoted(toString(block->task)));
  for (const BlockedRecord &wait : blocked)
    writer.span(kControl, 0, wait.begin, wait.end, "blocked: no room", "");
  uint64_t flow = 0;
  for (const EdgeRecord &edge : edges) {
    auto from = lastBlock.find(edge.producer.value);
    auto to = firstBlock.find(edge.consumer.value);
    if (from == lastBlock.end() || to == firstBlock.end())
      continue;
    auto place = [&](const BlockRecord &block, const char *phase, uint64_t time, const char *more) {
      bool onCore = block.core != BlockRecord::kNoCore;
      writer.event(phase, onCore ? kCores : kControl, onCore ? block.core : block.scheduler + 1, time, "dependency",
                   ",\"cat\":\"dependency\",\"id\":" + std::to_string(flow) + more);
    };
    // The point must be inside the span: viewers bind a flow to the enclosing span.
    place(*from->second, "s", from->second->end - (from->second->end > from->second->start), "");
    place(*to->second, "f", to->second->start, ",\"bp\":\"e\"");
    ++flow;
  }
  for (const DepthSample &sample : depths)
    for (unsigned kind = 0; kind < kNumWorkerKinds; ++kind)
      if (cores[kind])
        writer.event("C", kControl, 0, sample.time, "ready " + std::string(workerKindName(WorkerKind(kind))),
                     ",\"args\":{\"tasks\":" + std::to_string(sample.ready[kind]) + "}");
  return writer.out + "\n]}\n";
}

Status Trace::writeJson(const std::string &path) const {
  std::string temporary = path + ".part" + std::to_string(getpid());
  FILE *file = std::fopen(temporary.c_str(), "wb");
  if (!file)
    return Failure{path + ": cannot be written"};
  std::string text = toJson();
  bool whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  whole &= std::fclose(file) == 0;
  if (!whole || std::rename(temporary.c_str(), path.c_str()) != 0) {
    std::remove(temporary.c_str());
    return Failure{path + ": cannot be written"};
  }
  return {};
}

} // namespace pto_mlir::tasks
