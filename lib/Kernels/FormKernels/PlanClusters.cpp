//===- PlanClusters.cpp - clusters that kernels can be built of -----------===//
//
// A plan is tried before anything is changed: the kernel of a cluster is built
// beside @main and goes through the very passes that would build it. Kernels that
// are equal but for names are tried once.
//
//===----------------------------------------------------------------------===//

#include "PlanClusters.h"

#include "KernelBody.h"
#include "SameKernel.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <map>

#define DEBUG_TYPE "form-kernels"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir::kernels {
namespace {

/// Each tensor that a vector kernel reads or stores takes registers in every trip: of more than this no kernel was
/// built, and a trial of a much larger one takes long.
constexpr size_t kMostTensors = 96;

class Planner {
public:
  Planner(Clusters &clusters, bool keepAll, const KernelPlans &plans)
      : clusters(clusters), keepAll(keepAll), plans(plans) {}
  ~Planner() {
    for (auto &[hash, verdict] : verdicts)
      verdict.kernel.erase();
  }
  Planner(const Planner &) = delete;
  Planner &operator=(const Planner &) = delete;

  LogicalResult run() {
    LogicalResult whole = success();
    // Parts are appended, and planned in turn.
    for (size_t i = 0; i < clusters.all.size(); ++i)
      while (clusters.all[i].alive) {
        Cluster &cluster = clusters.all[i];
        std::string reason = limitOf(cluster);
        if (reason.empty())
          break;
        if (!split(cluster, reason)) {
          if (failed(refuse(cluster, reason)))
            whole = failure();
          break;
        }
      }
    return whole;
  }

private:
  struct Verdict {
    func::FuncOp kernel;
    std::string reason;
  };

  std::string limitOf(const Cluster &cluster) {
    Kernel kernel = buildKernel(cluster, "plan", keepAll);
    if (size_t tensors = kernel.func.getNumArguments(); tensors > kMostTensors && cluster.ops.size() > 1) {
      kernel.func.erase();
      return "reads and stores " + std::to_string(tensors) + " tensors, " + std::to_string(kMostTensors) +
             " are the most";
    }
    size_t hash = hashKernel(kernel.func);
    auto [begin, end] = verdicts.equal_range(hash);
    for (auto it = begin; it != end; ++it)
      if (sameKernel(it->second.kernel, kernel.func)) {
        kernel.func.erase();
        return it->second.reason;
      }
    std::string reason = plans.trial(kernel.func);
    verdicts.emplace(hash, Verdict{kernel.func, reason});
    return reason;
  }

  /// Bytes that a kernel of the first `count` ops stores only for the rest.
  static int64_t crossing(const Cluster &cluster, size_t count) {
    int64_t bytes = 0;
    llvm::SmallPtrSet<Operation *, 16> rest(cluster.ops.begin() + count, cluster.ops.end());
    for (Operation *op : ArrayRef(cluster.ops).take_front(count))
      for (Value value : op->getResults()) {
        // Through the border that is made in the reader's kernel.
        bool crosses = llvm::any_of(value.getUsers(), [&](Operation *user) {
          return rest.contains(user) ||
                 (isa<tensor::PadOp>(user) &&
                  llvm::any_of(user->getUsers(), [&](Operation *reader) { return rest.contains(reader); }));
        });
        auto type = cast<RankedTensorType>(value.getType());
        if (crosses)
          bytes += type.getNumElements() * static_cast<int64_t>(type.getElementTypeBitWidth()) / 8;
      }
    return bytes;
  }

  /// Moves the last ops of a cluster to one of their own; false where there is none to move.
  bool split(Cluster &cluster, StringRef reason) {
    size_t count = cluster.ops.size();
    if (count < 2 || cluster.kind == OpRole::Cube || cluster.kind == OpRole::Attention)
      return false;
    // Not at the edge of a long cluster: each part is tried again.
    size_t least = std::max<size_t>(1, count / 4), cut = least;
    auto rank = [&](size_t at) {
      return std::tuple(crossing(cluster, at), at < count - at ? count - 2 * at : 2 * at - count, at);
    };
    for (size_t at = least + 1; at <= count - least; ++at)
      if (rank(at) < rank(cut))
        cut = at;
    PTO_DEBUG("a kernel of " << count << " ops " << reason << ": split into " << cut << " and " << count - cut);
    Cluster &rest = clusters.all.emplace_back();
    rest.kind = cluster.kind;
    rest.domain = cluster.domain;
    rest.reducedLoops = cluster.reducedLoops;
    rest.formed = cluster.formed;
    rest.ops.assign(cluster.ops.begin() + cut, cluster.ops.end());
    cluster.ops.truncate(cut);
    for (Operation *op : rest.ops)
      clusters.of[op] = &rest;
    return true;
  }

  LogicalResult refuse(const Cluster &cluster, StringRef reason) {
    Operation *op = cluster.ops.back();
    if (plans.refused && plans.refused(op->getLoc(), reason))
      return success();
    return op->emitError("has no kernel: ") << reason;
  }

  Clusters &clusters;
  bool keepAll;
  const KernelPlans &plans;
  std::multimap<size_t, Verdict> verdicts;
};

} // namespace

LogicalResult planClusters(Clusters &clusters, bool keepAll, const KernelPlans &plans) {
  return Planner(clusters, keepAll, plans).run();
}

} // namespace pto_mlir::kernels
