//===- JoinKernels.cpp - cube and vector kernels that work side by side ---===//
//
// Where one vector kernel alone reads what a cube kernel makes, and can follow it
// tile by tile, both become one kernel: the cube core of a block puts each tile
// into a slot in global memory, which L2 holds, and the block's vector cores
// take it from there while the next one is made.
//
//===----------------------------------------------------------------------===//

#include "CheckLaunch.h"
#include "Cube/Handover.h"
#include "Vector/Panels.h"

#include "pto_mlir/Cost/Choice.h"
#include "pto_mlir/Cost/Prices.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
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

using vector_kernels::Panels;

/// Slots of a block: one is filled while the other is worked on.
constexpr int64_t kSlots = 2;
/// What a tile costs beside its elements, in starts of its instructions: the way from core to core comes on top. Chosen
/// by benchmarks/sizes.py.
constexpr double kTileAlone = 3;

/// A way in which the cube kernel makes its result.
struct Producer {
  cube::Contraction contraction;
  cube::CubeTiling tiling;
  cube::TileShapes shapes;
};

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
    // Kernels whose launches were all joined.
    llvm::SmallDenseSet<StringAttr> launched;
    main.walk([&](top::LaunchOp launch) { launched.insert(launch.getKernelAttr().getAttr()); });
    PTO_DEBUG(replaced.size() << " kernels replaced by joined ones");
    for (StringAttr name : replaced)
      if (!launched.contains(name))
        symbols.erase(symbols.lookup(name));
  }

private:
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
    for (const cube::CubeTiling &tiling :
         cube::rankCubeTilings(contraction->problem, limits(), cube::finalists(*contraction)))
      if (auto shapes = cube::tileShapes(*contraction, tiling))
        list.push_back({*contraction, tiling, *shapes});
    return list;
  }

  /// Cycles of a vector core that takes `elements` in so many panels: what it computes beside what it moves, one panel
  /// after the other, and the first panel's way in and the last one's way out.
  double vectorCycles(const Panels &panels, double elements, double pieces, double gaps = 1) {
    const cost::Prices prices(pto::targetOf(getOperation()).name);
    double compute =
        panels.operations() * (pieces * prices.operation() + gaps * elements * prices.operationPerElement());
    double move = pieces * prices.start(cost::Way::ToUB) + elements * panels.bytes() * prices.perByte(cost::Way::ToUB);
    return std::max(compute, move) + std::min(compute, move) / pieces + prices.start(cost::Way::FromUB);
  }

  /// Rows of `columns` that are no whole blocks have gaps behind them: instructions work on each by itself.
  static double gapsOf(int64_t columns, unsigned bytes) {
    constexpr int64_t kBlock = 32, kRepeat = 256 / sizeof(float);
    return columns * bytes % kBlock == 0 ? 1 : double(llvm::alignTo(columns, kRepeat)) / double(columns);
  }

  /// Cycles of the busiest block of the joined kernel; nothing when it is not faster than the kernels apart, of which
  /// the cube kernel takes `cubeAlone`.
  std::optional<double> joinedCycles(const Producer &producer, const Panels &panels, double cubeAlone) {
    const pto::Target &target = pto::targetOf(getOperation());
    const cube::CubeProblem &p = producer.contraction.problem;
    const cube::TileShapes &shapes = producer.shapes;
    double lanes = double(target.vectorCores);
    double all = double(p.outer * p.m * p.n), tile = double(shapes.rows[0] * shapes.columns[0]),
           tiles = double(shapes.perBlock);
    double apart = vectorCycles(panels, all / double(lanes * numCores), tiles),
           beside =
               vectorCycles(panels, std::min(all, tiles * tile) / lanes, tiles, gapsOf(shapes.columns[0], p.outBytes)),
           cube = producer.tiling.cycles;
    double joined = cube::overlapped(cube, beside, tiles);
    if (joined >= cubeAlone + apart + cost::Prices(target.name).launch())
      return std::nullopt;
    return joined;
  }

  /// Joins the launch of a vector kernel with the one that makes its input.
  bool join(top::LaunchOp launch, unsigned input, SymbolTable &symbols, const vector_kernels::PhaseContext &context) {
    Value value = launch.getInputs()[input];
    while (value.hasOneUse() && isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    auto source = value.getDefiningOp<top::LaunchOp>();
    if (!source || !value.hasOneUse() || !launch.getInputs()[input].hasOneUse())
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
    replace(source, launch, input, joined, joinedFrom.find(joined)->second);
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
        if (auto cycles = joinedCycles(producer, *panels, list.front().tiling.cycles)) {
          if (producer.contraction.rowsPerSize)
            cycles = std::exp(meanLogCycles(producer, *panels));
          joined.push_back({&producer, std::move(*panels), *cycles});
        }
    if (joined.empty())
      return StringAttr::get(&getContext(), "");
    Candidate &best = *cost::fewestBytes(
        joined, [](auto &c) { return c.cycles; },
        [](auto &c) { return cube::comparedLoads(c.producer->contraction, c.producer->tiling); });
    StringAttr name = makeKernel(cubeKernel, vectorKernel, *best.producer, best.panels, symbols);
    joinedFrom.try_emplace(name, *best.producer);
    return name;
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

  StringAttr makeKernel(func::FuncOp cubeKernel, func::FuncOp vectorKernel, const Producer &producer, Panels &panels,
                        SymbolTable &symbols) {
    Builder b(&getContext());
    const cube::TileShapes &shapes = producer.shapes;
    std::string name = (cubeKernel.getName() + "_" + vectorKernel.getName()).str();
    auto kernel = cast<func::FuncOp>(cubeKernel->clone());
    kernel.setName(name);
    StringAttr symbol = symbols.insert(kernel);
    SmallVector<Attribute> names, steps;
    SmallVector<int64_t> rowsOf, columnsOf;
    for (int64_t rows : shapes.rows)
      for (int64_t columns : shapes.columns) {
        std::string part = (symbol.getValue() + ".panel").str();
        if (!names.empty())
          part += std::to_string(names.size());
        bool anyRows = rows == cube::kAnyRows;
        func::FuncOp panel = panels.make(part, anyRows ? shapes.rows[0] : rows, columns, shapes.columns[0], anyRows);
        names.push_back(FlatSymbolRefAttr::get(symbols.insert(panel)));
        rowsOf.push_back(rows);
        columnsOf.push_back(columns);
      }
    unsigned others = vectorKernel.getNumArguments() - 1;
    for (unsigned i = 1; i <= others; ++i)
      steps.push_back(b.getDenseI64ArrayAttr(panels.steps(i)));
    SmallVector<NamedAttribute> handover = {
        b.getNamedAttr("panels", b.getArrayAttr(names)),
        b.getNamedAttr("rows", b.getDenseI64ArrayAttr(rowsOf)),
        b.getNamedAttr("columns", b.getDenseI64ArrayAttr(columnsOf)),
        b.getNamedAttr("steps", b.getArrayAttr(steps)),
        b.getNamedAttr("slots", b.getI64IntegerAttr(kSlots)),
        b.getNamedAttr("inputs", b.getI64IntegerAttr(others - vectorKernel.getNumResults()))};
    if (producer.contraction.rowsPerSize)
      handover.push_back(b.getNamedAttr("few", cube::fewRowsAttr(&getContext(), fewRows(producer, panels))));
    kernel->setAttr(cube::kHandoverAttr, b.getDictionaryAttr(handover));
    return symbol;
  }

  /// Blocks for fewer rows than there may be.
  std::vector<cube::FewRows> fewRows(const Producer &producer, const Panels &panels) {
    cube::Follower follower = followerOf(producer, panels);
    return cube::chooseFewRows(producer.contraction.problem, limits(), producer.tiling, &follower);
  }
  double meanLogCycles(const Producer &producer, const Panels &panels) {
    cube::Follower follower = followerOf(producer, panels);
    return cube::meanLogCycles(producer.contraction.problem, limits(), producer.tiling, &follower);
  }
  cube::Follower followerOf(const Producer &producer, const Panels &panels) {
    const cube::TileShapes &shapes = producer.shapes;
    auto tile = double(shapes.rows[0] * shapes.columns[0]);
    double one = vectorCycles(panels, 0, 1),
           whole = vectorCycles(panels, tile / double(pto::targetOf(getOperation()).vectorCores), 1);
    return {kTileAlone * one, (whole - one) / tile};
  }
  cube::CubeLimits limits() { return *cube::cubeLimits(pto::targetOf(getOperation()).name); }

  /// One launch for both: the inputs of the cube kernel, the other ones of the vector kernel, the slots, the outputs.
  void replace(top::LaunchOp source, top::LaunchOp launch, unsigned input, StringAttr kernel,
               const Producer &producer) {
    OpBuilder b(launch);
    SmallVector<Value> inputs(source.getInputs()), inits;
    for (auto [i, value] : llvm::enumerate(launch.getInputs()))
      if (i != input)
        inputs.push_back(value);
    inits.push_back(b.create<tensor::EmptyOp>(
        launch.getLoc(), ArrayRef<int64_t>{numCores * kSlots * producer.shapes.rows[0], producer.shapes.columns[0]},
        producer.contraction.out.element));
    llvm::append_range(inits, launch.getInits());
    auto strings = [](ArrayAttr attr) {
      return attr ? llvm::to_vector(attr.getAsValueRange<StringAttr>()) : SmallVector<StringRef>();
    };
    SmallVector<StringRef> names = strings(launch.getNamesAttr()), layouts = strings(launch.getLayoutsAttr()),
                           absorbed = strings(source.getAbsorbedAttr());
    names.resize(launch.getNumResults());
    layouts.resize(launch.getNumResults());
    names.insert(names.begin(), "");
    layouts.insert(layouts.begin(), "");
    absorbed.append(strings(source.getNamesAttr()));
    absorbed.append(strings(launch.getAbsorbedAttr()));
    llvm::erase(absorbed, "");
    SmallVector<Type> types;
    for (Value init : inits)
      types.push_back(init.getType());
    auto both = b.create<top::LaunchOp>(launch.getLoc(), types, FlatSymbolRefAttr::get(kernel), inputs, inits,
                                        b.getStrArrayAttr(names), b.getStrArrayAttr(layouts),
                                        b.getStrArrayAttr(absorbed), /*places=*/nullptr, launch.getScalarsAttr());
    Value between = launch.getInputs()[input];
    launch.replaceAllUsesWith(both.getResults().drop_front());
    launch.erase();
    while (Operation *op = between.getDefiningOp()) {
      if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
        break;
      between = op->getOperand(0);
      op->erase();
    }
    source.erase();
  }

  llvm::DenseMap<StringAttr, std::vector<Producer>> producers;
  llvm::DenseMap<StringAttr, Producer> joinedFrom; // by the joined kernel
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
