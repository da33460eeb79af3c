#include "GraphKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/DebugStringHelper.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace pto_mlir {

GraphKernel::GraphKernel(ModuleOp module, StringRef name, Location loc, ArrayRef<Type> elements)
    : b(module.getContext()), loc(loc) {
  auto pointers = llvm::map_to_vector(elements, [](Type element) -> Type { return pto::PtrType::get(element); });
  b.setInsertionPointToEnd(module.getBody());
  func = b.create<func::FuncOp>(loc, name, b.getFunctionType(pointers, {}));
  b.setInsertionPointToStart(func.addEntryBlock());
}

Value GraphKernel::constant(int64_t value) { return b.create<arith::ConstantIntOp>(loc, value, 64); }

Value GraphKernel::behind(Value pointer, Value offset) {
  if (auto constant = offset.getDefiningOp<arith::ConstantIntOp>(); constant && constant.value() == 0)
    return pointer;
  return b.create<pto::AddPtrOp>(loc, pointer, b.create<arith::IndexCastOp>(loc, b.getIndexType(), offset));
}

void GraphKernel::clear(Value pointer, int64_t elements) {
  Type element = cast<pto::PtrType>(pointer.getType()).getElementType();
  // A tile of a few KiB, whose rows are whole DMA blocks of 32 bytes.
  constexpr int64_t atOnce = 2048;
  int64_t whole = elements / atOnce * atOnce, rest = elements - whole;
  constexpr const char *text = R"(
    func.func @clear(%p: !pto.ptr<{0}>) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %all = arith.constant {1} : index
      %whole = arith.constant {2} : index
      %part = arith.constant {3} : index
      %rest = arith.constant {4} : index
      %zero = arith.constant {6} : {0}
      %v = pto.make_tensor_view %p, shape = [%c1, %all], strides = [%all, %c1] : !pto.tensor_view<?x?x{0}>
      %t = pto.alloc_tile : !pto.tile_buf<vec, 1x{3}x{0}>
      pto.texpands ins(%zero : {0}) outs(%t : !pto.tile_buf<vec, 1x{3}x{0}>)
      scf.for %i = %c0 to %whole step %part {{
        %w = pto.partition_view %v, offsets = [%c0, %i], sizes = [%c1, %part]
          : !pto.tensor_view<?x?x{0}> -> !pto.partition_tensor_view<1x{3}x{0}>
        pto.tstore ins(%t : !pto.tile_buf<vec, 1x{3}x{0}>) outs(%w : !pto.partition_tensor_view<1x{3}x{0}>)
      }
      %u = pto.alloc_tile : !pto.tile_buf<vec, 1x{3}x{0}, valid=1x{5}>
      pto.texpands ins(%zero : {0}) outs(%u : !pto.tile_buf<vec, 1x{3}x{0}, valid=1x{5}>)
      %x = pto.partition_view %v, offsets = [%c0, %whole], sizes = [%c1, %rest]
        : !pto.tensor_view<?x?x{0}> -> !pto.partition_tensor_view<1x{5}x{0}>
      pto.tstore ins(%u : !pto.tile_buf<vec, 1x{3}x{0}, valid=1x{5}>) outs(%x : !pto.partition_tensor_view<1x{5}x{0}>)
      return
    })";
  if (rest == 0) // the last part is one of its own in any case
    whole -= atOnce, rest = atOnce;
  std::string filled = llvm::formatv(text, debugString(element), elements, whole, atOnce, rest, rest,
                                     mlir::isa<FloatType>(element) ? "0.0" : "0");
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(filled, b.getContext());
  (void)run(*module->getOps<func::FuncOp>().begin(), {pointer});
}

void GraphKernel::faultUnless(Value condition, Value pointer) {
  Value holds = b.create<arith::ConstantIntOp>(loc, 1, 1);
  auto branch = b.create<scf::IfOp>(loc, b.create<arith::XOrIOp>(loc, condition, holds), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  Type element = cast<pto::PtrType>(pointer.getType()).getElementType();
  Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(element));
  constexpr int64_t beyond = int64_t(1) << 40;
  b.create<pto::StoreScalarOp>(loc, pointer, b.create<arith::ConstantIndexOp>(loc, beyond), zero);
}

std::string GraphKernel::run(func::FuncOp kernel, ArrayRef<Value> arguments) {
  if (!kernel || !kernel.getBody().hasOneBlock() || kernel.getNumArguments() != arguments.size())
    return "one of its kernels is no single function";
  bool namesCores = false;
  kernel.walk([&](Operation *op) {
    namesCores |= mlir::isa<pto::SectionCubeOp, pto::SectionVectorOp, pto::SyncSetOp, pto::SyncWaitOp,
                            pto::GetSubBlockIdxOp, pto::GetSubBlockNumOp, pto::AicInitializePipeOp,
                            pto::AivInitializePipeOp, pto::InitializeL2LPipeOp, pto::InitializeL2G2LPipeOp>(op);
  });
  if (namesCores)
    return (kernel.getSymName() + " says what each core of a block does (queues, events, pl.split_aiv), which only a "
                                  "launch of its own may do")
        .str();
  IRMapping map;
  for (auto [argument, given] : llvm::zip(kernel.getArguments(), arguments)) {
    Type wanted = argument.getType();
    Value value = given;
    if (value.getType() != wanted) {
      if (wanted.isIndex())
        value = b.create<arith::IndexCastOp>(loc, wanted, value);
      else if (wanted.isSignlessInteger() && value.getType().isInteger(64))
        value = b.create<arith::TruncIOp>(loc, wanted, value);
      else if (wanted.isF16() || wanted.isBF16())
        value = b.create<arith::TruncFOp>(loc, wanted, value);
      else
        return (kernel.getSymName() + " takes " + debugString(wanted) + " for " + debugString(value.getType())).str();
    }
    map.map(argument, value);
  }
  for (Operation &op : kernel.getBody().front().without_terminator())
    b.clone(op, map);
  return "";
}

namespace {

/// The difference of two launches that are alike, else nullopt.
std::optional<PortLaunch> difference(const PortLaunch &from, const PortLaunch &to) {
  if (from.kernel != to.kernel || from.pointers != to.pointers || from.scalars.size() != to.scalars.size())
    return std::nullopt;
  PortLaunch step{from.kernel, from.pointers, to.offsets, to.scalars};
  for (size_t i = 0; i < step.offsets.size(); ++i)
    step.offsets[i] -= from.offsets[i];
  for (size_t i = 0; i < step.scalars.size(); ++i) {
    step.scalars[i] -= from.scalars[i];
    // Floats come as their bits, which do not grow evenly.
    Type type = step.kernel.getArgumentTypes()[from.pointers.size() + i];
    if (step.scalars[i] != 0 && !type.isIntOrIndex())
      return std::nullopt;
  }
  return step;
}

/// The longest run of turns of `period` launches at the beginning.
Repeated turnsOf(ArrayRef<PortLaunch> launches, size_t period) {
  Repeated made{launches.take_front(period), {}, 1};
  for (size_t i = 0; i + period < launches.size(); ++i) {
    std::optional<PortLaunch> step = difference(launches[i], launches[i + period]);
    if (i < period && step)
      made.steps.push_back(std::move(*step));
    else if (i < period || !step || step->offsets != made.steps[i % period].offsets ||
             step->scalars != made.steps[i % period].scalars)
      break;
    if ((i + 1) % period == 0)
      ++made.turns;
  }
  return made;
}

} // namespace

std::vector<Repeated> repeatedIn(ArrayRef<PortLaunch> launches) {
  constexpr size_t longest = 16;
  std::vector<Repeated> list;
  while (!launches.empty()) {
    Repeated best{launches.take_front(1), {}, 1};
    for (size_t period = 1; period <= longest && 2 * period <= launches.size(); ++period) {
      Repeated made = turnsOf(launches, period);
      if (made.turns > 1 && made.turns * int64_t(period) > best.turns * int64_t(best.first.size()))
        best = std::move(made);
    }
    launches = launches.drop_front(size_t(best.turns) * best.first.size());
    list.push_back(std::move(best));
  }
  return list;
}

std::string addRepeated(GraphKernel &graph, const Repeated &repeated, bool acrossBlocks) {
  OpBuilder &b = graph.b;
  Location loc = graph.loc;
  OpBuilder::InsertionGuard guard(b);
  Value turn;
  if (repeated.turns > 1) {
    Value first = b.create<arith::ConstantIndexOp>(loc, 0), step = b.create<arith::ConstantIndexOp>(loc, 1);
    if (acrossBlocks) {
      auto asIndex = [&](Value number) -> Value {
        return number.getType().isIndex() ? number : b.create<arith::IndexCastOp>(loc, b.getIndexType(), number);
      };
      first = asIndex(b.create<pto::GetBlockIdxOp>(loc));
      step = asIndex(b.create<pto::GetBlockNumOp>(loc));
    }
    auto loop = b.create<scf::ForOp>(loc, first, b.create<arith::ConstantIndexOp>(loc, repeated.turns), step);
    b.setInsertionPointToStart(loop.getBody());
    turn = b.create<arith::IndexCastOp>(loc, b.getI64Type(), loop.getInductionVar());
  }
  auto number = [&](int64_t first, int64_t step) -> Value {
    Value value = graph.constant(first);
    if (turn && step != 0)
      value = b.create<arith::AddIOp>(loc, value, b.create<arith::MulIOp>(loc, turn, graph.constant(step)));
    return value;
  };
  for (auto [i, launch] : llvm::enumerate(repeated.first)) {
    func::FuncOp kernel = launch.kernel;
    const PortLaunch *step = repeated.steps.empty() ? nullptr : &repeated.steps[i];
    SmallVector<Value> arguments;
    for (size_t p = 0; p < launch.pointers.size(); ++p)
      arguments.push_back(graph.behind(graph.pointer(unsigned(launch.pointers[p])),
                                       number(launch.offsets[p], step ? step->offsets[p] : 0)));
    for (size_t s = 0; s < launch.scalars.size(); ++s) {
      Type type = kernel.getArgumentTypes()[launch.pointers.size() + s];
      if (mlir::isa<FloatType>(type)) {
        APFloat value(APFloat::IEEEsingle(), APInt(32, uint64_t(launch.scalars[s]) & 0xffffffffU));
        arguments.push_back(b.create<arith::ConstantOp>(loc, b.getFloatAttr(b.getF32Type(), value)));
      } else {
        arguments.push_back(number(launch.scalars[s], step ? step->scalars[s] : 0));
      }
    }
    if (std::string problem = graph.run(kernel, arguments); !problem.empty())
      return problem;
  }
  return "";
}

} // namespace pto_mlir
