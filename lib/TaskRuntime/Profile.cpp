// Summarises a trace: critical path, idle time, kernels.
#include "pto_mlir/TaskRuntime/Trace.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace pto_mlir::tasks {

namespace {

struct TaskTime {
  uint64_t start = ~uint64_t(0), end = 0;
  uint64_t longest = 0; ///< longest block: the task's duration with unlimited cores
  std::string name;
};

/// The chain of tasks with the largest sum of run times, a lower bound on the makespan for any number of cores.
void findCriticalPath(const Trace &trace, Trace::Summary &summary) {
  std::unordered_map<uint64_t, TaskTime> tasks;
  for (const BlockRecord &block : trace.blocks) {
    TaskTime &task = tasks[block.task.value];
    task.start = std::min(task.start, block.start);
    task.end = std::max(task.end, block.end);
    task.longest = std::max(task.longest, block.end - block.start);
    task.name = block.name;
  }
  std::unordered_map<uint64_t, std::vector<uint64_t>> producers;
  for (const EdgeRecord &edge : trace.edges)
    producers[edge.consumer.value].push_back(edge.producer.value);
  // An edge's producer ends before its consumer starts, so ordering by start, then end, is topological.
  std::vector<std::pair<std::pair<uint64_t, uint64_t>, uint64_t>> order;
  order.reserve(tasks.size());
  for (auto &[id, task] : tasks)
    order.push_back({{task.start, task.end}, id});
  std::sort(order.begin(), order.end());
  struct Path {
    uint64_t length = 0, previous = 0;
  };
  std::unordered_map<uint64_t, Path> longest;
  uint64_t best = 0;
  for (auto &[times, id] : order) {
    Path path;
    for (uint64_t producer : producers[id])
      if (auto it = longest.find(producer);
          it != longest.end() && (path.previous == 0 || it->second.length > path.length))
        path = {it->second.length, producer};
    path.length += tasks[id].longest;
    longest[id] = path;
    if (best == 0 || path.length > longest[best].length)
      best = id;
  }
  summary.criticalPath = best ? longest[best].length : 0;
  for (uint64_t id = best; id != 0; id = longest[id].previous) {
    summary.criticalTasks.push_back(tasks[id].name);
    summary.criticalTimes.push_back(tasks[id].longest);
  }
  std::reverse(summary.criticalTasks.begin(), summary.criticalTasks.end());
  std::reverse(summary.criticalTimes.begin(), summary.criticalTimes.end());
}

/// A sweep over the times at which the number of busy cores or of waiting tasks changes.
void findIdleWithReady(const Trace &trace, Trace::Summary &summary) {
  for (unsigned kind = 0; kind < kNumWorkerKinds; ++kind) {
    if (trace.cores[kind] == 0)
      continue;
    std::map<uint64_t, std::pair<int, int>> changes; // time -> busy cores, waiting blocks
    uint64_t busy = 0;
    for (const BlockRecord &block : trace.blocks) {
      if (unsigned(block.kind) != kind || block.core == BlockRecord::kNoCore)
        continue;
      busy += block.end - block.start;
      changes[block.start].first += 1;
      changes[block.end].first -= 1;
      changes[block.ready].second += 1;
      changes[block.start].second -= 1;
    }
    uint64_t wasted = 0, last = 0;
    int64_t running = 0, waiting = 0;
    for (auto &[time, change] : changes) {
      int64_t idle = int64_t(trace.cores[kind]) - running;
      wasted += uint64_t(std::clamp<int64_t>(std::min(idle, waiting), 0, trace.cores[kind])) * (time - last);
      running += change.first;
      waiting += change.second;
      last = time;
    }
    double total = double(summary.makespan) * trace.cores[kind];
    if (total > 0) {
      summary.busy[kind] = double(busy) / total;
      summary.idleWithReady[kind] = double(wasted) / total;
    }
  }
}

} // namespace

Trace::Summary Trace::summarize() const {
  Summary summary;
  uint64_t begin = ~uint64_t(0), last = 0;
  std::map<std::string, Summary::Row> rows;
  for (const BlockRecord &block : blocks) {
    begin = std::min(begin, block.submitted);
    last = std::max(last, block.end);
    if (block.core == BlockRecord::kNoCore)
      continue;
    Summary::Row &row = rows.try_emplace(block.kernel, Summary::Row{block.kernel, 0, 0, 0}).first->second;
    ++row.calls;
    row.total += block.end - block.start;
    row.longest = std::max(row.longest, block.end - block.start);
  }
  summary.makespan = blocks.empty() ? 0 : last - std::min(begin, last);
  for (auto &[name, row] : rows)
    summary.kernels.push_back(row);
  std::sort(summary.kernels.begin(), summary.kernels.end(),
            [](auto &a, auto &b) { return std::tie(b.total, a.kernel) < std::tie(a.total, b.kernel); });
  findCriticalPath(*this, summary);
  findIdleWithReady(*this, summary);
  return summary;
}

std::string Trace::report(size_t topKernels) const {
  Summary summary = summarize();
  char line[256];
  std::string out;
  auto print = [&](auto... values) {
    std::snprintf(line, sizeof line, values...);
    out += line;
  };
  print("makespan %.3f ms, critical path %.3f ms (%.1f %%) through %zu tasks\n", double(summary.makespan) / 1e6,
        double(summary.criticalPath) / 1e6,
        summary.makespan ? 100.0 * double(summary.criticalPath) / double(summary.makespan) : 0.0,
        summary.criticalTasks.size());
  for (uint32_t rank = 0; isOfRanks && rank < cores[0]; ++rank) {
    uint64_t last = 0, busy = 0;
    for (const BlockRecord &block : blocks)
      if (block.core % cores[0] == rank)
        last = std::max(last, block.end), busy += block.end - block.start;
    print("rank %-3u ends at %.3f ms, has launches for %.3f ms\n", rank, double(last) / 1e6, double(busy) / 1e6);
  }
  std::vector<size_t> critical(summary.criticalTasks.size());
  std::iota(critical.begin(), critical.end(), size_t(0));
  std::sort(critical.begin(), critical.end(), [&](size_t a, size_t b) {
    return std::pair(summary.criticalTimes[b], a) < std::pair(summary.criticalTimes[a], b);
  });
  critical.resize(std::min<size_t>(critical.size(), 3));
  for (size_t i = 0; i < critical.size(); ++i)
    print("%s%.40s %.3f us%s", i ? ", " : "longest on it: ", summary.criticalTasks[critical[i]].c_str(),
          double(summary.criticalTimes[critical[i]]) / 1e3, i + 1 == critical.size() ? "\n" : "");
  for (unsigned kind = 0; kind < kNumWorkerKinds; ++kind)
    if (cores[kind] && !isOfRanks)
      print("%-12s %3u cores  busy %5.1f %%  idle with ready work %5.1f %%\n",
            std::string(workerKindName(WorkerKind(kind))).c_str(), cores[kind], 100 * summary.busy[kind],
            100 * summary.idleWithReady[kind]);
  print("%-32s %8s %12s %12s %12s\n", "kernel", "calls", "total us", "mean us", "longest us");
  for (size_t i = 0; i < std::min(topKernels, summary.kernels.size()); ++i) {
    const Summary::Row &row = summary.kernels[i];
    print("%-32.32s %8llu %12.3f %12.3f %12.3f\n", row.kernel.c_str(), static_cast<unsigned long long>(row.calls),
          double(row.total) / 1e3, double(row.total) / 1e3 / double(row.calls), double(row.longest) / 1e3);
  }
  return out;
}

} // namespace pto_mlir::tasks
