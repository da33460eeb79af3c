//===- EstimateWalk.cpp - one core's way through a kernel ---------------------------===//

#include "EstimateWalk.h"
#include "pto_mlir/Dialect/PTO/Transforms/Estimate.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pto_mlir::pto {

static unsigned memoryOf(AddressSpace space) {
  const char *name = space == AddressSpace::mat       ? "L1"
                     : space == AddressSpace::left    ? "L0A"
                     : space == AddressSpace::right   ? "L0B"
                     : space == AddressSpace::acc     ? "L0C"
                     : space == AddressSpace::bias    ? "BT"
                     : space == AddressSpace::scaling ? "FB"
                                                      : "UB";
  return *cost::memoryNumber(name);
}

static unsigned typeOf(Type type) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  if (auto integer = dyn_cast<IntegerType>(type))
    stream << (integer.isUnsigned() ? 'u' : 'i') << integer.getWidth();
  else
    stream << type;
  return cost::elementTypeNumber(stream.str()).value_or(0);
}

EstimatedFunction::EstimatedFunction(func::FuncOp func, bool ordered)
    : func(func), ordered(ordered), laneFlags(targetOf(func).laneFlags) {
  cube = func->getAttrOfType<KernelKindAttr>(kKernelKindAttr).getValue() == KernelKind::cube;
  const Target &arch = targetOf(func);
  llvm::DenseSet<Operation *> doubled;
  for (AllocTileOp alloc : tilesWithTwoBuffers(func, /*remark=*/false))
    doubled.insert(alloc);
  llvm::SmallSetVector<unsigned, 4> pipes;
  uint64_t next = 0;
  func.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<AllocTileOp>(op)) {
      int64_t bytes = getAlignedBytes(alloc.getTileType(), arch),
              buffers = doubled.contains(op) ? 2 : getBuffers(alloc);
      places[op] = {next, bytes, buffers};
      next += static_cast<uint64_t>(bytes * buffers);
    } else if (auto sync = dyn_cast<SyncSetOp>(op)) {
      pipes.insert(static_cast<unsigned>(sync.getPipe()));
    } else if (isEngineOp(op) && cast<PipeOpInterface>(op).getPipe() != Pipe::PIPE_S) {
      pipes.insert(static_cast<unsigned>(cast<PipeOpInterface>(op).getPipe()));
    }
  });
  engines = pipes.takeVector();
}

ArrayRef<Access> EstimatedFunction::accessesOf(Operation *op) {
  auto [entry, isNew] = accesses.try_emplace(op);
  if (isNew)
    entry->second = collectAccesses(op);
  return entry->second;
}

bool EstimateWalk::run(int64_t &steps) {
  stepsLeft = &steps;
  for (auto [number, argument] : llvm::enumerate(function.func.getArguments())) {
    cost::SketchView &view = views[argument];
    view.arg = static_cast<unsigned>(number);
    auto place = function.func.getArgAttrOfType<DenseI64ArrayAttr>(static_cast<unsigned>(number), kSliceOfAttr);
    if (place && place.size() == 2)
      view.arg = static_cast<unsigned>(place[0]), view.offset = place[1];
  }
  return runBlock(function.func.getBody().front());
}

bool EstimateWalk::runBlock(Block &block) {
  for (Operation &op : block)
    if (--*stepsLeft < 0 || !runOp(&op))
      return false;
  return true;
}

bool EstimateWalk::runOp(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return runLoop(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return runIf(branch);
  if (auto load = dyn_cast<LoadScalarOp>(op)) {
    // Which row a gather reads is not known: the first one is as long as any. S runs ahead of the other engines.
    integers[load.getValue()] = 0;
    return true;
  }
  if (isa<SetFlagOp, WaitFlagOp, SetFlagDynOp, WaitFlagDynOp>(op))
    return runFlag(op);
  if (isa<SyncSetOp, SyncWaitOp, PipeOpInterface>(op) && !isa<TileAliasOpInterface>(op))
    return runEngine(op);
  if (isa<AllocTileOp, TileAliasOpInterface, SetValidShapeOp>(op))
    return runTile(op);
  if (isa<AddPtrOp, MakeTensorViewOp, PartitionViewOp>(op))
    return runView(op);
  if (isa<scf::WhileOp>(op))
    return false;
  return runScalar(op);
}

bool EstimateWalk::runLoop(scf::ForOp loop) {
  auto lower = integer(loop.getLowerBound()), upper = integer(loop.getUpperBound()), step = integer(loop.getStep());
  if (!lower || !upper || !step || *step <= 0)
    return false;
  bindAll(loop.getRegionIterArgs(), loop.getInitArgs());
  int64_t trip = 0;
  for (int64_t i = *lower; i < *upper; i += *step, ++trip) {
    integers[loop.getInductionVar()] = i;
    trips[loop] = trip;
    if (!runBlock(*loop.getBody()))
      return false;
    bindAll(loop.getRegionIterArgs(), loop.getYieldedValues());
  }
  bindAll(loop.getResults(), loop.getRegionIterArgs());
  return true;
}

bool EstimateWalk::runIf(scf::IfOp op) {
  auto condition = integer(op.getCondition());
  if (!condition)
    return false;
  Region &region = *condition ? op.getThenRegion() : op.getElseRegion();
  if (region.empty())
    return true;
  if (!runBlock(region.front()))
    return false;
  bindAll(op.getResults(), region.front().getTerminator()->getOperands());
  return true;
}

std::optional<int64_t> EstimateWalk::integer(Value value) const {
  if (auto known = integers.find(value); known != integers.end())
    return known->second;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getBitWidth() == 1 ? int64_t(constant.getZExtValue()) : constant.getSExtValue();
  return std::nullopt;
}

void EstimateWalk::bind(Value to, Value from) {
  if (auto known = integer(from))
    integers[to] = *known;
  if (auto tile = tiles.find(from); tile != tiles.end())
    tiles[to] = cost::SketchTile(tile->second);
  if (auto view = views.find(from); view != views.end())
    views[to] = cost::SketchView(view->second);
}

void EstimateWalk::bindAll(ValueRange to, ValueRange from) {
  for (auto [result, value] : llvm::zip_equal(to, from))
    bind(result, value);
}

/// The tile of a type: its box, the valid part as far as the type has it.
static cost::SketchTile describe(TileBufType type) {
  cost::SketchTile tile;
  tile.memory = memoryOf(type.getLoc());
  tile.type = typeOf(type.getElementType());
  tile.layout = static_cast<unsigned>(getTileLayout(type));
  std::tie(tile.rows, tile.cols) = getPaddedBox(type);
  tile.validRows = type.hasDynamicValidRows() ? type.getRows() : type.getValidRows();
  tile.validCols = type.hasDynamicValidCols() ? type.getCols() : type.getValidCols();
  return tile;
}

/// The valid extents that the op gives its result, false where one is not known.
template <typename Op> bool EstimateWalk::takeExtents(Op op) {
  cost::SketchTile &tile = tiles[op->getResult(0)];
  for (auto [extent, value] : {std::pair(&tile.validRows, op.getValidRow()), {&tile.validCols, op.getValidCol()}})
    if (value) {
      auto known = integer(value);
      if (!known)
        return false;
      *extent = *known;
    }
  return true;
}

bool EstimateWalk::runTile(Operation *op) {
  if (auto set = dyn_cast<SetValidShapeOp>(op)) {
    auto rows = integer(set.getValidRow()), cols = integer(set.getValidCol());
    cost::SketchTile &tile = tiles[set.getSource()];
    tile.validRows = rows.value_or(tile.validRows), tile.validCols = cols.value_or(tile.validCols);
    return rows && cols;
  }
  auto type = cast<TileBufType>(op->getResult(0).getType());
  cost::SketchTile tile = describe(type);
  if (auto alloc = dyn_cast<AllocTileOp>(op)) {
    const EstimatedFunction::Place &where = function.places[op];
    int64_t turn = where.buffers > 1 ? trips.lookup(op->getParentOp()) % where.buffers : 0;
    tile.address = where.base + static_cast<uint64_t>(turn * where.bytes);
    if (auto address = alloc.getAddr() ? integer(alloc.getAddr()) : std::nullopt)
      tile.address = static_cast<uint64_t>(*address);
    tiles[op->getResult(0)] = tile;
    return takeExtents(alloc);
  }
  auto source = tiles.find(cast<TileAliasOpInterface>(op).getAliasSource());
  if (source == tiles.end())
    return false;
  cost::SketchTile from = source->second;
  tile.address = from.address;
  if (auto begin = getPartBegin(op)) {
    auto row = integer(begin->first), col = integer(begin->second);
    if (!row || !col)
      return false;
    int64_t bits = getElementBits(type.getElementType());
    bool rowMajor = type.isRowMajor();
    int64_t outer = (rowMajor ? *row : *col) * (rowMajor ? from.cols : from.rows), inner = rowMajor ? *col : *row;
    tile.address += static_cast<uint64_t>((outer + (type.isBoxed() ? 0 : inner)) * bits / 8);
    auto clip = [](int64_t valid, int64_t offset, int64_t size) {
      return std::clamp<int64_t>(valid - offset, 0, size);
    };
    if (type.hasDynamicValidRows())
      tile.validRows = clip(from.validRows, *row, tile.validRows);
    if (type.hasDynamicValidCols())
      tile.validCols = clip(from.validCols, *col, tile.validCols);
  } else {
    if (type.hasDynamicValidRows())
      tile.validRows = tile.rows == from.rows ? from.validRows : from.validCols;
    if (type.hasDynamicValidCols())
      tile.validCols = tile.cols == from.cols ? from.validCols : from.validRows;
  }
  tiles[op->getResult(0)] = tile;
  auto part = dyn_cast<SubViewOp>(op);
  return !part || takeExtents(part);
}

bool EstimateWalk::runView(Operation *op) {
  auto source = views.find(op->getOperand(0));
  if (source == views.end())
    return false;
  cost::SketchView view = source->second;
  bool known = true;
  auto get = [&](Value value) {
    auto number = integer(value);
    known &= number.has_value();
    return number.value_or(0);
  };
  if (auto add = dyn_cast<AddPtrOp>(op)) {
    view.offset += get(add.getOffset()) * getElementBits(cast<PtrType>(add.getPtr().getType()).getElementType()) / 8;
  } else if (auto make = dyn_cast<MakeTensorViewOp>(op)) {
    auto type = cast<TensorViewType>(make.getResult().getType());
    view.type = typeOf(type.getElementType());
    view.rank = static_cast<unsigned>(make.getShape().size());
    for (unsigned i = 0; i < view.rank; ++i)
      view.sizes[i] = get(make.getShape()[i]), view.strides[i] = get(make.getStrides()[i]);
    bool rowMajor = view.rank < 2 || view.strides[view.rank - 1] == 1 || view.strides[view.rank - 2] != 1;
    TileLayout layout = rowMajor ? TileLayout::ND : TileLayout::DN;
    if (auto said = make.getLayout())
      layout = *said == Layout::dn ? TileLayout::DN : *said == Layout::nz ? TileLayout::NZ : TileLayout::ND;
    view.layout = static_cast<unsigned>(layout);
  } else if (auto part = dyn_cast<PartitionViewOp>(op)) {
    int64_t bits = getElementBits(cast<TensorViewType>(part.getSource().getType()).getElementType());
    for (unsigned i = 0; i < view.rank; ++i) {
      view.offset += get(part.getOffsets()[i]) * view.strides[i] * bits / 8;
      view.sizes[i] = get(part.getSizes()[i]);
    }
  }
  views[op->getResult(0)] = view;
  return known;
}

} // namespace pto_mlir::pto
