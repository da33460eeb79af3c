// Programs as `.pto` text.
#ifndef PYPTO_CODEGEN_PTO_PTO_CODEGEN_H
#define PYPTO_CODEGEN_PTO_PTO_CODEGEN_H

#include "pypto/backend/common/backend.h"
#include "pypto/codegen/memref_collector.h"
#include "pypto/ir/program.h"

#include <string>

namespace pto_mlir::pypto_frontend {
class Lowering;
}

namespace pypto::codegen {

/// "gm", "vec", "mat", ..: a memory space in `.pto`.
std::string MemorySpaceToMLIR(ir::MemorySpace space);
/// "f32", "ui8", ..: an element type in `.pto`.
std::string DataTypeToMLIRImpl(const DataType &dtype);

/// The `.pto` of a program's kernels, in one module, laid out as the seeds' sample: constants, views of all tensors,
/// tiles, operations. The helpers are for operations that the back end emits (Backend::RegisterOp): names are those of
/// the lines that they emit, the printed text has numbers of its own. Outside of such an operation they are a
/// ValueError.
class PTOCodegen : public CodegenBase {
public:
  PTOCodegen() = default;
  explicit PTOCodegen(const backend::Backend *backend) : backend_(backend) {}

  /// ValueError, with its place, for what a kernel may not hold.
  std::string Generate(const ir::ProgramPtr &program);

  /// The tile that the result is written to, as "%3"; "" for an operation whose result is no tile.
  std::string GetCurrentResultTarget() const override;
  /// One op of `.pto`, in either spelling; `%x = ..` names its result. Comments and empty lines are skipped. ValueError
  /// for a line that is not one op, or reads a name that nobody made.
  void Emit(const std::string &line) override;
  /// "%3": the value of a scalar, the tile of a variable, the view of a tensor.
  std::string GetExprAsCode(const ir::ExprPtr &expr) override;
  /// "f32".
  std::string GetTypeString(const DataType &dtype) const override { return DataTypeToMLIRImpl(dtype); }

  /// A name that no value has.
  std::string NewTemp();
  /// The same under the name of other texts.
  std::string GetNewTemp() { return NewTemp(); }
  std::string GetOrCreateTensorView(const ir::VarPtr &tensor);
  /// The constant of type index, made once.
  std::string GetIndexConstant(int64_t val);
  /// The constant of a type of floats, made once.
  std::string GetOrEmitFloatConstant(double value, const std::string &mlir_type = "f32");
  /// "!pto.tensor_view<?x?xf32>".
  std::string GetTensorViewTypeString(const ir::TensorType *tensor_type) const;
  /// "!pto.tile_buf<loc=vec, dtype=f32, rows=32, ..>" of a buffer of the program generated last; ValueError for others.
  std::string GetTileBufTypeString(const ir::MemRef *memref) const;
  /// The type of GetExprAsCode's value.
  std::string GetExprTypeAnnotation(const ir::ExprPtr &expr);
  /// The type of GetCurrentResultTarget's tile; "" where that is.
  std::string GetCurrentResultTileBufTypeString() const;

private:
  friend class pto_mlir::pypto_frontend::Lowering;
  pto_mlir::pypto_frontend::Lowering &Active(const char *helper) const;

  const backend::Backend *backend_ = nullptr;
  pto_mlir::pypto_frontend::Lowering *lowering_ = nullptr; ///< of the operation that is emitted now
  MemRefCollectorVisitor memrefs_;
};

} // namespace pypto::codegen

#endif // PYPTO_CODEGEN_PTO_PTO_CODEGEN_H
