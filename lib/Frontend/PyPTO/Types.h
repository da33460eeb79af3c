// PyPTO's types as those of the pto dialect.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_TYPES_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_TYPES_H

#include "mlir/IR/Diagnostics.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Frontend/PyPTO/LowerPyPTO.h"
#include "pypto/core/error.h"
#include "pypto/ir/type.h"

namespace pto_mlir::pypto_frontend {

/// An error that begins with its place in the source.
class PlacedError : public pypto::ValueError {
public:
  using pypto::ValueError::ValueError;
};

/// Throws a PlacedError with the place before the text; a ValueError of the text where the place is unknown.
[[noreturn]] void fail(const pypto::ir::Span &span, const std::string &text);

/// Behind a variable's name, where its value is needed but only another scope has it.
inline constexpr const char *noValue =
    " holds nothing outside of the scope that computes it; store it there to a tensor that was made before";

/// Runs `body`; errors of the user's that it raises without a place get this one.
template <class F> void withPlace(const pypto::ir::Span &span, F &&body) {
  try {
    body();
  } catch (const PlacedError &) {
    throw;
  } catch (const pypto::InternalError &) {
    throw;
  } catch (const pypto::Error &error) {
    fail(span, error.what());
  }
}

/// The place of a location; unknown where it has none.
pypto::ir::Span spanOf(mlir::Location place);

/// During its lifetime, errors of the context go here instead of being printed.
class FirstError {
public:
  explicit FirstError(mlir::MLIRContext &context);

  /// The first error; empty while there is none.
  const std::string &text() const { return problem; }
  /// Throws the first error at its place.
  [[noreturn]] void raise() const { fail(spanOf(place), problem); }

private:
  std::string problem;
  mlir::Location place;
  mlir::ScopedDiagnosticHandler handler;
};

mlir::Location locationOf(mlir::MLIRContext &context, const pypto::ir::Span &span);

/// Element type of tensors and tiles; `ui8` stays unsigned. ValueError where the dialect has none.
mlir::Type elementType(mlir::MLIRContext &context, pypto::DataType dtype);
/// Elements in the host's memory: INDEX are 64 bits there, scales bytes.
mlir::Type memoryType(mlir::MLIRContext &context, pypto::DataType dtype);
/// The argument of a kernel that a tensor is; of scales in boxes, pairs of bytes.
pto::PtrType pointerType(mlir::MLIRContext &context, const pypto::ir::TensorType &type);
/// Type of a scalar inside a kernel: signless.
mlir::Type scalarType(mlir::MLIRContext &context, pypto::DataType dtype);

/// A tile's box and layout. More than two axes are rows but for the last; one is a row. A valid extent that is no
/// constant is `?`, and so is then the other one. Without a view of its own the tile is laid out as its space has it,
/// or row-major, as the options say.
pto::TileBufType tileType(mlir::MLIRContext &context, const pypto::ir::TileType &type, const PyPTOOptions &options);
/// Whether a tensor holds the scales of a product, in boxes of its own.
bool isScaleLayout(const pypto::ir::TensorType &type);
/// The tile of scales (FP8E8M0). ValueError where it is none that a product takes.
pto::TileBufType scaleTileType(mlir::MLIRContext &context, const pypto::ir::TileType &type);
/// Whether a tile of `type` lies where one of `other` does: it has no address, or the same one.
bool liesWith(const pypto::ir::TypePtr &type, const pypto::ir::TypePtr &other);
/// Whether it is all of a tile, with another valid extent.
bool isWhole(pto::SubViewOp view);
/// Whether the text of the seeds says `blayout=none_box`, which is row_major.
bool saysNoBox(const pypto::ir::TileType &type);

} // namespace pto_mlir::pypto_frontend

#endif
