// Decoding with a paged KV cache: QK and PV on the cube, softmax and the running sum on vector cores.
#include "Harness.h"

#include <cmath>
#include <random>

namespace pto_mlir::tasks {
namespace {

constexpr int kHeads = 4, kDim = 16, kPage = 8;

/// One request: its length in the cache, and the pages that hold it.
struct Request {
  int length;
  std::vector<int> pages;
};

struct Problem {
  std::vector<Request> requests;
  std::vector<float> query, keys, values; ///< query [request][head][dim], caches [page][position][head][dim]

  /// Lengths are ragged; pages are assigned in shuffled order.
  Problem(std::vector<int> lengths, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<int> free;
    for (int length : lengths)
      for (int page = 0; page * kPage < length; ++page)
        free.push_back(int(free.size()));
    std::shuffle(free.begin(), free.end(), random);
    for (int length : lengths) {
      Request request{length, {}};
      for (int page = 0; page * kPage < length; ++page, free.pop_back())
        request.pages.push_back(free.back());
      requests.push_back(request);
    }
    std::normal_distribution<float> normal;
    size_t pages = 0;
    for (const Request &request : requests)
      pages += request.pages.size();
    query.resize(requests.size() * kHeads * kDim);
    keys.resize(pages * kPage * kHeads * kDim);
    values.resize(keys.size());
    for (auto *data : {&query, &keys, &values})
      for (float &x : *data)
        x = normal(random);
  }

  static size_t at(int page, int position, int head) {
    return ((size_t(page) * kPage + position) * kHeads + head) * kDim;
  }
  int filled(size_t r, size_t page) const { return std::min(kPage, requests[r].length - int(page) * kPage); }

  /// softmax(q k^T / sqrt(dim)) v in double, page by page in logical order.
  std::vector<double> reference() const {
    std::vector<double> out(query.size());
    for (size_t r = 0; r < requests.size(); ++r)
      for (int h = 0; h < kHeads; ++h) {
        const float *q = &query[(r * kHeads + h) * kDim];
        double sum = 0;
        for (size_t p = 0; p < requests[r].pages.size(); ++p)
          for (int i = 0; i < filled(r, p); ++i) {
            size_t row = at(requests[r].pages[p], i, h);
            double dot = 0;
            for (int d = 0; d < kDim; ++d)
              dot += double(q[d]) * keys[row + d];
            double weight = std::exp(dot / std::sqrt(double(kDim)));
            sum += weight;
            for (int d = 0; d < kDim; ++d)
              out[(r * kHeads + h) * kDim + d] += weight * values[row + d];
          }
        for (int d = 0; d < kDim; ++d)
          out[(r * kHeads + h) * kDim + d] /= sum;
      }
    return out;
  }
};

struct Kernels {
  KernelId qk, softmax, pv, update;
  explicit Kernels(TaskRuntime &runtime) {
    // scores[head][position] of one page
    qk = add(runtime, "qk", [](KernelCall &call) {
      const float *q = pointer(call.args[0]), *k = pointer(call.args[1]);
      float *scores = pointer(call.args[2]);
      for (int h = 0; h < kHeads; ++h)
        for (int i = 0; i < int(call.args[3]); ++i) {
          float dot = 0;
          for (int d = 0; d < kDim; ++d)
            dot += q[h * kDim + d] * k[(i * kHeads + h) * kDim + d];
          scores[h * kPage + i] = dot / std::sqrt(float(kDim));
        }
    });
    // in place: weights of the page; then {maximum, sum} per head
    softmax = add(runtime, "softmax", [](KernelCall &call) {
      float *scores = pointer(call.args[0]), *stats = pointer(call.args[1]);
      int count = int(call.args[2]);
      for (int h = 0; h < kHeads; ++h) {
        float *row = scores + h * kPage;
        stats[2 * h] = *std::max_element(row, row + count);
        stats[2 * h + 1] = 0;
        for (int i = 0; i < count; ++i)
          stats[2 * h + 1] += row[i] = std::exp(row[i] - stats[2 * h]);
      }
    });
    pv = add(runtime, "pv", [](KernelCall &call) {
      const float *weights = pointer(call.args[0]), *v = pointer(call.args[1]);
      float *part = pointer(call.args[2]);
      for (int h = 0; h < kHeads; ++h)
        for (int d = 0; d < kDim; ++d) {
          part[h * kDim + d] = 0;
          for (int i = 0; i < int(call.args[3]); ++i)
            part[h * kDim + d] += weights[h * kPage + i] * v[(i * kHeads + h) * kDim + d];
        }
    });
    // Merges one page into the output and the running {maximum, sum}; the last page normalises.
    update = add(runtime, "update", [](KernelCall &call) {
      const float *part = pointer(call.args[0]), *stats = pointer(call.args[1]);
      float *out = pointer(call.args[2]), *running = pointer(call.args[3]);
      bool first = call.args[4] & 1, last = call.args[4] & 2;
      for (int h = 0; h < kHeads; ++h) {
        float *old = running + 2 * h;
        float top = first ? stats[2 * h] : std::max(old[0], stats[2 * h]);
        float keep = first ? 0 : std::exp(old[0] - top), take = std::exp(stats[2 * h] - top);
        old[1] = (first ? 0 : old[1] * keep) + stats[2 * h + 1] * take;
        old[0] = top;
        for (int d = 0; d < kDim; ++d) {
          float &x = out[h * kDim + d];
          x = (first ? 0 : x * keep) + part[h * kDim + d] * take;
          if (last)
            x /= old[1];
        }
      }
    });
  }
};

/// Submits `unroll` pages of a request, in one scope, before the next request's turn.
std::vector<float> run(TaskRuntime &runtime, const Problem &problem, size_t unroll) {
  Kernels kernels(runtime);
  std::vector<float> out(problem.query.size()), running(problem.requests.size() * kHeads * 2);
  auto view = [](const std::vector<float> &data, size_t begin, std::initializer_list<int64_t> shape) {
    return Tensor::dense(const_cast<float *>(&data[begin]), 4, shape);
  };
  size_t longest = 0;
  for (const Request &request : problem.requests)
    longest = std::max(longest, request.pages.size());
  EXPECT_OK(runtime.run([&](TaskRuntime &run) {
    for (size_t base = 0; base < longest; base += unroll)
      for (size_t r = 0; r < problem.requests.size(); ++r) {
        EXPECT_OK(run.scopeBegin());
        const Request &request = problem.requests[r];
        for (size_t p = base; p < std::min(base + unroll, request.pages.size()); ++p) {
          uint64_t count = uint64_t(problem.filled(r, p));
          size_t row = Problem::at(request.pages[p], 0, 0);
          TaskSpec qk(kernels.qk, WorkerKind::Cube), softmax(kernels.softmax), pv(kernels.pv, WorkerKind::Cube),
              update(kernels.update);
          submit(run, qk.input(view(problem.query, r * kHeads * kDim, {kHeads, kDim}))
                          .input(view(problem.keys, row, {kPage, kHeads, kDim}))
                          .allocate(4, {kHeads, kPage})
                          .scalar(count));
          submit(run, softmax.inout(qk.outputs()[0]).allocate(4, {kHeads, 2}).scalar(count));
          submit(run, pv.input(qk.outputs()[0])
                          .input(view(problem.values, row, {kPage, kHeads, kDim}))
                          .allocate(4, {kHeads, kDim})
                          .scalar(count));
          submit(run, update.input(pv.outputs()[0])
                          .input(softmax.outputs()[0])
                          .inout(view(out, r * kHeads * kDim, {kHeads, kDim}))
                          .inout(view(running, r * kHeads * 2, {kHeads, 2}))
                          .scalar((p == 0) | (p + 1 == request.pages.size()) << 1));
        }
        EXPECT_OK(run.scopeEnd());
      }
  }));
  return out;
}

TEST_P(BothModes, T21_PagedAttention) {
  Config settings = config();
  settings.trace = true;
  for (const std::vector<int> &lengths : {std::vector<int>{5}, {64, 8, 1, 33}, {100, 100, 100, 100, 100, 100}})
    for (size_t unroll : {size_t(1), size_t(4)}) {
      SCOPED_TRACE(std::to_string(lengths.size()) + " requests, " + std::to_string(unroll) + " pages at once");
      Problem problem(lengths, lengths.size());
      auto runtime = make(settings);
      std::vector<float> out = run(*runtime, problem, unroll);
      std::vector<double> expected = problem.reference();
      for (size_t i = 0; i < out.size(); ++i)
        ASSERT_NEAR(out[i], expected[i], 2e-5) << i;

      // With several requests both kinds of cores must be busy at once; this is deterministic only in virtual time.
      if (GetParam() != Mode::VirtualTime || lengths.size() == 1)
        continue;
      bool together = false;
      for (const BlockRecord &a : runtime->trace().blocks)
        for (const BlockRecord &b : runtime->trace().blocks)
          together |= a.kind == WorkerKind::Cube && b.kind == WorkerKind::Vector && a.start < b.end && b.start < a.end;
      EXPECT_TRUE(together);
    }
}

} // namespace
} // namespace pto_mlir::tasks
