//===- TileBuilder.h - tile instructions for values of a linalg body ----------------*- C++ -*-===//
//
// Represents the scalars of a linalg body as tiles (Item), and emits instructions
// on items of equal or different form.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_TILEBUILDER_H
#define PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_TILEBUILDER_H

#include "LocalTiles.h"
#include "Roles.h"
#include "mlir/IR/Builders.h"

namespace pto_mlir {

/// A body value: a constant, or a tile in one of the forms of `Role`.
struct Item {
  mlir::Attribute constant; ///< set for constants, tile is null then
  mlir::Value tile;
  Role role = Role::Full;
  bool isMask = false;
};

enum class Binary { Add, Sub, Mul, Div, Max, Min };

class TileBuilder {
public:
  /// `full`: rows and columns of the op. `flat`: its vectors are stored as columns and processed as one row.
  TileBuilder(mlir::OpBuilder &builder, mlir::Location loc, LocalTiles &tiles, TileShape full, bool flat)
      : builder(builder), loc(loc), tiles(tiles), full(full), flat(flat),
        freeTiles(tiles.freeTiles(builder.getInsertionBlock())) {}
  /// Returns all temporaries to the pool of the block.
  ~TileBuilder() {
    for (mlir::Value tile : owned)
      release(tile);
  }

  /// The tile as an instruction operand: columns are reshaped to one row.
  mlir::Value work(mlir::Value tile);
  /// A temporary tile of form `role`; reuses free ones.
  mlir::Value temporary(Role role, mlir::Type element);
  void release(mlir::Value tile);

  /// Copies or broadcasts `item` to `destination`, which has form `role`.
  void moveTo(const Item &item, mlir::Value destination, Role role);
  /// The same for bf16, which has no broadcast instruction.
  void spreadThroughF32(const Item &item, mlir::Value destination, Role role);
  /// `item` in form `role`: unchanged, or broadcast to a temporary.
  Item as(const Item &item, Role role, mlir::Type element);

  /// result = a op b; `destination` returns the tile for a result of the given form.
  using Destination = llvm::function_ref<mlir::Value(Role)>;
  mlir::FailureOr<Item> binary(mlir::Operation *op, Binary kind, Item a, Item b, mlir::Type element,
                               Destination destination);
  /// A mask tile with one bit per element.
  mlir::Value maskTile(Role role);

  /// dst = a op b, of tiles of one shape.
  void tileTile(Binary kind, mlir::Value a, mlir::Value b, mlir::Value dst);
  /// The number of columns where it is known at run time only.
  mlir::Value validColumns() const { return full.cols.dynamic; }

  mlir::Value scalar(mlir::Attribute constant);
  mlir::Value fillScalar(mlir::Attribute constant, mlir::Type element);

  mlir::OpBuilder &builder;
  mlir::Location loc;

private:
  void tileRow(Binary kind, mlir::Value a, mlir::Value row, mlir::Value dst);
  void tileColumn(Binary kind, mlir::Value a, mlir::Value column, mlir::Value dst);
  mlir::LogicalResult tileScalar(mlir::Operation *op, Binary kind, mlir::Value a, mlir::Attribute constant,
                                 mlir::Value dst);
  mlir::LogicalResult scalarTile(mlir::Operation *op, Binary kind, mlir::Attribute constant, mlir::Value b,
                                 mlir::Value dst);

  LocalTiles &tiles;
  TileShape full;
  bool flat;
  llvm::SmallVector<mlir::Value> owned;
  llvm::SmallVector<mlir::Value> &freeTiles;
};

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_TILEBUILDER_H
