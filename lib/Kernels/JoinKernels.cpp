//===- JoinKernels.cpp - cube and vector kernels that work side by side ---===//
//
// Where one vector kernel alone reads what a cube kernel makes, and can follow it
// tile by tile, both become one kernel: the cube core of a block puts each tile
// into a slot in global memory, which L2 holds, and the block's vector cores
// take it from there while the next one is made. Where a product alone reads what a
// vector kernel makes, and needs it row by row, the vector cores of a block make the
// rows that its cube core needs. Both may be: vector, cube, vector.
//
//===----------------------------------------------------------------------===//

#include "CheckLaunch.h"
#include "JoinLaunches.h"
#include "JoinedFunctions.h"
#include "LaunchSlots.h"
#include "Reshapes.h"

#include "pto_mlir/Cost/Choice.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Kernels/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"

#include <map>

#define DEBUG_TYPE "join-kernels"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {

#define GEN_PASS_DEF_JOINKERNELS
#include "pto_mlir/Kernels/Passes.h.inc"

namespace {

using kernels::Producer;
using vector_kernels::Panels;

/// Of what the kernels take apart, the most that a fed one may: neither estimate is exact. Chosen by
/// benchmarks/bounds.py.
constexpr double kFedShare = 0.98;

class JoinKernelsPass : public impl::JoinKernelsBase<JoinKernelsPass> {
public:
  using JoinKernelsBase::JoinKernelsBase;

  void runOnOperation() override {
    if (failed(checkLaunch(getOperation(), numCores)))
      return signalPassFailure();
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    // The launch's grid must be known to share its tiles.
    if (numCores == 0 || !main || main.isExternal())
      return;
    SymbolTable symbols(getOperation());
    vector_kernels::PhaseContext context(&getContext(), 2);
    for (auto launch : llvm::to_vector(main.getBody().front().getOps<top::LaunchOp>()))
      for (unsigned input = 0; input < launch.getInputs().size(); ++input)
        if (join(launch, input, symbols, context))
          break;
    if (images)
      for (auto launch : llvm::to_vector(main.getBody().front().getOps<top::LaunchOp>()))
        feed(launch, symbols, context);
    eraseReplaced(main, symbols);
  }

private:
  /// What a joined kernel consists of; without `vector` it is the product alone.
  struct Joined {
    Producer producer;
    func::FuncOp cube, vector;
    unsigned input; ///< of `vector`
  };
  /// Of a fed kernel: the slots in front of its outputs, and how many of these the kernel without a feed has.
  struct Fed {
    SmallVector<RankedTensorType> slots;
    unsigned oldSlots;
  };

  /// Kernels whose launches were all joined.
  void eraseReplaced(func::FuncOp main, SymbolTable &symbols) {
    llvm::DenseSet<StringAttr> launched = kernels::launchedKernels(main);
    PTO_DEBUG(replaced.size() << " kernels replaced by joined ones");
    for (StringAttr name : replaced) {
      if (launched.contains(name))
        continue;
      Operation *kernel = symbols.lookup(name);
      if (auto handover = kernel->getAttrOfType<DictionaryAttr>(cube::kHandoverAttr))
        for (auto panel : handover.getAs<ArrayAttr>("panels").getAsValueRange<FlatSymbolRefAttr>())
          symbols.erase(symbols.lookup(panel));
      symbols.erase(kernel);
    }
  }

  func::FuncOp kernelOf(top::LaunchOp launch, pto::KernelKind kind, SymbolTable &symbols) {
    auto func = symbols.lookup<func::FuncOp>(launch.getKernel());
    auto attribute = func ? func->getAttrOfType<pto::KernelKindAttr>(pto::kKernelKindAttr) : pto::KernelKindAttr();
    bool fits = attribute && attribute.getValue() == kind && !func->hasAttr(cube::kHandoverAttr) &&
                !func.isExternal() && llvm::all_of(func.getArgumentTypes(), llvm::IsaPred<RankedTensorType>);
    return fits ? func : func::FuncOp();
  }

  /// Its best tilings, of those that can be handed over tile by tile.
  const std::vector<Producer> &producersOf(func::FuncOp kernel) {
    auto [entry, isNew] = producers.try_emplace(kernel.getSymNameAttr());
    std::vector<Producer> &list = entry->second;
    if (!isNew)
      return list;
    ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &) { return success(); }); // build-cube-kernels says it
    auto contraction = cube::matchContraction(kernel);
    if (failed(contraction) || failed(cube::matchSizes(kernel, *contraction)) ||
        (contraction->problem.image && !images))
      return list;
    contraction->problem.cores = numCores;
    for (auto [number, tiling] :
         llvm::enumerate(cube::rankCubeTilings(contraction->problem, limits(), cube::finalists(*contraction))))
      if (auto shapes = cube::tileShapes(*contraction, tiling))
        list.push_back({*contraction, tiling, *shapes, number});
    return list;
  }

  kernels::JoinEstimate estimate() { return {pto::targetOf(getOperation()), numCores}; }

  /// Cycles of the busiest block of the joined kernel; nothing when it is not faster than the kernels apart, of which
  /// the cube kernel takes `cubeAlone`.
  std::optional<double> joinedCycles(const Producer &producer, const Panels &panels, double cubeAlone) {
    double joined = estimate().followed(producer, panels);
    if (joined >= cubeAlone + estimate().followerAlone(producer, panels) + estimate().launch())
      return std::nullopt;
    return joined;
  }

  /// Joins the launch of a vector kernel with the one that makes its input.
  bool join(top::LaunchOp launch, unsigned input, SymbolTable &symbols, const vector_kernels::PhaseContext &context) {
    top::LaunchOp source = kernels::soleProducer(launch.getInputs()[input]);
    if (!source)
      return false;
    func::FuncOp cubeKernel = kernelOf(source, pto::KernelKind::cube, symbols),
                 vectorKernel = kernelOf(launch, pto::KernelKind::vector, symbols);
    if (!cubeKernel || !vectorKernel || source.getScalarsAttr() != launch.getScalarsAttr())
      return false;
    StringAttr &joined = pairs[{cubeKernel.getSymNameAttr(), vectorKernel.getSymNameAttr(), input}];
    if (!joined)
      joined = makeBest(cubeKernel, vectorKernel, input, symbols, context);
    if (joined.empty())
      return false;
    kernels::joinLaunches(source, launch, input, joined,
                          kernels::handoverSlots(joinedFrom.find(joined)->second.producer, numCores));
    replaced.insert(cubeKernel.getSymNameAttr());
    replaced.insert(vectorKernel.getSymNameAttr());
    return true;
  }

  /// The joined kernel of the tiling with which it takes the least time, or as little and loads less; "" when apart is
  /// better.
  StringAttr makeBest(func::FuncOp cubeKernel, func::FuncOp vectorKernel, unsigned input, SymbolTable &symbols,
                      const vector_kernels::PhaseContext &context) {
    const std::vector<Producer> &list = producersOf(cubeKernel);
    struct Candidate {
      const Producer *producer;
      Panels panels;
      double cycles;
    };
    std::vector<Candidate> joined;
    for (const Producer &producer : list)
      if (auto panels = panelsOf(producer, vectorKernel, input, context))
        if (auto cycles = joinedCycles(producer, *panels, list.front().tiling.cycles))
          joined.push_back({&producer, std::move(*panels), *cycles});
    if (joined.empty())
      return StringAttr::get(&getContext(), "");
    if (list.front().contraction.rowsPerSize) {
      auto logs = llvm::map_to_vector(joined, [&](auto &c) { return logCyclesByRows(*c.producer, c.panels); });
      for (auto [candidate, cycles] : llvm::zip(joined, cube::compareForAllRows({logs.begin(), logs.end()})))
        candidate.cycles = cycles;
    }
    Candidate &best = *cost::fewestBytes(
        joined, [](auto &c) { return c.cycles; },
        [](auto &c) { return cube::comparedLoads(c.producer->contraction, c.producer->tiling); });
    const Producer &producer = *best.producer;
    func::FuncOp kernel =
        kernels::copyKernel(cubeKernel, (cubeKernel.getName() + "_" + vectorKernel.getName()).str(), symbols);
    auto few = producer.contraction.rowsPerSize ? fewRows(producer, best.panels) : std::vector<cube::FewRows>();
    kernels::addHandover(kernel, producer, best.panels, few, symbols);
    joinedFrom.try_emplace(kernel.getSymNameAttr(), Joined{producer, cubeKernel, vectorKernel, input});
    return kernel.getSymNameAttr();
  }

  std::optional<Panels> panelsOf(const Producer &producer, func::FuncOp kernel, unsigned input,
                                 const vector_kernels::PhaseContext &context) {
    const cube::CubeProblem &p = producer.contraction.problem;
    auto panels = Panels::of(kernel, input, p.outer * p.m, p.n, context);
    if (!panels || (panels->needsWholeRows() && producer.shapes.columns[0] != p.n) ||
        (panels->unbrokenRows() && (producer.contraction.rowsPerSize || panels->unbrokenRows() % p.m != 0)))
      return std::nullopt;
    return panels;
  }

  /// Joins the launch of a product, joined already or not, with the one that makes its left operand.
  void feed(top::LaunchOp launch, SymbolTable &symbols, const vector_kernels::PhaseContext &context) {
    StringAttr name = launch.getKernelAttr().getAttr();
    auto known = joinedFrom.find(name);
    func::FuncOp product =
        known == joinedFrom.end() ? kernelOf(launch, pto::KernelKind::cube, symbols) : known->second.cube;
    if (!product)
      return;
    const std::vector<Producer> &list = producersOf(product);
    if (list.empty())
      return;
    unsigned left = list.front().contraction.left.arg;
    top::LaunchOp source = kernels::soleProducer(launch.getInputs()[left]);
    func::FuncOp feeder =
        source && source.getNumResults() == 1 ? kernelOf(source, pto::KernelKind::vector, symbols) : func::FuncOp();
    // Columns are read in place.
    if (!feeder || source->hasAttr(top::kColumnsAttr) || changesBetween(source, launch))
      return;
    if (source.getScalarsAttr() || launch.getScalarsAttr()) {
      source.emitRemark("has a launch of its own in front of a product, as its rows are known at run time");
      return;
    }
    StringAttr &fed = pairs[{feeder.getSymNameAttr(), name, left}];
    if (!fed)
      fed = makeFed(known == joinedFrom.end() ? Joined{list.front(), product, func::FuncOp(), 0} : known->second, name,
                    feeder, symbols, context);
    if (fed.empty())
      return;
    const Fed &made = fedFrom.find(fed)->second;
    kernels::feedLaunch(source, launch, left, fed, made.slots, made.oldSlots);
    replaced.insert(name);
    replaced.insert(feeder.getSymNameAttr());
  }

  /// Whether a launch after `source` writes what `source` reads, as to a state: it must not be read later then.
  static bool changesBetween(top::LaunchOp source, top::LaunchOp launch) {
    llvm::SmallDenseSet<Value> read;
    for (Value input : source.getInputs())
      read.insert(throughViews(input));
    for (Operation *op = source->getNextNode(); op && op != launch; op = op->getNextNode())
      if (auto other = dyn_cast<top::LaunchOp>(op))
        if (llvm::any_of(other.getInits(), [&](Value init) { return read.contains(throughViews(init)); }))
          return true;
    return false;
  }

  /// The kernel of `product` (named `name`) whose left operand the vector cores make as `feeder` does, of the tiling
  /// with which it takes the least time; "" when apart is better.
  StringAttr makeFed(const Joined &product, StringAttr name, func::FuncOp feeder, SymbolTable &symbols,
                     const vector_kernels::PhaseContext &context) {
    const cube::CubeProblem &p = product.producer.contraction.problem;
    auto panels = Panels::of(feeder, feeder.getNumArguments() - 1, p.outer * p.m, p.k, context);
    if (!panels || (panels->unbrokenRows() && panels->unbrokenRows() % p.m != 0))
      return StringAttr::get(&getContext(), "");
    std::vector<FedCandidate> candidates = fedCandidates(product, *panels, context);
    PTO_DEBUG("@" << feeder.getName() << " in front of @" << name.getValue() << ": " << candidates.size()
                  << " tilings faster than apart");
    if (candidates.empty())
      return StringAttr::get(&getContext(), "");
    FedCandidate &best = *cost::fewestBytes(
        candidates, [](auto &c) { return c.cycles; }, [](auto &c) { return c.producer->tiling.loads; });
    func::FuncOp kernel = kernels::copyKernel(product.cube, (feeder.getName() + "_" + name.getValue()).str(), symbols);
    Fed fed{{kernels::feedSlots(*best.producer, numCores)}, product.vector ? 1u : 0u};
    if (best.follower) {
      kernels::addHandover(kernel, *best.producer, *best.follower, /*few=*/{}, symbols);
      fed.slots.push_back(kernels::handoverSlots(*best.producer, numCores));
    }
    kernels::addFeed(kernel, *best.producer, *panels, symbols);
    fedFrom.try_emplace(kernel.getSymNameAttr(), fed);
    return kernel.getSymNameAttr();
  }

  struct FedCandidate {
    const Producer *producer;
    std::optional<Panels> follower;
    double cycles;
  };

  /// The tilings of `product` with which it is faster behind its left operand's panels than apart from them.
  std::vector<FedCandidate> fedCandidates(const Joined &product, const Panels &panels,
                                          const vector_kernels::PhaseContext &context) {
    const kernels::JoinEstimate estimate = this->estimate();
    std::vector<FedCandidate> candidates;
    double apart = product.producer.tiling.cycles;
    for (const Producer &producer : producersOf(product.cube)) {
      std::optional<Panels> follower;
      if (product.vector && !(follower = panelsOf(producer, product.vector, product.input, context)))
        continue;
      double cycles = follower ? estimate.followed(producer, *follower) : producer.tiling.cycles;
      if (follower && producer.number == product.producer.number)
        apart = cycles;
      auto shapes = cube::feedShapes(producer.contraction, producer.tiling);
      if (!shapes)
        continue;
      // The vector cores make all left operands before they follow.
      double feeds = estimate.feeder(producer, panels);
      cycles = follower ? cycles + feeds : cube::overlapped(cycles, feeds, double(shapes->perBlock));
      candidates.push_back({&producer, std::move(follower), cycles});
    }
    apart += estimate.feederAlone(product.producer, panels) + estimate.launch();
    llvm::erase_if(candidates, [&](const FedCandidate &c) { return c.cycles >= kFedShare * apart; });
    return candidates;
  }

  /// Blocks for fewer rows than there may be.
  std::vector<cube::FewRows> fewRows(const Producer &producer, const Panels &panels) {
    cube::Follower follower = estimate().follower(producer, panels);
    return cube::chooseFewRows(producer.contraction.problem, limits(), producer.tiling, &follower);
  }
  std::vector<double> logCyclesByRows(const Producer &producer, const Panels &panels) {
    cube::Follower follower = estimate().follower(producer, panels);
    return cube::logCyclesByRows(producer.contraction.problem, limits(), producer.tiling, &follower);
  }
  cube::CubeLimits limits() { return *cube::cubeLimits(pto::targetOf(getOperation()).name); }

  llvm::DenseMap<StringAttr, std::vector<Producer>> producers;
  llvm::DenseMap<StringAttr, Joined> joinedFrom; // by the joined kernel
  llvm::DenseMap<StringAttr, Fed> fedFrom;
  struct ByName {
    template <typename T> bool operator()(const T &a, const T &b) const {
      return std::make_tuple(std::get<0>(a).getValue(), std::get<1>(a).getValue(), std::get<2>(a)) <
             std::make_tuple(std::get<0>(b).getValue(), std::get<1>(b).getValue(), std::get<2>(b));
    }
  };
  /// The kernel of a pair, "" when it has none.
  std::map<std::tuple<StringAttr, StringAttr, unsigned>, StringAttr, ByName> pairs;
  llvm::SetVector<StringAttr> replaced;
};

} // namespace

} // namespace pto_mlir
