//===- BuildCubeKernels.cpp - the build-cube-kernels pass -----------------===//

#include "../CheckLaunch.h"
#include "../KernelParts.h"
#include "../LaunchSlots.h"
#include "KernelBuilder.h"
#include "PackWeights.h"

#include "pto_mlir/Cost/Choice.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/Transforms/Estimate.h"
#include "pto_mlir/Dialect/PTO/Transforms/KernelSize.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Dialect/Top/IR/WeightStore.h"
#include "pto_mlir/Kernels/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"

#define DEBUG_TYPE "build-cube-kernels"
#include "pto_mlir/Dialect/DebugLog.h"

#include <cmath>
#include <numeric>

using namespace mlir;

namespace pto_mlir {

#define GEN_PASS_DEF_BUILDCUBEKERNELS
#include "pto_mlir/Kernels/Passes.h.inc"

namespace {

bool isCubeKernel(func::FuncOp func) {
  auto kind = func->getAttrOfType<pto::KernelKindAttr>(pto::kKernelKindAttr);
  return kind && kind.getValue() == pto::KernelKind::cube && !func.isExternal() &&
         llvm::any_of(func.getArgumentTypes(), llvm::IsaPred<TensorType>);
}

class BuildCubeKernelsPass : public impl::BuildCubeKernelsBase<BuildCubeKernelsPass> {
public:
  using BuildCubeKernelsBase::BuildCubeKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkLaunch(module, numCores)))
      return signalPassFailure();
    SmallVector<func::FuncOp> kernels;
    for (auto func : module.getOps<func::FuncOp>())
      if (isCubeKernel(func))
        kernels.push_back(func);
    auto *top = getContext().getLoadedDialect<top::TopDialect>();
    cube::WeightPacker packer(top->weights());
    bool good = true;
    PTO_DEBUG(kernels.size() << " cube kernels, " << numCores.getValue() << " blocks");
    for (func::FuncOp kernel : kernels)
      good &= succeeded(build(kernel, packer));
    if (!good)
      signalPassFailure();
  }

private:
  LogicalResult build(func::FuncOp kernel, cube::WeightPacker &packer) {
    auto contraction = cube::matchContraction(kernel);
    if (failed(contraction) || failed(cube::matchSizes(kernel, *contraction)))
      return failure();
    // Shares for all cube cores of a chip when the launch is not known: fewer blocks then take several each.
    const pto::Target &arch = pto::targetOf(kernel);
    contraction->problem.cores = numCores ? numCores.getValue() : arch.blocks;
    cube::CubeLimits limits = *cube::cubeLimits(arch.name);
    std::vector<cube::CubeTiling> tilings =
        cube::rankCubeTilings(contraction->problem, limits, cube::finalists(*contraction));
    if (tilings.empty())
      return kernel.emitOpError("has a window that does not fit the core's memories even for one "
                                "output and one block of channels");
    const cube::Contraction launched = cube::withFeed(kernel, *contraction, kernel.getNumArguments() - 1);
    if (launched.scales &&
        failed(onLaunches(kernel, [&](top::LaunchOp launch) { return packer.packScales(launch, launched); })))
      return failure();
    if (launched.packFilter &&
        failed(onLaunches(kernel, [&](top::LaunchOp launch) { return packer.pack(launch, launched); })))
      return failure();
    if (kernel->hasAttr(cube::kFeedAttr))
      return buildJoined(kernel, *contraction, cube::fedTiling(kernel, tilings));
    if (kernel->hasAttr(cube::kHandoverAttr))
      return buildJoined(kernel, *contraction, cube::joinedTiling(kernel, *contraction, tilings));
    std::vector<std::vector<double>> logCycles;
    if (takesAnyRows(*contraction))
      logCycles = rankForAllRows(*contraction, limits, tilings);
    tilings.resize(std::min(tilings.size(), cube::kFinalists));
    cube::CubeTiling tiling = bestOf(kernel, *contraction, tilings, std::move(logCycles));
    if (takesAnyRows(*contraction))
      tiling.few = cube::chooseFewRows(contraction->problem, limits, tiling, /*follower=*/nullptr);
    if (windows && cube::canBuildWindowKernel(*contraction)) {
      OpBuilder b(kernel);
      b.setInsertionPointAfter(kernel);
      auto twin = cast<func::FuncOp>(b.clone(*kernel));
      twin.setName((kernel.getName() + ".windows").str());
      twin->setAttr(kWindowsOfAttr, kernel.getSymNameAttr());
      replaceBody(twin, *contraction, tiling, cube::buildWindowKernel);
    }
    replaceBody(kernel, *contraction, tiling, cube::buildKernel);
    pto::takeKernelSizes(kernel);
    return success();
  }

  LogicalResult onLaunches(func::FuncOp kernel, llvm::function_ref<LogicalResult(top::LaunchOp)> change) {
    for (top::LaunchOp launch : kernels::launchesOf(kernel))
      if (failed(change(launch)))
        return failure();
    return success();
  }

  /// Whether the kernel has blocks of its own for few rows.
  static bool takesAnyRows(const cube::Contraction &contraction) {
    return contraction.rowsPerSize && contraction.problem.outer == 1;
  }

  /// Those first that lose least with any number of rows. Returns the logCyclesByRows of each.
  static std::vector<std::vector<double>> rankForAllRows(const cube::Contraction &contraction,
                                                         const cube::CubeLimits &limits,
                                                         std::vector<cube::CubeTiling> &tilings) {
    std::vector<std::vector<double>> logCycles;
    for (const cube::CubeTiling &tiling : tilings)
      logCycles.push_back(cube::logCyclesByRows(contraction.problem, limits, tiling, /*follower=*/nullptr));
    std::vector<double> compared = cube::compareForAllRows(logCycles);
    std::vector<size_t> order(tilings.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::stable_sort(order, [&](size_t a, size_t b) { return compared[a] < compared[b]; });
    std::vector<cube::CubeTiling> sortedTilings;
    std::vector<std::vector<double>> sortedCycles;
    for (size_t i : order) {
      sortedTilings.push_back(tilings[i]);
      sortedCycles.push_back(std::move(logCycles[i]));
    }
    tilings = std::move(sortedTilings);
    return sortedCycles;
  }

  /// The tiling whose kernel takes the least time, or as little and loads less: each is built on the side and estimated
  /// op by op. Where rows are known at run time, `logCycles` has the logCyclesByRows of each tiling, of which the
  /// estimate takes the place of the one for the greatest number.
  const cube::CubeTiling &bestOf(func::FuncOp kernel, const cube::Contraction &contraction,
                                 const std::vector<cube::CubeTiling> &tilings,
                                 std::vector<std::vector<double>> logCycles) {
    if (!numCores || tilings.size() == 1)
      return tilings.front();
    struct Candidate {
      const cube::CubeTiling *tiling;
      double cycles;
    };
    SmallVector<Candidate> estimated;
    for (const cube::CubeTiling &tiling : tilings) {
      auto candidate = cast<func::FuncOp>(OpBuilder(kernel).clone(*kernel));
      cube::Contraction greatest = contraction;
      greatest.rowsPerSize = greatest.outerPerSize = greatest.imagesPerSize = greatest.imageRowsPerSize =
          0; // the estimate is for constant sizes
      replaceBody(candidate, greatest, tiling, cube::buildKernel);
      std::optional<double> cycles = pto::estimateCycles(candidate, numCores);
      candidate.erase();
      PTO_DEBUG("@" << kernel.getName() << ": " << tiling.blockM << "x" << tiling.blockN << " guessed " << tiling.cycles
                    << ", estimated " << (cycles ? *cycles : -1));
      if (cycles)
        estimated.push_back({&tiling, *cycles});
    }
    if (estimated.empty())
      return tilings.front();
    if (!logCycles.empty()) {
      std::vector<std::vector<double>> built;
      for (const Candidate &candidate : estimated) {
        built.push_back(std::move(logCycles[candidate.tiling - tilings.data()]));
        built.back().front() = std::log(candidate.cycles);
      }
      for (auto [candidate, cycles] : llvm::zip(estimated, cube::compareForAllRows(built)))
        candidate.cycles = cycles;
    }
    return *cost::fewestBytes(
                estimated, [](auto &c) { return c.cycles; },
                [&](auto &c) { return cube::comparedLoads(contraction, *c.tiling); })
                ->tiling;
  }

  /// @k and @k.vector, for the two kinds of cores, of a kernel with a handover, a feed or both.
  LogicalResult buildJoined(func::FuncOp kernel, const cube::Contraction &contraction, const cube::CubeTiling &tiling) {
    if (!numCores)
      return kernel.emitOpError("was joined for a known number of blocks; build-cube-kernels needs it, too");
    FailureOr<cube::Handover> handover;
    FailureOr<cube::Feed> feed;
    SmallVector<Type> types = pointerTypes(kernel, contraction);
    unsigned inputs = types.size() - 1;
    bool follows = kernel->hasAttr(cube::kHandoverAttr), leads = kernel->hasAttr(cube::kFeedAttr);
    if (follows) {
      handover = cube::readHandover(kernel, contraction, tiling);
      if (failed(handover))
        return failure();
      types = handover->types;
      inputs = handover->ring.arg;
    }
    cube::Contraction fed = cube::withFeed(kernel, contraction, inputs);
    if (leads &&
        failed(feed = cube::readFeed(kernel, contraction, tiling, inputs, types, follows ? &*handover : nullptr)))
      return failure();
    kernel->removeAttr(cube::kHandoverAttr);
    kernel->removeAttr(cube::kFeedAttr);
    func::FuncOp vector = kernels::addVectorPart(kernel);
    auto buildPart = [&](func::FuncOp part, decltype(cube::buildCubePart) &build) {
      kernels::clearBody(part, types);
      build(part, fed, tiling, numCores, follows ? &*handover : nullptr, leads ? &*feed : nullptr);
      pto::takeKernelSizes(part);
    };
    buildPart(kernel, cube::buildCubePart);
    buildPart(vector, cube::buildVectorPart);
    for (func::FuncOp panel : follows ? handover->panels : SmallVector<func::FuncOp>())
      panel.erase();
    for (func::FuncOp panel : leads ? feed->panels : SmallVector<func::FuncOp>())
      panel.erase();
    return success();
  }

  /// Of the arguments of a kernel that is not joined, when it is built.
  static SmallVector<Type> pointerTypes(func::FuncOp kernel, const cube::Contraction &contraction) {
    SmallVector<Type> types;
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      types.push_back(pto::PtrType::get(cube::argumentElement(kernel, contraction, i)));
    return types;
  }

  /// Tensor arguments become pointers, results vanish.
  void replaceBody(func::FuncOp kernel, const cube::Contraction &contraction, const cube::CubeTiling &tiling,
                   decltype(cube::buildKernel) &build) {
    kernels::clearBody(kernel, pointerTypes(kernel, contraction));
    build(kernel, contraction, tiling, numCores);
  }
};

} // namespace

} // namespace pto_mlir
