//===- Handover.cpp - tiles from a cube core to its vector cores ----------===//

#include "Handover.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

#include <functional>

using namespace mlir;

namespace pto_mlir::cube {

std::optional<TileShapes> tileShapes(const Contraction &c, const CubeTiling &t) {
  const CubeProblem &p = c.problem;
  const Matrix &out = c.out;
  // Runs of outputs follow one another like rows; parts of a row of outputs do not.
  bool asRows = !p.image || (t.slabCols == p.image->w.out && !c.imagesPerSize && !c.imageRowsPerSize);
  if (!asRows || p.patches || out.transposed || out.firstRow || out.firstCol || out.cols != p.n ||
      out.rows != p.outer * p.m)
    return std::nullopt;
  for (int64_t o = 0; o < p.outer; ++o)
    if (o / out.inner * out.outerRows + o % out.inner * out.innerRows != o * p.m ||
        o / out.inner * out.outerCols + o % out.inner * out.innerCols != 0)
      return std::nullopt;
  TileShapes shapes;
  auto note = [](SmallVectorImpl<int64_t> &list, int64_t size) {
    if (!llvm::is_contained(list, size))
      list.push_back(size);
  };
  // Blocks begin anew with each image.
  int64_t images = p.image ? p.image->batch : 1, m = p.m / images, block = std::min(t.blockM, m);
  shapes.perRows = ceilDiv(block, t.baseM);
  // A block with fewer tiles than others would leave numbers out.
  if (c.rowsPerSize && shapes.perRows > 1)
    return std::nullopt;
  for (int64_t first = 0; first < m && !c.rowsPerSize; first += block) {
    int64_t rows = std::min(block, m - first);
    if (ceilDiv(rows, t.baseM) != shapes.perRows)
      return std::nullopt;
    for (int64_t row = 0; row < rows; row += t.baseM)
      note(shapes.rows, std::min(t.baseM, rows - row));
  }
  for (int64_t column = 0; column < p.n; column += t.blockN)
    note(shapes.columns, std::min(t.blockN, p.n - column));
  if (c.rowsPerSize)
    shapes.rows = {block, kAnyRows};
  llvm::sort(shapes.rows, std::greater<int64_t>());
  shapes.perBlock = ceilDiv(p.outer, t.grid.outer) * ceilDiv(ceilDiv(p.n, t.blockN), t.grid.n) *
                    ceilDiv(images * ceilDiv(m, block), t.grid.m) * shapes.perRows;
  return shapes;
}

DenseI64ArrayAttr fewRowsAttr(MLIRContext *context, ArrayRef<FewRows> few) {
  SmallVector<int64_t> numbers;
  for (const FewRows &blocks : few)
    llvm::append_values(numbers, blocks.rows, blocks.blockM, blocks.gridM);
  return DenseI64ArrayAttr::get(context, numbers);
}

/// What `fewRowsAttr` wrote; nothing where it is not like that.
static std::optional<std::vector<FewRows>> readFewRows(DictionaryAttr attribute, const CubeTiling &tiling) {
  auto few = attribute ? attribute.getAs<DenseI64ArrayAttr>("few") : DenseI64ArrayAttr();
  std::vector<FewRows> result;
  ArrayRef<int64_t> rest = few ? few.asArrayRef() : ArrayRef<int64_t>();
  for (; rest.size() >= 3; rest = rest.drop_front(3)) {
    if (rest[0] < 1 || rest[1] < 1 || rest[1] > tiling.blockM || rest[2] < 1)
      return std::nullopt;
    result.push_back({rest[0], rest[1], tiling.blockN, rest[2]});
  }
  return rest.empty() ? std::optional(result) : std::nullopt;
}

CubeTiling joinedTiling(func::FuncOp kernel, const Contraction &c, const std::vector<CubeTiling> &tilings) {
  auto attribute = kernel->getAttrOfType<DictionaryAttr>(kHandoverAttr);
  auto rows = attribute ? attribute.getAs<DenseI64ArrayAttr>("rows") : DenseI64ArrayAttr();
  auto columns = attribute ? attribute.getAs<DenseI64ArrayAttr>("columns") : DenseI64ArrayAttr();
  for (CubeTiling tiling : tilings) {
    auto shapes = tileShapes(c, tiling);
    if (!rows || !columns || !shapes)
      continue;
    SmallVector<int64_t> allRows, allColumns;
    for (int64_t height : shapes->rows)
      for (int64_t width : shapes->columns)
        allRows.push_back(height), allColumns.push_back(width);
    if (rows.asArrayRef() != ArrayRef(allRows) || columns.asArrayRef() != ArrayRef(allColumns))
      continue;
    tiling.few = readFewRows(attribute, tiling).value_or(std::vector<FewRows>());
    return tiling;
  }
  return tilings.front();
}

FailureOr<Handover> readHandover(func::FuncOp kernel, const Contraction &c, const CubeTiling &t) {
  auto attribute = kernel->getAttrOfType<DictionaryAttr>(kHandoverAttr);
  auto panels = attribute ? attribute.getAs<ArrayAttr>("panels") : ArrayAttr();
  auto rows = attribute ? attribute.getAs<DenseI64ArrayAttr>("rows") : DenseI64ArrayAttr();
  auto columns = attribute ? attribute.getAs<DenseI64ArrayAttr>("columns") : DenseI64ArrayAttr();
  auto steps = attribute ? attribute.getAs<ArrayAttr>("steps") : ArrayAttr();
  auto slots = attribute ? attribute.getAs<IntegerAttr>("slots") : IntegerAttr();
  auto inputs = attribute ? attribute.getAs<IntegerAttr>("inputs") : IntegerAttr();
  auto shapes = tileShapes(c, t);
  if (!panels || panels.empty() || !rows || !columns || !steps || !slots || slots.getInt() < 1 || slots.getInt() > 15 ||
      !inputs || !readFewRows(attribute, t) || size_t(rows.size()) != panels.size() ||
      size_t(columns.size()) != panels.size())
    return kernel.emitOpError("expects '") << kHandoverAttr << "' as join-kernels writes it";
  if (!shapes || shapes->rows.size() * shapes->columns.size() != panels.size() || rows[0] != shapes->rows[0] ||
      columns[0] != shapes->columns[0])
    return kernel.emitOpError(
        "was joined for tiles of another size; join-kernels and build-cube-kernels need the same num-cores");
  Handover handover;
  for (auto [name, height] : llvm::zip_equal(panels.getAsRange<FlatSymbolRefAttr>(), rows.asArrayRef())) {
    auto panel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(kernel, name);
    size_t scalars = height == kAnyRows ? 1 : 0;
    if (!panel || panel.isExternal() || panel.getNumArguments() != steps.size() + 1 + scalars ||
        !llvm::all_of(panel.getArgumentTypes().drop_back(scalars), llvm::IsaPred<pto::PtrType>))
      return kernel.emitOpError("needs ") << name << " in tile instructions; run convert-linalg-to-pto first";
    handover.panels.push_back(panel);
  }
  handover.rows.assign(rows.asArrayRef().begin(), rows.asArrayRef().end());
  handover.columns.assign(columns.asArrayRef().begin(), columns.asArrayRef().end());
  handover.slots = slots.getInt();
  handover.perRows = shapes->perRows;
  unsigned ownInputs = kernel.getNumArguments() - 1, otherInputs = inputs.getInt();
  for (unsigned i = 0; i < ownInputs; ++i)
    handover.types.push_back(pto::PtrType::get(argumentElement(kernel, c, i)));
  for (auto [i, list] : llvm::enumerate(steps.getAsRange<DenseI64ArrayAttr>())) {
    if (i == otherInputs)
      handover.types.push_back(pto::PtrType::get(c.out.element));
    handover.steps.push_back(llvm::to_vector(list.asArrayRef()));
    handover.arguments.push_back(handover.types.size());
    handover.types.push_back(handover.panels[0].getArgumentTypes()[i + 1]);
  }
  handover.ring.arg = ownInputs + otherInputs;
  handover.ring.element = c.out.element;
  handover.ring.rows = c.problem.cores * handover.slots * rows[0];
  handover.ring.cols = columns[0];
  return handover;
}

void raise(Emitter &e, pto::Pipe pipe, Semaphore semaphore) { raise(e, pipe, static_cast<int32_t>(semaphore)); }

void await(Emitter &e, pto::Pipe pipe, Semaphore semaphore) {
  await(e, pipe, static_cast<int32_t>(semaphore), /*fromVectors=*/semaphore == Semaphore::Free);
}

void inlinePanel(Emitter &e, func::FuncOp panel, ArrayRef<Value> pointers, std::optional<Ix> rows) {
  IRMapping mapping;
  mapping.map(panel.getArguments().take_front(pointers.size()), pointers);
  for (BlockArgument scalar : panel.getArguments().drop_front(pointers.size()))
    mapping.map(scalar, e.b.create<arith::IndexCastOp>(e.loc, e.b.getI64Type(), e.value(*rows)).getResult());
  for (Operation &op : panel.getBody().front().without_terminator())
    e.b.clone(op, mapping);
}

Value pointerAt(Emitter &e, unsigned argument, Ix offset) {
  Value base = e.argument(argument);
  return isConstantIntValue(offset, 0)
             ? base
             : e.b.create<pto::AddPtrOp>(e.loc, base.getType(), base, e.value(offset)).getResult();
}

Ix placeOf(Emitter &e, ArrayRef<int64_t> steps, Ix row, Ix column) {
  Ix offset = e.mul(column, steps[0]);
  for (size_t i = 1; i + 2 < steps.size(); i += 3) {
    Ix number = e.div(row, steps[i]);
    offset = e.add(offset, e.mul(steps[i + 1] ? e.rem(number, steps[i + 1]) : number, steps[i + 2]));
  }
  return offset;
}

void emitPanel(Emitter &e, const Handover &handover, Ix slotRow, Ix row, Ix column, Ix rows, Ix columns) {
  SmallVector<Value> pointers = {pointerAt(e, handover.ring.arg, e.mul(slotRow, handover.ring.cols))};
  for (auto [argument, steps] : llvm::zip_equal(handover.arguments, handover.steps))
    pointers.push_back(pointerAt(e, argument, placeOf(e, steps, row, column)));
  // Sizes that are known choose here, others in the kernel.
  size_t inRow = llvm::count(handover.rows, handover.rows[0]);
  auto inlineNumber = [&](size_t i) { inlinePanel(e, handover.panels[i], pointers, rows); };
  std::function<void(size_t, size_t)> chooseColumns = [&](size_t i, size_t end) {
    if (i + 1 == end)
      return inlineNumber(i);
    e.ifZero(
        e.sub(columns, e.constant(handover.columns[i])), [&] { inlineNumber(i); }, [&] { chooseColumns(i + 1, end); });
  };
  std::function<void(size_t)> chooseRows = [&](size_t i) {
    if (i + inRow == handover.panels.size())
      return chooseColumns(i, i + inRow);
    e.ifZero(
        e.sub(rows, e.constant(handover.rows[i])), [&] { chooseColumns(i, i + inRow); },
        [&] { chooseRows(i + inRow); });
  };
  chooseRows(0);
}

} // namespace pto_mlir::cube
