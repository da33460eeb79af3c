#include "JoinedFunctions.h"

using namespace mlir;

namespace pto_mlir::kernels {

/// Slots of a block for tiles: one is filled while the other is worked on.
constexpr int64_t kSlots = 2;

func::FuncOp copyKernel(func::FuncOp kernel, const std::string &name, SymbolTable &symbols) {
  func::FuncOp copy = kernel.clone();
  copy.setName(name);
  symbols.insert(copy);
  return copy;
}

namespace {

/// The functions of one attribute: @NAME, @NAME1, ..
class PanelFunctions {
public:
  PanelFunctions(std::string name, SymbolTable &symbols) : name(std::move(name)), symbols(symbols) {}

  void add(vector_kernels::Panels &panels, int64_t rows, int64_t columns, int64_t pitch, bool anyRows) {
    std::string next = references.empty() ? name : name + std::to_string(references.size());
    references.push_back(FlatSymbolRefAttr::get(symbols.insert(panels.make(next, rows, columns, pitch, anyRows))));
  }
  ArrayAttr attribute(Builder &b) const { return b.getArrayAttr(references); }

private:
  std::string name;
  SymbolTable &symbols;
  SmallVector<Attribute> references;
};

/// Where the parts of the arguments [first, end) of a panel begin.
ArrayAttr stepsOf(const vector_kernels::Panels &panels, unsigned first, unsigned end, Builder &b) {
  SmallVector<Attribute> steps;
  for (unsigned i = first; i < end; ++i)
    steps.push_back(b.getDenseI64ArrayAttr(panels.steps(i)));
  return b.getArrayAttr(steps);
}

} // namespace

void addHandover(func::FuncOp kernel, const Producer &producer, vector_kernels::Panels &panels,
                 ArrayRef<cube::FewRows> few, SymbolTable &symbols) {
  Builder b(kernel.getContext());
  const cube::TileShapes &shapes = producer.shapes;
  PanelFunctions functions((kernel.getName() + ".panel").str(), symbols);
  SmallVector<int64_t> rowsOf, columnsOf;
  for (int64_t rows : shapes.rows)
    for (int64_t columns : shapes.columns) {
      bool anyRows = rows == cube::kAnyRows;
      functions.add(panels, anyRows ? shapes.rows[0] : rows, columns, shapes.columns[0], anyRows);
      rowsOf.push_back(rows);
      columnsOf.push_back(columns);
    }
  SmallVector<NamedAttribute> handover = {b.getNamedAttr("panels", functions.attribute(b)),
                                          b.getNamedAttr("rows", b.getDenseI64ArrayAttr(rowsOf)),
                                          b.getNamedAttr("columns", b.getDenseI64ArrayAttr(columnsOf)),
                                          b.getNamedAttr("steps", stepsOf(panels, 1, panels.numArguments(), b)),
                                          b.getNamedAttr("slots", b.getI64IntegerAttr(kSlots)),
                                          b.getNamedAttr("inputs", b.getI64IntegerAttr(panels.numInputs() - 1))};
  if (producer.contraction.rowsPerSize)
    handover.push_back(b.getNamedAttr("few", cube::fewRowsAttr(kernel.getContext(), few)));
  kernel->setAttr(cube::kHandoverAttr, b.getDictionaryAttr(handover));
}

void addFeed(func::FuncOp kernel, const Producer &producer, vector_kernels::Panels &panels, SymbolTable &symbols) {
  Builder b(kernel.getContext());
  const cube::Contraction &c = producer.contraction;
  auto shapes = cube::feedShapes(c, producer.tiling);
  PanelFunctions functions((kernel.getName() + ".feed").str(), symbols);
  for (int64_t rows : shapes->rows)
    functions.add(panels, rows, c.problem.k, c.problem.k, /*anyRows=*/false);
  kernel->setAttr(cube::kFeedAttr,
                  b.getDictionaryAttr({b.getNamedAttr("panels", functions.attribute(b)),
                                       b.getNamedAttr("rows", b.getDenseI64ArrayAttr(shapes->rows)),
                                       b.getNamedAttr("steps", stepsOf(panels, 0, panels.numInputs(), b)),
                                       b.getNamedAttr("tiling", b.getI64IntegerAttr(int64_t(producer.number)))}));
}

RankedTensorType handoverSlots(const Producer &producer, int64_t numCores) {
  return RankedTensorType::get({numCores * kSlots * producer.shapes.rows[0], producer.shapes.columns[0]},
                               producer.contraction.out.element);
}

RankedTensorType feedSlots(const Producer &producer, int64_t numCores) {
  auto shapes = cube::feedShapes(producer.contraction, producer.tiling);
  return RankedTensorType::get({numCores * shapes->perBlock * shapes->rows[0], producer.contraction.problem.k},
                               producer.contraction.left.element);
}

} // namespace pto_mlir::kernels
