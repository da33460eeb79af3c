// The walk of tensorsToTiles over one kernel.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_TILER_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_TILER_H

#include "Accumulators.h"
#include "Plan.h"
#include "TensorsToTiles.h"
#include "TileBuilder.h"

#include "pypto/ir/op_registry.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

namespace pto_mlir::pypto_frontend {

/// Rows, or runs of rows, that an operation takes apart: each is a few operations of the kernel.
constexpr int64_t kMaxRuns = 512;

/// Part of a tensor in global memory; `shape` without the axes that a subscript dropped.
struct Window {
  pypto::ir::VarPtr tensor;
  std::vector<pypto::ir::ExprPtr> offsets, extents, shape;
  std::vector<pypto::ir::ExprPtr> valid; ///< of the extents what holds data, where that is not all
};

/// A product of parts of tensors: [m, n] of [m, k] and [k, n].
struct Contraction {
  Window a, b;
  bool aTransposed = false, bTransposed = false; ///< a is [k, m], b is [n, k]
  int64_t m = 0, n = 0, k = 0, bytes = 0;        ///< bytes of an element
  pypto::ir::Span place = pypto::ir::Span::unknown();
};

class Tiler : TileBuilder {
public:
  using TileBuilder::Stmts;

  explicit Tiler(const isa::ArchInfo &arch) : arch(arch) {}

  /// The body with tiles; tensors that it computes are then known to `resultOf`.
  pypto::ir::StmtPtr run(const pypto::ir::StmtPtr &body);
  /// The tile that holds a computed tensor, or null for a tensor in global memory.
  pypto::ir::VarPtr tileOf(const pypto::ir::Var *tensor) const;
  /// Whether a tensor is a product that L0C does not hold: it is computed where it is stored, part by part.
  bool isLateProduct(const pypto::ir::Var *tensor) const { return lateProducts.count(tensor) || loops.count(tensor); }
  /// Refuses what has no tile and lies in no global memory.
  void checkHeld(const pypto::ir::VarPtr &tensor) const {
    if (starts.count(tensor.get()))
      refuseLate(tensor);
  }
  /// The statements that compute such a product and store it.
  Stmts storesOf(const pypto::ir::Var *product, const pypto::ir::VarPtr &tensor);
  /// A store of the whole tile.
  static pypto::ir::StmtPtr storeOf(const pypto::ir::VarPtr &tile, const pypto::ir::VarPtr &tensor);

private:
  // Statements (TensorsToTiles.cpp).
  Stmts body(const pypto::ir::StmtPtr &stmt, std::vector<pypto::ir::ExprPtr> *yields);
  void statement(const pypto::ir::StmtPtr &stmt);
  void assign(const pypto::ir::AssignStmt &stmt);
  void branch(const pypto::ir::IfStmt &stmt);
  template <class Loop>
  void loop(const Loop &stmt, std::vector<pypto::ir::IterArgPtr> &args, std::vector<pypto::ir::VarPtr> &results,
            Stmts &stmts);
  void alias(const pypto::ir::VarPtr &var, const pypto::ir::VarPtr &of);
  pypto::ir::ExprPtr rewritten(const pypto::ir::ExprPtr &expr);

  // Operations (TileOps.cpp). Each gives the tile of its result; null: the call stays as it is.
  pypto::ir::VarPtr compute(const pypto::ir::CallPtr &call);
  pypto::ir::VarPtr operandOf(const pypto::ir::ExprPtr &operand, pypto::DataType result);
  pypto::ir::VarPtr elementwise(const pypto::ir::OpView &view, const pypto::ir::CallPtr &call);
  pypto::ir::VarPtr byName(const pypto::ir::OpView &view, const pypto::ir::CallPtr &call);

  // Products (Products.cpp).
  Contraction contraction(const pypto::ir::OpView &view, const pypto::ir::CallPtr &call) const;
  bool fits(const Contraction &product) const;
  Contraction wholly(Contraction product) const;
  bool isPlain(const pypto::ir::OpView &view) const;
  std::optional<Window> matrixOf(const pypto::ir::ExprPtr &operand) const;
  pypto::ir::VarPtr factor(const pypto::ir::ExprPtr &operand, bool isTransposed);
  pypto::ir::VarPtr wholeFactor(const Window &window, bool isTransposed);
  pypto::ir::VarPtr generalProduct(const pypto::ir::OpView &view, const pypto::ir::VarPtr &acc);
  pypto::ir::VarPtr biasedProduct(const pypto::ir::OpView &view);
  pypto::ir::VarPtr product(const Contraction &product, pypto::ir::VarPtr acc,
                            const pypto::ir::ExprPtr &isFirst = nullptr);
  pypto::ir::VarPtr accumulated(const pypto::ir::OpView &view, const pypto::ir::CallPtr &call);
  pypto::ir::VarPtr narrowedProduct(const pypto::ir::OpView &view);
  pypto::ir::VarPtr part(const Window &window, bool isTransposed, pypto::ir::ExprPtr row, int64_t rows,
                         pypto::ir::ExprPtr column, int64_t columns, pypto::ir::MemorySpace space);
  void checkStored(pypto::DataType product, pypto::DataType tensor) const;
  bool late(const pypto::ir::VarPtr &var, const pypto::ir::CallPtr &call);
  const Contraction *lateProduct(const pypto::ir::ExprPtr &expr) const;
  void storeParts(const Contraction &product, const pypto::ir::VarPtr &tensor,
                  const std::vector<pypto::ir::ExprPtr> &offset, const pypto::ir::Attrs &keywords);
  bool assembledLate(const pypto::ir::AssignStmt &stmt, const pypto::ir::OpView &view);
  void refuseLate(const pypto::ir::ExprPtr &expr) const;
  const pypto::ir::Var *storedTo(const pypto::ir::Var *tensor) const;
  void noteWrite(const pypto::ir::VarPtr &result, const pypto::ir::Var *tensor);
  bool readsTensor(const pypto::ir::StmtPtr &stmt, const pypto::ir::Var *tensor) const;
  [[noreturn]] void refuseOperand() const;
  void checkUnwritten(const pypto::ir::Var *product) const;

  // Accumulators that L0C does not hold: the loop is computed where its result is stored, once for each part.
  struct Part {
    std::vector<pypto::ir::ExprPtr> batch; ///< places of leading axes
    pypto::ir::ExprPtr row, column;
    int64_t rows = 0, columns = 0;
  };
  bool isTooLarge(const pypto::ir::Var *accumulator) const;
  bool postponed(const pypto::ir::StmtPtr &stmt);
  void forBatches(const std::vector<pypto::ir::ExprPtr> &extents, std::vector<pypto::ir::ExprPtr> &batch,
                  llvm::function_ref<void()> body);
  pypto::ir::VarPtr loopOfPart(const pypto::ir::Var *accumulator, Part part);
  void storeLoop(const pypto::ir::Var *accumulator, const pypto::ir::VarPtr &tensor,
                 const std::vector<pypto::ir::ExprPtr> &offset, const pypto::ir::Attrs &keywords);
  bool storedLoop(const pypto::ir::AssignStmt &stmt, const pypto::ir::OpView &view);
  Contraction cut(Contraction product) const;

  // Gathers, scatters, comparisons, repetitions (TensorGathers.cpp, TensorRows.cpp).
  pypto::ir::VarPtr matrix(const pypto::ir::ExprPtr &operand, int64_t &rows, int64_t &columns);
  pypto::ir::VarPtr rowOf(const pypto::ir::VarPtr &tile, int64_t row, int64_t columns, int64_t rows = 1);
  pypto::ir::VarPtr emptyMatrix(int64_t rows, int64_t columns, pypto::DataType dtype);
  pypto::ir::VarPtr gathered(const pypto::ir::OpView &view, const pypto::ir::CallPtr &call);
  std::vector<pypto::ir::VarPtr> comparedRows(const pypto::ir::CallPtr &call);
  pypto::ir::VarPtr selected(pypto::ir::MaskPattern pattern, int64_t columns);
  pypto::ir::VarPtr castTo(const pypto::ir::VarPtr &tile, pypto::DataType dtype);
  pypto::ir::VarPtr wideIndices(const pypto::ir::VarPtr &index);
  pypto::ir::VarPtr gatheredAcross(const pypto::ir::OpView &view, size_t axis);
  pypto::ir::VarPtr widened(const pypto::ir::ExprPtr &column, int64_t width);
  pypto::ir::VarPtr expanded(const pypto::ir::OpView &view);
  pypto::ir::VarPtr scattered(const pypto::ir::OpView &view, const pypto::ir::CallPtr &call);
  pypto::ir::VarPtr compared(const pypto::ir::OpView &view, const pypto::ir::CallPtr &call);

  pypto::ir::CallPtr assembled(const pypto::ir::OpView &view, const pypto::ir::CallPtr &call);
  std::optional<Window> sliced(const pypto::ir::OpView &view) const;
  std::optional<Window> windowOf(const pypto::ir::ExprPtr &tensor) const;
  pypto::ir::VarPtr tile(const pypto::ir::ExprPtr &operand);
  std::optional<Window> viewOf(const pypto::ir::Call &call) const;
  static pypto::ir::CallPtr ofTensor(const pypto::ir::Call &call, const Window &view);
  pypto::ir::CallPtr loadOf(const Window &window, pypto::ir::Attrs keywords);
  pypto::ir::VarPtr load(const Window &window);
  pypto::ir::VarPtr reshaped(const pypto::ir::VarPtr &tile, const std::vector<pypto::ir::ExprPtr> &shape);

  const isa::ArchInfo &arch;
  Accumulators accumulators;
  const pypto::ir::Var *made = nullptr; ///< the variable that is being computed
  std::optional<Part> partOf;           ///< what is computed of accumulators now
  std::map<const pypto::ir::Var *, std::pair<pypto::ir::StmtPtr, pypto::ir::StmtPtr>> loops; ///< by result; its start
  std::vector<pypto::ir::StmtPtr> copies;                      ///< of loops: their variables are keys
  std::map<const pypto::ir::Var *, pypto::ir::StmtPtr> starts; ///< of accumulators that are too large
  std::map<const pypto::ir::Var *, pypto::ir::VarPtr> tiles;
  std::map<const pypto::ir::Var *, std::vector<pypto::ir::VarPtr>> pairs; ///< by the variable of both
  std::map<const pypto::ir::Var *, Window> windows;
  std::map<const pypto::ir::Var *, Contraction> lateProducts;
  std::map<const pypto::ir::Var *, const pypto::ir::Var *> stored; ///< tensors by what results of stores are
  std::set<const pypto::ir::Var *> spoilt; ///< late products of which an operand was written since
};

} // namespace pto_mlir::pypto_frontend

#endif
