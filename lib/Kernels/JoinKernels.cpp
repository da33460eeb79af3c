//===- JoinKernels.cpp - cube and vector kernels that work side by side ---===//
//
// Where one vector kernel alone reads what a cube kernel makes, and can follow it
// tile by tile, both become one kernel: the cube core of a block puts each tile
// into a slot in global memory, which L2 holds, and the block's vector cores
// take it from there while the next one is made.
//
//===----------------------------------------------------------------------===//

#include "Cube/Handover.h"
#include "Vector/Panels.h"

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
/// What a vector core does in a cycle: 32-bit elements through one operation with what a command costs, and bytes from
/// or to L2 (both as the timing mode has them). A launch costs every core 0.95 us.
constexpr double kElementsPerCycle = 32, kBytesPerCycle = 60, kLaunchCycles = 1700;
/// Joined kernels must gain so much.
constexpr double kWorthJoining = 0.95;

/// How the cube kernel makes its result; nothing when its tiles cannot be handed over.
struct Producer {
  cube::Contraction contraction;
  cube::CubeTiling tiling;
  cube::TileShapes shapes;
};

class JoinKernelsPass : public impl::JoinKernelsBase<JoinKernelsPass> {
public:
  using JoinKernelsBase::JoinKernelsBase;

  void runOnOperation() override {
    if (numCores < 0) {
      getOperation().emitError("num-cores must not be negative, got ") << numCores.getValue();
      return signalPassFailure();
    }
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    // How tiles are shared must be known.
    if (numCores == 0 || !main || main.isExternal())
      return;
    SymbolTable symbols(getOperation());
    vector_kernels::PhaseContext context(&getContext(), 2);
    for (auto launch : llvm::to_vector(main.getBody().front().getOps<top::LaunchOp>()))
      for (unsigned input = 0; input < launch.getInputs().size(); ++input)
        if (join(launch, input, symbols, context))
          break;
    // What only joined launches used.
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

  const std::optional<Producer> &producerOf(func::FuncOp kernel) {
    auto [entry, isNew] = producers.try_emplace(kernel.getSymNameAttr());
    std::optional<Producer> &producer = entry->second;
    if (!isNew)
      return producer;
    ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &) { return success(); }); // build-cube-kernels says it
    auto contraction = cube::matchContraction(kernel);
    if (failed(contraction))
      return producer;
    contraction->problem.cores = numCores;
    auto tiling = cube::chooseCubeTiling(contraction->problem, *cube::cubeLimits(pto::targetOf(getOperation()).name));
    auto shapes = tiling ? cube::tileShapes(*contraction, *tiling) : std::nullopt;
    if (shapes)
      producer = Producer{*contraction, *tiling, *shapes};
    return producer;
  }

  /// Is it better? All in cycles of the busiest block.
  bool gains(const Producer &producer, const Panels &panels) {
    const cube::CubeProblem &p = producer.contraction.problem;
    double perElement = std::max(panels.operations() / kElementsPerCycle, panels.bytes() / kBytesPerCycle);
    int64_t all = p.outer * p.m * p.n;
    double apart = perElement * double(all) / (2 * numCores);
    double beside =
        perElement *
        double(std::min(all, producer.shapes.perBlock * producer.shapes.rows[0] * producer.shapes.columns[0])) / 2;
    double cube = producer.tiling.cycles, tiles = producer.shapes.perBlock;
    // They overlap but for the first tile of the one or the last of the other.
    double joined = std::max(cube, beside) + std::min(cube, beside) / tiles;
    return joined <= kWorthJoining * (cube + apart + kLaunchCycles);
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
    if (!cubeKernel || !vectorKernel)
      return false;
    StringAttr &joined = pairs[{cubeKernel.getSymNameAttr(), vectorKernel.getSymNameAttr(), input}];
    if (!joined) {
      joined = StringAttr::get(&getContext(), "");
      if (const std::optional<Producer> &producer = producerOf(cubeKernel))
        if (auto panels = panelsOf(*producer, vectorKernel, input, context))
          joined = makeKernel(cubeKernel, vectorKernel, *producer, *panels, symbols);
    }
    if (joined.empty())
      return false;
    replace(source, launch, input, joined, *producerOf(cubeKernel));
    replaced.insert(cubeKernel.getSymNameAttr());
    replaced.insert(vectorKernel.getSymNameAttr());
    return true;
  }

  std::optional<Panels> panelsOf(const Producer &producer, func::FuncOp kernel, unsigned input,
                                 const vector_kernels::PhaseContext &context) {
    const cube::CubeProblem &p = producer.contraction.problem;
    auto panels = Panels::of(kernel, input, p.outer * p.m, p.n, context);
    if (!panels || (panels->needsWholeRows() && producer.shapes.columns[0] != p.n) ||
        (panels->unbrokenRows() && panels->unbrokenRows() % p.m != 0) || !gains(producer, *panels))
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
        func::FuncOp panel = panels.make(part, rows, columns, shapes.columns[0]);
        names.push_back(FlatSymbolRefAttr::get(symbols.insert(panel)));
        rowsOf.push_back(rows);
        columnsOf.push_back(columns);
      }
    unsigned others = vectorKernel.getNumArguments() - 1;
    for (unsigned i = 1; i <= others; ++i)
      steps.push_back(b.getDenseI64ArrayAttr(panels.steps(i)));
    kernel->setAttr(
        cube::kHandoverAttr,
        b.getDictionaryAttr(
            {b.getNamedAttr("panels", b.getArrayAttr(names)), b.getNamedAttr("rows", b.getDenseI64ArrayAttr(rowsOf)),
             b.getNamedAttr("columns", b.getDenseI64ArrayAttr(columnsOf)),
             b.getNamedAttr("steps", b.getArrayAttr(steps)), b.getNamedAttr("slots", b.getI64IntegerAttr(kSlots)),
             b.getNamedAttr("inputs", b.getI64IntegerAttr(others - vectorKernel.getNumResults()))}));
    return symbol;
  }

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
                                        b.getStrArrayAttr(absorbed), /*places=*/nullptr);
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

  llvm::DenseMap<StringAttr, std::optional<Producer>> producers;
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
